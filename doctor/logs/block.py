"""A traceback while it is read, and the exception that comes of it."""

from __future__ import annotations

from typing import Optional

import msgspec

from doctor.logs.frame import read_code, read_frame
from doctor.logs.line import Line
from doctor.model.log import ExceptionBlock, Frame

_FRAMES = 400
_MESSAGE_CHARACTERS = 6_000


class Block:
    """A traceback as far as it has been read."""

    __slots__ = ("chained", "dialect", "first", "frames", "last", "message", "open", "parts", "type")

    def __init__(self, first: Line, chained: Optional[int]) -> None:
        self.first = first
        self.last = first
        self.frames: list[Frame] = []
        self.dialect = ""
        self.type = ""
        self.parts: list[str] = []
        self.chained = chained
        self.open = False

    def frame(self, text: str) -> bool:
        """Take in a frame line or a line of code; return whether it was one."""
        found = read_frame(text, self.dialect)
        if found is not None and len(self.frames) < _FRAMES:
            self.frames.append(found.frame)
            self.dialect = found.dialect
            self.open = found.open
            return True
        if not self.frames:
            return False
        last = self.frames[-1]
        if self.open and text.strip().isidentifier():
            self.frames[-1] = Frame(last.file, last.line, text.strip(), last.code)
            self.open = False
            return True
        with_code = read_code(text, self.dialect, last)
        if with_code is not None:
            self.frames[-1] = with_code
        return with_code is not None


def exception(block: Block, index: int, file: str, chained: Optional[int]) -> ExceptionBlock:
    """Return a traceback that has been read to its end, at its place in its chain."""
    speaker = block.first.speaker
    if block.last.speaker.stream != speaker.stream:  # a logger's prefix stood only before the first row
        speaker = msgspec.structs.replace(speaker, stream=block.last.speaker.stream)
    stamped = block.last if block.last.time_text else block.first
    return ExceptionBlock(
        index=index,
        file=file,
        first_line=block.first.number,
        line=block.last.number,
        type=block.type,
        message="\n".join(block.parts).strip()[:_MESSAGE_CHARACTERS],
        frames=tuple(block.frames),
        chained_to=chained,
        speaker=speaker,
        time=stamped.time,
        time_text=stamped.time_text,
    )
