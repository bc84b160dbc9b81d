"""Lint: a sound folder has no fault, and every kind of fault is told at its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from widget import CAUSE, SIGNATURE, TREE, write_rules

from doctor.exam.scan import make_matcher
from doctor.rulebook.book import Rulebook
from doctor.rulebook.lint.pattern import alternatives, compile_fault, holds_literal, reaches
from doctor.rulebook.lint.run import lint_layers
from doctor.rulebook.lint.signature import Match
from doctor.rulebook.scaffold import ScaffoldError, write_scaffold
from doctor.rulebook.source import read_layer

PLAIN_CAUSE = CAUSE.replace("{requested_bytes} on device {device}", "one")


def match_of(book: Rulebook) -> Match:
    return make_matcher(book).match_text


def lint(folder: Path, clean: tuple[tuple[str, str], ...] = ()) -> list[str]:
    faults = lint_layers([read_layer(folder)], match_of, clean)
    return [str(fault).replace(f"{folder}/", "") for fault in faults]


def test_a_sound_folder_has_no_fault(tmp_path: Path) -> None:
    assert lint(write_rules(tmp_path)) == []


SIGNATURES = [
    ("gate: widget store refused", "gate: widget shop refused", ":7:5: the regex can match without the gate"),
    ("gate: widget store refused", "gate: widget shop refused", ":7:5: no example has this gate"),
    ("widget store refused (?P", "widget store (?:refused|declined) (?P", ":7:5: the regex can match without the gate"),
    ("regex: 'widget", "regex: 'fast widget|widget", ":8:5: no example reaches the alternative 'fast widget'"),
    (r"(?P<device>\d+)'", r"(?P<device>\d+)(?: a| b)?'", ":8:5: warning: no example reaches the alternative ' a'"),
    ("bytes, device: index}", "bytes}", ":9:1: the capture device has no unit"),
    ("device: index}\nopens", "device: index, gpu: index}\nopens", ":9:45: no regex captures gpu"),
    ("requested: bytes", "requested: octets", ":9:12: 'octets' is no unit"),
    ("device: 3}", "device: 4}", ":13:5: device is 3, not 4"),
    ("2147483648, device: 3", "2147483648", ":13:5: device is 3, which the example does not say"),
    ("refused 2.00 GiB on", "accepted 2.00 GiB on", ":12:5: this line does not match"),
    ("store ready", "store refused 1 GiB on device 1", ":15:30: this line must not match, and it does"),
    ("near_misses:\n  - {why: the store is well, line: widget store ready}\n", "", ":1:1: near_misses is missing"),
    ("why: the store is well", "why: ''", ":15:6: the reason is missing"),
    ("https://example.org/widget", "the manual", ":16:14: a reference is a URL"),
    ("says_not: That the store is full.", "says_not: ''", ":5:1: says_not is empty"),
    ("opens: widget", "opens: widget\ncause: widget.demand", ":10:1: a signature opens a tree or names a cause"),
    ("device", "global", ":9:30: global is a word of the condition language"),
    ("title: The widget", "title: FILL IN the widget", ":1:1: still says FILL IN"),
]


@pytest.mark.parametrize(("old", "new", "fault"), SIGNATURES)
def test_faults_of_signatures(tmp_path: Path, old: str, new: str, fault: str) -> None:
    assert old in SIGNATURE
    found = lint(write_rules(tmp_path, {"signatures/widget/refused.yaml": SIGNATURE.replace(old, new)}))
    assert any(one.startswith(f"signatures/widget/refused.yaml{fault}") for one in found), found


TREES = [
    (
        "    else: again\n    unknown: again",
        "    else: {cause: widget.demand}\n    unknown: {cause: widget.demand}",
        ":11:3: no answer leads to again",
    ),
    ("when: half_bytes > GiB(1)", "when: signal.asked_bytes > 1", ":7:5: signal.asked_bytes: no signature captures it"),
    ("when: half_bytes > GiB(1)", "when: cluster.size > 1", ":7:5: cluster.size: live facts begin with"),
    ("when: half_bytes > GiB(1)", "when: seen('widget/gone')", ":7:5: there is no signature widget/gone"),
    ("when: half_bytes > GiB(1)", "when: field('widget/refused', 'free') > 1", ":7:5: widget/refused has no"),
    ("when: half_bytes > GiB(1)", "when: in_trace('(')", ":7:5: not an RE2 regex"),
    (
        "{half_bytes: signal.requested_bytes / 2}",
        "{half_bytes: late_bytes / 2, late_bytes: 2 + 2}",
        ":3:7: warning: late_bytes",
    ),
    ("then: {cause: widget.demand, ", "then: {cause: widget.gone, ", ":8:5: there is no cause widget.gone"),
    ("probe: host.widget_count", "probe: widgets", ":14:5: facts begin with"),
]


@pytest.mark.parametrize(("old", "new", "fault"), TREES)
def test_faults_of_trees(tmp_path: Path, old: str, new: str, fault: str) -> None:
    assert old in TREE
    found = lint(write_rules(tmp_path, {"trees/widget.yaml": TREE.replace(old, new)}))
    assert any(one.startswith(f"trees/widget.yaml{fault}") for one in found), found


CAUSES = [
    ("  - Every step takes one.\n", "", ":3:1: one sentence without placeholders must explain"),
    ("{requested_bytes} on", "{asked_bytes} on", ":5:5: asked_bytes: no signature captures it"),
    ("do: Ask for fewer.", "do: Ask for fewer than {requested_bytes}.", ":6:1: every remedy has placeholders"),
    ("verify: The step passes.", "verify: ' '", ":10:1: verify is empty"),
    ("verify: The step passes.", "verify: It works.\nrivals: [widget.gone]", ":11:10: there is no cause widget.gone"),
    ("verify: The step passes.", "verify: It works.\nrivals: [widget.demand]", ":11:1: a cause is no rival of itself"),
    ("    risk: safe", "    risk: safe\n    when: stage ==", ":10:5: column"),
]


@pytest.mark.parametrize(("old", "new", "fault"), CAUSES)
def test_faults_of_causes(tmp_path: Path, old: str, new: str, fault: str) -> None:
    assert old in CAUSE
    found = lint(write_rules(tmp_path, {"causes/widget/demand.yaml": CAUSE.replace(old, new)}))
    assert any(one.startswith(f"causes/widget/demand.yaml{fault}") for one in found), found


def test_a_cause_that_nothing_leads_to_is_a_warning(tmp_path: Path) -> None:
    found = lint(write_rules(tmp_path, {"causes/widget/lonely.yaml": PLAIN_CAUSE}))
    assert found == ["causes/widget/lonely.yaml:1:1: warning: no tree and no signature leads to this cause"]


def test_nothing_harmful_may_match_a_healthy_log(tmp_path: Path) -> None:
    clean = (("clean/run.log", "all is well\nwidget store refused 1.00 GiB on device 0, retried\n"),)
    found = lint(write_rules(tmp_path), clean)
    assert found == ["clean/run.log:2:1: widget/refused matches in the log of a healthy run"]
    harmless = {"signatures/widget/refused.yaml": SIGNATURE.replace("role: initiating", "role: harmless")}
    assert lint(write_rules(tmp_path, harmless), clean) == []


def test_stages_and_marks_of_frameworks_are_checked(tmp_path: Path) -> None:
    stages = "- {stage: dreaming, where: ['(']}\n"
    marks = "- {framework: x, literals: [x]}\n"
    write_rules(tmp_path, {"catalogue/stages.yaml": stages, "catalogue/frameworks.yaml": marks})
    found = "\n".join(lint(tmp_path))
    assert "stages.yaml:1:1: dreaming is no stage" in found
    assert "stages.yaml:1:1: dreaming: not an RE2 regex" in found
    assert "frameworks.yaml:1:1: x: 'x' is too short" in found


@pytest.mark.parametrize(
    ("regex", "literal", "holds"),
    [
        (r"out of memory\. Tried", "memory. Tried", True),
        (r"out of memor(?:y|ies)", "out of memor", True),
        (r"out of memor(?:y|ies)", "memory", False),
        (r"(?:CUDA|HIP) out of memory", " out of memory", True),
        (r"a long text|another long text", "long text", True),
        (r"a long text|another text", "long text", False),
        (r"capac(?:i)?ty", "capacity", False),
        (r"(?i)out of memory", "out of memory", False),
        (r"(?i:out) of memory", " of memory", True),
        (r"(?:gate text)+ x", "gate text", True),
        (r"(?:gate text)* x", "gate text", False),
        (r"gate\btext", "gatetext", True),
        (r"[g]ate text", "gate text", True),
        (r"[gG]ate text", "ate text", True),
        (r"gate.text", "gate text", False),
        (r"\pN gate text", "gate text", None),
    ],
)
def test_required_literals(regex: str, literal: str, holds: bool | None) -> None:
    assert holds_literal(regex, literal) is holds


@pytest.mark.parametrize(
    ("regex", "found"),
    [
        ("a|b", [("a", True), ("b", True)]),
        ("(?:a|b)", [("a", True), ("b", True)]),
        ("x(?:a|b)", [("a", False), ("b", False)]),
        ("x(?P<n>a|b(?:c|d))", [("a", False), ("b(?:c|d)", False), ("c", False), ("d", False)]),
        (r"[|)]\||[^]|]", [(r"[|)]\|", True), ("[^]|]", True)]),
        ("[[:alpha:]|]|b", [("[[:alpha:]|]", True), ("b", True)]),
        ("no alternatives", []),
        ("x(?: end|$)", [(" end", False)]),
    ],
)
def test_alternatives_are_found(regex: str, found: list[tuple[str, bool]]) -> None:
    assert [(one.text, one.top) for one in alternatives(regex)] == found


def test_an_alternative_is_reached_by_the_line_that_takes_it() -> None:
    first, second = alternatives(r"disk (?:is full|has (?P<n>\d+) left)")
    assert reaches(first, ["disk is full"])
    assert not reaches(second, ["disk is full"])
    assert reaches(second, ["disk has 3 left"])


@pytest.mark.parametrize("regex", ["(", r"(?<=a)b", r"(a)\1", "a{2000}", "(?:a{50}){50}"])
def test_regexes_that_are_refused(regex: str) -> None:
    assert (compile_fault(regex) or "").startswith("not an RE2 regex: ")


@pytest.mark.parametrize(("kind", "name"), [("signature", "mine/new-one"), ("tree", "mine"), ("cause", "mine.new-one")])
def test_a_scaffold_only_wants_to_be_filled_in(tmp_path: Path, kind: str, name: str) -> None:
    write_rules(tmp_path, {"causes/unknown/exception.yaml": PLAIN_CAUSE})
    path = write_scaffold(kind, name, tmp_path)
    found = [one for one in lint(tmp_path) if not one.startswith("causes/unknown")]
    assert found
    errors = [one for one in found if " warning: " not in one]
    assert all(one.endswith("still says FILL IN") for one in errors), errors
    path.write_text(path.read_text(encoding="utf-8").replace("FILL IN ", "My "), encoding="utf-8")
    assert not [one for one in lint(tmp_path) if " warning: " not in one]


def test_a_scaffold_never_overwrites(tmp_path: Path) -> None:
    path = write_scaffold("tree", "mine", tmp_path)
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(ScaffoldError, match="is there already"):
        write_scaffold("tree", "mine", tmp_path)
    assert path.read_text(encoding="utf-8") == "mine"
    with pytest.raises(ScaffoldError, match="is no name for a cause"):
        write_scaffold("cause", "../../etc/passwd", tmp_path)
