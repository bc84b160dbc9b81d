"""Numbers as people read them: ``2.34 GiB``, ``10 min``, ``93 %``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Union

from doctor.model.rule import Value

MAX_TEXT = 400
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_BYTE_UNITS = ((1 << 50, "PiB"), (1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def format_value(name: str, value: Value, form: str = "") -> str:
    """Return a value as text; without a form its name's suffix decides (``_bytes``, ``_seconds``, ``_ratio``).

    >>> format_value("requested_bytes", 2512555868), format_value("timeout_seconds", 600.0)
    ('2.34 GiB', '10 min')
    """
    form = form or _form_of(name)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) or form == "text":
        return clean_text(str(value))
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return FORMS[form](value)


def clean_text(text: str) -> str:
    """Return a stranger's text on one line, without control characters, and of bounded length."""
    text = _CONTROL.sub(" ", text).strip()
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1].rstrip() + "…"


def _form_of(name: str) -> str:
    for suffix, form in (("_bytes", "bytes"), ("_seconds", "seconds"), ("_ratio", "percent")):
        if name.endswith(suffix):
            return form
    return "number"


def _bytes(value: Union[int, float]) -> str:
    for size, unit in _BYTE_UNITS:
        if abs(value) >= size:
            return f"{_decimals(value / size, 2)} {unit}"
    return f"{_decimals(value, 2)} bytes"


def _seconds(value: Union[int, float]) -> str:
    size = abs(value)
    if size and size < 0.1:
        return f"{value * 1000:.3g} ms"
    if size < 120:
        return f"{_decimals(value, 2)} s"
    for limit, divisor, unit in ((7_200, 60, "min"), (172_800, 3_600, "h")):
        if size < limit:
            return f"{_decimals(value / divisor, 1)} {unit}"
    return f"{_decimals(value / 86_400, 1)} days"


def _percent(value: Union[int, float]) -> str:
    percent = value * 100
    return f"{percent:.0f} %" if abs(percent) >= 100 else f"{percent:.3g} %"


def _number(value: Union[int, float]) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def _decimals(value: Union[int, float], digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


FORMS: dict[str, Callable[[Union[int, float]], str]] = {
    "bytes": _bytes,
    "seconds": _seconds,
    "percent": _percent,
    "int": lambda value: str(round(value)),
    "number": _number,
    "text": str,
}
"""The forms that a placeholder may ask for, as in ``{wait:seconds}``."""
