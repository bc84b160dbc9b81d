"""The fast path against a slow and plain one: every line, every gate, the same regexes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from knowledge import OOM, TIMEOUT, signature

from doctor.logs import feed, skim
from doctor.logs.limit import Limits
from doctor.logs.line import LineParser
from doctor.logs.matcher import ALL, Matcher
from doctor.logs.reader import read_log
from doctor.logs.reading import Reading
from doctor.logs.sniff import binary, encoding
from doctor.logs.source import Source
from doctor.model.log import LogFile

SHORT = signature("a/short", ("gates", r"gates (?P<n>\d+)"), captures={"n": "count"})
TAIL = signature("a/tail", ("s 1", r"s 1(?P<rest>\d)"), ("tail!", "tail!"), captures={"rest": "text"})
SIGNATURES = [OOM, TIMEOUT, SHORT, TAIL]
FRAMEWORKS = [("deepspeed", b"DeepSpeed"), ("vllm", b"vLLM")]
MATCHER = Matcher(SIGNATURES, FRAMEWORKS)

PIECES = [
    b"CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 3.00 GiB",
    b"CUDA out of memory. Tried to allocate some",
    b"Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, Timeout(ms)=600000)",
    b"gates 12",
    b"gates 1",
    b"gates",
    b"tail!",
    b"DeepSpeed",
    b"vLLM ",
    b"[rank1]: ",
    b"2024-05-01 10:00:00,000 ",
    b"\x1b[31m",
    b"\r",
    b"\x00",
    b"\xff\xfe",
    b"Traceback (most recent call last):",
    b'  File "a.py", line 3, in f',
    b"ValueError: bad",
    b"{'loss': nan, 'grad_norm': 1.0, 'learning_rate': 0.1, 'epoch': 0.1}",
    b" 12%|# | 12/100 [00:01<00:09, 10.0it/s]",
]
LINES = st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=12)), max_size=4).map(b"".join)
LOGS = st.lists(LINES, max_size=30).map(b"\n".join)


def plainly(data: bytes) -> set[tuple[str, int]]:
    """Return (signature, line) by trying every regex on every message that holds its gate."""
    parser, found = LineParser(), set()
    for number, raw in enumerate(data.split(b"\n"), 1):
        for line in parser.parse(raw, number):
            for each in SIGNATURES:
                for pattern in each.patterns:
                    if pattern.gate.encode() in raw and re.search(pattern.regex, line.text):
                        found.add((each.id, number))
    return found


def quickly(log: LogFile) -> set[tuple[str, int]]:
    return {(each.signature, each.line) for each in log.occurrences}


def in_pieces(data: bytes, cuts: list[int]) -> LogFile:
    """Read with blocks that end anywhere."""
    reading = Reading("log", MATCHER, Limits())
    bounds = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    for start, end in pairwise(bounds):
        base = max(0, start - 1000)
        gates = MATCHER.gate_set(ALL, frozenset())
        reading.take(gates, (data[base:], base), start, end, data.count(b"\n", 0, start))
    return reading.finish(len(data), data.count(b"\n") + (not data.endswith(b"\n") and bool(data)))


def comparable(log: LogFile) -> tuple[object, ...]:
    series = [(each.metric, each.stream, list(each.lines)) for each in log.series]
    return log.lines, log.counts, log.occurrences, log.exceptions, log.frameworks, log.alive_lines, series


@settings(max_examples=200, deadline=None)
@given(LOGS, st.lists(st.integers(0, 5000), max_size=8))
def test_any_bytes_in_any_chunking(data: bytes, cuts: list[int]) -> None:
    log = in_pieces(data, cuts)
    whole = in_pieces(data, [])
    assert comparable(log) == comparable(whole)
    assert plainly(data) <= quickly(whole)
    for name, number in quickly(whole) - plainly(data):
        assert is_there_rejoined(data, name, number)


def is_there_rejoined(data: bytes, name: str, number: int) -> bool:
    """Return whether a signature matches the texts around a line put together."""
    parser = LineParser()
    around = list(enumerate(data.split(b"\n"), 1))[max(0, number - 2) : number + 9]
    texts = [line.text for place, raw in around for line in parser.parse(raw, place)]
    whole = "".join(texts) + "\n" + " ".join(texts) + "\n" + "".join(text.strip() for text in texts)
    regexes = [pattern.regex for each in SIGNATURES if each.id == name for pattern in each.patterns]
    return any(re.search(regex, whole) for regex in regexes)


@settings(max_examples=60, deadline=None)
@given(LOGS)
def test_text_at_hand_takes_the_same_route(data: bytes) -> None:
    assume(not encoding(data) and not binary(data))
    log = read_log(Source(path="log", data=data), MATCHER)
    assert comparable(log) == comparable(in_pieces(data, []))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=3000))
def test_no_bytes_crash_the_reader(data: bytes) -> None:
    assert isinstance(read_log(Source(path="log", data=data), MATCHER), LogFile)


@pytest.fixture(params=["alone", "helped"])
def _small_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a small file take the route of a big one, with blocks of 8 KiB."""
    for module in (feed, skim):
        monkeypatch.setattr(module, "BLOCK_BYTES", 8 << 10)
    monkeypatch.setattr("doctor.logs.reader.SMALL_BYTES", 16 << 10)
    monkeypatch.setattr(skim, "_HELPED_BYTES", 0 if request.param == "helped" else 1 << 60)


