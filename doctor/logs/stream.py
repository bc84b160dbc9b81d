"""Bytes in order: a file, a pipe or text at hand, as they are or as UTF-8."""

from __future__ import annotations

import codecs
import os
from typing import Protocol


class UnreadableError(Exception):
    """The log cannot be read at all; the text is a sentence for the reader."""


class ByteStream(Protocol):
    """Bytes in order. ``limit`` says afterwards what cut the stream short, if anything did."""

    @property
    def limit(self) -> str:
        """A sentence, or nothing."""

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes; none at the end."""

    def close(self) -> None:
        """Give back what is held."""


class RawStream:
    """A file, FIFO, device or standard input, read as it is."""

    def __init__(self, fd: int, *, owned: bool) -> None:
        self.limit = ""
        self._fd = fd
        self._owned = owned

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes; none at the end."""
        try:
            return os.read(self._fd, size)
        except OSError as error:
            self.limit = f"Reading stopped early: {error.strerror}."
            return b""

    def close(self) -> None:
        """Close the file unless it is standard input."""
        if self._owned:
            os.close(self._fd)


class MemoryStream:
    """Text at hand, as a stream."""

    def __init__(self, data: bytes) -> None:
        self.limit = ""
        self._rest = memoryview(data)

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes; none at the end."""
        data, self._rest = self._rest[:size], self._rest[size:]
        return bytes(data)

    def close(self) -> None:
        """Let go of the text."""
        self._rest = memoryview(b"")


class PrefixedStream:
    """Bytes taken from a stream already, and then the rest of it."""

    def __init__(self, head: bytes, rest: ByteStream) -> None:
        self._head = memoryview(head)
        self._rest = rest

    @property
    def limit(self) -> str:
        """What cut the stream short."""
        return self._rest.limit

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes; none at the end."""
        if self._head:
            data, self._head = bytes(self._head[:size]), self._head[size:]
            return data
        return self._rest.read(size)

    def close(self) -> None:
        """Close the stream."""
        self._rest.close()


class TranscodedStream:
    """UTF-16 or UTF-32 as UTF-8."""

    def __init__(self, inner: ByteStream, name: str) -> None:
        self._inner = inner
        self._decoder = codecs.getincrementaldecoder(name)(errors="replace")

    @property
    def limit(self) -> str:
        """What cut the stream below short."""
        return self._inner.limit

    def read(self, size: int) -> bytes:
        """Return some bytes (about ``size``); none at the end."""
        while True:
            data = self._inner.read(size)
            text = self._decoder.decode(data, final=not data)
            if text or not data:
                return text.encode("utf-8", "replace")

    def close(self) -> None:
        """Close the stream below."""
        self._inner.close()


def take(stream: ByteStream, size: int) -> bytes:
    """Return ``size`` bytes from a stream, fewer only at its end."""
    parts, taken = [], 0
    while taken < size and (part := stream.read(size - taken)):
        parts.append(part)
        taken += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
