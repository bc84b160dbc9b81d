"""Exceptions in a log: tracebacks of every make, and fatal lines that have none."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import Optional

from doctor.logs.block import Block, exception
from doctor.logs.fatal import UNKNOWN_GATES, bare
from doctor.logs.frame import is_filler, read_frame, read_type
from doctor.logs.line import Line
from doctor.model.log import ExceptionBlock

__all__ = ["TRACEBACK_GATES", "UNKNOWN_GATES", "ExceptionReader", "bare"]

TRACEBACK_GATES: tuple[bytes, ...] = (b"Traceback (most recent call last)",)

_MARKER = "Traceback (most recent call last)"
_LINES = 2_000
_MESSAGE_LINES = 80
_PLAIN_LINES = 20  # so many unindented lines a message may have; more are a program that goes on printing
_NOISE = 60
_DURING = "During handling of the above exception"
_CAUSE = "The above exception was the direct cause"
# A message that goes on with the traceback of another process or thread.
_NESTED = re.compile(r'.*Original Traceback|.*terminated with the following error|"""|\s*ray::|.*RemoteTraceback')
_REMOTE = re.compile(r".*(?:RayTaskError|RayActorError|RemoteTraceback|ProcessRaisedException)")
_GROUP_RULE = re.compile(r"\s*(?:\| ?)*\+[-+]{4,}(?: (\d{1,6}|\.\.\.) -{4,})?\s*$")
_BAR_BEHIND = re.compile(r" +\|$")
_GROUP_BAR = re.compile(r"\s*(?:[|+] ){1,8}|\s*\|$")
_NEW_RECORD = re.compile(
    r"(?:srun|slurmstepd|wandb|mpirun|make|bash|sh|error|WARNING|ERROR|INFO|CRITICAL): |Process \S{1,80}:$|"
    r"[=\-*#]{10,}|\s{0,6}\d{1,3}%\||Epoch \d{1,9}[: ]|Exception ignored in|Exception in thread|\{'(?:loss|eval)|"
    r"W\d{4} \d\d:|E\d{4} \d\d:|Killing subprocess|Root Cause|Failures:|Running|Loading|Saving|Downloading"
)


class ExceptionReader:
    """Reads the chain of exceptions that begins at a traceback marker."""

    def __init__(self, file: str = "") -> None:
        self.file = file

    def read(self, lines: Iterable[Line]) -> list[ExceptionBlock]:
        """Return the blocks of one chain, outermost last; indexes and ``chained_to`` are relative to the list.

        ``lines`` begins with the line of a ``Traceback`` marker and may mix all writers. A traceback that the log cuts
        off has an empty ``type``. The traceback of a remote worker that stands inside a message (Ray, DataLoader,
        multiprocessing) comes before the exception that carries it, which is chained to it.
        """
        walk = _Walk()
        for line in itertools.islice(lines, _LINES):
            if not walk.take(line):
                break
        return walk.blocks(self.file)


