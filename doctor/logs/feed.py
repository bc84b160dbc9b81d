"""A log as blocks in order, those without a gate told apart by a first look."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from queue import Empty, Full, Queue
from typing import Any, Optional, Union

from doctor.logs.limit import LOOK_AHEAD, LOOK_BACK
from doctor.logs.scanner import Scanner
from doctor.logs.skim import BLOCK_BYTES, Helper, Skimmer, may_help
from doctor.logs.stream import ByteStream, take

SMALL_BYTES = 2 << 20
_MEMORY_BLOCK_BYTES = 32 << 10
_AHEAD = 3
_HELP_FROM = 2

Around = tuple[bytes, int]
"""Bytes, and the offset in the log where they begin."""


class Block:
    """Bytes from ``start`` to ``end``; ``dull`` where a first look found no gate in it."""

    def __init__(
        self,
        start: int,
        end: int,
        *,
        dull: bool,
        piece: Callable[[int, int], bytes],
        around: Callable[[], Around],
        newlines: Optional[int] = None,
    ) -> None:
        self.start = start
        self.end = end
        self.dull = dull
        self.piece = piece
        self.window = around
        self._newlines = newlines

    @property
    def newlines(self) -> int:
        """The number of line ends in the block."""
        if self._newlines is None:
            self._newlines = self.piece(self.start, self.end).count(b"\n")
        return self._newlines


Skim = Callable[[int, int], Optional[Scanner]]
"""Which scanner a first look at a stretch uses; None where the stretch is to be read closely anyway."""


class MemoryFeed:
    """A small log that is at hand as a whole."""

    def __init__(self, data: bytes) -> None:
        self.limit = ""
        self._data = data

    def blocks(self) -> Iterator[Block]:
        """Yield the log in blocks that all see the whole."""
        for start in range(0, len(self._data), _MEMORY_BLOCK_BYTES):
            end = min(len(self._data), start + _MEMORY_BLOCK_BYTES)
            newlines = self._data.count(b"\n", start, end)
            yield Block(start, end, dull=False, piece=self._piece, around=lambda: (self._data, 0), newlines=newlines)

    def _piece(self, start: int, end: int) -> bytes:
        return self._data[start:end]

    def close(self) -> None:
        """Nothing is held."""


class FileFeed:
    """A plain file, read at offsets.

    Reads, not a memory map: a map of a file that is truncated meanwhile kills the process, and reading into a warm
    buffer is about as fast as faulting pages in.
    """

    def __init__(self, fd: int, size: int, skim: Skim, middle: tuple[int, int]) -> None:
        self.limit = ""
        self._fd = fd
        self._size = size
        self._skim = skim
        self._middle = middle
        self._skimmer = Skimmer(fd)
        self._helper: Optional[Helper] = None

    def blocks(self) -> Iterator[Block]:
        """Yield the file up to the size that it had, or up to where it ends by now."""
        bounds = [(start, min(self._size, start + BLOCK_BYTES)) for start in range(0, self._size, BLOCK_BYTES)]
        for place, (start, end) in enumerate(bounds):
            if place == _HELP_FROM and may_help(self._size):
                low, high = self._middle
                middle = [each for each in bounds if low <= each[0] and each[1] <= high]
                scanner = self._skim(*middle[0]) if middle else None
                if scanner is not None:
                    self._helper = Helper(self._fd, middle, scanner)
            scanner = self._skim(start, end)
            if scanner is None:
                newlines, dull = None, False
                ended = len(os.pread(self._fd, 1, end - 1)) < 1
            else:
                facts = self._helper.facts(start) if self._helper is not None else None
                facts = facts or self._skimmer.look(start, end, scanner)
                ended = facts is None
                newlines, dull = facts or (None, False)
            if ended:
                self.limit = "The file became shorter while it was read."
                end = start + len(self._piece(start, end))
                newlines = None
            if end > start:
                around = partial(self._around, start, end)
                yield Block(start, end, dull=dull, piece=self._piece, around=around, newlines=newlines)
            if ended:
                return

    def _piece(self, start: int, end: int) -> bytes:
        return os.pread(self._fd, end - start, start)

    def _around(self, start: int, end: int) -> Around:
        base = max(0, start - LOOK_BACK)
        return os.pread(self._fd, end + LOOK_AHEAD - base, base), base

    def close(self) -> None:
        """Close the file."""
        if self._helper is not None:
            self._helper.close()
        os.close(self._fd)


class StreamFeed:
    """A stream that can be read only once; what lies around a block is kept beside it."""

    def __init__(self, stream: ByteStream, skim: Skim) -> None:
        self._stream = stream
        self._skim = skim
        self._failure = ""

    @property
    def limit(self) -> str:
        """What cut the stream short."""
        return self._stream.limit or self._failure

    def blocks(self) -> Iterator[Block]:
        """Yield the stream to its end."""
        ahead = _Ahead(self._produce())
        before = b""
        held: Optional[tuple[bytes, bool]] = None
        start = 0
        try:
            for current in ahead:
                if held is not None:
                    yield self._block(start, before, held, current[0])
                    before = (before + held[0])[-LOOK_BACK:]
                    start += len(held[0])
                held = current
            if held is not None:
                yield self._block(start, before, held, b"")
        finally:
            ahead.close()
        self._failure = ahead.failure

    def _block(self, start: int, before: bytes, held: tuple[bytes, bool], following: bytes) -> Block:
        data, dull = held
        return Block(
            start,
            start + len(data),
            dull=dull,
            piece=lambda low, high: data[low - start : high - start],
            around=lambda: (before + data + following[:LOOK_AHEAD], start - len(before)),
        )

    def _produce(self) -> Iterator[tuple[bytes, bool]]:
        scanner: Optional[Scanner] = None
        scratch: Any = None
        start, tail = 0, b""
        while True:
            data = take(self._stream, BLOCK_BYTES)
            if not data:
                return
            wanted = self._skim(start, start + len(data))
            if wanted is not None and wanted is not scanner:
                scanner, scratch = wanted, wanted.scratch()
            dull = wanted is not None and not wanted.touches(tail + data, scratch)
            tail = data[-wanted.overlap :] if wanted and wanted.overlap else b""
            yield data, dull
            start += len(data)

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()


class _Ahead:
    """Runs an iterator on a thread, a few items ahead of the one who takes them."""

    def __init__(self, items: Iterator[Any]) -> None:
        self.failure = ""
        self._items = items
        self._queue: Queue[Union[tuple[Any], None]] = Queue(_AHEAD)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for item in self._items:
                if not self._put((item,)):
                    return
        except Exception as error:  # noqa: BLE001 - crosses the thread as a sentence; the reader reports it
            self.failure = f"Reading stopped early: {error}."
        self._put(None)

    def _put(self, item: Optional[tuple[Any]]) -> bool:
        while not self._closed.is_set():
            try:
                self._queue.put(item, timeout=0.1)
            except Full:
                continue
            return True
        return False

    def __iter__(self) -> Iterator[Any]:
        while (item := self._queue.get()) is not None:
            yield item[0]

    def close(self) -> None:
        """Stop the thread; an item in the making is finished first."""
        self._closed.set()
        while True:
            try:
                self._queue.get_nowait()
            except Empty:
                break
        self._thread.join(timeout=1)
