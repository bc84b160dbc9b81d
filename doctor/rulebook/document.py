"""A YAML file as plain data that remembers where each part stands.

The reader is stricter than YAML: no anchors, no tags, no duplicate keys, no unquoted yes/no/on/off (which are booleans
to one YAML version and text to the next), and bounds on size and nesting, because rules come from strangers too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Optional, Union

import yaml

from doctor.rulebook.fault import Fault

MAX_BYTES = 512 * 1024
MAX_DEPTH = 20

Key = Union[str, int]
Path = tuple[Key, ...]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)(?:[eE][-+]?[0-9]+)?\Z")
_WORDS: dict[str, Any] = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    "null": None, "Null": None, "NULL": None, "~": None, "": None,
}  # fmt: skip
_DOUBTFUL = frozenset({"yes", "no", "on", "off"})


class Document:
    """The data of one file; ``place`` says where the part at a path stands."""

    def __init__(self, file: str, data: Any, places: dict[Path, tuple[int, int]]) -> None:
        self.file = file
        self.data = data
        self._places = places

    def place(self, path: Path) -> tuple[int, int]:
        """Return line and column (1-based) of a part, or of the nearest enclosing part that exists."""
        while path and path not in self._places:
            path = path[:-1]
        return self._places.get(path, (1, 1))

    def fault(self, path: Path, message: str, level: str = "error") -> Fault:
        """Return a fault at a part of the document."""
        return Fault(self.file, *self.place(path), message, level)


class _RefusedError(Exception):
    def __init__(self, mark: Any, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.line: int = mark.line + 1
        self.column: int = mark.column + 1


class _Frame:
    """One open mapping or sequence while the events go by."""

    def __init__(self, path: Path, holds: Union[dict[str, Any], list[Any]]) -> None:
        self.path = path
        self.holds = holds
        self.key: Optional[str] = None

    def next_path(self) -> Path:
        return (*self.path, len(self.holds) if isinstance(self.holds, list) else self.key or "")


def read_document(file: str, content: bytes) -> tuple[Optional[Document], list[Fault]]:
    """Return the document of a file's bytes and the faults that it has as YAML."""
    if len(content) > MAX_BYTES:
        return None, [Fault(file, 1, 1, f"larger than {MAX_BYTES} bytes")]
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        return None, [Fault(file, line, 1, "not UTF-8 text")]
    faults: list[Fault] = []
    try:
        data, places = _build(yaml.parse(text, Loader=_LOADER), file, faults)
    except _RefusedError as error:
        return None, [*faults, Fault(file, error.line, error.column, error.message)]
    except yaml.YAMLError as error:
        problem: Any = getattr(error, "problem_mark", None)
        line, column = (problem.line + 1, problem.column + 1) if problem else (1, 1)
        return None, [*faults, Fault(file, line, column, f"not YAML: {getattr(error, 'problem', None) or error}")]
    if not isinstance(data, (dict, list)):
        return None, [*faults, Fault(file, 1, 1, "an empty file, or no mapping")]
    return Document(file, data, places), faults


def _build(events: Iterator[Any], file: str, faults: list[Fault]) -> tuple[Any, dict[Path, tuple[int, int]]]:
    places: dict[Path, tuple[int, int]] = {}
    stack: list[_Frame] = []
    root: list[Any] = []

    def put(value: Any) -> None:
        if not stack:
            root.append(value)
            return
        frame = stack[-1]
        if isinstance(frame.holds, list):
            frame.holds.append(value)
        else:
            frame.holds[frame.key or ""] = value
            frame.key = None

    for event in events:
        mark: Any = event.start_mark
        _refuse(event, root if not stack else [], len(stack))
        frame = stack[-1] if stack else None
        if isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            stack.pop()
        elif frame and isinstance(frame.holds, dict) and frame.key is None:
            frame.key = _key(event, frame.holds, file, faults)
            places[frame.next_path()] = (mark.line + 1, mark.column + 1)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            path = frame.next_path() if frame else ()
            places.setdefault(path, (mark.line + 1, mark.column + 1))
            holds: Union[dict[str, Any], list[Any]] = {} if isinstance(event, yaml.MappingStartEvent) else []
            put(holds)
            stack.append(_Frame(path, holds))
        elif isinstance(event, yaml.ScalarEvent):
            places.setdefault(frame.next_path() if frame else (), (mark.line + 1, mark.column + 1))
            put(_scalar(event, file, faults))
    return root[0] if root else None, places


def _refuse(event: Any, roots: list[Any], depth: int) -> None:
    """Refuse what this reader does not take at all."""
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        raise _RefusedError(event.start_mark, "anchors and aliases are not taken; write the text out")
    if getattr(event, "tag", None) is not None:
        raise _RefusedError(event.start_mark, f"tags are not taken: {event.tag}")
    if depth >= MAX_DEPTH and isinstance(event, yaml.CollectionStartEvent):
        raise _RefusedError(event.start_mark, f"nested deeper than {MAX_DEPTH}")
    if roots and isinstance(event, yaml.DocumentStartEvent):
        raise _RefusedError(event.start_mark, "a second document in one file")


def _key(event: Any, holds: dict[str, Any], file: str, faults: list[Fault]) -> str:
    mark = event.start_mark
    if not isinstance(event, yaml.ScalarEvent):
        raise _RefusedError(event.start_mark, "a key must be plain text")
    key = str(event.value)
    line, column = mark.line + 1, mark.column + 1
    if not event.style and key.lower() in _DOUBTFUL:
        faults.append(Fault(file, line, column, f"the key {key} is a boolean to some YAML readers; quote it"))
    if key in holds:
        faults.append(Fault(file, line, column, f"the key {key} stands here twice"))
    return key


def _scalar(event: Any, file: str, faults: list[Fault]) -> Any:
    text = str(event.value)
    if event.style:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text.lower() in _DOUBTFUL:
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        message = f"{text} is a boolean to some YAML readers; quote it, or write true or false"
        faults.append(Fault(file, line, column, message))
        return text
    if _INT.match(text) and len(text) < 100:
        number = int(text)
        return number if abs(number) < 1 << 63 else float(number)  # beyond what JSON readers and the cache take
    return float(text) if _FLOAT.match(text) else text