class _Walk:
    """The state of reading one chain: in the frames of a block, in its message, or between two blocks."""

    def __init__(self) -> None:
        self.done: list[Block] = []
        self.now: Optional[Block] = None
        self.stream = ""
        self.stamped: Optional[bool] = None
        self.state = "frames"
        self.noise = 0
        self.blank = False
        self.chain = False
        self.carriers: list[int] = []
        self.boxed = 0

    def take(self, line: Line) -> bool:
        """Take in one line; return False where the chain has ended."""
        if self.now is None:
            self._begin(line, None)
            self.stream = line.speaker.stream
            self.boxed = line.width if line.text.strip(" +-") == _MARKER else 0
            return True
        if line.speaker.stream != self.stream and not self._moved(line):
            return True
        text = _ungrouped(line.text) if "|" in line.text or "+" in line.text else line.text
        if self.state == "frames":
            return self._in_frames(line, text)
        return self._behind(line, text)

    def _moved(self, line: Line) -> bool:
        """Follow a logger that put its prefix only before the first line of the traceback."""
        block = self.now
        if block is None or block.frames or line.speaker.stream or read_frame(line.text, "") is None:
            return False
        self.stream = ""
        return True

    def _begin(self, line: Line, chained: Optional[int]) -> None:
        self.now = Block(line, chained)
        self.state = "frames"
        self.noise = 0
        self.blank = self.chain = False

    def _in_frames(self, line: Line, text: str) -> bool:
        block = self.now
        assert block is not None
        if block.frames and self.stamped is not bool(line.time_text or line.level):
            # Another record on the same writer's stream, in the middle of the traceback.
            self.noise += 1
            return self.noise < _NOISE
        if block.frame(text):
            block.last = line
            if self.stamped is None:
                self.stamped = bool(line.time_text or line.level)
            return True
        if _MARKER in text:
            return self._again(line, bool(block.frames))
        if is_filler(text, block.dialect):
            return True
        boxed = self.boxed and line.width == self.boxed and block.dialect == "rich"
        named = None if boxed else read_type(text)
        if named is not None:
            block.type, message = named
            block.parts.append(message)
            block.last = line
            self.state = "message"
            if _REMOTE.match(block.type) or "ray::" in message:
                self.carriers.append(len(self.done))
            return True
        self.noise += 1
        return self.noise < _NOISE

    def _again(self, line: Line, has_frames: bool) -> bool:
        """Meet a second marker where a type was due: IPython's title, or a traceback that was cut off."""
        if has_frames:
            return False
        chained = self.now.chained if self.now else None
        self._begin(line, chained)
        return True

    def _behind(self, line: Line, text: str) -> bool:
        """Read what follows type and message: more of the message, a chain sentence, a nested traceback, or the end."""
        block = self.now
        assert block is not None
        if _DURING in text or _CAUSE in text:
            self.chain = True
            return True
        rule = _GROUP_RULE.match(line.text)
        if rule:
            return self._member(line, rule[1] is not None)
        if _MARKER in text:
            return self._next_traceback(line, text)
        if self.chain:
            return self._await_marker(line, text)
        if _NESTED.match(text):
            if len(self.done) not in self.carriers:
                self.carriers.append(len(self.done))
            if "ray::" in text:
                self._close()
                self._begin(line, None)
            return True
        if len(self.done) in self.carriers and read_frame(text, "python"):
            self._close()
            self._begin(line, None)
            assert self.now is not None
            return self.now.frame(text)
        if not text.strip():
            self.blank = True
            return True
        return self._more(line, text)

    def _member(self, line: Line, numbered: bool) -> bool:
        """Begin the next member of an exception group at its numbered rule; the last rule closes the group."""
        if numbered:
            self._close()
            self._begin(line, None)
        return numbered

    def _more(self, line: Line, text: str) -> bool:
        """Add a line to the message where it belongs there; return False where it begins something else."""
        block = self.now
        assert block is not None
        if bool(line.time_text or line.level) is not bool(self.stamped):
            return self._pass_over()
        if self.stamped and line.level != block.last.level:
            return self._pass_over()
        if len(block.parts) >= _MESSAGE_LINES or not _belongs(block, line, text):
            return self._pass_over()
        if self.blank and not _continues(text):
            return self._pass_over()
        if self.blank:
            block.parts.append("")
            self.blank = False
        block.parts.append(text.rstrip())
        return True

    def _pass_over(self) -> bool:
        """Leave a line that is not of the message; a chain sentence may still follow closely."""
        self.blank = True
        self.noise += 1
        return self.noise < 6

    def _next_traceback(self, line: Line, text: str) -> bool:
        nested = len(self.done) in self.carriers
        if not nested and _NESTED.match(text):
            nested = True
            self.carriers.append(len(self.done))
        if not self.chain and not nested:
            return False
        chained = len(self.done) if self.chain else None
        self._close()
        self._begin(line, chained)
        return True

    def _await_marker(self, line: Line, text: str) -> bool:
        """Between a chain sentence and its traceback: blank lines, rulers, and tracebacks whose marker is missing."""
        if read_frame(text, "python"):
            chained = len(self.done)
            self._close()
            self._begin(line, chained)
            assert self.now is not None
            return self.now.frame(text)
        if text.strip():
            self.noise += 1
        return self.noise < _NOISE

    def _close(self) -> None:
        if self.now is not None:
            self.done.append(self.now)

    def blocks(self, file: str) -> list[ExceptionBlock]:
        """Return what was read, carriers behind the tracebacks that they carry."""
        self._close()
        kept = [n for n, block in enumerate(self.done) if block.frames or block.type]
        order = list(kept)
        causes: dict[int, int] = {}
        for carrier in reversed(self.carriers):  # the innermost first: a carried one may carry too
            inner = next((n for n in kept if n > carrier and self.done[n].chained is None), None)
            if carrier in kept and inner is not None:
                order.remove(carrier)
                order.insert(order.index(inner) + 1, carrier)
                causes[carrier] = inner
        place = {n: index for index, n in enumerate(order)}
        found = []
        for n in order:
            block = self.done[n]
            chained = causes.get(n, block.chained)
            found.append(exception(block, place[n], file, place.get(chained) if chained is not None else None))
        return found


def _ungrouped(text: str) -> str:
    """Return a line of an exception group's traceback without the bars that show its depth, or of an ASCII box."""
    if _GROUP_RULE.match(text):
        return ""
    bar = _GROUP_BAR.match(text)
    return _BAR_BEHIND.sub("", text[bar.end() :]) if bar else text


def _belongs(block: Block, line: Line, text: str) -> bool:
    """Return whether a line right behind a message can be more of it."""
    if block.type.endswith("ChildFailedError"):
        return not text.startswith(("srun: ", "slurmstepd: "))  # its message is a report with rulers
    if _NEW_RECORD.match(text):
        return False
    if text[0].isspace() or text.startswith("frame #"):
        return True
    if len(block.parts) > _PLAIN_LINES and not block.parts[-1][:1].isspace():
        return False
    return bare(line) is None


def _continues(text: str) -> bool:
    """Return whether a line behind a blank one still reads like a part of the same message."""
    return text[0].isspace() or text.startswith(
        ("CUDA kernel errors", "For debugging", "Compile with", "Device-side", "Please ", "You ", "If ", "To ", "Try ",
         "See ", "The ", "Traceback", "Last error", "Search for", "from user code", "Set TORCH", "ncclUnhandled",
         "Exception raised from", "frame #", "Checkout your", "During the creation")
    )  # fmt: skip
