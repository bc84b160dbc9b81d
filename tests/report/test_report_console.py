"""Streams: colour by wish and environment, encodings that cannot show everything, readers that go away."""

from __future__ import annotations

import io
import subprocess
import sys

import msgspec
import pytest

from doctor.report.console import emit, emit_data, note, style_of
from doctor.report.exit_code import ExitCode, of_report
from doctor.report.phrase import ranks_text, size_text


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding)

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.mark.parametrize(
    ("wish", "environment", "terminal", "expected"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"CLICOLOR_FORCE": "1"}, False, True),
        ("auto", {"CLICOLOR_FORCE": "0"}, False, False),
        ("auto", {"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, True, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"CLICOLOR_FORCE": "1"}, True, False),
    ],
)
def test_colour(
    wish: str, environment: dict[str, str], terminal: bool, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stream = Terminal() if terminal else io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    assert style_of(stream, wish).colour is expected


def test_width_and_characters() -> None:
    assert style_of(Terminal()).width == 80
    assert style_of(Terminal()).unicode
    assert not style_of(Terminal("ascii")).unicode
    assert not style_of(Terminal("latin-1")).unicode


def test_text_that_the_encoding_lacks_is_spelled_and_json_is_not_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal("ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    emit("显\n")
    emit_data('"显"\n')
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    assert buffer.getvalue() == b"\\u663e\n" + '"显"\n'.encode()


def test_notes_go_to_stderr_and_are_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    note("bad file \x1b[2J\u202e")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "bad file \\u202e\n"


@pytest.mark.parametrize("name", ["emit", "emit_data"])
def test_a_reader_that_goes_away_is_no_fault(name: str) -> None:
    program = (
        f"from doctor.report.console import {name} as write\n"
        "import sys\n"
        "sys.stdin.readline()\n"
        "for _ in range(200): write('x' * 4096)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        child.stdin.write(b"go\n")
        child.stdin.close()
        assert child.stderr.read() == b""
        assert child.wait() == 0


def test_exit_codes(request: pytest.FixtureRequest) -> None:
    def code(case: str, strict: bool = False, unreadable: tuple[str, ...] = ()) -> ExitCode:
        report = request.getfixturevalue(case)
        scanned = msgspec.structs.replace(report.scanned, unreadable=unreadable)
        return of_report(msgspec.structs.replace(report, scanned=scanned), strict)

    assert code("healthy") == code("warned") == code("healthy", strict=True) == 0
    assert code("warned", strict=True) == code("oom") == 1
    assert code("healthy", unreadable=("x",)) == code("warned", unreadable=("x",)) == 2
    assert code("oom", unreadable=("x",)) == code("warned", strict=True, unreadable=("x",)) == 1


def test_ranks_and_sizes_in_short() -> None:
    assert ranks_text([0, 1]) == "ranks 0, 1"
    assert ranks_text([9, 3, 4, 5]) == "ranks 3–5, 9"
    assert ranks_text(list(range(0, 64, 2))) == "32 ranks, first 0"
    assert [size_text(n) for n in (12, 1536, 5 << 20, 3 << 40)] == ["12 bytes", "1.5 KiB", "5.0 MiB", "3,072.0 GiB"]
