"""One line of progress on a terminal, drawn only when a scan takes long enough to ask for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from doctor.exam.scan import Progress

WAIT_SECONDS = 0.5
REDRAW_SECONDS = 0.1
_BAR = 24


class ProgressBar:
    """Draws over itself and leaves nothing behind."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._due = clock() + WAIT_SECONDS
        self._drawn = False

    def update(self, amount: Progress) -> None:
        """Draw where it is time to."""
        now = self._clock()
        if now < self._due:
            return
        self._due, self._drawn = now + REDRAW_SECONDS, True
        self._put("\r\x1b[K" + _line_of(amount))

    def close(self) -> None:
        """Erase what was drawn."""
        if self._drawn:
            self._drawn = False
            self._put("\r\x1b[K")

    def _put(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def _line_of(amount: Progress) -> str:
    files = f", {amount.files_done} of {amount.files} files" if amount.files > 1 else ""
    done = amount.bytes_done / (1 << 20)
    if not amount.bytes:
        return f"Reading: {done:,.0f} MiB{files}"
    share = min(amount.bytes_done / amount.bytes, 1.0)
    filled = round(share * _BAR)
    return f"Reading [{'#' * filled}{'.' * (_BAR - filled)}] {share:4.0%} of {amount.bytes / (1 << 20):,.0f} MiB{files}"
