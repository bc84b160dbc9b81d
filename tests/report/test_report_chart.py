"""Charts: every point has a place, gaps are marked, and no series breaks the drawing."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from doctor.model.diagnosis import Chart
from doctor.report.chart import draw
from doctor.report.measure import width_of
from doctor.report.style import Style

NUMBERS = st.lists(st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True)), max_size=200)


def chart_of(*values: float | None, mark: int | None = None) -> Chart:
    return Chart(metric="grad_norm", steps=tuple(float(i) for i in range(len(values))), values=values, mark=mark)


@given(NUMBERS, st.integers(20, 100), st.integers(0, 250), st.booleans())
def test_any_series_is_drawn_within_its_width(values: list[float | None], columns: int, mark: int, fancy: bool) -> None:
    chart = chart_of(*values, mark=mark if mark < len(values) else None)
    for line in draw(chart, Style(unicode=fancy), columns):
        assert width_of(line) <= max(columns, 60)


def test_heights_follow_values() -> None:
    lines = draw(chart_of(1, 2, 3, 4, 5), Style(), 40)
    assert lines == [
        "grad norm",
        "5 ┤            ███",
        "  │         ▆▆▆███",
        "  │      ▅▅▅██████",
        "  │   ▃▃▃█████████",
        "1 ┤▁▁▁████████████",
        "  └───────────────",
        "   step 0        4",
    ]


def test_a_huge_range_gets_a_logarithmic_axis() -> None:
    lines = draw(chart_of(1, 10, 100, 1000), Style(unicode=False), 40)
    assert lines[0] == "grad norm (logarithmic axis)"
    assert [line.rstrip() for line in lines[1:6]] == [
        "1000 |         ***",
        "     |      ***",
        "     |",
        "     |   ***",
        "   1 |***",
    ]


def test_a_marked_gap_is_named() -> None:
    text = "\n".join(draw(chart_of(1.0, 1.1, None, mark=2), Style(), 60))
    assert "▲ step 2: not a finite number" in text
    assert "×" in text


def test_a_bucket_with_a_gap_shows_the_gap() -> None:
    values: list[float | None] = [1.0] * 400
    values[301] = None
    floor = draw(chart_of(*values), Style(), 50)[5]
    assert len(re.findall("×", floor)) == 1


def test_a_flat_series_and_none_at_all() -> None:
    assert len(draw(chart_of(2.0, 2.0), Style(), 40)) == 8
    assert draw(chart_of(), Style(), 40) == []
    assert "×" in "".join(draw(chart_of(None, None), Style(), 40))
