"""Number series gathered from lines, a metric and a stream at a time, and split by runs at the end."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from doctor.logs.line import Line
from doctor.logs.number import Numbers
from doctor.model.log import Series

_NOT_FINITE = re.compile(rb"(?i)\b(?:nan|inf(?:inity)?)\b")


class SeriesGatherer:
    """Collects the numbers of one log, bounded for each metric."""

    def __init__(self, points: int) -> None:
        self.full: set[str] = set()
        self._points = points
        self._counts: dict[str, int] = {}
        self._series: dict[tuple[str, str, str], Series] = {}

    def add(self, line: Line, numbers: Numbers) -> None:
        """Take the numbers of one line."""
        step = float("nan") if numbers.step is None else numbers.step
        for metric, value in numbers.values.items():
            count = self._counts.get(metric, 0)
            if count >= self._points:
                self.full.add(metric)
                continue
            self._counts[metric] = count + 1
            key = (metric, line.speaker.stream, numbers.source)
            series = self._series.get(key)
            if series is None:
                series = Series(metric=metric, file="", run=0, stream=key[1], source=numbers.source)
                self._series[key] = series
            series.steps.append(step)
            series.values.append(value)
            series.lines.append(line.number)

    def split(self, file: str, begins: Sequence[int]) -> list[Series]:
        """Return the series, each within one run, in the order of their first lines."""
        parts: list[Series] = []
        for series in self._series.values():
            start = 0
            while start < len(series.lines):
                run = bisect_right(begins, series.lines[start])
                stop = bisect_right(series.lines, begins[run] - 1, start) if run < len(begins) else len(series.lines)
                parts.append(
                    Series(
                        metric=series.metric,
                        file=file,
                        run=run,
                        stream=series.stream,
                        source=series.source,
                        steps=series.steps[start:stop],
                        values=series.values[start:stop],
                        lines=series.lines[start:stop],
                    )
                )
                start = stop
        return sorted(parts, key=lambda part: part.lines[0])


class NumberBudget:
    """Chooses which number lines are decoded: all up to the budget, then an ever thinner sample."""

    def __init__(self, lines: int) -> None:
        self.thinned = False
        self._lines = max(1, lines)
        self._stride = 1
        self._chosen = 0

    @property
    def spent(self) -> bool:
        """Whether only a sample is chosen by now."""
        return self._stride > 1

    def renew(self) -> None:
        """Begin anew with a full budget, as for the end of a log."""
        self._stride = 1
        self._chosen = 0

    def chooses(self, number: int) -> bool:
        """Return whether to decode this line; the sample follows no period, so that no rank is always left out."""
        if self._stride > 1 and (number * 0x9E3779B1 >> 12) % self._stride:
            self.thinned = True
            return False
        self._chosen += 1
        if self._chosen >= self._lines:
            self._chosen = 0
            self._stride *= 8
        return True


ODD_GATES: tuple[bytes, ...] = (
    *(b"nan", b"NaN", b"NAN", b"Infinity"),
    *(b" inf", b":inf", b"=inf", b"-inf", b"'inf", b"(inf"),
)


def is_odd(raw: bytes) -> bool:
    """Return whether a raw line prints NaN or infinity."""
    return _NOT_FINITE.search(raw) is not None
