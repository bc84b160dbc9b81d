"""What a condition or a text can see while one event is judged: its fields, the log around it, live facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional

import re2

from doctor.engine.event import Event
from doctor.engine.stage import frame_text, own_frame
from doctor.model.log import Field, Occurrence
from doctor.model.rule import Value

# One word per special name; signal fields and lets come before them.
_LIVE = ("gpu.", "host.", "node.", "rdma.", "nccl.", "storage.")


class EventScope:
    """The names and log functions at hand for one event.

    ``context`` holds all events of the same run, in order; ``consulted`` collects the occurrences that answered a
    ``seen`` or ``field`` with something, because they are evidence too.
    """

    def __init__(
        self,
        event: Event,
        context: Sequence[Event],
        *,
        stage: Optional[str],
        framework: Optional[str],
        facts: Mapping[str, Field],
    ) -> None:
        self.event = event
        self.lets: dict[str, Value] = {}
        self.undecided: dict[str, tuple[str, ...]] = {}  # a let that stayed unknown, and the names it lacked
        self.consulted: list[Occurrence] = []
        self._context = context
        self._facts = facts
        self._special = _special_names(event, stage, framework)
        self._fields = event_fields(event)

    def name(self, dotted: str) -> Optional[Value]:
        """Return the value of a name, or None where it is unknown."""
        if dotted.startswith("signal."):
            rest = dotted[len("signal.") :]
            return self._fields.get(rest, self._special.get(rest))
        if dotted.startswith(_LIVE):
            return self._facts.get(dotted)
        for table in (self.lets, self._special, self._fields):
            if dotted in table:
                return table[dotted]
        return None

    def call(self, function: str, args: tuple[Value, ...]) -> Optional[Value]:
        """Answer a log function; None where the log cannot tell."""
        if function == "in_trace":
            return self._in_trace(str(args[0]))
        occurrences = self._of_signature(str(args[0]), before=function == "seen_before")
        if function in ("seen", "seen_before"):
            self.consulted += occurrences[:1]
            return bool(occurrences)
        if function == "count":
            return len(occurrences)
        if function == "ranks":
            ranks = {o.speaker.rank if o.speaker.rank is not None else o.fields.get("rank") for o in occurrences}
            return len(ranks - {None})
        if function == "field":
            named = [o for o in occurrences if str(args[1]) in o.fields]
            self.consulted += named[:1]
            return named[0].fields[str(args[1])] if named else None
        return None

    def _of_signature(self, signature: str, *, before: bool) -> list[Occurrence]:
        found: list[Occurrence] = []
        for event in self._context:
            if before and event is self.event:
                break
            found += [o for o in (event.primary, *event.others) if o.signature == signature]
        return found

    def _in_trace(self, pattern: str) -> Optional[bool]:
        frames = [frame for block in self.event.chain for frame in block.frames]
        if not frames:
            return None
        compiled = re2.compile(pattern)
        return any(compiled.search(frame_text(frame)) for frame in frames)


def event_fields(event: Event) -> dict[str, Field]:
    """Return the captures of an event; the primary occurrence's own come first."""
    fields: dict[str, Field] = {}
    for occurrence in (event.primary, *event.others):
        for name, value in occurrence.fields.items():
            fields.setdefault(name, value)
    return fields


def _special_names(event: Event, stage: Optional[str], framework: Optional[str]) -> dict[str, Value]:
    speaker, block = event.speaker, event.exception
    names: dict[str, Optional[Value]] = {
        "stage": stage,
        "framework": framework,
        "rank": speaker.rank,
        "local_rank": speaker.local_rank,
        "node": speaker.node,
        "pid": speaker.pid,
        "exception": block.type if block else None,
        "message": (block.message if block else event.primary.text) or None,
        "line": event.line,
    }
    frame = own_frame(event.chain)
    if frame:
        names["where"] = f"{frame.file}:{frame.line} in {frame.function}"
        names["code"] = frame.code or None
    return {name: value for name, value in names.items() if value is not None}
