"""The order of events, and which of them the job outlived.

Within a file the order of lines always holds. Between files time stamps decide where both events have one; a
stamp is never allowed to reorder one file.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import msgspec

from doctor.engine.event import Event, Kind
from doctor.model.log import LogFile
from doctor.model.vocabulary import Role, Severity

# A dying job's other ranks go on for some lines; this many samples of normal progress mean that the job lived on.
ALIVE_SAMPLES = 12


class Timeline(msgspec.Struct, frozen=True):
    """The events of a whole scan in the order in which they happened."""

    events: tuple[Event, ...]
    survived: frozenset[int]  # indexes into ``events``
    recovered: frozenset[int] = frozenset()

    def alive_after(self, index: int) -> bool:
        """Return whether the job went on normally after the event, or says itself that it got over it."""
        return index in self.survived or index in self.recovered


def order_events(logs: Sequence[LogFile], events: Sequence[Event]) -> Timeline:
    """Merge the events of all files into one order and mark those that the job outlived."""
    clocks = [_file_clock([e for e in events if e.file_index == index]) for index in range(len(logs))]
    comparable = len(logs) == 1 or all(clock for index, clock in enumerate(clocks) if _speaks(events, index))

    def key(event: Event) -> tuple[float, int, int, bool]:
        moment = _moment(clocks[event.file_index], event.line) if comparable and len(logs) > 1 else 0.0
        return (moment, event.file_index, event.line, event.kind is Kind.UNKNOWN)

    ordered = sorted(events, key=key)
    survived = {i for i, event in enumerate(ordered) if _outlived(event, logs[event.file_index])}
    return Timeline(tuple(ordered), frozenset(survived), frozenset(_recovered(ordered)))


def _recovered(events: Sequence[Event]) -> Iterator[int]:
    """Yield the events that a later line of the same file and run declares to be got over."""
    got_over: set[tuple[int, int, str]] = set()
    for index in range(len(events) - 1, -1, -1):
        event = events[index]
        for occurrence in (event.primary, *event.others):
            if (event.file_index, event.run, occurrence.signature) in got_over:
                yield index
                break
        if event.signature:
            got_over.update((event.file_index, event.run, name) for name in event.signature.recovers)


def _speaks(events: Sequence[Event], index: int) -> bool:
    return any(event.file_index == index for event in events)


def _file_clock(events: Sequence[Event]) -> list[tuple[int, float]]:
    """Return (line, time) points of one file with time never running backwards."""
    points: list[tuple[int, float]] = []
    for event in sorted(events, key=lambda event: event.line):
        if event.time is not None:
            before = points[-1][1] if points else event.time
            points.append((event.line, max(before, event.time)))
    return points


def _moment(clock: list[tuple[int, float]], line: int) -> float:
    """Return the time at a line: that of the last stamp at or before it, else of the first after it."""
    if not clock:
        return 0.0
    at = bisect_right(clock, (line, float("inf")))
    return clock[max(at - 1, 0)][1]


def _outlived(event: Event, log: LogFile) -> bool:
    """Return whether much normal progress follows the event in its file and its run."""
    if event.kind is Kind.SERIES or (event.signature and event.signature.role is Role.CASCADE):
        return False
    after = bisect_right(log.alive_lines, event.line)
    return len(log.alive_lines) - after >= ALIVE_SAMPLES


def can_be_root(event: Event) -> bool:
    """Return whether an event can be what broke: initiating, and harmful."""
    severity = event.signature.severity if event.signature else Severity.FATAL
    return event.role is Role.INITIATING and severity.order >= Severity.ERROR.order
