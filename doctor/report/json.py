"""The scan document, schema ``llm-doctor/scan/1``: the same report gives the same bytes."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from doctor.model.diagnosis import ScanReport
from doctor.report.escape import UNSEEN

_LONE = re.compile("[\ud800-\udfff]")


def json_of(report: ScanReport, indent: int = 2) -> str:
    """Return a report as JSON with a final newline; on a single line where ``indent`` is 0.

    Keys stand in the order of the schema. Numbers that JSON cannot say (NaN, infinite) are null.
    """
    try:
        raw = msgspec.json.encode(report, order="deterministic")
    except (UnicodeEncodeError, OverflowError):
        raw = msgspec.json.encode(_mended(msgspec.to_builtins(report)), order="deterministic")
    text = (msgspec.json.format(raw, indent=indent) if indent else raw).decode()
    # Inside strings these may stand bare; spelled out they mean the same to a parser and do nothing to a terminal.
    return UNSEEN.sub(_spelled, text) + "\n"


def _spelled(match: re.Match[str]) -> str:
    character = match.group()
    if character == "\n":
        return character  # the only one that stands between strings
    units = character.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _mended(value: Any) -> Any:
    """Return the document with half characters, which no UTF-8 can hold, replaced, and huge numbers written out."""
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value)
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        return msgspec.Raw(str(value).encode())
    if isinstance(value, (list, tuple)):
        return [_mended(one) for one in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(one) for key, one in value.items()}
    return value


def schema_of(document: str) -> str:
    """Return the JSON Schema of a document, as it was published."""
    from importlib.resources import files

    return files("doctor.report").joinpath(f"schema/{document}-1.json").read_text(encoding="utf-8")
