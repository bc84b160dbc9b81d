"""Time stamps: the moments they name, and texts that are none."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.logs.stamp import seconds

BASE = datetime(2026, 11, 30, 3, 12, 44, tzinfo=timezone.utc).timestamp()
OF_YEAR = (datetime(2000, 11, 30, 3, 12, 44) - datetime(2000, 1, 1)).total_seconds()
OF_DAY = 3 * 3600 + 12 * 60 + 44


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-30 03:12:44", BASE),
        ("2026-11-30 03:12:44,123", BASE + 0.123),
        ("2026-11-30T03:12:44.123456789Z", BASE + 0.123456789),
        ("2026-11-30T04:12:44+01:00", BASE),
        ("2026-11-29T22:12:44.5-0500", BASE + 0.5),
        ("2026/11/30 03:12:44", BASE),
        ("11/30/26 03:12:44", BASE),
        ("11/30/2026-03:12:44", BASE),
        ("Mon Nov 30 03:12:44 2026", BASE),
        ("1732937564.123456", 1732937564.123456),
        ("Nov 30 03:12:44", OF_YEAR),
        ("11-30 03:12:44", OF_YEAR),
        ("1130 03:12:44.123", OF_YEAR + 0.123),
        ("03:12:44", OF_DAY),
        ("03:12:44.680", OF_DAY + 0.68),
    ],
)
def test_stamps(text: str, moment: float) -> None:
    assert seconds(text) == pytest.approx(moment, abs=1e-5)


def test_february_may_have_29_days_without_a_year() -> None:
    assert seconds("02-29 00:00:00") == 59 * 86_400
    assert seconds("217 00:13:05.609") == pytest.approx(47 * 86_400 + 785.609)


@pytest.mark.parametrize("text", ["", "soon", "99:99:99", "12345"])
def test_other_texts_are_none(text: str) -> None:
    assert seconds(text) is None


@given(st.text(alphabet="0123456789-/:. TZ+NovMon,", max_size=40))
def test_any_text_is_answered(text: str) -> None:
    found: Optional[float] = seconds(text)
    assert found is None or found > -1e12
