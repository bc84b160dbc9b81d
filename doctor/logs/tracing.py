"""The exceptions of one log: chains read from their traceback markers, and exceptions on a line of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Optional

import msgspec

from doctor.logs.exception import ExceptionReader, bare
from doctor.logs.kept import Kept
from doctor.logs.limit import Limits
from doctor.logs.line import Line
from doctor.logs.window import Raw, Window
from doctor.model.log import ExceptionBlock, Occurrence

TRACEBACK_MARKER = "Traceback (most recent call last):"
_IGNORED = re.compile(r"Exception ignored (?:in|on)\b|Error in (?:atexit|sys\.(?:exitfunc|excepthook))")
_LINES_READ = 4000
_ROWS_ABOVE = 400


class ExceptionGatherer:
    """Collects exception blocks; each is read once, however many gates hit inside it."""

    def __init__(self, file: str, limits: Limits) -> None:
        self.lines: list[int] = []
        self.skipped = 0
        self._file = file
        self._work = limits.exceptions_first + limits.exceptions_last
        self._reader = ExceptionReader(file)
        self._kept: Kept[ExceptionBlock] = Kept(limits.exceptions_first, limits.exceptions_last)
        self._spans: dict[str, tuple[int, int]] = {}

    def _known(self, line: Line) -> bool:
        first, last = self._spans.get(line.speaker.stream, (0, 0))
        return first <= line.number <= last

    def traceback(
        self, segments: Sequence[Line], marker: str, raw: Raw, number: int, window: Window, near_end: bool
    ) -> None:
        """Read the chain that begins at a marker on a physical line."""
        for place, line in enumerate(segments):
            if marker not in line.text or self._known(line):
                continue
            if self._kept.count >= self._work and not near_end:
                self.skipped += 1
                continue
            lines = chain(segments[place:], window.after(raw, number, _LINES_READ))
            before = segments[:place] or window.before(raw, number) or ()
            self._add(_introduced(self._reader.read(lines), before[-1] if before else None))

    def bare(self, segments: Iterable[Line], raw: Raw, number: int, window: Window) -> None:
        """Read an exception that a line names without a traceback, or below one whose head was cut off."""
        for line in segments:
            if self._known(line):
                continue
            block = bare(line)
            if block is None:
                continue
            above = _rows_above(line, raw, number, window)
            if above:
                marker = msgspec.structs.replace(above[0], text=TRACEBACK_MARKER)
                self._add(self._reader.read(chain([marker], above, [line], window.after(raw, number, _LINES_READ))))
            else:
                self._add([msgspec.structs.replace(block, file=self._file)])

    def _add(self, blocks: list[ExceptionBlock]) -> None:
        base = self._kept.count
        for place, block in enumerate(blocks):
            chained = None if block.chained_to is None else base + block.chained_to
            self._kept.add(msgspec.structs.replace(block, index=base + place, chained_to=chained))
            self.lines.append(block.line)
            stream = block.speaker.stream
            first, last = self._spans.get(stream, (0, 0))
            end = block.line + block.message.count("\n")
            self._spans[stream] = (
                (first, max(last, end)) if first <= block.first_line <= last + 8 and first else (block.first_line, end)
            )

    def dropped(self) -> int:
        """Return how many exceptions are not kept."""
        return self._kept.dropped() + self.skipped

    def blocks(self) -> list[ExceptionBlock]:
        """Return the kept blocks with indexes into this very list."""
        kept = self._kept.items()
        places = {block.index: place for place, block in enumerate(kept)}
        return [
            msgspec.structs.replace(
                block, index=place, chained_to=None if block.chained_to is None else places.get(block.chained_to)
            )
            for place, block in enumerate(kept)
        ]


def _introduced(blocks: list[ExceptionBlock], before: Optional[Line]) -> list[ExceptionBlock]:
    """Return a chain as the line above its first traceback puts it.

    What Python ignores ("Exception ignored in: …", "Error in atexit…") ended nothing. A traceback that the log's end
    cuts off has no message of its own, but loggers print one above it.
    """
    if before is None or not blocks:
        return blocks
    if _IGNORED.match(before.text):
        return [msgspec.structs.replace(block, ignored=True) for block in blocks]
    if not blocks[0].type and before.level in ("ERROR", "CRITICAL", "FATAL") and before.text:
        blocks[0] = msgspec.structs.replace(
            blocks[0], type="error", message=before.text, first_line=before.number, line=before.number
        )
    return blocks


def _rows_above(line: Line, raw: Raw, number: int, window: Window) -> list[Line]:
    """Return the traceback rows of the same writer just above an exception line, from the first frame on."""
    rows: list[Line] = []
    for above in window.preceding(raw, number, _ROWS_ABOVE):
        if above.speaker.stream != line.speaker.stream:
            continue
        if not above.text.startswith("  ") and not above.text.lstrip().startswith('File "'):
            break
        rows.append(above)
    rows.reverse()
    first = next((at for at, row in enumerate(rows) if row.text.lstrip().startswith('File "')), len(rows))
    return rows[first:]


def enclosing(occurrences: Sequence[Occurrence], blocks: Sequence[ExceptionBlock]) -> list[Occurrence]:
    """Return the occurrences, each with the exception block of its own stream that it stands in."""
    by_stream: dict[str, list[tuple[int, int, int]]] = {}
    for block in blocks:
        span = (block.first_line, block.line + block.message.count("\n"), block.index)
        by_stream.setdefault(block.speaker.stream, []).append(span)
    return [_placed(each, by_stream.get(each.speaker.stream, ())) for each in occurrences]


def _placed(occurrence: Occurrence, spans: Sequence[tuple[int, int, int]]) -> Occurrence:
    holding = [span for span in spans if span[0] <= occurrence.line <= span[1]]
    if not holding:
        return occurrence
    narrowest = min(holding, key=lambda span: span[1] - span[0])
    return msgspec.structs.replace(occurrence, exception=narrowest[2])
