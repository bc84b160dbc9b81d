"""``llm-doctor rules``: the knowledge as things one can list, prove, try and extend."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Optional

import click

from doctor.cli.book import load_for_command, matcher_of, rules_option, shown
from doctor.report.console import emit, emit_data, note
from doctor.report.escape import visible
from doctor.report.exit_code import ExitCode

if TYPE_CHECKING:
    from doctor.rulebook.book import Rulebook
    from doctor.rulebook.fault import Fault
    from doctor.rulebook.source import Layer
    from doctor.rulebook.trial import Trial

_format = click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)


@click.group()
def rules() -> None:
    """List, prove, try and extend the rules."""


@rules.command("list")
@click.option("--gates", is_flag=True, help="Print every literal that logs are searched for, one a line.")
@click.option("--kind", type=click.Choice(["signature", "tree", "cause"]), help="Only rules of one kind.")
@rules_option
@_format
def list_rules(gates: bool, kind: Optional[str], rules: tuple[Path, ...], form: str) -> None:
    """List all rules: id, role, severity and title."""
    book = load_for_command(rules)
    if gates:
        found = book.gates()
        _emit_json(found) if form == "json" else _emit_lines(found)
        return
    rows = [row for row in _rows(book) if kind in (None, row["kind"])]
    if form == "json":
        _emit_json({"schema": "llm-doctor/rules-list/1", "rules": rows})
        return
    width = max((len(row["id"]) for row in rows), default=0)
    columns = shutil.get_terminal_size(fallback=(1000, 24)).columns
    lines = (f"{r['id']:<{width}}  {r['role'] or r['kind']:<10}  {r['severity']:<7}  {r['title']}" for r in rows)
    _emit_lines(line if len(line) <= columns else line[: columns - 1] + "…" for line in lines)


@rules.command("lint")
@click.argument("path", required=False, type=click.Path(path_type=Path, exists=True))
@click.option("--strict", is_flag=True, help="Let warnings fail too.")
@_format
def lint(path: Optional[Path], strict: bool, form: str) -> None:
    """Check rule files; every fault comes with its file, line and column.

    PATH is a folder of your own rules (it is checked on top of the shipped ones), or a part of the shipped rules.
    Without it, all rules are checked.
    """
    from doctor.rulebook.lint.run import lint_layers
    from doctor.rulebook.source import RulesNotFoundError

    try:
        layers = _layers_with(path)
    except RulesNotFoundError as error:
        note(f"llm-doctor: {error}")
        raise SystemExit(ExitCode.USAGE) from None
    faults = [fault for fault in lint_layers(layers, matcher_of, _clean_logs()) if _concerns(fault, path)]
    errors = sum(fault.level == "error" for fault in faults)
    if form == "json":
        rows = [{key: getattr(fault, key) for key in fault.__struct_fields__} for fault in faults]
        _emit_json({"schema": "llm-doctor/rules-lint/1", "faults": rows})
    else:
        _emit_lines(map(shown, faults))
    note(f"{errors} errors, {len(faults) - errors} warnings")
    raise SystemExit(ExitCode.PROBLEM if errors or (strict and faults) else ExitCode.OK)


@rules.command("test")
@click.argument("identity", metavar="[ID]", required=False)
@rules_option
@_format
def test(identity: Optional[str], rules: tuple[Path, ...], form: str) -> None:
    """Run examples and near misses, and show what each one captured.

    ID is a signature or the family that it belongs to.
    """
    from doctor.rulebook.explain import nearest
    from doctor.rulebook.trial import try_signatures

    book = load_for_command(rules)
    chosen = [
        rule for key, rule in book.signatures.items() if identity in (None, key) or key.startswith(f"{identity}/")
    ]
    if not chosen:
        near = nearest(identity or "", book.signatures)
        note(f"llm-doctor: no signature is called {identity}" + (f"; did you mean {', '.join(near)}?" if near else ""))
        raise SystemExit(ExitCode.USAGE)
    trials = try_signatures(chosen, matcher_of(book))
    if form == "json":
        rows = [{key: getattr(trial, key) for key in trial.__struct_fields__} for trial in trials]
        _emit_json({"schema": "llm-doctor/rules-test/1", "trials": rows})
    else:
        _emit_lines(_trial_lines(trials))
    wrong = sum(not trial.good for trial in trials)
    note(f"{len(chosen)} signatures, {len(trials)} lines, {wrong} wrong")
    raise SystemExit(ExitCode.PROBLEM if wrong else ExitCode.OK)


@rules.command("new")
@click.argument("kind", type=click.Choice(["signature", "tree", "cause"]))
@click.argument("name")
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("rules"),
    show_default=True,
    help="Folder of rules.",
)
def new(kind: str, name: str, folder: Path) -> None:
    """Write a commented rule file to fill in: a signature family/name, a tree name, or a cause family.name."""
    from doctor.rulebook.scaffold import ScaffoldError, write_scaffold

    try:
        path = write_scaffold(kind, name, folder)
    except ScaffoldError as error:
        note(f"llm-doctor: {error}")
        raise SystemExit(ExitCode.USAGE) from None
    _emit_lines([str(path)])
    note(f"Fill it in, then: llm-doctor rules lint {folder}")


def _emit_lines(lines: Iterable[str]) -> None:
    emit("".join(f"{visible(line)}\n" for line in lines))


def _emit_json(document: object) -> None:
    emit_data(json.dumps(document, ensure_ascii=False, indent=2) + "\n")


def _trial_lines(trials: Iterable[Trial]) -> Iterator[str]:
    for signature, group in groupby(trials, key=lambda trial: trial.signature):
        yield signature
        for trial in group:
            yield f"  {'good ' if trial.good else 'WRONG'}  {f'{trial.kind} {trial.number}':<12}  {trial.said}"


def _rows(book: Rulebook) -> Iterator[dict[str, str]]:
    for signature in book.signatures.values():
        kind = {"id": signature.id, "kind": "signature", "role": signature.role.value}
        yield {**kind, "severity": signature.severity.value, "title": signature.title}
    for tree in book.trees.values():
        yield {"id": tree.id, "kind": "tree", "role": "", "severity": "", "title": tree.title}
    for cause in book.causes.values():
        kind = {"id": cause.id, "kind": "cause", "role": ""}
        yield {**kind, "severity": cause.severity.value, "title": cause.title}


def _layers_with(path: Optional[Path]) -> list[Layer]:
    """Return the layers to check: a folder that is not part of the shipped rules is laid on top."""
    from doctor.rulebook.source import KINDS, read_layers, shipped_folder

    if path is None:
        return read_layers()
    whole = path.resolve()
    shipped = shipped_folder()
    if shipped and whole.is_relative_to(shipped.resolve()):
        return read_layers()
    # A part of a folder of rules is read as the whole folder: ids come from the path below it.
    root = next((above.parent for above in (whole, *whole.parents) if above.name in KINDS), whole)
    return read_layers([root])


def _concerns(fault: Fault, path: Optional[Path]) -> bool:
    return path is None or Path(fault.file).resolve().is_relative_to(path.resolve())


def _clean_logs() -> Iterator[tuple[str, str]]:
    """Yield the logs of healthy runs that a source tree carries."""
    from doctor.rulebook.source import shipped_folder

    shipped = shipped_folder()
    folder = shipped.parent / "fixtures" / "clean" if shipped else None
    if folder and folder.is_dir():
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix in (".log", ".txt", ".out", ".err"):
                yield str(path), path.read_text(errors="replace")