def noisy_log() -> Iterator[bytes]:
    for i in range(40_000):
        yield b"2024-05-01 10:00:00,000 INFO step %d loss %f DeepSpeed" % (i, 10 / (i + 1))
        if i % 997 == 0:
            yield PIECES[i % 7]
        if i % 5003 == 0:
            yield b"x" * 20_000 + PIECES[0]


@pytest.mark.usefixtures("_small_blocks")
def test_the_route_of_big_files(tmp_path: Path) -> None:
    data = b"\n".join(noisy_log())
    path = tmp_path / "big.log"
    path.write_bytes(data)
    limits = Limits(number_all_bytes=1 << 16, number_head_bytes=1 << 15, number_tail_bytes=1 << 16, number_lines=500)
    log = read_log(Source(path=str(path), size_bytes=len(data)), MATCHER, limits)
    assert quickly(log) == plainly(data)
    assert log.lines == data.count(b"\n") + 1
    assert log.frameworks == {"deepspeed": 1}
    assert log.alive_lines[-1] > 39_000
    assert any(hit.what == "numbers" for hit in log.limits)
    steps = {int(line): step for each in log.series for line, step in zip(each.lines, each.steps, strict=True)}
    assert all(b"step %d " % step in data.split(b"\n")[line - 1] for line, step in steps.items())


@pytest.mark.usefixtures("_small_blocks")
def test_the_route_of_streams(tmp_path: Path) -> None:
    import gzip

    data = b"\n".join(noisy_log())
    path = tmp_path / "big.log.gz"
    path.write_bytes(gzip.compress(data, 1))
    log = read_log(Source(path=str(path)), MATCHER)
    assert quickly(log) == plainly(data)
    assert log.lines == data.count(b"\n") + 1


def test_a_line_of_100_mb(tmp_path: Path) -> None:
    path = tmp_path / "line.log"
    with path.open("wb") as file:
        for _ in range(50):
            file.write(b"x" * (1 << 20) + PIECES[0] + b"y" * (1 << 20))
        file.write(b"\ntail!\n")
    log = read_log(Source(path=str(path), size_bytes=path.stat().st_size), MATCHER)
    assert log.lines == 2
    assert log.counts == {OOM.id: 50, "a/tail": 1}
    assert {each.line for each in log.occurrences if each.signature == OOM.id} == {1}
    assert [hit.what for hit in log.limits] == ["line"]


def test_a_file_truncated_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "shrinking.log"
    path.write_bytes(b"some line\n" * 800_000)
    size = path.stat().st_size
    log = read_log(Source(path=str(path), size_bytes=size), MATCHER, on_bytes=lambda _n: os.truncate(path, 3 << 20))
    assert [hit.what for hit in log.limits] == ["cut"]
    assert log.lines < 800_000
