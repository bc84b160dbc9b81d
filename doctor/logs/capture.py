"""From a hit to what the message says: the wording's regex on the line, rejoined where a terminal broke it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple, Optional

import re2

from doctor.logs.line import Line
from doctor.logs.unit import convert
from doctor.logs.window import Raw, Window
from doctor.logs.wrap import joined
from doctor.model.log import Field
from doctor.model.rule import Pattern, Signature
from doctor.model.unit import field_name

_REJOINED = 8
_LOOKED_AT = 300


class Found(NamedTuple):
    """A match: the text it was found in, its captures and whether each named one is there."""

    text: str
    captures: dict[str, str]
    complete: bool


class Wording:
    """One pattern of one signature; its regex is compiled on the first hit of its gate."""

    __slots__ = ("_regex", "pattern", "signature")

    def __init__(self, signature: Signature, pattern: Pattern) -> None:
        self.signature = signature
        self.pattern = pattern
        self._regex: Any = None

    def search(self, text: str) -> Optional[Found]:
        """Return what the wording finds in a message, or None."""
        if self._regex is None:
            self._regex = re2.compile(self.pattern.regex.encode())
        data = text.encode("utf-8", "replace")
        match = self._regex.search(data)
        if match is None:
            return None
        groups = {name: match.group(place) for name, place in self._regex.groupindex.items()}
        captures = {
            name.decode(): value.decode("utf-8", "replace") for name, value in groups.items() if value is not None
        }
        if "\n" in text:
            stop = data.find(b"\n", match.end())
            text = text if stop < 0 else data[:stop].decode("utf-8", "replace")
        return Found(text, captures, len(captures) == len(groups))

    def fields(self, captures: dict[str, str]) -> dict[str, Field]:
        """Return the captures as fields with units, and the signature's constant fields."""
        fields: dict[str, Field] = dict(self.signature.sets)
        for name, text in captures.items():
            unit = self.signature.captures.get(name, "text")
            value = convert(unit, text)
            if value is not None:
                fields[field_name(name, unit)] = value
        return fields


def find(wording: Wording, line: Line, raw: Raw, number: int, window: Window, *, rejoin: bool) -> Optional[Found]:
    """Return what a wording finds in a message: on its line, over its following lines, or rejoined."""
    text = line.text
    if wording.pattern.lines > 1:
        here = window.parse(raw, number)
        glued = here[here.index(line) + 1 :] if line in here else ()  # what others printed on the same row
        more = [*glued, *_following(line, raw, number, window, wording.pattern.lines - 1)]
        text = "\n".join([text, *(each.text for each in more[: wording.pattern.lines - 1])])
    found = wording.search(text)
    if not rejoin or (found is not None and found.complete):
        return found
    following = list(_following(line, raw, number, window, _REJOINED))
    found = _best(wording, found, [line, *following])
    if found is None:
        before = _preceding(line, raw, number, window)
        if before is not None and wording.search(before.text) is None:
            found = _best(wording, None, [before, line, *following])
    return found


def _best(wording: Wording, found: Optional[Found], lines: list[Line]) -> Optional[Found]:
    """Return the match with the most captures among what is there already and the rejoined texts."""
    if len(lines) < 2:
        return found
    for text in joined(lines):
        other = wording.search(text)
        if other is not None and (found is None or len(other.captures) > len(found.captures)):
            found = other
            if found.complete:
                break
    return found


def _following(line: Line, raw: Raw, number: int, window: Window, count: int) -> Iterator[Line]:
    stream = line.speaker.stream
    same = (each for each in window.after(raw, number, _LOOKED_AT) if each.speaker.stream == stream)
    return islice(same, count)


def _preceding(line: Line, raw: Raw, number: int, window: Window) -> Optional[Line]:
    stream = line.speaker.stream
    before = window.before(raw, number) or ()
    return next((each for each in reversed(before) if each.speaker.stream == stream), None)


def segments(lines: tuple[Line, ...], gate: str) -> tuple[Line, ...]:
    """Return the messages of a physical line that hold a gate; all, where peeling prefixes took it apart."""
    if len(lines) == 1:
        return lines
    return tuple(line for line in lines if gate in line.text) or lines


def signature_fields(signature: Signature, text: str) -> Optional[dict[str, Field]]:
    """Return the fields that a signature reads from one message, or None where none of its patterns matches."""
    for pattern in signature.patterns:
        if pattern.gate in text:
            wording = Wording(signature, pattern)
            found = wording.search(text)
            if found is not None:
                return wording.fields(found.captures)
    return None
