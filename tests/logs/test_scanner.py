"""The compiled gate set, and what a window makes of positions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from doctor.logs.line import LineParser
from doctor.logs.scanner import Scanner
from doctor.logs.window import Window

GATES = [b"abcab", b"bcabc", b"\xff!\n?", b"aaaaa", b"cab"]


def all_occurrences(data: bytes, gate: bytes) -> list[int]:
    return [i + len(gate) for i in range(len(data)) if data.startswith(gate, i)]


@given(st.lists(st.sampled_from([*GATES, b"a", b"b", b"c", b"\n", b"\x00"]), max_size=40))
def test_hits_are_exactly_the_occurrences(parts: list[bytes]) -> None:
    data = b"".join(parts)
    scanner = Scanner(GATES)
    expected = sorted((end, i) for i, gate in enumerate(GATES) for end in all_occurrences(data, gate))
    assert sorted(scanner.hits(data)) == expected
    assert scanner.touches(data, scanner.scratch()) == bool(expected)


def test_gates_given_twice_are_one() -> None:
    scanner = Scanner([b"hello", b"world", b"hello"])
    assert scanner.gates == [b"hello", b"world"]
    assert scanner.hits(b"hello world") == [(5, 0), (11, 1)]
    assert scanner.start(11, 1) == 6


def test_no_gates_find_nothing() -> None:
    assert Scanner([]).hits(b"text") == []


def test_a_window_finds_the_line_of_a_position() -> None:
    window = Window(b"first\nsecond\nthird", 1000, LineParser())
    raw = window.raw_at(1008, 1010)
    assert (raw.start, raw.end, raw.data, raw.cut) == (1006, 1012, b"second", False)
    assert [line.text for line in window.after(raw, 2, 5)] == ["third"]
    assert [line.text for line in window.before(raw, 2) or ()] == ["first"]
    assert window.raw_at(1014, 1015).data == b"third"


def test_a_very_long_line_is_cut_around_the_hit() -> None:
    data = b"x" * 300_000 + b"GATE!" + b"y" * 300_000
    raw = Window(data, 0, LineParser()).raw_at(300_000, 300_005)
    assert raw.cut
    assert b"GATE!" in raw.data
    assert len(raw.data) < 64 << 10


def test_a_progress_bar_is_cut_at_its_carriage_returns() -> None:
    bar = b" 10%|# | 10/100 [00:01<00:09, 10.0it/s]\r"
    data = bar * 5000 + b"RuntimeError: GATE!\r" + bar * 5000
    at = data.index(b"GATE!")
    raw = Window(data, 0, LineParser()).raw_at(at, at + 5)
    assert raw.data == b"RuntimeError: GATE!"
    assert not raw.cut
