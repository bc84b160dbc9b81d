"""One log in the making: hits become occurrences, exceptions, numbers, runs and signs of life."""

from __future__ import annotations

from bisect import bisect_right

import msgspec

from doctor.logs.capture import Found, find, segments
from doctor.logs.kept import Kept
from doctor.logs.limit import MAX_TEXT, Limits
from doctor.logs.line import Line, LineParser
from doctor.logs.matcher import GateSet, Kind, Matcher, Subscriber
from doctor.logs.number import read_numbers
from doctor.logs.progress import Sample, Steps, shows_progress
from doctor.logs.run import Sighting, boundaries, sighting
from doctor.logs.series import NumberBudget, SeriesGatherer, is_odd
from doctor.logs.tracing import ExceptionGatherer, enclosing
from doctor.logs.window import Raw, Window
from doctor.model.log import LimitHit, LogFile, Occurrence

_SIGHTINGS = 2_000
_NO_RAW = Raw(0, -1, b"", False)


class _Tally:
    """One signature's matches in this log."""

    __slots__ = ("kept", "last", "misses")

    def __init__(self, limits: Limits) -> None:
        self.kept: Kept[Occurrence] = Kept(limits.kept_first, limits.kept_last)
        self.last: tuple[int, set[str]] = (-1, set())
        self.misses = 0


