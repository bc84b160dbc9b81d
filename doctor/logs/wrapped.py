"""Line numbers of an unwrapped text led back to the lines that a person sees in the file."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import msgspec

from doctor.model.log import LogFile


def to_physical(log: LogFile, starts: Sequence[int]) -> None:
    """Replace logical line numbers by physical ones; ``starts`` holds for each logical line its 0-based first line."""

    def physical(line: int) -> int:
        return starts[min(line, len(starts)) - 1] + 1 if starts and line > 0 else line

    replace = msgspec.structs.replace
    log.occurrences = [replace(each, line=physical(each.line)) for each in log.occurrences]
    log.exceptions = [
        replace(each, first_line=physical(each.first_line), line=physical(each.line)) for each in log.exceptions
    ]
    for series in log.series:
        series.lines = array("q", [physical(line) for line in series.lines])
    log.frameworks = {name: physical(line) for name, line in log.frameworks.items()}
    log.alive_lines = [physical(line) for line in log.alive_lines]
    log.lines = physical(log.lines) if log.lines else 0
