"""From a source to what its log says. Nothing that a file can hold makes this raise."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from typing import Optional, Union

from doctor.logs.decompress import opened
from doctor.logs.feed import SMALL_BYTES, Block, FileFeed, MemoryFeed, StreamFeed
from doctor.logs.limit import Limits
from doctor.logs.matcher import ALL, FAR, LIFE, GateSet, Matcher
from doctor.logs.reading import Reading
from doctor.logs.scanner import Scanner
from doctor.logs.series import NumberBudget
from doctor.logs.sniff import SAMPLE_BYTES, binary, compression, encoding
from doctor.logs.source import STDIN, Source, sentence
from doctor.logs.stream import ByteStream, MemoryStream, PrefixedStream, RawStream, UnreadableError, take
from doctor.logs.wrap import hard_wrap_width, unwrap
from doctor.logs.wrapped import to_physical
from doctor.model.log import LogFile

_GLANCE_BYTES = 2 << 10
_NEAR_END_BYTES = 32 << 10
_WRAP_SAMPLE = 16 << 10
_MANY_LINES = 1000
_RECOMPILE_BYTES = 16 << 20

Feed = Union[MemoryFeed, FileFeed, StreamFeed]
OnBytes = Optional[Callable[[int], None]]
Cancelled = Optional[Callable[[], bool]]


def read_log(
    source: Source,
    matcher: Matcher,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    on_bytes: OnBytes = None,
    cancelled: Cancelled = None,
) -> LogFile:
    """Return what one log says.

    ``on_bytes`` is told how many more bytes of text were read, ``cancelled`` is asked between blocks. What cannot be
    read at all is the ``failure`` of the result, what could be read only in part is among its ``limits``.
    """
    name = "<stdin>" if source.path == STDIN else source.path
    try:
        return _LogReader(name, source, matcher, limits, on_bytes, cancelled).read()
    except UnreadableError as error:
        return LogFile(path=name, size_bytes=source.size_bytes, failure=str(error))
    except OSError as error:
        return LogFile(path=name, size_bytes=source.size_bytes, failure=sentence(error))


class _LogReader:
    def __init__(
        self, name: str, source: Source, matcher: Matcher, limits: Limits, on_bytes: OnBytes, cancelled: Cancelled
    ) -> None:
        self._source = source
        self._matcher = matcher
        self._limits = limits
        self._on_bytes = on_bytes
        self._cancelled = cancelled
        self._reading = Reading(name, matcher, limits)
        self._size = -1  # of the text; unknown for a stream
        self._far: Optional[GateSet] = None
        self._far_since = 0
        self._tail_at = 1 << 62

    def read(self) -> LogFile:
        feed, starts = self._feed()
        try:
            size, lines = self._read(feed)
        finally:
            feed.close()
        if feed.limit:
            self._reading.limit("cut", feed.limit)
        log = self._reading.finish(size, lines)
        if starts is not None:
            to_physical(log, starts)
        if self._source.size_bytes:
            log.size_bytes = self._source.size_bytes
        return log

    # -- how the source is read ---------------------------------------------------------------------------------

    def _feed(self) -> tuple[Feed, Optional[list[int]]]:
        """Return the blocks to read, and for an unwrapped log the physical line of each logical one."""
        source = self._source
        if source.data is not None:
            return self._stream(MemoryStream(source.data))
        if source.path == STDIN:
            return self._stream(RawStream(sys.stdin.fileno(), owned=False))
        fd = os.open(source.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        try:
            return self._file(fd)
        except BaseException:
            os.close(fd)
            raise

    def _file(self, fd: int) -> tuple[Feed, Optional[list[int]]]:
        status = os.fstat(fd)
        if stat.S_ISDIR(status.st_mode):
            raise UnreadableError("This is a folder; name the logs in it, or scan the folder.")
        if not stat.S_ISREG(status.st_mode):
            return self._stream(RawStream(fd, owned=True))
        head = os.pread(fd, SAMPLE_BYTES, 0)
        if not head.strip(b"\0"):
            head = self._behind_hole(fd, status.st_size)
        if compression(head) or encoding(head):
            return self._stream(RawStream(fd, owned=True))
        _refuse(head)
        if status.st_size <= SMALL_BYTES:
            data = os.pread(fd, SMALL_BYTES + 1, 0)
            os.close(fd)
            return self._memory(data)
        tail = os.pread(fd, _WRAP_SAMPLE, status.st_size - _WRAP_SAMPLE)
        width = hard_wrap_width(_ends(os.pread(fd, _WRAP_SAMPLE, 0), tail))
        if width is not None and status.st_size <= self._limits.wrapped_bytes:
            data = os.pread(fd, status.st_size, 0)
            os.close(fd)
            return self._memory(data)
        if width is not None:
            self._note_wrapped(width)
        self._size = status.st_size
        if self._size > self._limits.number_all_bytes:
            self._reading.budget = NumberBudget(self._limits.number_lines // 25)
            self._tail_at = self._size - self._limits.number_tail_bytes
        middle = self._limits.number_head_bytes, self._size - self._limits.number_tail_bytes
        return FileFeed(fd, status.st_size, self._skim, middle), None

    @staticmethod
    def _behind_hole(fd: int, size: int) -> bytes:
        """Return the first bytes behind the hole that a truncating rotation leaves."""
        try:
            start = os.lseek(fd, 0, os.SEEK_DATA)
            os.lseek(fd, 0, os.SEEK_SET)
        except (OSError, AttributeError):
            start = 0
        return os.pread(fd, SAMPLE_BYTES, start if 0 < start < size else SAMPLE_BYTES).lstrip(b"\0")

    def _stream(self, raw: ByteStream) -> tuple[Feed, Optional[list[int]]]:
        stream = opened(raw, self._source.path, self._limits)
        data = take(stream, SMALL_BYTES)
        _refuse(data[:SAMPLE_BYTES])
        most = SMALL_BYTES - 1
        width = hard_wrap_width(_ends(data[:_WRAP_SAMPLE], data[_WRAP_SAMPLE:][-_WRAP_SAMPLE:]))
        if width is not None and len(data) > most:
            most = self._limits.wrapped_bytes
            data += take(stream, most - len(data) + 1)
        if len(data) <= most:
            feed, starts = self._memory(data)
            feed.limit = stream.limit
            stream.close()
            return feed, starts
        if width is not None:
            self._note_wrapped(width)
        return StreamFeed(PrefixedStream(data, stream), self._skim), None

    def _memory(self, data: bytes) -> tuple[MemoryFeed, Optional[list[int]]]:
        width = hard_wrap_width(_ends(data[:_WRAP_SAMPLE], data[_WRAP_SAMPLE:][-_WRAP_SAMPLE:]))
        starts: Optional[list[int]] = None
        if width is not None:
            data, starts = unwrap(data, width)
        self._size = len(data)
        return MemoryFeed(data), starts

    def _note_wrapped(self, width: int) -> None:
        most = self._limits.wrapped_bytes >> 20
        self._reading.limit(
            "wrapped", f"The lines were broken at column {width}; above {most} MiB they are not rejoined."
        )

    # -- the reading --------------------------------------------------------------------------------------------

    def _read(self, feed: Feed) -> tuple[int, int]:
        size = lines = 0
        last = b"\n"
        for block in feed.blocks():
            lines += self._take(block, lines)
            size = block.end
            last = block.piece(size - 1, size)
            if self._on_bytes is not None:
                self._on_bytes(size - block.start)
            if self._cancelled is not None and self._cancelled():
                self._reading.limit("cancelled", "The scan was cancelled; only the beginning was read.")
                break
        return size, lines + (last != b"\n")

    def _take(self, block: Block, lines: int) -> int:
        """Look at one block and return the number of its lines; ``lines`` ended before it."""
        reading, size = self._reading, self._size
        if size >= 0 and not reading.near_end and block.end > size - _NEAR_END_BYTES:
            reading.near_end = True
            reading.budget.renew()
        elif block.end > self._tail_at:
            self._tail_at = 1 << 62
            reading.budget.renew()
        if self._close(block.start, block.end):
            gates = self._matcher.gate_set(ALL, frozenset())
            reading.take(gates, block.window(), block.start, block.end, lines)
            return block.newlines
        if not block.dull:
            reading.take(self._far_gates(block.start), block.window(), block.start, block.end, lines)
        return self._glance(block, lines)

    def _glance(self, block: Block, lines: int) -> int:
        """Look for numbers and signs of life at a few places of a block; return the number of its lines."""
        life = self._matcher.gate_set(LIFE, frozenset())
        pieces = self._pieces(block.start, block.end)
        if pieces == 1:
            data = block.piece(max(block.start, block.end - _GLANCE_BYTES), block.end)
            self._reading.glance(life, data, block.end - len(data), lines + block.newlines - data.count(b"\n"))
        elif pieces:
            whole = block.piece(block.start, block.end)
            newlines = done = 0
            for place in range(1, pieces + 1):
                stop = len(whole) * place // pieces
                begin = max(done, stop - _GLANCE_BYTES)
                newlines += whole.count(b"\n", done, begin)
                self._reading.glance(life, whole[begin:stop], block.start + begin, lines + newlines)
                newlines += whole.count(b"\n", begin, stop)
                done = stop
        return block.newlines

    def _pieces(self, start: int, end: int) -> int:
        """Return at how many places a block is glanced at: many where numbers matter, one in a few blocks elsewhere."""
        if self._size <= self._limits.number_all_bytes:
            return 8 if self._limits.number_lines >= _MANY_LINES else int(start // (end - start) % 4 == 0)
        if self._numbers_matter(start, end):
            return 4
        return int(start // (end - start) % 8 == 0)

    def _numbers_matter(self, start: int, end: int) -> bool:
        limits, size = self._limits, self._size
        if size <= limits.number_all_bytes:
            return True
        return start < limits.number_head_bytes or end > size - limits.number_tail_bytes

    def _close(self, start: int, end: int) -> bool:
        """Return whether every number line of a stretch is looked at."""
        return self._reading.near_end or (self._numbers_matter(start, end) and not self._reading.budget.spent)

    def _far_gates(self, start: int) -> GateSet:
        """Return the gates for stretches not read for numbers; recompiled when frameworks need no more looking for."""
        if self._far is None or start - self._far_since > _RECOMPILE_BYTES:
            self._far_since = start
            self._far = self._matcher.gate_set(FAR, self._reading.frameworks_seen)
        return self._far

    def _skim(self, start: int, end: int) -> Optional[Scanner]:
        if self._close(start, end):
            return None
        far = self._far or self._matcher.gate_set(FAR, self._reading.frameworks_seen)
        return far.scanner


def _ends(head: bytes, tail: bytes) -> bytes:
    """Return whole lines from either end of a log."""
    return head[: head.rfind(b"\n") + 1] + tail[tail.find(b"\n") + 1 :] if tail else head


def _refuse(head: bytes) -> None:
    what = binary(head)
    if what is not None:
        raise UnreadableError(f"This is {what}, not a log.")
