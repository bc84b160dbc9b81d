"""Many literals found in many bytes: a compiled Vectorscan set that reports where each gate ends."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Union

import hyperscan

Buffer = Union[bytes, bytearray, memoryview]


class Scanner:
    """Finds gates (which hold no NUL) in bytes. Scanning lets other threads run; each thread needs its own scratch."""

    def __init__(self, gates: Sequence[bytes]) -> None:
        self.gates = list(dict.fromkeys(gates))
        self.overlap = max((len(gate) for gate in self.gates), default=1) - 1
        self._lengths = [len(gate) for gate in self.gates]
        self._database: Any = None
        self._local = threading.local()
        if self.gates:
            self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
            count = len(self.gates)
            self._database.compile(
                expressions=self.gates, ids=list(range(count)), flags=[0] * count, elements=count, literal=True
            )

    def scratch(self) -> Any:
        """Return working memory for one thread."""
        return hyperscan.Scratch(self._database) if self.gates else None

    def hits(self, data: Buffer) -> list[tuple[int, int]]:
        """Return (end offset, index of the gate) for every occurrence, by end offset."""
        found: list[tuple[int, int]] = []
        append = found.append
        if self.gates and len(data):
            scratch = getattr(self._local, "scratch", None)
            if scratch is None:
                scratch = self._local.scratch = self.scratch()
            self._database.scan(
                data,
                match_event_handler=lambda gate, _start, end, _flags, _context: append((end, gate)),
                scratch=scratch,
            )
        return found

    def start(self, end: int, gate: int) -> int:
        """Return where an occurrence that ends at ``end`` begins."""
        return end - self._lengths[gate]

    def touches(self, data: Buffer, scratch: Any) -> bool:
        """Return whether any gate occurs; stops at the first."""
        if not self.gates or not len(data):
            return False
        try:
            self._database.scan(data, match_event_handler=_stop, scratch=scratch)
        except hyperscan.ScanTerminated:
            return True
        return False


def _stop(_gate: int, _start: int, _end: int, _flags: int, _context: object) -> bool:
    return True
