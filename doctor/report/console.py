"""The only writer to stdout and stderr: data goes to the one, notes to the other."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Optional, TextIO

from doctor.report.escape import visible
from doctor.report.style import Style

MIN_WIDTH = 40
MAX_WIDTH = 100
_SAMPLE = "✗✓—…×│└─┤▲█▁"


def emit(text: str) -> None:
    """Write finished text to stdout. A reader that has gone away is no fault."""
    _write(sys.stdout, text)


def emit_data(text: str) -> None:
    """Write a document to stdout as UTF-8, whatever the terminal's encoding."""
    raw = getattr(sys.stdout, "buffer", None)
    if raw is None:
        return _write(sys.stdout, text)
    try:
        sys.stdout.flush()
        raw.write(text.encode("utf-8", "backslashreplace"))
        raw.flush()
    except BrokenPipeError:
        _silence(sys.stdout)


def note(text: str) -> None:
    """Write a note of our own to stderr; what it quotes is made harmless."""
    _write(sys.stderr, visible(text) + "\n")


def style_of(stream: Optional[TextIO] = None, colour: str = "auto") -> Style:
    """Return the style for a stream (stdout where none is given). ``colour`` is auto, always or never."""
    stream = stream or sys.stdout
    return Style(width=_width(stream), colour=_has_colour(stream, colour), unicode=_shows(stream))


def is_terminal(stream: TextIO) -> bool:
    """Tell whether a stream is a terminal; one that is closed is none."""
    try:
        return stream.isatty()
    except ValueError:
        return False


def _has_colour(stream: TextIO, wish: str) -> bool:
    """Follow the wish, then NO_COLOR, CLICOLOR_FORCE and TERM, then what the stream is."""
    if wish != "auto":
        return wish == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return os.environ.get("TERM") != "dumb" and is_terminal(stream)


def _width(stream: TextIO) -> int:
    columns = 80
    if is_terminal(stream):
        with suppress(OSError, ValueError):
            columns = os.get_terminal_size(stream.fileno()).columns or 80
    return min(max(columns, MIN_WIDTH), MAX_WIDTH)


def _shows(stream: TextIO) -> bool:
    try:
        _SAMPLE.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _write(stream: TextIO, text: str) -> None:
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        _silence(stream)


def _silence(stream: TextIO) -> None:
    """Point the stream nowhere, so that the interpreter does not complain when it flushes at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