class Reading:
    """Takes stretches of a log in order and gathers what they say."""

    def __init__(self, path: str, matcher: Matcher, limits: Limits) -> None:
        self.near_end = False
        self.numbers_skipped = False
        self.budget = NumberBudget(limits.number_lines)
        self._path = path
        self._matcher = matcher
        self._limits = limits
        self._parser = LineParser()
        self._tallies: dict[str, _Tally] = {}
        self._exceptions = ExceptionGatherer(path, limits)
        self._series = SeriesGatherer(limits.points)
        self._steps = Steps()
        self._progress_budget = NumberBudget(limits.alive)
        self._alive = Sample(limits.alive)
        self._sightings: list[Sighting] = []
        self._frameworks: dict[str, int] = {}
        self._limit_hits: dict[str, LimitHit] = {}
        self._bare_tried = 0
        self._odd_lines = 0
        self._numbers_at = 0
        self._raw = _NO_RAW
        self._number = 0

    @property
    def frameworks_seen(self) -> frozenset[str]:
        """The frameworks that need no more looking for."""
        return frozenset(self._frameworks)

    def limit(self, what: str, text: str) -> None:
        """Note a bound that bit, once for each kind."""
        self._limit_hits.setdefault(what, LimitHit(self._path, what, text))

    def take(self, gates: GateSet, around: tuple[bytes, int], start: int, end: int, line: int) -> None:
        """Look at every hit that ends in ``start`` to ``end``; ``line`` is the number of lines ended before."""
        data, base = around
        scanner, subscribers = gates
        low = max(base, start - scanner.overlap)
        window = Window(data, base, self._parser, self._limits.line_bytes)
        self._raw, self._number = _NO_RAW, line + 1
        counted, line_end, numbers_done = start - base, -1, -1
        for stop, gate in scanner.hits(memoryview(data)[low - base : end - base]):
            stop += low - base
            if stop <= start - base:
                continue
            if stop > line_end:
                self._number += data.count(b"\n", counted, stop)
                counted = stop
                line_end = data.find(b"\n", stop)
                line_end = len(data) if line_end < 0 else line_end
            for subscriber in subscribers[gate]:
                if subscriber.kind is Kind.NUMBER:
                    if numbers_done == self._number or not self.budget.chooses(self._number):
                        numbers_done = self._number
                        continue
                    numbers_done = self._number
                self._locate(window, scanner.start(stop, gate) + base, stop + base)
                self._dispatch(subscriber, scanner.gates[gate], window)

    def _locate(self, window: Window, start: int, stop: int) -> None:
        """Find the line of a hit, unless it is the line of the hit before."""
        if not self._raw.start <= stop <= self._raw.end:
            self._raw = window.raw_at(start, stop)
            if self._raw.cut:
                self.limit("line", f"Line {self._number} is very long; only what surrounds its hits was read.")

    def _dispatch(self, subscriber: Subscriber, gate: bytes, window: Window) -> None:
        kind, index = subscriber
        if kind is Kind.SIGNATURE:
            self._signature(index, window)
        elif kind is Kind.NUMBER:
            self._numbers(window)
        elif kind is Kind.ODD:
            if self._odd_lines < self._limits.number_lines and is_odd(self._raw.data):
                self._odd_lines += 1
                self._numbers(window)
        elif kind is Kind.FRAMEWORK:
            self._frameworks.setdefault(self._matcher.frameworks[index][0], self._number)
        elif kind is Kind.PROGRESS:
            if self._progress_budget.chooses(self._number) and shows_progress(self._raw.data):
                self._alive.add(self._number)
        elif kind is Kind.RUN:
            lines = segments(window.parse(self._raw, self._number), gate.decode())
            if len(self._sightings) < _SIGHTINGS:
                self._sightings.append(sighting(lines[0], index))
        elif kind is Kind.TRACEBACK:
            lines = window.parse(self._raw, self._number)
            self._exceptions.traceback(lines, gate.decode(), self._raw, self._number, window, self.near_end)
        elif self._bare_tried < self._limits.captures or self.near_end:
            self._bare_tried += 1
            lines = segments(window.parse(self._raw, self._number), gate.decode())
            self._exceptions.bare(lines, self._raw, self._number, window)
        else:
            self.limit("exceptions", "There are very many error lines; not all were read as exceptions.")

    def _numbers(self, window: Window) -> None:
        if self._numbers_at == self._number:
            return
        self._numbers_at = self._number
        for line in window.parse(self._raw, self._number):
            numbers = read_numbers(line.text)
            if numbers is not None:
                self._series.add(line, numbers)
                if self._steps.advance(line, numbers):
                    self._alive.add(self._number)

    def glance(self, gates: GateSet, data: bytes, base: int, line: int) -> None:
        """Take the last numbers or sign of life from a small piece of a stretch that is not read for numbers."""
        scanner, subscribers = gates
        for stop, gate in reversed(scanner.hits(data)):
            window = Window(data, base, self._parser, self._limits.line_bytes)
            raw = window.raw_at(base + scanner.start(stop, gate), base + stop)
            if base < raw.start and raw.end < base + len(data):
                self._raw, self._number = raw, line + data.count(b"\n", 0, stop) + 1
                self.numbers_skipped |= subscribers[gate][0].kind is Kind.NUMBER
                self._dispatch(subscribers[gate][0], scanner.gates[gate], window)
                return

    def _signature(self, index: int, window: Window) -> None:
        wording = self._matcher.wordings[index]
        signature = wording.signature.id
        tally = self._tallies.get(signature)
        if tally is None:
            tally = self._tallies[signature] = _Tally(self._limits)
        if tally.last[0] != self._raw.start:
            tally.last = (self._raw.start, set())
        if tally.kept.count >= self._limits.captures and not self.near_end:
            if not tally.last[1]:
                tally.last[1].add("")
                tally.kept.count += 1
            return
        if tally.misses > self._limits.misses and tally.misses > 50 * tally.kept.count:
            self.limit("misses", f"The gate of {signature} is too common in this log; it was looked at only in part.")
            return
        rejoin = self.near_end or (
            tally.kept.count < self._limits.rejoined and tally.misses < max(1000, 10 * tally.kept.count)
        )
        for line in segments(window.parse(self._raw, self._number), wording.pattern.gate):
            if line.speaker.stream in tally.last[1]:
                continue
            found = find(wording, line, self._raw, self._number, window, rejoin=rejoin)
            if found is None:
                tally.misses += 1
                continue
            tally.last[1].add(line.speaker.stream)
            tally.kept.add(self._occurrence(signature, line, found, wording.fields(found.captures)))

    def _occurrence(
        self, signature: str, line: Line, found: Found, fields: dict[str, str | int | float | bool]
    ) -> Occurrence:
        return Occurrence(
            signature=signature,
            file=self._path,
            line=self._number,
            text=found.text[:MAX_TEXT],
            speaker=line.speaker,
            time=line.time,
            time_text=line.time_text,
            fields=fields,
        )

    def finish(self, size_bytes: int, lines: int) -> LogFile:
        """Return everything gathered so far; may be called again after more was taken."""
        begins = boundaries(self._sightings, sorted(self._exceptions.lines))
        blocks = [
            msgspec.structs.replace(block, run=bisect_right(begins, block.line)) for block in self._exceptions.blocks()
        ]
        kept = [each for tally in self._tallies.values() for each in tally.kept.items()]
        kept = [msgspec.structs.replace(each, run=bisect_right(begins, each.line)) for each in kept]
        kept.sort(key=lambda each: each.line)
        self._note_bounds()
        return LogFile(
            path=self._path,
            size_bytes=size_bytes,
            lines=lines,
            runs=len(begins) + 1,
            occurrences=enclosing(kept, blocks),
            counts={name: tally.kept.count for name, tally in self._tallies.items() if tally.kept.count},
            exceptions=blocks,
            series=self._series.split(self._path, begins),
            frameworks=dict(self._frameworks),
            alive_lines=self._alive.lines(),
            limits=list(self._limit_hits.values()),
        )

    def _note_bounds(self) -> None:
        dropped = self._exceptions.dropped()
        if dropped:
            self.limit("exceptions", f"{dropped} exceptions between the first and the last were not kept.")
        if self._series.full:
            names = ", ".join(sorted(self._series.full))
            self.limit("points", f"More than {self._limits.points} numbers a metric; the rest was left out: {names}.")
        if self.budget.thinned or self.numbers_skipped:
            self.limit("numbers", "There are very many lines with training numbers; a sample of them was read.")
