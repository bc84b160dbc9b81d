"""A first look at the blocks of a big file: how many lines, and whether any gate occurs; a second process helps."""

from __future__ import annotations

import os
import signal
import struct
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

from doctor.logs.scanner import Scanner

BLOCK_BYTES = 1 << 20
_RECORD = struct.Struct("<I?")
_HELPED_BYTES = 192 << 20


class Facts(NamedTuple):
    """The number of line ends in a block, and whether no gate ends in it."""

    newlines: int
    dull: bool


class Skimmer:
    """Takes first looks in one process, with a buffer that stays warm."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._buffer = bytearray(BLOCK_BYTES + 4096)
        self._scanner: Optional[Scanner] = None
        self._scratch: Any = None

    def look(self, start: int, end: int, scanner: Scanner) -> Optional[Facts]:
        """Return the facts of a block, or None where the file ends before it does."""
        if scanner is not self._scanner:
            self._scanner, self._scratch = scanner, scanner.scratch()
        overlap = min(start, scanner.overlap, 4096)
        length = end - start + overlap
        view = memoryview(self._buffer)[:length]
        if os.preadv(self._fd, [view], start - overlap) < length:
            return None
        newlines = self._buffer.count(b"\n", overlap, length)
        return Facts(newlines, not scanner.touches(view, self._scratch))


class Helper:
    """A forked process that skims blocks from the last to the first, until the reader coming from the front meets it.

    Two processes, not two threads: counting lines holds the interpreter's lock, and handing blocks between threads
    cost as much as it saved (0.97 s for 1 GiB on one thread, 0.95 on two).
    """

    def __init__(self, fd: int, blocks: Sequence[tuple[int, int]], scanner: Scanner) -> None:
        self._blocks = list(reversed(blocks))
        self._facts: dict[int, Facts] = {}
        self._rest = b""
        self._pipe, into = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._pipe)
            self._serve(fd, into, scanner)
        os.close(into)
        os.set_blocking(self._pipe, False)

    def _serve(self, fd: int, into: int, scanner: Scanner) -> None:
        """Do the work of the child; never returns."""
        try:
            skimmer = Skimmer(fd)
            for start, end in self._blocks:
                facts = skimmer.look(start, end, scanner)
                if facts is None:
                    break
                os.write(into, _RECORD.pack(*facts))
        finally:
            os._exit(0)

    def facts(self, start: int) -> Optional[Facts]:
        """Return what the helper knows of a block by now."""
        try:
            while data := os.read(self._pipe, 1 << 16):
                data = self._rest + data
                whole = len(data) // _RECORD.size * _RECORD.size
                self._rest = data[whole:]
                for newlines, dull in _RECORD.iter_unpack(data[:whole]):
                    self._facts[self._blocks[len(self._facts)][0]] = Facts(newlines, dull)
        except BlockingIOError:
            pass
        return self._facts.get(start)

    def close(self) -> None:
        """End the process and wait for it."""
        os.close(self._pipe)
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


def may_help(size: int) -> bool:
    """Return whether a second process pays and is safe to fork: a big file, a free core, no other threads."""
    if size < _HELPED_BYTES or threading.active_count() > 1 or not hasattr(os, "fork"):
        return False
    return len(os.sched_getaffinity(0)) > 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) > 1
