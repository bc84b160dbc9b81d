"""Lines: escapes, boxes, several writers on one row, and totality."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.logs.line import LineParser


def texts(raw: str) -> list[str]:
    return [line.text for line in LineParser().parse(raw.encode(), 3)]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("\x1b[1;36mred\x1b[0;0m end", ["red end"]),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x07 end", ["link end"]),
        ("\\033[31mred\\033[0m", ["red"]),
        ("[31mred[0m", ["red"]),
        ("rate(x[5m])", ["rate(x[5m])"]),
        ("tensor[0] of m", ["tensor[0] of m"]),
        ("\ufeffx\u200b\xa0y", ["x y"]),
        ("a\tb  ", ["a\tb"]),
        ("│ /x/module.py:1784 in _call_impl        │", ["/x/module.py:1784 in _call_impl"]),
        ("│ ❱ 1773 │   │   return f(x)               │", ["❱ 1773         return f(x)"]),
        ("╭───── Traceback (most recent call last) ─────╮", ["Traceback (most recent call last)"]),
        ("╰──────────────╯", [""]),
        ("    indented", ["    indented"]),
        ("", [""]),
        ("  \r  ", [""]),
    ],
)
def test_what_terminals_need_is_gone(raw: str, expected: list[str]) -> None:
    assert texts(raw) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("  0%| | 0/9\r 50%| | 5/9\rRuntimeError: x", ["  0%| | 0/9", " 50%| | 5/9", "RuntimeError: x"]),
        (" 14%|█▍ | 380/2724 [14:02<86:01, 132.12s/it]{'loss': 2.0}",
         [" 14%|█▍ | 380/2724 [14:02<86:01, 132.12s/it]", "{'loss': 2.0}"]),
        ("  0%| | 9/63 [00:19<37:53,  2.14s/it][2021-06-08 12:02:45,001] [INFO] [stage3.py:2323:f] OVERFLOW",
         ["  0%| | 9/63 [00:19<37:53,  2.14s/it]", "OVERFLOW"]),
        ("[rank0]:   x = f()[rank1]:   File", ["  x = f()", "  File"]),
        ("tail(Worker_TP1 pid=3) INFO 09-28 15:47:24 [a.py:1] y", ["tail", "y"]),
        ("  0%| | 0/1 [00:00<?, ?it/s]Traceback (most recent call last):",
         ["  0%| | 0/1 [00:00<?, ?it/s]", "Traceback (most recent call last):"]),
    ],
)  # fmt: skip
def test_each_writer_on_a_row_gets_a_line(raw: str, expected: list[str]) -> None:
    assert texts(raw) == expected


def test_glued_ranks_are_told_apart() -> None:
    lines = LineParser().parse(b"[rank0]: one[rank1]: two", 5)
    assert [(line.speaker.rank, line.text, line.number) for line in lines] == [(0, "one", 5), (1, "two", 5)]


def test_json_message_with_several_lines() -> None:
    raw = b'{"message": "failed", "level": "error", "exc_info": "Traceback (most recent call last):\\n  File \\"x\\""}'
    lines = LineParser().parse(raw, 1)
    assert [line.text for line in lines] == ["failed", "Traceback (most recent call last):", '  File "x"']
    assert {line.level for line in lines} == {"ERROR"}


def test_width_is_that_of_the_printed_row() -> None:
    (line,) = LineParser().parse(b"\x1b[31m[rank0]: abc\x1b[0m", 1)
    assert (line.width, line.text) == (12, "abc")


def test_long_lines_are_cut_and_the_end_of_a_progress_row_is_kept() -> None:
    parser = LineParser()
    (line,) = parser.parse(b"x" * 200_000, 1)
    assert len(line.text) == 65_536
    assert parser.parse(b" 1%| |\r" * 50_000 + b"RuntimeError: x", 1)[-1].text == "RuntimeError: x"


@given(st.binary(max_size=300))
def test_any_bytes_are_answered(raw: bytes) -> None:
    assert LineParser().parse(raw, 1)


@given(
    st.lists(
        st.sampled_from(
            ["[rank3]:", "[E1130 03:12:44.1 a.cpp:1] ", "3: ", "node01: ", "(W pid=3) ", "[", "]", "{\"log\":\"", "\"}",
             "\r",
             "2026-11-30 03:12:44,123 ", "- ", "ERROR ", "| ", "\x1b[3", "│", "> ", "INFO:", "x", "it/s]", "\x1b]"]
        ),
        max_size=30,
    )
)  # fmt: skip
def test_any_stack_of_prefixes_is_answered(parts: list[str]) -> None:
    parser = LineParser()
    for line in parser.parse("".join(parts).encode(), 1):
        assert line.number == 1


@pytest.mark.parametrize(
    "unit", ["[", "(a", "a:", "\x1b]", "a.", "{", "1:1:", " - ", "a b - ", "[PG ", "│ ", "it/s, ", "\\", "[INFO|"]
)
def test_hostile_lines_take_linear_time(unit: str) -> None:
    raw = (unit * 70_000).encode()
    begun = time.process_time()
    LineParser().parse(raw, 1)
    assert time.process_time() - begun < 1.0
