"""``llm-doctor scan``: logs in, diagnoses out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Optional

import click
import msgspec

from doctor.report.console import emit, emit_data, is_terminal, note, style_of
from doctor.report.exit_code import ExitCode, of_report
from doctor.report.style import Style

if TYPE_CHECKING:
    from doctor.exam.scan import ScanOptions
    from doctor.model.diagnosis import ScanReport

FORMATS = ("text", "json", "markdown")


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """How and where the report is written."""

    form: Literal["text", "json", "markdown"] = "text"
    colour: Literal["auto", "always", "never"] = "auto"
    file: Optional[Path] = None
    verbose: bool = False
    quiet: bool = False


@click.command()
@click.argument("paths", nargs=-1)
@click.option("-f", "--format", "form", type=click.Choice(FORMATS), default="text", help="What to write (text).")
@click.option("-o", "--output", "file", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file.")
@click.option("-v", "--verbose", is_flag=True, help="Show all evidence, every question and what followed.")
@click.option("-q", "--brief", "quiet", is_flag=True, help="Show one line a diagnosis.")
@click.option("--strict", is_flag=True, help="Exit with 1 also where there are only warnings.")
@click.option("--follow", is_flag=True, help="Keep reading one growing file; report whenever the answer changes.")
@click.option(
    "--rules", multiple=True, type=click.Path(path_type=Path), metavar="DIR", help="Add rules of your own (repeatable)."
)
@click.option("--lang", default="", metavar="CODE", help="Language of the texts, as far as translated (zh).")
@click.option("--color", "colour", type=click.Choice(("auto", "always", "never")), default="auto", help="Colours.")
@click.option("--workers", type=click.IntRange(min=0), default=0, help="Processes that read (0: one a core).")
def scan(paths: tuple[str, ...], strict: bool, follow: bool, **given: Any) -> int:
    """Say what broke first in logs, on which rank, why, and what to do.

    PATHS are files, folders of rank logs, globs, or - for standard input; .gz, .xz, .bz2 and .zst are read as they
    are.
    """
    from doctor.exam.scan import InputError, ScanOptions
    from doctor.rulebook.fault import RuleFaults
    from doctor.rulebook.source import RulesNotFoundError

    paths = _inputs(paths)
    options = ScanOptions(rules=given.pop("rules"), locale=given.pop("lang"), workers=given.pop("workers"))
    output = Output(**given)
    _refuse_overwriting(output.file, paths)
    try:
        if follow:
            return _follow(paths, options, output, strict)
        return _scan(paths, options, output, strict)
    except InputError as error:
        for sentence in error.sentences:
            note(sentence)
    except (RuleFaults, RulesNotFoundError) as error:
        note(str(error))
    return ExitCode.USAGE


def _inputs(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return what to read: what was named, else what is piped in."""
    if paths:
        return paths
    if is_terminal(sys.stdin):
        raise click.UsageError("Name a log file, a folder of logs, or - for standard input.")
    return ("-",)


def _refuse_overwriting(file: Optional[Path], paths: Sequence[str]) -> None:
    """Stop before a report replaces the log that it is about."""
    if file is None or not file.exists():
        return
    from doctor.logs.source import expand

    sources, _ = expand([path for path in paths if path != "-"])
    if any(file.samefile(source.path) for source in sources):
        raise click.UsageError(f"{file} is one of the logs; write the report elsewhere.")


def _scan(paths: Sequence[str], options: ScanOptions, output: Output, strict: bool) -> int:
    from doctor.exam.scan import scan as examine

    if not is_terminal(sys.stderr):
        report = examine(paths, options)
    else:
        from doctor.report.progress import ProgressBar

        bar = ProgressBar(sys.stderr)
        try:
            report = examine(paths, options, bar.update)
        finally:
            bar.close()
    _write(report, output)
    return of_report(report, strict)


def _follow(paths: Sequence[str], options: ScanOptions, output: Output, strict: bool) -> int:
    from doctor.exam.scan import follow

    if len(paths) != 1:
        raise click.UsageError("--follow reads one file.")
    code, first = ExitCode.OK, True
    redraw = output.form == "text" and output.file is None and style_of(colour=output.colour).colour
    for report in follow(paths[0], options):
        if redraw and is_terminal(sys.stdout):
            emit("\x1b[2J\x1b[H")
        elif not first and output.form != "json" and output.file is None:
            emit("\n")
        _write(report, output, one_line=True)
        code, first = of_report(report, strict), False
    return code


def _write(report: ScanReport, output: Output, one_line: bool = False) -> None:
    style = Style(colour=output.colour == "always") if output.file else style_of(colour=output.colour)
    text = _rendered(report, output, style, one_line)
    if output.file is None:
        emit_data(text) if output.form != "text" else emit(text)
        return
    try:
        output.file.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise click.ClickException(f"{output.file} cannot be written: {error.strerror}.") from error


def _rendered(report: ScanReport, output: Output, style: Style, one_line: bool) -> str:
    """Return the report in the chosen form; only that form's module is imported."""
    if output.form == "json":
        from doctor.report.json import json_of

        return json_of(report, indent=0 if one_line else 2)
    if output.form == "markdown":
        from doctor.report.markdown import markdown_of

        return markdown_of(report)
    from doctor.report.text import brief_of, text_of

    return brief_of(report) if output.quiet else text_of(report, style, output.verbose)
