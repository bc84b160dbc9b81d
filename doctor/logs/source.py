"""What a person names on the command line, expanded to the logs that it means."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Optional

import msgspec

from doctor.logs.sniff import binary

STDIN = "-"

_SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "__pycache__", ".venv", "node_modules", ".ipynb_checkpoints"})
_SKIPPED_SUFFIXES = (
    *(".py", ".pyi", ".pyc", ".so", ".o", ".a", ".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".js", ".ts"),
    *(".css", ".html", ".md", ".rst", ".ipynb", ".toml", ".yaml", ".yml", ".lock", ".whl", ".model"),
    *(
        ".safetensors",
        ".bin",
        ".pt",
        ".pth",
        ".ckpt",
        ".npy",
        ".npz",
        ".pkl",
        ".gguf",
        ".onnx",
        ".arrow",
        ".parquet",
        ".h5",
    ),
)
_SKIPPED_NAMES = frozenset({"tokenizer.json", "vocab.json", "merges.txt", "tokenizer_config.json"})


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One log to read: a path, ``-`` for standard input, or text at hand in ``data``."""

    path: str
    size_bytes: int = 0
    data: Optional[bytes] = None


class Failure(msgspec.Struct, frozen=True):
    """Something that was named and cannot be read, in one sentence."""

    path: str
    text: str


def expand(paths: Sequence[str]) -> tuple[list[Source], list[Failure]]:
    """Return the logs meant by files, folders, globs and ``-``, in order and each once, and what cannot be read."""
    expansion = _Expansion()
    for path in paths:
        expansion.add(path)
    return expansion.sources, expansion.failures


class _Expansion:
    def __init__(self) -> None:
        self.sources: list[Source] = []
        self.failures: list[Failure] = []
        self._seen: set[object] = set()

    def add(self, path: str) -> None:
        if path == STDIN:
            self._keep(Source(path=STDIN), STDIN)
            return
        try:
            status = Path(path).stat()
        except FileNotFoundError:
            self._add_glob(path)
            return
        except (OSError, ValueError) as error:
            self._fail(path, error)
            return
        if stat.S_ISDIR(status.st_mode):
            self._add_folder(path)
        else:
            self._add_file(path, status, named=True)

    def _add_glob(self, path: str) -> None:
        found = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else []  # noqa: PTH207
        for name in found:
            self.add(name)
        if not found:
            what = "No file matches this pattern." if glob.has_magic(path) else "No such file or folder."
            self.failures.append(Failure(path, what))

    def _add_folder(self, path: str) -> None:
        before = len(self.sources) + len(self.failures)
        for name in self._walk(path, frozenset()):
            try:
                self._add_file(name, Path(name).stat(), named=False)
            except OSError as error:
                self._fail(name, error)
        if before == len(self.sources) + len(self.failures):
            self.failures.append(Failure(path, "This folder holds no log."))

    def _walk(self, path: str, above: frozenset[tuple[int, int]]) -> Iterator[str]:
        """Yield the files below a folder; ``above`` holds the folders on the way, to stop at symlink loops."""
        try:
            status = Path(path).stat()
            key = (status.st_dev, status.st_ino)
            if key in above:
                return
            entries = sorted(os.scandir(path), key=lambda entry: entry.name)
        except OSError as error:
            self._fail(path, error)
            return
        for entry in entries:
            if entry.is_dir():
                if entry.name not in _SKIPPED_FOLDERS:
                    yield from self._walk(entry.path, above | {key})
            elif entry.is_file() and not _is_no_log(entry.name):
                yield entry.path
            elif entry.is_symlink() and not Path(entry.path).exists():
                self.failures.append(Failure(entry.path, "This link leads nowhere."))

    def _add_file(self, path: str, status: os.stat_result, *, named: bool) -> None:
        regular = stat.S_ISREG(status.st_mode)
        if regular and not named:
            try:
                with Path(path).open("rb") as file:
                    if not status.st_size or binary(file.read(4096)):
                        return
            except OSError as error:
                self._fail(path, error)
                return
        if not regular and stat.S_ISSOCK(status.st_mode):
            self.failures.append(Failure(path, "This is a socket, not a log."))
            return
        self._keep(Source(path=path, size_bytes=status.st_size if regular else 0), (status.st_dev, status.st_ino))

    def _keep(self, source: Source, key: object) -> None:
        if key not in self._seen:
            self._seen.add(key)
            self.sources.append(source)

    def _fail(self, path: str, error: Exception) -> None:
        self.failures.append(Failure(path, sentence(error)))


def _is_no_log(name: str) -> bool:
    return name in _SKIPPED_NAMES or name.lower().endswith(_SKIPPED_SUFFIXES)


def sentence(error: Exception) -> str:
    """Return what an error of the operating system means to the person who named the file."""
    if isinstance(error, PermissionError):
        return "No permission to read this."
    if isinstance(error, FileNotFoundError):
        return "No such file or folder."
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"This cannot be read: {reason}."
