"""What is wrong with rule files: every fault with its file, line and column, all of them at once."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class Fault(msgspec.Struct, frozen=True, order=True):
    """One thing that is wrong; ``level`` is error or warning."""

    file: str
    line: int
    column: int
    message: str
    level: str = "error"

    def __str__(self) -> str:
        mark = "" if self.level == "error" else f"{self.level}: "
        return f"{self.file}:{self.line}:{self.column}: {mark}{self.message}"


class RuleFaults(Exception):  # noqa: N818 - it holds many
    """The rules do not load. ``faults`` holds every reason."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = tuple(faults)
