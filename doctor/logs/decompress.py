"""Compressed streams as their content, told by magic bytes, bounded, with a sentence where they end early."""

from __future__ import annotations

import sys
from typing import Any

from doctor.logs.limit import Limits
from doctor.logs.sniff import SAMPLE_BYTES, compression, encoding
from doctor.logs.source import STDIN
from doctor.logs.stream import ByteStream, PrefixedStream, TranscodedStream, UnreadableError, take

_READ_BYTES = 256 << 10
_STEP_BYTES = 1 << 20
_XZ_MEMORY = 100 << 20
_ZSTD_WINDOW_LOG = 26
_ZSTD_FEED = 1 << 10
_NESTED = 3


def opened(raw: ByteStream, path: str, limits: Limits) -> ByteStream:
    """Return the text of a stream as UTF-8, whatever it is compressed or encoded with."""
    stream = raw
    for depth in range(_NESTED):
        head = take(stream, SAMPLE_BYTES)
        stream = PrefixedStream(head, stream)
        kind = compression(head)
        if not kind:
            name = encoding(head)
            return TranscodedStream(stream, name) if name else stream
        stream = _inflated(stream, kind, path if depth == 0 else STDIN, limits)
    raise UnreadableError("This is compressed several times over.")


def _inflated(stream: ByteStream, kind: str, path: str, limits: Limits) -> ByteStream:
    try:
        return InflatedStream(stream, kind, limits)
    except ImportError:
        import shutil

        if kind == "zst" and path not in (STDIN, "") and shutil.which("zstd"):
            stream.close()
            return ProgramStream(path, ["zstd", "-dcq", f"--memory={1 << _ZSTD_WINDOW_LOG}"], limits)
        need = "the Python package zstandard or the program zstd" if kind == "zst" else f"a Python built with {kind}"
        raise UnreadableError(f"This is a {kind} stream; reading it needs {need}.") from None


class InflatedStream:
    """A compressed stream as its content, frame after frame, bounded in size and ratio."""

    def __init__(self, inner: ByteStream, kind: str, limits: Limits) -> None:
        self.limit = ""
        self._inner = inner
        self._kind = kind
        self._bound = _Bound(limits)
        self._consumed = 0
        self._pending = b""
        self._ended = False
        self._codec = _decompressor(kind)

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes; none at the end or where a bound bit."""
        while not self._ended:
            try:
                data = self._step(min(size, _STEP_BYTES))
            except Exception as error:  # noqa: BLE001 - each codec has its own error type for damaged data
                self._stop(f"The {self._kind} stream is damaged ({error}); what came before was read.")
                return b""
            if data:
                bitten = self._bound.check(len(data), self._consumed)
                if bitten:
                    self._stop(bitten)
                return data
        return b""

    def _step(self, size: int) -> bytes:
        if self._codec.eof and not self._next_frame():
            return b""
        if not self._pending and self._codec.needs_input:
            self._pending = self._more()
            if not self._pending:
                self._stop(f"The {self._kind} stream is cut short; what there is was read.")
                return b""
        data, self._pending = self._codec.decompress(self._pending, size), b""
        return bytes(data)

    def _next_frame(self) -> bool:
        """Go on to the frame after the one that ended; padding is passed over."""
        self._pending = self._codec.unused_data.lstrip(b"\0")
        while not self._pending:
            more = self._more()
            if not more:
                self._ended = True
                return False
            self._pending = more.lstrip(b"\0")
        if len(self._pending) < 6:
            self._pending += take(self._inner, _READ_BYTES)
        if compression(self._pending) != self._kind:
            self._stop(f"What follows the {self._kind} stream is not {self._kind} and was left out.")
            return False
        self._codec = _decompressor(self._kind)
        return True

    def _more(self) -> bytes:
        data = self._inner.read(_READ_BYTES)
        self._consumed += len(data)
        return data

    def _stop(self, text: str) -> None:
        self.limit = self._inner.limit or text
        self._ended = True

    def close(self) -> None:
        """Close the stream below."""
        self._inner.close()


class ProgramStream:
    """A stream that another program decompresses."""

    def __init__(self, path: str, command: list[str], limits: Limits) -> None:
        import subprocess

        self.limit = ""
        self._bound = _Bound(limits)
        self._process = subprocess.Popen(  # noqa: S603 - fixed program, the path is an argument of its own
            [*command, "--", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes; none at the end."""
        assert self._process.stdout is not None
        data = b"" if self.limit else self._process.stdout.read(size)
        if data:
            self.limit = self._bound.check(len(data), 0)
        elif not self.limit and self._process.wait() != 0:
            self.limit = "The zst stream is damaged or cut short; what there is was read."
        return data

    def close(self) -> None:
        """End the program and wait for it."""
        self._process.kill()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process.wait()


class _Bound:
    """How far a stream may grow."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._written = 0

    def check(self, written: int, consumed: int) -> str:
        """Return a sentence where a bound bites; ``consumed`` is 0 where it is not known."""
        limits = self._limits
        self._written += written
        if self._written > limits.output_bytes:
            return f"Only the first {limits.output_bytes >> 20} MiB of the decompressed text were read."
        if consumed and self._written > limits.ratio_free_bytes and self._written > limits.output_ratio * consumed:
            return f"Decompression stopped: the stream grows more than {limits.output_ratio} fold."
        return ""


class _GzipCodec:
    """zlib's object with the interface that bz2, lzma and zstd share."""

    def __init__(self) -> None:
        import zlib

        self._codec = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._codec.eof

    @property
    def needs_input(self) -> bool:
        return not self._codec.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._codec.unused_data

    def decompress(self, data: bytes, size: int) -> bytes:
        return self._codec.decompress(self._codec.unconsumed_tail + data, size)


class _ZstdCodec:
    """The ``zstandard`` package with that interface; fed in small pieces, since it cannot bound what it returns."""

    def __init__(self, module: Any) -> None:
        self._codec = module.ZstdDecompressor(max_window_size=1 << _ZSTD_WINDOW_LOG).decompressobj()
        self._fed = b""
        self._at = 0

    @property
    def eof(self) -> bool:
        return bool(self._codec.eof)

    @property
    def needs_input(self) -> bool:
        return self._at >= len(self._fed)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._codec.unused_data) + self._fed[self._at :]

    def decompress(self, data: bytes, size: int) -> bytes:
        if data:
            self._fed, self._at = self._fed[self._at :] + data, 0
        parts, written = [], 0
        while written < size and not self.needs_input and not self.eof:
            piece = self._fed[self._at : self._at + _ZSTD_FEED]
            self._at += len(piece)
            parts.append(self._codec.decompress(piece))
            written += len(parts[-1])
        return b"".join(parts)


def _decompressor(kind: str) -> Any:
    if kind == "gz":
        return _GzipCodec()
    if kind == "bz2":
        import bz2

        return bz2.BZ2Decompressor()
    if kind == "xz":
        import lzma

        return lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG})
    import zstandard

    return _ZstdCodec(zstandard)
