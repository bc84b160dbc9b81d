"""The command ``llm-doctor``: a table of commands, and what becomes of everything that goes wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Optional

import click

from doctor.cli.lazy import Entry, Interrupted, LazyGroup

COMMANDS = {
    "scan": Entry("doctor.cli.scan:scan", "Say what broke first in logs, on which rank, why, and what to do."),
    "rules": Entry("doctor.cli.rules:rules", "List, prove, try and extend the rules."),
    "explain": Entry("doctor.cli.explain:explain", "Explain a signature, a tree or a cause."),
    "schema": Entry("doctor.cli.schema:schema", "Print the JSON Schema of a document."),
}


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    from doctor.report.console import emit

    try:
        number = version("llm-doctor")
    except PackageNotFoundError:
        number = "(a source tree, not installed)"
    emit(f"llm-doctor {number}\n")
    ctx.exit()


@click.group(cls=LazyGroup, entries=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
def cli() -> None:
    """Say what broke a training or serving job, why, and what to type next.

    Exit codes: 0 nothing wrong, 1 a problem found, 2 wrong usage or unreadable input, 3 could not look,
    130 interrupted.
    """


def run(arguments: Optional[Sequence[str]] = None) -> int:
    """Run the command line and return its exit code."""
    try:
        code = cli.main(args=arguments, prog_name="llm-doctor", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (Interrupted, click.Abort, KeyboardInterrupt):
        return _say("Interrupted.", 130)
    except Exception as error:  # noqa: BLE001 - the last door: a fault of our own is reported, never shown raw
        return _own_fault(error)


def main() -> None:
    """Run as a program."""
    sys.exit(run())


def _own_fault(error: Exception) -> int:
    if os.environ.get("LLM_DOCTOR_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    kind = type(error).__name__
    return _say(
        f"llm-doctor itself failed ({kind}: {error}). This is a fault of the program, not of your job: run it again "
        "with LLM_DOCTOR_DEBUG=1 and send the traceback to whoever maintains your copy of llm-doctor.",
        2,
    )


def _say(sentence: str, code: int) -> int:
    from doctor.report.console import note

    note(sentence)
    return code
