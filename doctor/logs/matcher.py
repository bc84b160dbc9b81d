"""What is looked for in a log: the gates of all signatures, and those of exceptions, numbers, runs and frameworks."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple

from doctor.logs.capture import Wording, signature_fields
from doctor.logs.exception import TRACEBACK_GATES, UNKNOWN_GATES
from doctor.logs.number import NUMBER_GATES
from doctor.logs.progress import PROGRESS_GATES
from doctor.logs.run import BANNERS
from doctor.logs.scanner import Scanner
from doctor.logs.series import ODD_GATES
from doctor.model.log import Field
from doctor.model.rule import Signature

__all__ = ["ALL", "FAR", "LIFE", "GateSet", "Kind", "Matcher", "Subscriber", "signature_fields"]


class Kind(enum.IntEnum):
    """What an occurrence of a gate is looked at for."""

    SIGNATURE = 0
    TRACEBACK = 1
    UNKNOWN = 2
    NUMBER = 3
    PROGRESS = 4
    RUN = 5
    FRAMEWORK = 6
    ODD = 7


ALL = frozenset(Kind)
FAR = frozenset(Kind) - {Kind.NUMBER, Kind.PROGRESS}
LIFE = frozenset({Kind.NUMBER, Kind.PROGRESS})


class Subscriber(NamedTuple):
    """Who wants to know of a gate: its kind, and the index among the wordings, banners or frameworks."""

    kind: Kind
    place: int


class GateSet(NamedTuple):
    """A scanner with, for each of its gates, who wants to know."""

    scanner: Scanner
    subscribers: tuple[tuple[Subscriber, ...], ...]


class Matcher:
    """All signatures and built-in gates, ready to read logs with; may be shared by threads and processes."""

    def __init__(self, signatures: Sequence[Signature], frameworks: Sequence[tuple[str, bytes]] = ()) -> None:
        self._given = (tuple(signatures), tuple(frameworks))
        self.frameworks = tuple(frameworks)
        self.wordings = [Wording(each, pattern) for each in signatures for pattern in each.patterns]
        self._sets: dict[tuple[frozenset[Kind], frozenset[str]], GateSet] = {}

    def __reduce__(self) -> tuple[object, ...]:
        return Matcher, self._given

    def gates(self) -> tuple[bytes, ...]:
        """Return every literal that is searched for, each once."""
        return tuple(self.gate_set(ALL, frozenset()).scanner.gates)

    def gate_set(self, kinds: frozenset[Kind], seen_frameworks: frozenset[str]) -> GateSet:
        """Return the gates of some kinds, compiled; frameworks seen already are left out."""
        key = (kinds, seen_frameworks)
        if key not in self._sets:
            self._sets[key] = self._compile(kinds, seen_frameworks)
        return self._sets[key]

    def _compile(self, kinds: frozenset[Kind], seen_frameworks: frozenset[str]) -> GateSet:
        wanted: dict[bytes, list[Subscriber]] = {}
        for gate, kind, index in self._all():
            if kind in kinds and gate and not (kind is Kind.FRAMEWORK and self.frameworks[index][0] in seen_frameworks):
                wanted.setdefault(gate, []).append(Subscriber(kind, index))
        scanner = Scanner(list(wanted))
        return GateSet(scanner, tuple(tuple(sorted(wanted[gate])) for gate in scanner.gates))

    def _all(self) -> list[tuple[bytes, Kind, int]]:
        found = [(wording.pattern.gate.encode(), Kind.SIGNATURE, i) for i, wording in enumerate(self.wordings)]
        found += [(gate, Kind.TRACEBACK, 0) for gate in TRACEBACK_GATES]
        found += [(gate, Kind.UNKNOWN, 0) for gate in UNKNOWN_GATES]
        found += [(gate, Kind.NUMBER, 0) for gate in NUMBER_GATES]
        found += [(gate, Kind.ODD, 0) for gate in ODD_GATES]
        found += [(gate, Kind.PROGRESS, 0) for gate in PROGRESS_GATES]
        found += [(banner.gate, Kind.RUN, i) for i, banner in enumerate(BANNERS)]
        found += [(gate, Kind.FRAMEWORK, i) for i, (_, gate) in enumerate(self.frameworks)]
        return found

    def match_text(self, text: str) -> list[tuple[str, dict[str, Field]]]:
        """Return (signature, fields) of every match in a text, by exactly the route of a line in a log."""
        from doctor.logs.reader import read_log
        from doctor.logs.source import Source

        log = read_log(Source(path="<text>", data=text.encode("utf-8", "replace")), self)
        return [(each.signature, each.fields) for each in log.occurrences]
