"""Lines that a narrow terminal broke, put together again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Optional

from doctor.logs.escape import visible
from doctor.logs.line import Line

_NARROWEST = 40
_WIDEST = 250
_ROWS = 40
_CHARACTERS = 16_384
_NEW_RECORD = re.compile(
    r'Traceback \(most|\s*File "|\s*frame #\d|(?:[A-Za-z_]\w{0,80}\.){0,8}[A-Z]\w{0,80}'
    r"(?:Error|Exception|Warning)(?:: |$)|"
    r"(?:During handling of|The above exception)|\{'(?:loss|eval)|\s{0,6}\d{1,3}%\|"
)
_NEW_ROW = re.compile(
    r"  |\t|\[?\d{4}-\d\d-\d\d[ T]\d\d:|\[rank\d+\]:|\([A-Z]\w+ pid=\d+\)|(?:INFO|WARNING|ERROR) \d\d-\d\d |"
    r"Traceback \(most|  File \"|(?:[A-Za-z_]\w{0,80}\.){0,8}[A-Z]\w{2,80}(?:Error|Exception|Warning): "
)
_BORDERS = ("│", "╭", "╰", "┃", "║", "|", "+")
_SAMPLE_ROWS = 4_000
_FULL_ROWS = 6


def joined(lines: Sequence[Line]) -> tuple[str, ...]:
    """Return candidate rejoinings of ``lines[0]`` with what follows it, best first.

    Empty where the next line is clearly a new record or the first cannot have been broken: nothing would have kept
    its next word on the same row.
    """
    rows = _rows(lines)
    if len(rows) < 2:
        return ()
    widest = max(row.width for row in rows)
    if not _NARROWEST <= widest <= _WIDEST * 2 or rows[0].width < _NARROWEST:
        return ()
    column = _message_column(rows)
    boxed = _is_boxed(rows)
    loose = boxed or column > 0
    mixed: list[str] = [rows[0].text]
    for above, row in pairwise(rows):
        text = row.text[column:] if column else row.text
        word = text.split(None, 1)[0] if text.strip() else ""
        # A shorter row is a wrapped one only where the next word had no room behind it.
        if not loose and above.width + 1 + len(word) <= widest and above.width < widest:
            break
        mixed += [" " if loose or _is_blank(above, text, widest) else "", text.strip() if loose else text]
    if len(mixed) == 1:
        return ()
    parts = mixed[::2]
    words = " ".join([parts[0], *(part.strip() for part in parts[1:])])
    return tuple(dict.fromkeys(("".join(mixed), words, "".join(parts))))


def _rows(lines: Sequence[Line]) -> list[Line]:
    """Return the first line and those that can be its continuation."""
    if not lines:
        return []
    rows = [lines[0]]
    size = len(lines[0].text)
    for line in lines[1:_ROWS]:
        if line.number == lines[0].number:
            break  # another writer's record on the same physical line
        if line.time_text or line.level or not line.text.strip() or _NEW_RECORD.match(line.text):
            break
        if line.speaker.stream not in ("", lines[0].speaker.stream):
            break
        size += len(line.text)
        if size > _CHARACTERS:
            break
        rows.append(line)
    return rows


def _message_column(rows: list[Line]) -> int:
    """Return the column to which a logger with columns indents what it wraps, or 0."""
    first = len(rows[1].text) - len(rows[1].text.lstrip())
    if first < 8 or first >= rows[0].width:
        return 0
    own = len(rows[0].text) - len(rows[0].text.lstrip())
    if own >= first:
        return 0
    return first if rows[0].level or rows[0].time_text else 0


def _is_boxed(rows: list[Line]) -> bool:
    """Return whether the rows stood in a box: without any prefix, and still shorter than they were printed."""
    inner = [row for row in rows if not (row.speaker.stream or row.time_text or row.level)]
    return len({row.width for row in inner}) == 1 and any(row.text and len(row.text) + 3 <= row.width for row in inner)


def _is_blank(above: Line, text: str, widest: int) -> bool:
    """Return whether the break between two rows stands for a blank."""
    return not text[:1].isspace() and above.width < widest


def hard_wrap_width(sample: bytes) -> Optional[int]:
    """Return the column at which a terminal broke this text, or None.

    A broken text has a widest row that many rows reach exactly and none exceeds, most of them ending in the middle of
    a word that the next row takes up. Rulers, boxes and progress bars of one width do not count, nor do rows that
    begin like the row above.
    """
    rows = [_seen(row) for row in sample.replace(b"\r\n", b"\n").split(b"\n")[:_SAMPLE_ROWS]]
    rows = rows[:-1] if len(rows) > 1 else rows  # the sample may end inside a row
    if _is_padded(rows):
        rows = [row.rstrip() for row in rows]
    lengths = Counter(len(row) for row in rows if row.strip())
    if not lengths:
        return None
    width = max(lengths)
    if not _NARROWEST <= width <= _WIDEST or lengths[width] < _FULL_ROWS:
        return None
    full, taken_up, contents = 0, 0, set()
    for row, following in pairwise(rows):
        if len(row) != width or _is_drawn(row):
            continue
        full += 1
        contents.add(row)
        taken_up += _in_one_word(row, following)
    if len(contents) < _FULL_ROWS or full * 25 < sum(lengths.values()) or taken_up * 3 < full * 2:
        return None
    return width


def unwrap(data: bytes, width: int) -> tuple[bytes, list[int]]:
    """Return the logical lines, and for each the 0-based number of the physical line on which it began."""
    lines: list[bytes] = []
    starts: list[int] = []
    open_row = blank = False
    rows = data.split(b"\n")
    padded = _is_padded([row.decode("latin-1") for row in rows[:_SAMPLE_ROWS]])
    parts: list[bytes] = []
    for number, raw in enumerate(rows):
        row = raw.rstrip(b"\r ") if padded else raw.rstrip(b"\r")
        text = _seen(row)
        if open_row and text and not _NEW_ROW.match(text) and (not blank or text[:1].islower()):
            parts.append(b" " + row if blank else row)
        else:
            if starts:
                lines.append(b"".join(parts))
            parts = [row]
            starts.append(number)
        length = len(text)
        # One column short: a blank stood in the last one, and copying dropped it.
        blank = length == width - 1 and text[-1:].isalnum()
        open_row = (length == width or blank) and not _is_drawn(text)
    lines.append(b"".join(parts))
    return b"\n".join(lines), starts


def _seen(row: bytes) -> str:
    """Return what a terminal shows of a row in the end."""
    text = visible(row.decode("utf-8", "replace"))
    return text.rstrip("\r").rsplit("\r", 1)[-1] if "\r" in text else text


def _is_padded(rows: Sequence[str]) -> bool:
    """Return whether rows were copied with the blanks that fill a terminal's right side."""
    return sum(row.endswith("    ") for row in rows) * 8 > len(rows)


def _is_drawn(row: str) -> bool:
    """Return whether a row is a ruler, a box's or a table's row, or a progress bar."""
    return row.startswith(_BORDERS) or row.endswith(_BORDERS) or len(set(row.strip())) < 4 or "%|" in row


def _in_one_word(row: str, following: str) -> bool:
    """Return whether a word seems to go on from one row to the next."""
    if not following or following[0].isspace() or row[-1:].isspace():
        return False
    same = 0
    for one, other in zip(row[:12], following[:12], strict=False):
        if one != other:
            break
        same += 1
    return same < 3
