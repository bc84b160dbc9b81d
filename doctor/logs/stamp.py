"""Time stamps of logs: their text, and seconds where they can be told.

Without a zone UTC is assumed. A stamp without a year (``09-28 15:47:24``, ``Nov 30 03:12:44``) gives seconds since
the beginning of an unknown year that has a 29th of February; a stamp with only a time of day gives seconds since
midnight. Both order the lines of one log and say nothing about another.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Optional

ISO = r"\d{4}[-/]\d\d[-/]\d\d[T _-]\d\d:\d\d:\d\d(?:[.,:]\d{1,9})?(?: ?(?:Z|[+-]\d\d:?\d\d)(?![\d:-]))?"
DAY_MONTH = r"\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
US = r"\d\d/\d\d/(?:\d{4}|\d\d)[ -]\d\d:\d\d:\d\d(?:[.,]\d{1,6})?"
SYSLOG = r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})?"
ASCTIME = r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: \d{4})?"
CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"

_CLOCK = re.compile(r"(\d\d):(\d\d):(\d\d)(?:[.,:](\d{1,9}))?")
_YMD = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)")
_ZONE = re.compile(r"([+-])(\d\d):?(\d\d)$")
_MD = re.compile(r"(\d\d)-(\d\d) ")
_US = re.compile(r"(\d\d)/(\d\d)/(\d{4}|\d\d)")
_NAMED = re.compile(r"([A-Z][a-z]{2}) +(\d{1,2}) \d\d:")
_YEAR_LAST = re.compile(r" (\d{4})$")
_GLOG = re.compile(r"(\d{1,2})(\d\d) \d\d:")
_EPOCH = re.compile(r"\d{10}\.\d{1,9}$")

_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTHS = {name: n for n, name in enumerate(_NAMES, start=1)}
_UNIX = datetime(1970, 1, 1).toordinal()
_DAY = 86_400.0
# A year with a 29th of February, so that every month-day has a place.
_LEAP_START = datetime(2000, 1, 1).toordinal()


def seconds(text: str) -> Optional[float]:
    """Return the moment that a stamp names, as the module says, or None where it is no stamp."""
    clock = _CLOCK.search(text)
    if clock is None:
        return float(text) if _EPOCH.match(text) else None
    of_day = int(clock[1]) * 3600 + int(clock[2]) * 60 + int(clock[3])
    if of_day >= 86_401:
        return None
    fraction = float(f"0.{clock[4]}") if clock[4] else 0.0
    day = _day(text)
    if day is None:
        return of_day + fraction
    return day * _DAY + of_day + fraction - _offset(text, clock.end())


def _day(text: str) -> Optional[int]:
    """Return the day number: since 1970, or since an unknown year's first day; None without a date."""
    found = _YMD.match(text)
    if found:
        return _ordinal(int(found[1]), int(found[2]), int(found[3]))
    found = _MD.match(text)
    if found:
        return _ordinal(None, int(found[1]), int(found[2]))
    found = _US.match(text)
    if found:
        year = int(found[3])
        return _ordinal(year if year > 99 else 2000 + year, int(found[1]), int(found[2]))
    found = _NAMED.search(text)
    if found and found[1] in _MONTHS:
        last = _YEAR_LAST.search(text)
        return _ordinal(int(last[1]) if last else None, _MONTHS[found[1]], int(found[2]))
    found = _GLOG.match(text)
    if found:
        return _ordinal(None, int(found[1]), int(found[2]))
    return None


def _ordinal(year: Optional[int], month: int, day: int) -> Optional[int]:
    try:
        if year is None:
            return datetime(2000, month, day).toordinal() - _LEAP_START
        return datetime(year, month, day).toordinal() - _UNIX
    except ValueError:
        return None


def _offset(text: str, start: int) -> float:
    zone = _ZONE.search(text, start)
    if zone is None:
        return 0.0
    amount = int(zone[2]) * 3600.0 + int(zone[3]) * 60.0
    return amount if zone[1] == "+" else -amount
