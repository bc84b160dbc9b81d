"""What a person reads, to the letter: ``LLM_DOCTOR_UPDATE=1`` writes the expected texts anew, to be read by eye."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec
import pytest

from doctor.model.diagnosis import ScanReport
from doctor.model.vocabulary import Confidence, Place, Severity, Verdict
from doctor.report.markdown import markdown_of
from doctor.report.style import Style
from doctor.report.text import brief_of, text_of

EXPECTED = Path(__file__).parent / "expected"
CASES = ("oom", "nan", "unknown", "warned", "healthy")
SGR = re.compile(r"\x1b\[[0-9;]*m")


def check(name: str, text: str) -> None:
    file = EXPECTED / name
    if os.environ.get("LLM_DOCTOR_UPDATE"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.fixture
def report(request: pytest.FixtureRequest) -> ScanReport:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, ScanReport)
    return found


@pytest.mark.parametrize(("report", "name"), [(case, case) for case in CASES], indirect=["report"])
def test_text_is_as_expected(report: ScanReport, name: str) -> None:
    check(f"{name}.txt", text_of(report, Style()))


@pytest.mark.parametrize(("report", "name"), [(case, case) for case in CASES], indirect=["report"])
def test_markdown_is_as_expected(report: ScanReport, name: str) -> None:
    check(f"{name}.md", markdown_of(report))


def test_verbose_and_plain_characters(oom: ScanReport, nan: ScanReport) -> None:
    check("oom-verbose.txt", text_of(oom, Style(), verbose=True))
    plain = text_of(nan, Style(unicode=False))
    check("nan-ascii.txt", plain)
    assert plain.isascii()


@pytest.mark.parametrize("report", CASES, indirect=True)
def test_colour_adds_nothing_but_colour(report: ScanReport) -> None:
    coloured = text_of(report, Style(colour=True))
    assert "\x1b[" in coloured
    assert SGR.sub("", coloured) == text_of(report, Style())


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_only_lines_to_copy_may_be_wider(oom: ScanReport, width: int) -> None:
    commands = {missing.how for missing in oom.diagnoses[0].missing}
    commands |= {text for remedy in oom.diagnoses[0].remedies for text in (remedy.run, remedy.set, remedy.edit)}
    for line in text_of(oom, Style(width=width)).splitlines():
        assert len(line) <= width or line.strip() in commands


def test_a_command_stands_alone_on_its_line(oom: ScanReport) -> None:
    lines = [line.strip() for line in text_of(oom, Style()).splitlines()]
    for remedy in oom.diagnoses[0].remedies:
        assert {text for text in (remedy.run, remedy.set, remedy.edit) if text} <= set(lines)


def test_brief_is_one_line_a_diagnosis(oom: ScanReport, warned: ScanReport, healthy: ScanReport) -> None:
    assert brief_of(oom).splitlines() == [
        "logs/rank3.log:10482: fatal: One step needs more memory than the GPU has (rank 3 of 8, node gpu-07) "
        "[gpu-memory.demand]",
        "logs/rank0.log:10490: consequence: A collective ended because another rank failed (ranks 0–2, 4–7) "
        "[distributed.peer-failed]",
    ]
    assert brief_of(warned).startswith("train.log:1203: warning: ")
    assert brief_of(healthy) == "healthy: 1 file, 1,204 lines, 88.1 KiB in 0.12 s\n"


def test_unread_input_and_an_empty_log_are_not_called_healthy(healthy: ScanReport) -> None:
    unread = msgspec.structs.replace(healthy.scanned, unreadable=("b.log: Permission denied.",))
    text = text_of(msgspec.structs.replace(healthy, scanned=unread), Style())
    assert "Nothing wrong was found in the log that could be read." in text
    assert "Could not read: b.log: Permission denied." in text
    empty = msgspec.structs.replace(healthy.scanned, lines=0, bytes=0)
    assert text_of(msgspec.structs.replace(healthy, scanned=empty), Style()).startswith("! The log is empty")


def test_many_roots_limits_and_warnings_are_counted_not_listed(unknown: ScanReport, warned: ScanReport) -> None:
    many = msgspec.structs.replace(
        unknown,
        diagnoses=unknown.diagnoses[1:] * 9 + warned.diagnoses * 9,
        scanned=msgspec.structs.replace(unknown.scanned, limits=("A bound bit.",) * 2000),
    )
    text = text_of(many, Style())
    assert "5 more causes found; -v shows all." in text
    assert "and 3 more" in text
    assert "Limit reached: 1,997 more" in text
    assert text.count("\n") < 90


def test_a_root_that_only_warns_does_not_look_like_a_failure(warned: ScanReport) -> None:
    root = msgspec.structs.replace(
        warned.diagnoses[0], role=Place.ROOT, severity=Severity.WARNING, confidence=Confidence.LIKELY
    )
    text = text_of(msgspec.structs.replace(warned, verdict=Verdict.WARNINGS, diagnoses=(root,)), Style())
    assert text.startswith("! The process group was not destroyed")
