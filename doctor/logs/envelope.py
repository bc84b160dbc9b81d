"""Messages that collectors and structured loggers wrapped in one JSON object a line."""

from __future__ import annotations

from typing import Any, Optional

import msgspec

_MESSAGES = ("log", "message", "msg", "event", "textPayload", "MESSAGE")
_DETAILS = ("exc_info", "exception", "traceback", "stack", "stack_trace", "exc_text")
_TIMES = ("time", "timestamp", "@timestamp", "ts", "asctime", "datetime")
_LEVELS = ("level", "levelname", "severity", "log_level")
_NODES = ("hostname", "host", "node", "node_name", "_HOSTNAME")
_DECODER = msgspec.json.Decoder()


class Letter(msgspec.Struct, frozen=True):
    """A message taken out of its envelope, and what the envelope says of it, named as prefixes name it."""

    message: str
    groups: dict[str, Optional[str]]


def opened(text: str) -> Optional[Letter]:
    """Return the message in a JSON line, or None where the line is no envelope."""
    if not text.startswith("{") or '"' not in text[:3]:
        return None
    try:
        found = _DECODER.decode(text.strip())
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None
    if not isinstance(found, dict):
        return None
    message = _first(found, _MESSAGES)
    if message is None:
        return None
    detail = _first(found, _DETAILS)
    if detail and detail not in message:
        message = f"{message}\n{detail}"
    return Letter(message, _groups(found))


def _first(found: dict[str, Any], names: tuple[str, ...]) -> Optional[str]:
    for name in names:
        value = found.get(name)
        if isinstance(value, str) and value.strip():
            return value
    return None


def _groups(found: dict[str, Any]) -> dict[str, Optional[str]]:
    level = _first(found, _LEVELS)
    groups: dict[str, Optional[str]] = {
        "time": _first(found, _TIMES),
        "level": level.upper() if level else None,
        "node": _first(found, _NODES),
    }
    for name, key in (("rank", "rank"), ("local", "local_rank"), ("pid", "pid"), ("pid", "process")):
        value = found.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**8:
            groups[name] = str(value)
    return groups
