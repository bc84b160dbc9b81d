"""Compiled rulebooks on disk, named by the content that they were compiled from.

A book is trusted only if it is whole: magic, digest, length and checksum must fit, and the file must be the user's own.
Anything else is as good as no file. Writers use a temporary file and a rename, so that two processes never see half a
book.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

import msgspec

from doctor.model import rule
from doctor.rulebook.book import FrameworkRule, Rulebook, StageRule
from doctor.rulebook.source import Layer

try:
    # The same function without loading OpenSSL, which ``hashlib`` does: 4 of 15 ms.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

_MAGIC = b"llm-doctor-book-1\n"
_KEEP = 6
_HASH_BYTES = 20
_MAX_BYTES = 256 << 20
_STRUCTS = (
    Rulebook, StageRule, FrameworkRule, rule.Signature, rule.Pattern, rule.Example, rule.NearMiss, rule.Tree, rule.Node,
    rule.Leaf, rule.Cause, rule.RemedyRule, rule.Setting,
)  # fmt: skip


def digest_of(layers: Sequence[Layer], languages: Sequence[str]) -> str:
    """Return the name of a book: a hash over every file, this program's structs and the language."""
    digest = blake2b(digest_size=_HASH_BYTES)
    for head in (_MAGIC, _layout(), *(language.encode() for language in languages)):
        digest.update(len(head).to_bytes(8, "big") + head)
    for layer in layers:
        digest.update(b"layer")
        for file in layer.files:
            for part in (file.shown.encode(errors="surrogateescape"), file.content):
                digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _layout() -> bytes:
    """Return what a book's bytes depend on besides the files: the structs that this version of the program has."""
    return repr([(kind.__name__, kind.__struct_fields__, kind.__struct_defaults__) for kind in _STRUCTS]).encode()


def default_folder() -> Optional[Path]:
    """Return ``$XDG_CACHE_HOME/llm-doctor``, or the same below ``~/.cache``; None without a home."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):  # noqa: PTH117 - the variable is text
        return Path(base) / "llm-doctor"
    try:
        return Path.home() / ".cache" / "llm-doctor"
    except RuntimeError:
        return None


class Cache:
    """A folder of compiled books. No trouble with it ever stops the caller: then there is no cache."""

    def __init__(self, folder: Optional[Path]) -> None:
        self._folder = folder

    def read(self, digest: str) -> Optional[Rulebook]:
        """Return the book of a digest, or None where none is whole."""
        if self._folder is None:
            return None
        content = _read_own(self._path(digest))
        head = _MAGIC + bytes.fromhex(digest)
        if content is None or not content.startswith(head):
            return None
        body = memoryview(content)[len(head) + _HASH_BYTES :]
        if content[len(head) : len(head) + _HASH_BYTES] != _checksum(digest, body):
            return None
        try:
            return msgspec.msgpack.decode(body, type=Rulebook)
        except (msgspec.DecodeError, RecursionError):
            return None

    def write(self, digest: str, book: Rulebook) -> None:
        """Store a book; quietly does nothing where the folder cannot be written."""
        if self._folder is None:
            return
        import tempfile  # costs more to load than a book that is there costs to read

        body = msgspec.msgpack.encode(book)
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, temporary = tempfile.mkstemp(prefix=".book-", dir=self._folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_MAGIC + bytes.fromhex(digest) + _checksum(digest, body) + body)
                Path(temporary).replace(self._path(digest))
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
            self._drop_old()

    def _path(self, digest: str) -> Path:
        assert self._folder is not None
        return self._folder / f"book-{digest}.msgpack"

    def _drop_old(self) -> None:
        assert self._folder is not None
        books = sorted(self._folder.glob("book-*.msgpack"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in books[_KEEP:]:
            path.unlink(missing_ok=True)


def _checksum(digest: str, body: bytes | memoryview) -> bytes:
    check = blake2b(digest.encode(), digest_size=_HASH_BYTES)
    check.update(len(body).to_bytes(8, "big"))
    check.update(body)
    return check.digest()


def _read_own(path: Path) -> Optional[bytes]:
    """Return the bytes of a plain file that belongs to this user and that nobody else can write."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o022 or status.st_size > _MAX_BYTES:
                return None
            if hasattr(os, "getuid") and status.st_uid != os.getuid():
                return None
            return file.read()
        except OSError:
            return None
