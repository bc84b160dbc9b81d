"""A log that is still being written: what it says so far, again and again."""

from __future__ import annotations

import os
import select
import stat
import sys
import time
from collections.abc import Callable, Iterator
from typing import Optional

from doctor.logs.limit import LOOK_BACK, Limits
from doctor.logs.matcher import ALL, FAR, Matcher
from doctor.logs.reader import read_log
from doctor.logs.reading import Reading
from doctor.logs.sniff import binary, compression, encoding
from doctor.logs.source import STDIN, Source, sentence
from doctor.model.log import LogFile

_READ_BYTES = 1 << 20

Cancelled = Callable[[], bool]


def follow_log(
    source: Source | str,
    matcher: Matcher,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    *,
    interval: float = 0.5,
    cancelled: Optional[Cancelled] = None,
) -> Iterator[LogFile]:
    """Yield what a log says whenever it says more, until cancelled or, for a pipe, until its writers are gone.

    A file that is rotated or truncated is read on from the beginning of the new one, line numbers counting on. What was
    just written waits for one interval, so that a traceback in the making is read as a whole.
    """
    source = Source(path=source) if isinstance(source, str) else source
    follower = _Follower(source, matcher, limits)
    try:
        follower.open()
    except OSError as error:
        yield LogFile(path=follower.name, failure=sentence(error))
        return
    if not follower.followable:
        follower.close()
        yield read_log(source, matcher, limits, cancelled=cancelled)
        return
    try:
        while not (cancelled is not None and cancelled()):
            more = follower.poll(interval)
            if follower.changed:
                yield follower.snapshot()
            if not more:
                return
    finally:
        follower.close()


class _Follower:
    def __init__(self, source: Source, matcher: Matcher, limits: Limits) -> None:
        self.name = "<stdin>" if source.path == STDIN else source.path
        self.changed = False
        self.followable = True
        self._path = source.path
        self._matcher = matcher
        self._reading = Reading(self.name, matcher, limits)
        self._fd = -1
        self._pipe = False
        self._before = b""
        self._pending = b""
        self._start = 0  # absolute offset of the pending bytes
        self._lines = 0

    def open(self) -> None:
        """Open the log; a FIFO waits for its first writer."""
        self._fd = sys.stdin.fileno() if self._path == STDIN else os.open(self._path, os.O_RDONLY)
        self._pipe = not stat.S_ISREG(os.fstat(self._fd).st_mode)
        if not self._pipe:
            head = os.pread(self._fd, 4096, 0)
            self.followable = not (compression(head) or encoding(head) or binary(head))

    def poll(self, interval: float) -> bool:
        """Wait for more and take what waited long enough; return False at the end of a pipe."""
        old = len(self._pending)
        new = self._read_pipe(interval) if self._pipe else self._read_file(interval)
        self.changed = False
        if new:
            if len(new) < _READ_BYTES:
                self._reading.budget.renew()
            self._pending += new
            self._take(self._pending.rfind(b"\n", 0, old if len(new) < _READ_BYTES else len(self._pending)) + 1)
            return True
        ended = new is not None
        self._take(len(self._pending) if ended else self._pending.rfind(b"\n") + 1)
        return not ended

    def _read_pipe(self, interval: float) -> Optional[bytes]:
        """Return new bytes, None where there are none yet, nothing at the end."""
        if not select.select([self._fd], [], [], interval)[0]:
            return None
        return os.read(self._fd, _READ_BYTES)

    def _read_file(self, interval: float) -> Optional[bytes]:
        data = os.read(self._fd, _READ_BYTES)
        if data:
            if len(data) < _READ_BYTES:
                time.sleep(interval)
            return data
        if not self._renewed():
            time.sleep(interval)
        return None

    def _renewed(self) -> bool:
        """Go over to the new file where the path names another one by now, or back to the start after a truncation."""
        try:
            now = os.stat(self._path)  # noqa: PTH116 - the path stays the string that was given
        except OSError:
            return False
        held = os.fstat(self._fd)
        if (now.st_dev, now.st_ino) != (held.st_dev, held.st_ino):
            fresh = os.open(self._path, os.O_RDONLY)
            os.close(self._fd)
            self._fd = fresh
        elif now.st_size < os.lseek(self._fd, 0, os.SEEK_CUR):
            os.lseek(self._fd, 0, os.SEEK_SET)
        else:
            return False
        self._take(len(self._pending))
        self._reading.limit("rotated", "The file was rotated while it was followed; line numbers count on across it.")
        return True

    def _take(self, size: int) -> None:
        """Look at the first so many of the pending bytes, with all of them in view."""
        if size <= 0:
            return
        gates = self._matcher.gate_set(FAR if self._reading.budget.spent else ALL, frozenset())
        around = self._before + self._pending
        base = self._start - len(self._before)
        self._reading.take(gates, (around, base), self._start, self._start + size, self._lines)
        self._lines += self._pending.count(b"\n", 0, size)
        self._before = around[: len(self._before) + size][-LOOK_BACK:]
        self._pending = self._pending[size:]
        self._start += size
        self.changed = True

    def snapshot(self) -> LogFile:
        """Return what was said so far."""
        unfinished = bool(self._before) and not self._before.endswith(b"\n")
        return self._reading.finish(self._start, self._lines + unfinished)

    def close(self) -> None:
        """Close the file unless it is standard input."""
        if self._path != STDIN and self._fd >= 0:
            os.close(self._fd)
