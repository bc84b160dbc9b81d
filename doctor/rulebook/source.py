"""Where rules lie: the shipped layer, then the user's own, each a folder of the same layout."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Optional

KINDS = ("signatures", "trees", "causes")
VARIABLE = "LLM_DOCTOR_RULES"
MAX_FILES = 20_000


class RuleFile(NamedTuple):
    """One YAML file of a layer: its path below the layer (with slashes), where it lies, and its bytes."""

    relative: str
    shown: str
    content: bytes


class Layer(NamedTuple):
    """One folder of rules. A later layer adds to the earlier ones and overrides them by id."""

    name: str
    files: tuple[RuleFile, ...]
    shipped: bool = False


class RulesNotFoundError(Exception):
    """A folder of rules that was named does not exist or cannot be read."""


def shipped_folder() -> Optional[Path]:
    """Return the folder of the shipped rules: inside the package in a wheel, beside it in a source tree."""
    package = Path(__file__).parent.parent
    for folder in (package / "rules", package.parent / "rules"):
        if folder.is_dir():
            return folder
    return None


def languages_of(locale: str) -> tuple[str, ...]:
    """Return the folder names to look for, best first: ``zh_CN.UTF-8`` is ``zh_CN``, then ``zh``."""
    name = locale.split(".", 1)[0].split("@", 1)[0].replace("-", "_")
    if not name or name in ("C", "POSIX") or not name.replace("_", "").isalnum():
        return ()
    return tuple(dict.fromkeys((name, name.split("_", 1)[0])))


def read_layers(extra: Sequence[Path] = (), *, environment: Optional[str] = None) -> list[Layer]:
    """Return the shipped layer, the layers of ``$LLM_DOCTOR_RULES`` and the given ones, in that order.

    Raises:
        RulesNotFoundError: a named folder is none, or the shipped rules are not there.

    """
    listed = os.environ.get(VARIABLE, "") if environment is None else environment
    folders = [Path(part) for part in listed.split(os.pathsep) if part] + list(extra)
    return [_shipped_layer(), *(read_layer(folder) for folder in folders)]


def read_layer(folder: Path, *, shipped: bool = False) -> Layer:
    """Return all YAML files below a folder.

    Raises:
        RulesNotFoundError: there is no such folder, or it cannot be read.

    """
    if not folder.is_dir():
        raise RulesNotFoundError(f"{folder}: no such folder of rules")
    try:
        return Layer(str(folder), tuple(_walk(str(folder))), shipped)
    except OSError as error:
        raise RulesNotFoundError(f"{error.filename or folder}: {error.strerror}") from None


def _shipped_layer() -> Layer:
    folder = shipped_folder()
    if folder is not None:
        return read_layer(folder, shipped=True)
    return _packed_layer()


def _packed_layer() -> Layer:
    """Read the rules of a package that is no folder on disk (a zip on the import path)."""
    from importlib.resources import files

    root = files("doctor") / "rules"
    if not root.is_dir():
        raise RulesNotFoundError("the rules that belong to llm-doctor are missing: this installation is damaged")
    found: list[RuleFile] = []
    stack = [("", root)]
    while stack:
        prefix, folder = stack.pop()
        for entry in folder.iterdir():
            relative = f"{prefix}{entry.name}"
            if entry.is_dir():
                stack.append((f"{relative}/", entry))
            elif entry.name.endswith((".yaml", ".yml")):
                found.append(RuleFile(relative, f"rules/{relative}", entry.read_bytes()))
    return Layer("rules", tuple(sorted(found)), shipped=True)


def _walk(folder: str) -> Iterator[RuleFile]:
    """Yield the YAML files below a folder in a stable order; hidden entries and linked folders are passed over."""
    start = len(folder.rstrip(os.sep)) + 1
    count = 0
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.startswith(".") or not name.endswith((".yaml", ".yml")):
                continue
            count += 1
            if count > MAX_FILES:
                raise RulesNotFoundError(f"{folder}: more than {MAX_FILES} rule files")
            path = f"{at}{os.sep}{name}"
            with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - four times as fast as Path.read_bytes here
                yield RuleFile(path[start:].replace(os.sep, "/"), path, file.read())
