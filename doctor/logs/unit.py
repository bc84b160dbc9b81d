"""Captured text as numbers with a unit: ``2.34 GiB`` becomes ``requested_bytes`` 2512555868."""

from __future__ import annotations

import re
from typing import Optional

from doctor.model.log import Field

_SIZE = re.compile(r"([-+]?[\d.,_]+(?:[eE][-+]?\d+)?)\s*([kKMGTPE]?)(?:i?[bB](?:ytes?)?)?\s*$")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_SCALED_BYTES = {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_SCALED_SECONDS = {"seconds": 1.0, "milliseconds": 1e-3, "minutes": 60.0}
# JSON readers and caches take whole numbers of 64 bits; a size beyond (a broken driver prints them) becomes a float.
_WHOLE_MAX = (1 << 63) - 1


def convert(unit: str, text: str) -> Optional[Field]:
    """Return the captured text in the unit's base (bytes, seconds, a ratio), or None where it is no such number."""
    text = text.strip()
    if unit == "text":
        return text
    if unit == "bytes":
        return _size(text)
    number = _number(text.rstrip("%") if unit == "percent" else text)
    if number is None:
        return None
    if unit in _SCALED_BYTES:
        return _whole(number * _SCALED_BYTES[unit])
    if unit in _SCALED_SECONDS:
        return number * _SCALED_SECONDS[unit]
    if unit == "percent":
        return number / 100
    if unit in ("index", "count"):
        return _bounded(int(text)) if re.fullmatch(r"[-+]?\d{1,40}", text) else _whole(number)
    return number


def _size(text: str) -> Optional[Field]:
    match = _SIZE.match(text)
    if not match:
        return None
    digits, prefix = match.groups()
    if digits.isdigit():
        return _bounded(int(digits[:40]) << 10 * _POWERS[prefix.upper()])
    number = _number(digits)
    return None if number is None else _whole(number * (1 << 10 * _POWERS[prefix.upper()]))


def _number(text: str) -> Optional[float]:
    try:
        return float(text.replace(",", "").replace("_", ""))
    except ValueError:
        return None


def _whole(number: float) -> Optional[Field]:
    return _bounded(round(number)) if abs(number) != float("inf") and number == number else None


def _bounded(number: int) -> Field:
    return number if abs(number) <= _WHOLE_MAX else float(number)
