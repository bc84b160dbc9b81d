"""What the commands about rules share: the ``--rules`` option, and loading with readable faults."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from doctor.report.console import note
from doctor.report.exit_code import ExitCode

if TYPE_CHECKING:
    from doctor.rulebook.book import Rulebook
    from doctor.rulebook.fault import Fault
    from doctor.rulebook.lint.signature import Match

rules_option = click.option(
    "--rules",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder of your own rules; may be given several times.",
)


def load_for_command(rules: Sequence[Path], locale: str = "") -> Rulebook:
    """Return the rulebook, or end the program with every fault on stderr."""
    from doctor.rulebook.loader import RuleFaults, RulesNotFoundError, load_rulebook

    try:
        return load_rulebook(extra=rules, locale=locale)
    except RuleFaults as faults:
        for fault in faults.faults:
            note(shown(fault))
    except RulesNotFoundError as error:
        note(f"llm-doctor: {error}")
    raise SystemExit(ExitCode.USAGE)


def matcher_of(book: Rulebook) -> Match:
    """Return the function that finds signatures in a text by the route of a line in a log."""
    from doctor.exam.scan import make_matcher

    return make_matcher(book).match_text


def shown(fault: Fault) -> str:
    """Return a fault as a line, with its file as one would type it from here."""
    return str(fault).replace(f"{Path.cwd()}/", "", 1)
