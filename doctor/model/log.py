"""What reading a log yields: occurrences, exceptions, number series and the limits that bit.

Nothing here judges. Lines are 1-based. Times are seconds since the epoch where the stamp names a date,
seconds since midnight where it names only a time (``clock == "day"``), and None without a stamp.
"""

from __future__ import annotations

from array import array
from typing import Optional, Union

import msgspec

Field = Union[str, int, float, bool]


class Speaker(msgspec.Struct, frozen=True, kw_only=True):
    """Who printed a line, as far as its prefixes tell. ``stream`` keeps interleaved writers apart."""

    stream: str = ""
    rank: Optional[int] = None
    local_rank: Optional[int] = None
    node: Optional[str] = None
    pid: Optional[int] = None


class Occurrence(msgspec.Struct, frozen=True, kw_only=True):
    """One place where a signature matched.

    ``text`` is the message without prefixes, colours and box drawing, rejoined where a narrow terminal broke
    it, at most ``MAX_TEXT`` characters. ``exception`` is the index of the exception block it stands in.
    """

    signature: str
    file: str
    line: int
    text: str
    run: int = 0
    speaker: Speaker = Speaker()
    time: Optional[float] = None
    time_text: str = ""
    fields: dict[str, Field] = {}
    exception: Optional[int] = None


class Frame(msgspec.Struct, frozen=True):
    """One stack frame, outermost first in its block."""

    file: str
    line: int
    function: str
    code: str = ""


class ExceptionBlock(msgspec.Struct, frozen=True, kw_only=True):
    """One traceback (or a bare exception line), with its place in a chain.

    ``first_line`` is its ``Traceback`` line, ``line`` the line with type and message. ``chained_to`` is the
    index of the block that it was raised from or during the handling of. ``ignored`` marks what the interpreter
    itself says to have ignored, in finalisers and at exit.
    """

    index: int
    file: str
    first_line: int
    line: int
    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    chained_to: Optional[int] = None
    ignored: bool = False
    run: int = 0
    speaker: Speaker = Speaker()
    time: Optional[float] = None
    time_text: str = ""


class Series(msgspec.Struct, kw_only=True):
    """One metric's numbers over one run of one stream: parallel arrays of step, value and line.

    Metrics: loss, eval_loss, grad_norm, learning_rate, loss_scale, throughput, skipped, memory. A step is NaN where the
    line names none. Values may be NaN or infinite: that is what is looked for.
    """

    metric: str
    file: str
    run: int
    stream: str = ""
    source: str = ""  # the dialect of numbers: hf_trainer, megatron, deepspeed …
    steps: array[float] = msgspec.field(default_factory=lambda: array("d"))
    values: array[float] = msgspec.field(default_factory=lambda: array("d"))
    lines: array[int] = msgspec.field(default_factory=lambda: array("q"))


class LimitHit(msgspec.Struct, frozen=True):
    """A bound that bit, in a sentence for the reader: nothing is dropped in silence."""

    file: str
    what: str
    text: str


class LogFile(msgspec.Struct, kw_only=True):
    """Everything that one log said.

    ``counts`` counts every match of each signature, also beyond the kept occurrences. ``frameworks`` maps a
    framework to the first line that shows it. ``alive_lines`` holds, in order, the line numbers of a sample of lines
    that show normal progress (used to tell survived errors from fatal ones). ``failure`` is one sentence where
    the file could not be read at all.
    """

    path: str
    size_bytes: int = 0
    lines: int = 0
    runs: int = 1
    occurrences: list[Occurrence] = []
    counts: dict[str, int] = {}
    exceptions: list[ExceptionBlock] = []
    series: list[Series] = []
    frameworks: dict[str, int] = {}
    alive_lines: list[int] = []
    limits: list[LimitHit] = []
    failure: str = ""
