"""Hostile text: nothing that a log says may act on a terminal or in Markdown."""

from __future__ import annotations

import re
import time
import unicodedata

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.model.diagnosis import ScanReport
from doctor.report.escape import code_span, fenced, markdown_text, one_line, visible
from doctor.report.json import json_of
from doctor.report.markdown import markdown_of
from doctor.report.measure import clip, pad, width_of, wrap
from doctor.report.style import Style
from doctor.report.text import brief_of, text_of

HOSTILE = [
    "\x1b[2J\x1b[H\x1b]0;owned\x07 cleared",
    "\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x9b31mC1\x9d0;t\x9c",
    "abc\u202edcba\u2066x\u2069",
    "zero\u200bwidth\ufeffbom\u00adsoft\U000e0041tag",
    "over\rwrite\x08\x08back\x00nul\x7fdel",
    "[bold red]markup[/] [link=x]",
    "half \ud800 character",
    "e" + "\u0301" * 400,
]
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def infected(report: ScanReport, text: str) -> ScanReport:
    """Return the report with a text in every place that a log or a rule can fill."""
    root = report.diagnoses[0]
    evidence = tuple(msgspec.structs.replace(e, text=text, file=text, node=text, time=text) for e in root.evidence)
    changed = msgspec.structs.replace(
        root,
        title=text,
        because=text,
        evidence=evidence,
        path=tuple(msgspec.structs.replace(s, ask=text, by=text) for s in root.path),
        missing=tuple(msgspec.structs.replace(m, fact=text, how=text) for m in root.missing),
        remedies=tuple(msgspec.structs.replace(r, do=text, run=text, edit=text, verify=text) for r in root.remedies),
        charts=tuple(msgspec.structs.replace(c, metric=text) for c in root.charts),
        rivals=(text,),
        consequences=(text,),
    )
    scanned = msgspec.structs.replace(report.scanned, unreadable=(text,), limits=(text,))
    return msgspec.structs.replace(report, diagnoses=(changed,), next_steps=(text,), scanned=scanned)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("case", ["oom", "nan"])
def test_nothing_unseen_reaches_an_output(case: str, text: str, request: pytest.FixtureRequest) -> None:
    report = infected(request.getfixturevalue(case), text)
    outputs = [text_of(report, Style(), verbose=True), brief_of(report), markdown_of(report), json_of(report)]
    for output in outputs:
        assert {c for c in output if unicodedata.category(c) in UNSEEN} <= {"\n"}


def test_only_our_own_colours_are_left(oom: ScanReport) -> None:
    coloured = text_of(infected(oom, HOSTILE[0] + "\x1b[31mred"), Style(colour=True))
    allowed = ("0", "1", "2", "31", "32", "33", "36", "1;31", "1;33")
    assert re.sub(rf"\x1b\[({'|'.join(allowed)})m", "", coloured).count("\x1b") == 0
    assert "\x1b[2J" not in coloured
    assert "\x1b]" not in coloured


def test_rich_markup_is_only_text(oom: ScanReport) -> None:
    assert "[bold red]markup[/]" in text_of(infected(oom, "[bold red]markup[/]"), Style())


def test_a_megabyte_of_text_is_cut_and_quick(oom: ScanReport) -> None:
    report = infected(oom, "x" * (1 << 20))
    began = time.perf_counter()
    text, markdown = text_of(report, Style()), markdown_of(report)
    assert time.perf_counter() - began < 5
    assert max(len(text), len(markdown)) < 2 << 20


def test_unseen_characters_are_spelled_out() -> None:
    assert visible("a\u202eb\x00c\td") == "a\\u202eb\\x00c    d"
    assert visible("\x1b[1;31mred\x1b[0m\x1b]0;title\x07!") == "red!"
    assert visible("unfinished \x1b[31") == "unfinished \\x1b[31"
    assert one_line(" a \n\t b\r\n") == "a b"
    assert width_of(visible("e" + "\u0301" * 400)) == 1
    assert len(visible("e" + "\u0301" * 400)) == 4


def test_fences_outlast_what_is_in_them() -> None:
    assert fenced("a\n````\nb").startswith("`````\n")
    assert code_span("a ``b`` `") == "``` a ``b`` ` ```"
    assert markdown_text("<img> [x](y) *b* a_b _c_ | @someone #12") == (
        "\\<img\\> \\[x\\](y) \\*b\\* a_b \\_c\\_ \\| @<!-- -->someone #<!-- -->12"
    )


def test_markdown_blocks_cannot_be_left(oom: ScanReport) -> None:
    breaking = "```\n</details>\n# heading\n<script>alert(1)</script>"
    output = markdown_of(infected(oom, breaking))
    outside = re.sub(r"(?ms)^ *(`{3,})[^\n`]*\n.*?^ *\1$", "", output)
    outside = re.sub(r"\\.", "", outside)
    outside = re.sub(r"(?s)(`+)(?!`).*?(?<!`)\1(?!`)", "", outside)
    assert "<script>" not in outside
    assert outside.count("</details>") == outside.count("<details>")
    assert "\n# heading" not in outside


def test_wide_characters_are_measured_as_they_are_drawn() -> None:
    assert width_of("显存不足") == 8
    assert pad("显存", 6) == "显存  "
    assert clip("显存不足 abc", 7) == "显存不…"
    assert wrap("显存不足，请减小批次。", 8) == ["显存不", "足，请减", "小批次。"]
    assert wrap("one two  three", 7) == ["one two", "three"]
    assert wrap("x" * 10, 4) == ["xxxx", "xxxx", "xx"]


def test_wide_text_stays_inside_the_page(oom: ScanReport) -> None:
    report = infected(oom, "一个步骤需要的显存比这块卡所能提供的还要多，rank 3 因此失败。" * 4)
    long = {line for line in text_of(report, Style()).splitlines() if width_of(line) > 80}
    verbatim = report.diagnoses[0].remedies[0].run
    assert all(line.strip() == verbatim or verbatim[:20] in line for line in long)


@given(st.text(), st.integers(2, 60))
def test_wrapping_loses_no_character_and_keeps_the_width(text: str, columns: int) -> None:
    line = one_line(text)
    lines = wrap(line, columns)
    assert "".join(lines).replace(" ", "") == line.replace(" ", "")
    assert all(width_of(one) <= columns for one in lines)


@given(st.text())
def test_any_text_becomes_visible_once_and_for_all(text: str) -> None:
    once = visible(text)
    assert visible(once) == once
    assert not {c for c in once if unicodedata.category(c) in UNSEEN} - {"\n"}
