"""The units that a rule may give its captures, and the field that each capture becomes."""

from __future__ import annotations

SUFFIXES: dict[str, str] = {
    "bytes": "_bytes",
    "kib": "_bytes",
    "mib": "_bytes",
    "gib": "_bytes",
    "seconds": "_seconds",
    "milliseconds": "_seconds",
    "minutes": "_seconds",
    "percent": "_ratio",
    "index": "",
    "count": "",
    "number": "",
    "text": "",
}
"""Every unit that a rule may give a capture, with the suffix of its field."""


def field_name(capture: str, unit: str) -> str:
    """Return the name of the field that a capture becomes: ``requested`` in bytes is ``requested_bytes``."""
    suffix = SUFFIXES.get(unit, "")
    return capture if not suffix or capture.endswith(suffix) else capture + suffix
