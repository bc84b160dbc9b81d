"""A number series as a few lines of text: columns over an axis, gaps where the number was none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Optional

import msgspec

from doctor.model.diagnosis import Chart
from doctor.report.escape import one_line
from doctor.report.measure import width_of
from doctor.report.style import Style

HEIGHT = 5
MAX_CELL = 3
_EIGHTHS = " ▁▂▃▄▅▆▇█"
# Above this ratio of the largest to the smallest value a linear axis shows only the largest.
_LOG_RATIO = 200.0


class _Column(msgspec.Struct, frozen=True):
    """One column: the value that stands for its points, None for a number that was none."""

    value: Optional[float]
    marked: bool = False


def draw(chart: Chart, style: Style, columns: int) -> list[str]:
    """Return the lines of a chart, at most ``columns`` wide; nothing where it has no points."""
    if not chart.values:
        return []
    finite = [value for value in chart.values if value is not None and math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    logarithmic = low > 0 and high / low > _LOG_RATIO
    labels = [_number(high), _number(low)] if finite else ["", ""]
    margin = max(map(len, labels))
    room = max(columns - margin - 3, 8)
    bars = _bars(chart, room)
    cell = min(max(room // len(bars), 1), MAX_CELL)
    levels = [_level(bar.value, low, high, logarithmic) for bar in bars]
    lines = [_title(chart, logarithmic)]
    for row in reversed(range(HEIGHT)):
        label = labels[0] if row == HEIGHT - 1 else labels[1] if row == 0 else ""
        edge = style.glyph("tick") if label else style.glyph("axis")
        cells = "".join(_cell(bar, level, row, cell, style) for bar, level in zip(bars, levels, strict=True))
        lines.append(f"{label:>{margin}} {style.paint(edge, 'dim')}{cells.rstrip()}")
    indent = " " * (margin + 1)
    lines.append(indent + style.paint(style.glyph("corner") + style.glyph("floor") * (len(bars) * cell), "dim"))
    return lines + [indent + " " + line for line in _footer(chart, bars, cell, style)]


def _title(chart: Chart, logarithmic: bool) -> str:
    name = one_line(chart.metric).replace("_", " ")
    return f"{name} (logarithmic axis)" if logarithmic else name


def _bars(chart: Chart, columns: int) -> list[_Column]:
    """Return the points as columns; several points share one where there are too many."""
    count = len(chart.values)
    columns = min(columns, count)
    bars = []
    for column in range(columns):
        first, last = column * count // columns, (column + 1) * count // columns
        marked = chart.mark is not None and first <= chart.mark < last
        values = [v for v in chart.values[first:last] if v is not None and math.isfinite(v)]
        whole = len(values) == last - first
        if marked and chart.mark is not None:
            bars.append(_Column(_finite(chart.values[chart.mark]), marked=True))
        else:
            bars.append(_Column(max(values) if whole else None))
    return bars


def _finite(value: Optional[float]) -> Optional[float]:
    return value if value is not None and math.isfinite(value) else None


def _level(value: Optional[float], low: float, high: float, logarithmic: bool) -> int:
    """Return a value's height in eighths of a row, from 1; 0 for a gap."""
    if value is None:
        return 0
    if logarithmic:
        value, low, high = math.log(value), math.log(low), math.log(high)
    span = high - low
    share = (value - low) / span if span > 0 and math.isfinite(span) else 0.5
    return 1 + round(share * (HEIGHT * 8 - 1))


def _cell(bar: _Column, level: int, row: int, cell: int, style: Style) -> str:
    if bar.value is None:
        return style.paint(style.glyph("gap"), "red") + " " * (cell - 1) if row == 0 else " " * cell
    inside = min(max(level - row * 8, 0), 8)
    point = style.glyph("point") if 1 <= level - row * 8 <= 8 else " "
    sign = _EIGHTHS[inside] if style.unicode else point
    return style.paint(sign * cell, "red" if bar.marked else "cyan") if sign != " " else sign * cell


def _footer(chart: Chart, bars: Sequence[_Column], cell: int, style: Style) -> list[str]:
    """Return the steps under the axis: the first and last, and the marked one with a caret."""
    steps = [f"{step:g}" if abs(step) < 1e6 else f"{step:.0f}" for step in chart.steps]
    if len(steps) != len(chart.values):
        return []
    first, last = f"step {steps[0]}", steps[-1]
    gap = len(bars) * cell - len(first) - len(last)
    lines = [style.paint(first + " " * gap + last if gap > 0 else f"{first} to {last}", "dim")]
    at = next((index for index, bar in enumerate(bars) if bar.marked), None)
    if at is not None and chart.mark is not None:
        value = bars[at].value
        text = f"step {steps[chart.mark]}: {'not a finite number' if value is None else _number(value)}"
        caret = style.glyph("caret")
        at *= cell
        left = at >= width_of(text) + 1
        tagged = f"{text} {caret}" if left else f"{caret} {text}"
        indent = at - width_of(text) - 1 if left else at
        lines.insert(0, " " * indent + style.paint(tagged, "red"))
    return lines


def _number(value: float) -> str:
    return f"{value:.4g}"
