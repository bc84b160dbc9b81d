"""Plain data against the structs of the model: every difference is a fault at its place in the file."""

from __future__ import annotations

import difflib
import enum
from collections.abc import Iterator
from typing import Any, Optional, TypeVar, Union, get_args, get_origin

import msgspec

from doctor.rulebook.document import Document, Path
from doctor.rulebook.fault import Fault

T = TypeVar("T")

# Filled by the loader from the file's own place; a file that sets ``id`` claims another's name.
_OWNED = frozenset({"origin"})


def convert(document: Document, data: Any, kind: type[T], path: Path = ()) -> tuple[Optional[T], list[Fault]]:
    """Return the struct that data describes, or every reason why it is none."""
    faults = [document.fault(path + at, message) for at, message in _differences(data, kind)]
    if faults:
        return None, faults
    try:
        return msgspec.convert(data, kind), []
    except msgspec.ValidationError as error:
        return None, [document.fault(path, str(error))]


def _differences(data: Any, kind: Any) -> Iterator[tuple[Path, str]]:
    origin, inner = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield from _struct(data, kind)
    elif origin is tuple and isinstance(data, list):
        for index, item in enumerate(data):
            yield from _below(index, _differences(item, inner[0]))
    elif origin is dict and isinstance(data, dict):
        for key, item in data.items():
            yield from _below(key, _differences(item, inner[1]))
    elif origin is Union:
        structs = [one for one in inner if isinstance(one, type) and issubclass(one, msgspec.Struct)]
        yield from _differences(data, structs[0]) if structs and isinstance(data, dict) else _plain(data, kind)
    else:
        yield from _plain(data, kind)


def _below(key: Union[str, int], found: Iterator[tuple[Path, str]]) -> Iterator[tuple[Path, str]]:
    for path, message in found:
        yield (key, *path), message


def _struct(data: Any, kind: type[msgspec.Struct]) -> Iterator[tuple[Path, str]]:
    if not isinstance(data, dict):
        yield (), f"a mapping is needed here ({', '.join(_fields(kind))})"
        return
    fields = _fields(kind)
    for key in data:
        if key not in fields:
            near = difflib.get_close_matches(key, fields, 1)
            yield (key,), f"no such key: {key}" + (f"; did you mean {near[0]}?" if near else "")
    for name, field in fields.items():
        if name in data:
            yield from _below(name, _differences(data[name], field.type))
        elif field.required:
            yield (), f"{name} is missing"


def _fields(kind: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(kind) if field.encode_name not in _OWNED}


def _plain(data: Any, kind: Any) -> Iterator[tuple[Path, str]]:
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        words = [str(member.value) for member in kind]
        if data not in words:
            yield (), f"{data!r} is none of {', '.join(words)}"
        return
    try:
        msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        if not isinstance(data, dict) and get_origin(kind) is dict:
            yield (), f"a mapping is needed here, not {type(data).__name__}"
            return
        message = str(error)
        hint = "; quote it where text is meant" if "Expected `str`, got" in message else ""
        yield (), message[:1].lower() + message[1:] + hint
