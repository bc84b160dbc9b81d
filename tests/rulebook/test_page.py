"""Pages of the rulebook and the commands that print them, run as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from widget import SIGNATURE, write_rules

from doctor.cli.explain import explain as explain_command
from doctor.cli.rules import rules as rules_command
from doctor.rulebook.book import Rulebook
from doctor.rulebook.explain import UnknownIdError, explain, explain_document
from doctor.rulebook.loader import compile_layers
from doctor.rulebook.source import read_layer


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return write_rules(tmp_path / "mine")


@pytest.fixture
def book(folder: Path) -> Rulebook:
    return compile_layers([read_layer(folder)])


TREE_PAGE = """\
widget                                                                      tree
Who holds the widgets?

Opened by
  widget/refused  The widget store refused memory

Computed first
  half_bytes = signal.requested_bytes / 2

Questions
  ○ large: Is half of it more than <half_bytes>?
  │   when half_bytes > GiB(1)
  ├─ yes → widget.demand (certain)
  ├─ no or unknown
  ○ again: Does the host know?
  │   when host.widget_count > 3
  ├─ yes → widget.demand (likely)
  └─ no or unknown → widget.demand (possible)

Causes
  widget.demand  The job needs more widgets than there are"""


def test_a_tree_is_drawn(book: Rulebook) -> None:
    assert explain("widget", book) == TREE_PAGE


def test_a_cause_is_explained(book: Rulebook) -> None:
    page = explain("widget.demand", book)
    for text in ("It asked for <requested_bytes> on device <device>.", "run:  widget --less '{n:1}'", "risk: safe"):
        assert text in page
    assert "Found by the trees\n  widget  Who holds the widgets?" in page


def test_a_signature_is_explained(book: Rulebook) -> None:
    page = explain("widget/refused", book)
    assert "the tree widget" in page
    assert "requested_bytes 2 GiB, device 3" in page
    assert "Not meant: the store is well\n  widget store ready" in page


def test_every_shipped_page_keeps_to_its_columns() -> None:
    from doctor.rulebook.loader import load_rulebook

    book = load_rulebook(cache=None)
    gates = set(book.gates())
    for identity in [*book.signatures, *book.trees, *book.causes]:
        lines = explain(identity, book).splitlines()
        json.dumps(explain_document(identity, book))
        # Literals, addresses, commands and single words that are longer stay whole.
        long = [line for line in lines if len(line) > 80 and line.strip() not in gates]
        assert not [line for line in long if " " in line.strip("│├└─○ ") and _could_break(line)], identity


def _could_break(line: str) -> bool:
    verbatim = ("run:", "set:", "edit:", "http", " = ")
    return (
        not any(mark in line for mark in verbatim)
        and not line.startswith(" " * 10)
        and max(map(len, line.split())) < 40
    )


def test_an_unknown_id_names_its_neighbours(book: Rulebook) -> None:
    with pytest.raises(UnknownIdError) as caught:
        explain("widget.demnd", book)
    assert caught.value.near[0] == "widget.demand"


def run(*arguments: str) -> Result:
    command = explain_command if arguments[0] == "explain" else rules_command
    return CliRunner().invoke(command, arguments[1:])


def test_explain_as_a_command(folder: Path) -> None:
    assert run("explain", "widget", "--rules", str(folder)).stdout == TREE_PAGE + "\n"
    document = json.loads(run("explain", "widget.demand", "--rules", str(folder), "--format", "json").stdout)
    assert (document["schema"], document["kind"], document["trees"]) == ("llm-doctor/explain/1", "cause", ["widget"])
    unknown = run("explain", "widget.demnd", "--rules", str(folder))
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert "did you mean widget.demand" in unknown.stderr


def test_list(folder: Path) -> None:
    listed = run("rules", "list", "--rules", str(folder), "--kind", "signature").stdout.splitlines()
    row = next(line for line in listed if line.startswith("widget/refused "))
    assert row.split()[1:4] == ["initiating", "fatal", "The"]
    assert "widget store refused" in run("rules", "list", "--gates", "--rules", str(folder)).stdout.splitlines()
    rows = json.loads(run("rules", "list", "--rules", str(folder), "--format", "json").stdout)["rules"]
    assert {row["kind"] for row in rows} == {"signature", "tree", "cause"}


def test_lint_checks_one_folder_on_top_of_the_shipped_rules(folder: Path) -> None:
    good = run("rules", "lint", str(folder))
    assert (good.exit_code, good.stdout, good.stderr) == (0, "", "0 errors, 0 warnings\n")
    write_rules(folder, {"signatures/widget/refused.yaml": SIGNATURE.replace("device: 3}", "device: 4}")})
    bad = run("rules", "lint", str(folder / "signatures"), "--format", "json")
    assert bad.exit_code == 1
    assert [(fault["line"], fault["level"]) for fault in json.loads(bad.stdout)["faults"]] == [(13, "error")]


def test_trials_show_what_was_captured(folder: Path) -> None:
    good = run("rules", "test", "widget/refused", "--rules", str(folder))
    assert good.exit_code == 0
    assert good.stdout.splitlines() == [
        "widget/refused",
        "  good   example 1     requested_bytes 2 GiB, device 3",
        "  good   near miss 1   rightly silent: the store is well",
    ]
    write_rules(folder, {"signatures/widget/refused.yaml": SIGNATURE.replace("device: 3}", "device: 4}")})
    bad = run("rules", "test", "widget", "--rules", str(folder))
    assert bad.exit_code == 1
    assert "  WRONG  example 1     device is 3, not 4" in bad.stdout
    assert run("rules", "test", "widget/refusd", "--rules", str(folder)).exit_code == 2


def test_new_writes_a_file_once(tmp_path: Path) -> None:
    arguments = ("rules", "new", "cause", "mine.thing", "--dir", str(tmp_path))
    assert run(*arguments).stdout == f"{tmp_path}/causes/mine/thing.yaml\n"
    again = run(*arguments)
    assert (again.exit_code, "is there already" in again.stderr) == (2, True)


def test_rules_that_do_not_load_end_with_their_faults(folder: Path) -> None:
    write_rules(folder, {"trees/widget.yaml": "title: x\n"})
    result = run("rules", "list", "--rules", str(folder))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{folder}/trees/widget.yaml:1:1: nodes is missing" in result.stderr
    assert run("rules", "list", "--rules", str(folder / "gone")).exit_code == 2
