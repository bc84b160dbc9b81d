"""``llm-doctor explain``: what the rulebook knows under one id."""

from __future__ import annotations

import json
from pathlib import Path

import click

from doctor.cli.book import load_for_command, rules_option
from doctor.report.console import emit, emit_data, note
from doctor.report.escape import visible
from doctor.report.exit_code import ExitCode


@click.command()
@click.argument("identity", metavar="ID")
@rules_option
@click.option("--locale", default="", help="Language of the texts, such as zh.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def explain(identity: str, rules: tuple[Path, ...], locale: str, form: str) -> None:
    """Explain a signature, a tree or a cause.

    ID is what a report and `llm-doctor rules list` show, such as gpu-memory.fragmentation.
    """
    from doctor.rulebook.explain import UnknownIdError, explain_document
    from doctor.rulebook.explain import explain as page_of

    book = load_for_command(rules, locale)
    try:
        if form == "json":
            emit_data(json.dumps(explain_document(identity, book), ensure_ascii=False, indent=2) + "\n")
        else:
            emit("".join(f"{visible(line)}\n" for line in page_of(identity, book).splitlines()))
    except UnknownIdError as error:
        note(f"llm-doctor: {error}")
        raise SystemExit(ExitCode.USAGE) from None
