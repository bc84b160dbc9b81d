"""Lines that show a job at work: progress bars, served requests, steps that advance."""

from __future__ import annotations

import re

from doctor.logs.line import Line
from doctor.logs.number import Numbers

PROGRESS_GATES: tuple[bytes, ...] = (
    b"it/s]",
    b"s/it]",
    b"it/s, ",
    b"s/it, ",
    b"generation throughput: ",
    b"gen throughput (token/s): ",
    b'HTTP/1.1" 200',
)

_PROGRESS = re.compile(
    rb"\|\s*(?P<done>\d{1,15})/\d+ \["  # tqdm: 12%|█▏ | 120/1000 [00:12<01:40, 8.8it/s]
    rb"|generation throughput: (?P<vllm>\d{1,15}\.?\d*) tok"
    rb"|gen throughput \(token/s\): (?P<sglang>\d{1,15}\.?\d*)"
    rb'|HTTP/1\.1" (?P<served>200)'
)


def shows_progress(raw: bytes) -> bool:
    """Return whether a line shows work done: a bar beyond zero, tokens made, a request served."""
    return any(float(match[match.lastgroup or 0]) > 0 for match in _PROGRESS.finditer(raw))


class Steps:
    """The last step of each stream and source, to tell a job that advances from one that repeats itself."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str], float] = {}

    def advance(self, line: Line, numbers: Numbers) -> bool:
        """Return whether a line names a later step than the line before it of the same writer."""
        if numbers.step is None or numbers.step != numbers.step:
            return False
        key = (line.speaker.stream, numbers.source)
        before = self._last.get(key)
        self._last[key] = numbers.step
        return before is not None and numbers.step > before


class Sample:
    """At most so many line numbers out of any many: evenly thinned, the last one always kept."""

    def __init__(self, most: int) -> None:
        self._most = max(2, most)
        self._kept: list[int] = []
        self._stride = 1
        self._turn = 0
        self._last = 0

    def add(self, number: int) -> None:
        """Take a line number, in order."""
        if number == self._last:
            return
        self._last = number
        if self._turn % self._stride == 0:
            self._kept.append(number)
            if len(self._kept) >= self._most:
                self._kept = self._kept[::2]
                self._stride *= 2
        self._turn += 1

    def lines(self) -> list[int]:
        """Return the sample."""
        return self._kept if not self._last or self._kept[-1:] == [self._last] else [*self._kept, self._last]
