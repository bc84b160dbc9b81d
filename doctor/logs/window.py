"""A stretch of a log around its hits: lines by position, however the bytes were cut into blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Optional

from doctor.logs.limit import LOOK_AHEAD, LOOK_BACK
from doctor.logs.line import Line, LineParser

_LINE_LOOK = 64 << 10
_CACHED_LINES = 20_000


class Raw(NamedTuple):
    """A physical line (or what is looked at of a very long one), with its absolute bounds."""

    start: int
    end: int
    data: bytes
    cut: bool


class Window:
    """Bytes of a log from the absolute offset ``base`` on; the parsed lines are remembered.

    Of a line longer than ``look`` (at most 64 KiB) only what surrounds a hit is looked at.
    """

    def __init__(self, data: bytes, base: int, parser: LineParser, look: int = _LINE_LOOK) -> None:
        self.data = data
        self.base = base
        self._parser = parser
        self._look = max(1024, min(look, _LINE_LOOK))
        self._parsed: dict[int, tuple[Line, ...]] = {}

    def raw_at(self, start: int, end: int) -> Raw:
        """Return the line that holds the bytes from ``start`` to ``end`` (absolute offsets)."""
        data = self.data
        first, last = max(0, start - self.base), end - self.base
        begin = data.rfind(b"\n", max(0, first - LOOK_BACK), first) + 1
        if not begin:
            begin = max(0, first - LOOK_BACK)
        stop = data.find(b"\n", last, last + LOOK_AHEAD)
        if stop < 0:
            stop = min(len(data), last + LOOK_AHEAD)
        cut = False
        if stop - begin > self._look:
            begin, stop, cut = self._around(begin, first, last, stop)
        return Raw(self.base + begin, self.base + stop, data[begin:stop], cut)

    def _around(self, begin: int, first: int, last: int, stop: int) -> tuple[int, int, bool]:
        """Cut a long line around a hit, at the carriage returns of a progress bar where there are any."""
        look, side = self._look, self._look // 4
        if last - begin < look - side:
            return begin, begin + look, self.data.find(b"\r", last, begin + look) < 0
        left = self.data.rfind(b"\r", max(begin, first - side), first)
        right = self.data.find(b"\r", last, min(stop, last + side))
        return (
            left + 1 if left >= 0 else max(begin, first - side),
            right if right >= 0 else min(stop, last + side),
            left < 0 or right < 0,
        )

    def parse(self, raw: Raw, number: int) -> tuple[Line, ...]:
        """Return the messages on a physical line, parsed once."""
        lines = self._parsed.get(raw.start)
        if lines is None:
            if len(self._parsed) >= _CACHED_LINES:
                self._parsed.clear()
            lines = self._parsed[raw.start] = self._parser.parse(raw.data, number)
        return lines

    def after(self, raw: Raw, number: int, count: int) -> Iterator[Line]:
        """Yield the messages on the ``count`` physical lines after ``raw``, within the look-ahead."""
        data, size = self.data, len(self.data)
        begin = data.find(b"\n", raw.end - self.base) + 1
        bound = min(size, raw.end - self.base + LOOK_AHEAD)
        while begin and begin < bound and count:
            number += 1
            count -= 1
            stop = data.find(b"\n", begin)
            stop = size if stop < 0 else stop
            start = self.base + begin
            lines = self._parsed.get(start)
            yield from lines or self.parse(
                Raw(start, self.base + stop, data[begin : min(stop, begin + _LINE_LOOK)], False), number
            )
            begin = stop + 1

    def before(self, raw: Raw, number: int) -> Optional[tuple[Line, ...]]:
        """Return the messages on the physical line before ``raw``."""
        above = self._above(raw)
        return None if above is None else self.parse(above, number - 1)

    def preceding(self, raw: Raw, number: int, count: int) -> Iterator[Line]:
        """Yield the messages on the ``count`` physical lines before ``raw``, the nearest first."""
        for back in range(1, count + 1):
            above = self._above(raw)
            if above is None:
                return
            raw = above
            yield from reversed(self.parse(raw, number - back))

    def _above(self, raw: Raw) -> Optional[Raw]:
        stop = raw.start - self.base - 1
        if stop <= 0 or self.data[stop] != 10:
            return None
        begin = self.data.rfind(b"\n", max(0, stop - _LINE_LOOK), stop) + 1
        if not begin and stop > _LINE_LOOK:
            return None
        return Raw(self.base + begin, self.base + stop, self.data[begin:stop], False)
