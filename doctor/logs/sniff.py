"""What a file is, told from its first bytes: a compression, an encoding, or something that is no log."""

from __future__ import annotations

import codecs
from typing import Optional

SAMPLE_BYTES = 64 << 10

_COMPRESSIONS: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gz"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"BZh", "bz2"),
    (b"\x28\xb5\x2f\xfd", "zst"),
)

_BINARIES: tuple[tuple[bytes, str], ...] = (
    (b"\x7fELF", "an ELF program or library"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"RIFF", "a RIFF media file"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive (PyTorch checkpoints are zip archives too)"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a rar archive"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"SQLite format 3\x00", "an SQLite database (an Nsight Systems export is one)"),
    (b"GGUF", "a GGUF model"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program or library"),
    (b"MZ\x90", "a Windows program"),
    (b"!<arch>\n", "a static library"),
    (b"\x00asm", "a WebAssembly module"),
    (b"\x04\x22\x4d\x18", "an lz4 stream (decompress it with lz4 first)"),
)

_BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_CONTROL = bytes(set(range(32)) - {7, 8, 9, 10, 11, 12, 13, 27}) + b"\x7f"


def compression(head: bytes) -> str:
    """Return gz, xz, bz2 or zst where the magic bytes say so, else an empty string."""
    for magic, name in _COMPRESSIONS:
        if head.startswith(magic) and _plausible(name, head):
            return name
    return ""


def _plausible(name: str, head: bytes) -> bool:
    if name == "gz":
        return len(head) < 3 or head[2] == 8
    if name == "bz2":
        return len(head) < 4 or head[3] in b"123456789"
    return True


def encoding(head: bytes) -> str:
    """Return the name of a UTF-16 or UTF-32 encoding (by mark, else by where the NULs stand), else empty."""
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    size = len(head) // 4 * 4
    if size < 16:
        return ""
    nul = [head[i:size:4].count(0) * 4 / size for i in range(4)]
    guesses = (
        ("utf-32-le", nul[1] + nul[2] + nul[3] > 2.7 and nul[0] < 0.1),
        ("utf-32-be", nul[0] + nul[1] + nul[2] > 2.7 and nul[3] < 0.1),
        ("utf-16-le", nul[1] + nul[3] > 1.2 and nul[0] + nul[2] < 0.1),
        ("utf-16-be", nul[0] + nul[2] > 1.2 and nul[1] + nul[3] < 0.1),
    )
    return next((name for name, holds in guesses if holds), "")


def binary(head: bytes) -> Optional[str]:
    """Return what a file is that is no log ("a PNG image"), or None where it may well be text."""
    for magic, name in _BINARIES:
        if head.startswith(magic):
            return name
    if len(head) > 262 and head[257:262] == b"ustar":
        return "a tar archive (unpack it first)"
    if len(head) > 9 and head[8:9] == b"{" and 2 <= int.from_bytes(head[:8], "little") < 1 << 30:
        return "a safetensors checkpoint"
    if len(head) > 2 and head[0] == 0x80 and 2 <= head[1] <= 5 and head[2:3] in b"}]cK(X\x95\x8a\x8c":
        return "a Python pickle"
    return None if encoding(head) else _junk(head)


def _junk(head: bytes) -> Optional[str]:
    """Judge by the share of control bytes; a log may begin with a hole of NULs, which says nothing."""
    text = head.lstrip(b"\0")
    if len(text) < 64:
        return None
    control = len(text) - len(text.translate(None, _CONTROL))
    return "binary data, not text" if control > len(text) * 0.06 else None
