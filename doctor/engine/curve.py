"""Number series as the detectors look at them: one run's metrics together, and what a detector found in them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Optional

import msgspec

from doctor.model.diagnosis import Chart
from doctor.model.log import Field, Series

CHART_BEFORE = 40
CHART_AFTER = 12


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one detector saw in the numbers of one run; ``line`` is where it began, ``text`` what that line said."""

    detector: str
    file: str
    line: int
    run: int
    stream: str
    fields: dict[str, Field]
    text: str = ""
    chart: Optional[Chart] = None


class Board(msgspec.Struct, frozen=True):
    """All series of one run of one file."""

    file: str
    run: int
    series: tuple[Series, ...]

    def of(self, metric: str) -> Iterator[Series]:
        """Yield the series of one metric that hold any point, one for each writer and dialect."""
        return (one for one in self.series if one.metric == metric and len(one.values))

    def companion(self, metric: str, of: Series) -> Optional[Series]:
        """Return another metric of the same writer: of the same dialect where there is one, else any of the run."""

        def distance(one: Series) -> tuple[bool, bool, int]:
            return (one.stream != of.stream, one.source != of.source, -len(one.values))

        return min(self.of(metric), key=distance, default=None)


def at_line(series: Optional[Series], line: int) -> Optional[float]:
    """Return the value printed on exactly this line, or None."""
    if series is None:
        return None
    index = bisect_right(series.lines, line) - 1
    return series.values[index] if index >= 0 and series.lines[index] == line else None


def count_until(series: Series, line: int) -> int:
    """Return how many points stand before a line."""
    return bisect_right(series.lines, line - 1)


def finite_before(series: Optional[Series], line: int, most: int) -> list[float]:
    """Return the last finite values printed before a line, oldest first."""
    if series is None:
        return []
    end = count_until(series, line)
    return [value for value in series.values[max(0, end - most) : end] if math.isfinite(value)]


def step_of(series: Series, index: int) -> Optional[int | float]:
    """Return the step of a point as the log counts it, or None where the log does not say."""
    step = series.steps[index]
    if not math.isfinite(step):
        return None
    return int(step) if step == int(step) else step


def place_of(series: Series, index: int) -> dict[str, Field]:
    """Return where a point stands: its step, and which of how many points it is."""
    fields: dict[str, Field] = {"point": index + 1, "points": len(series.values), "points_before": index}
    step = step_of(series, index)
    if step is not None:
        fields["step"] = step
    return fields


def chart_of(series: Series, mark: int) -> Chart:
    """Return the points around a moment; those that are no numbers are gaps."""
    first, last = max(0, mark - CHART_BEFORE), min(len(series.values), mark + CHART_AFTER)
    steps = [step_of(series, index) for index in range(first, last)]
    values = series.values[first:last]
    return Chart(
        metric=series.metric,
        steps=tuple(float(first + at if step is None else step) for at, step in enumerate(steps)),
        values=tuple(value if math.isfinite(value) else None for value in values),
        mark=mark - first,
    )


def make_finding(detector: str, board: Board, series: Series, index: int, fields: dict[str, Field]) -> Finding:
    """Return a finding that begins at one point of a series."""
    return Finding(
        detector=detector,
        file=board.file,
        line=series.lines[index],
        run=board.run,
        stream=series.stream,
        fields={**place_of(series, index), **fields},
        text=said_at(board, series, index),
        chart=chart_of(series, index),
    )


def said_at(board: Board, series: Series, index: int) -> str:
    """Return the numbers of one line: ``step 120: loss nan, grad_norm nan, learning_rate 2e-05``."""
    line, step = series.lines[index], step_of(series, index)
    values = {one.metric: at_line(one, line) for one in (series, *board.series)}
    numbers = ", ".join(f"{metric} {value:.5g}" for metric, value in values.items() if value is not None)
    return numbers if step is None else f"step {step}: {numbers}"


def median(values: Sequence[float]) -> float:
    """Return the middle of some finite values."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def spread(values: Sequence[float], centre: float) -> float:
    """Return the robust standard deviation: 1.4826 times the median distance from the centre."""
    return 1.4826 * median([abs(value - centre) for value in values])


def rounded(value: float) -> int | float:
    """Return a value with the digits a reader needs."""
    if value == int(value) and abs(value) < 1e15:
        return int(value)
    return float(f"{value:.5g}")


def began(index: int) -> str:
    """Say from where on a series is bad."""
    return f"after {index} finite points" if index else "from its first logged point on"
