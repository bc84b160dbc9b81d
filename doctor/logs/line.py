"""One log line as a message: prefixes, colours and box drawing peeled off, and who printed it."""

from __future__ import annotations

import re
from typing import Optional

import msgspec

from doctor.logs import dialect, envelope, escape, stamp
from doctor.logs.dialect import Dialect
from doctor.model.log import Speaker

_LOOKED_AT = 65_536
_SEGMENTS = 256
_PEELS = 8
_YEAR = 367 * 86_400.0  # a smaller moment comes from a stamp without a year
_NOBODY = Speaker()

# Where a second writer's record begins in the middle of a physical line.
_GLUE = re.compile(
    r"(?:it/s|s/it|\?B/s)(?:, [^\]\n]{0,300})?\](?= *\S)"
    r"|(?=\[rank\d{1,6}\]:)"
    r"|(?<=[^ \[(])(?=\([A-Z][\w.]{0,60} (?:rank=\d{1,6} )?pid=\d{1,8}\) )"
    r"|(?=\[NeMo [DIWECF] \d{4}-)"
    r"|(?=\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] \[(?:INFO|WARNING|ERROR|DEBUG)\])"
)
_RICH_PATH = re.compile(r" {2,}[\w/.-]{1,120}\.py:\d{1,6}$")
_STRONG = re.compile(
    r"Traceback \(most|  File \"|[\w.]{1,80}(?:Error|Exception): |[\w.-]{1,60}:\d+:\d+ \[-?\d+\] |\{'loss'|"
    rf"\[(?:rank|default)\d+\]:|\(\w+ (?:rank=\d+ )?pid=\d|\[?{stamp.ISO}|[IWEF]\d{{4}} \d\d:|\[[IWEF]\d{{3,4}} \d\d:|"
    rf"(?:{dialect.LEVELS})[ :]"
)
_NO_HOST = re.compile(
    r"(?:.*(?:Error|Exception|Warning)|(?:gpu|cuda|epoch|step|iter|layer|rank|stage|expert|v)[.-]?\d.*)$", re.I
)
_PEEK_RANK = re.compile(r"\[(?:PG [^\]\n]{0,160} )?[Rr]ank (\d{1,6})\]")
_PEEK_LEVEL = re.compile(r"(?:\[TensorRT-LLM\])?\[?(CRITICAL|FATAL|ERROR|WARNING|INFO|DEBUG)(?:\]|: )")


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One writer's message on one physical line; ``width`` is the printed width of the whole physical line.

    ``text`` keeps the message's own indentation. ``time`` is what ``doctor.logs.stamp`` makes of ``time_text``;
    ``level`` is a word such as ``ERROR``, or empty.
    """

    number: int
    text: str
    speaker: Speaker = _NOBODY
    time: Optional[float] = None
    time_text: str = ""
    level: str = ""
    width: int = 0


class _Told:
    """What the prefixes of one message said so far."""

    __slots__ = ("ids", "level", "local", "node", "pid", "rank", "time", "time_text")

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.rank: Optional[int] = None
        self.local: Optional[int] = None
        self.node: Optional[str] = None
        self.pid: Optional[int] = None
        self.time: Optional[float] = None
        self.time_text = ""
        self.level = ""

    def add(self, groups: dict[str, Optional[str]]) -> None:
        """Take over what a prefix's groups say: the outermost speaker, the innermost level, the fullest time."""
        get = groups.get
        who = get("who")
        name = get("id") or (who.strip() if who else None)
        if name and name not in self.ids:
            self.ids.append(name)
        rank = get("rank")
        if self.rank is None:
            self.rank = int(rank) if rank else dialect.rank_of(who)
        local = get("local")
        if local and self.local is None and not local.startswith("-"):
            self.local = int(local)
        self.node = self.node or get("node")
        pid = get("pid")
        if pid and self.pid is None and len(pid) < 11:
            self.pid = int(pid)
        time = get("time") or get("uptime")
        if time:
            moment = stamp.seconds(time) if get("time") else None
            if self.time is None or (moment is not None and (moment >= _YEAR or self.time < _YEAR)):
                self.time, self.time_text = moment, time
        self.level = dialect.level(groups) or self.level

    def speaker(self) -> Speaker:
        """Return who this is."""
        if not self.ids and self.rank is None and self.node is None and self.pid is None and self.local is None:
            return _NOBODY
        return Speaker(stream="/".join(self.ids), rank=self.rank, local_rank=self.local, node=self.node, pid=self.pid)


class LineParser:
    """Turns raw lines into messages; remembers which prefixes this file uses."""

    def __init__(self) -> None:
        self._recent: dict[str, Dialect] = {}
        self._labels: dict[str, int] = {}
        self._repeated = False
        self._srun = False
        self._hosts: set[str] = set()

    def parse(self, raw: bytes, number: int) -> tuple[Line, ...]:
        """Return the messages on one physical line, never none."""
        if len(raw) > _LOOKED_AT:
            half = _LOOKED_AT // 2
            raw = raw[:half] + b"\r" + raw[-half:] if b"\r" in raw else raw[:_LOOKED_AT]
        text = escape.visible(raw.decode("utf-8", "replace"))
        parts = [part for part in re.split(r"[\r\n]+", text) if part and not part.isspace()]
        lines: list[Line] = []
        for part in parts[:_SEGMENTS] if len(parts) <= _SEGMENTS else parts[-_SEGMENTS:]:
            self._glued(part, number, lines)
        return tuple(lines) or (Line(number=number, text=""),)

    def _glued(self, text: str, number: int, lines: list[Line]) -> None:
        """Parse one terminal row, and what other writers printed behind it on the same row."""
        width = len(text.rstrip())
        for _ in range(_PEELS):
            told = _Told()
            at = self._peel(text, told)
            end = self._next_writer(text, at)
            self._finish(text[at:end], told, number, width, lines)
            if end is None:
                return
            text = text[end:].lstrip() if text[end - 1] == "]" else text[end:]
        lines.append(Line(number=number, text=text.rstrip(), width=width))

    @staticmethod
    def _next_writer(text: str, at: int) -> Optional[int]:
        if "]" not in text and ")" not in text:
            return None
        found = _GLUE.search(text, at + 1)
        return found.end() if found and found.end() > at and found.end() < len(text) else None

    def _finish(self, text: str, told: _Told, number: int, width: int, lines: list[Line]) -> None:
        """Open an envelope where the message is one, strip the box, and add the lines it holds."""
        if text[:1] == "{":
            letter = envelope.opened(text)
            if letter is not None:
                told.add(letter.groups)
                for inner in letter.message.splitlines()[:_SEGMENTS]:
                    again = _copied(told)
                    at = self._peel(inner, again)
                    lines.append(_line(inner[at:], again, number, width))
                return
        lines.append(_line(text, told, number, width))

    def _peel(self, text: str, told: _Told) -> int:
        """Return where the message begins, having told what the prefixes say."""
        at = 0
        for _ in range(_PEELS):
            end = self._one(text, at, told)
            if end <= at:
                break
            at = end
        return at

    def _one(self, text: str, at: int, told: _Told) -> int:
        first = text[at : at + 1]
        if not first:
            return at
        recent = self._recent.get(first)
        record = bool(told.time_text or told.level)
        if recent is not None and (record or not recent.after_record):
            found = recent.match(text, at)
            if found:
                told.add(found.groupdict())
                return found.end()
        if first in "[ 012":
            found = dialect.RICH.match(text, at)
            if found and (first != " " or not told.time_text):
                told.add(found.groupdict())
                return found.end()
        for known in dialect.candidates(first):
            if known.after_record and not record:
                continue
            found = known.match(text, at)
            if found:
                if known.name != "plain_time":  # it fits where more telling ones do, so it never goes first
                    self._recent[first] = known
                told.add(found.groupdict())
                return found.end()
        return self._labelled(text, at, told)

    def _labelled(self, text: str, at: int, told: _Told) -> int:
        """Peel ``3: `` (srun -l) or ``node01: `` (pdsh, DeepSpeed) where what follows or habit shows that it is one."""
        found = dialect.SRUN.match(text, at)
        if found:
            label = found["id"]
            strong = _STRONG.match(text, found.end()) is not None
            if not strong and at == 0 and len(self._labels) < 4_096:
                seen = self._labels.get(label, 0) + 1
                self._labels[label] = seen
                self._repeated = self._repeated or seen > 2
            self._srun = self._srun or strong
            if strong or self._srun or self._repeated:
                told.add(found.groupdict())
                return found.end()
            return at
        found = dialect.HOST.match(text, at)
        if found is None or _NO_HOST.match(found["node"]):
            return at
        if found["node"] not in self._hosts:
            if _STRONG.match(text, found.end()) is None or len(self._hosts) > 8_192:
                return at
            self._hosts.add(found["node"])
        told.add(found.groupdict())
        return found.end()


def _copied(told: _Told) -> _Told:
    again = _Told()
    for name in _Told.__slots__:
        setattr(again, name, getattr(told, name))
    again.ids = list(told.ids)
    return again


def _line(text: str, told: _Told, number: int, width: int) -> Line:
    text = escape.unboxed(text).rstrip()
    if text.endswith("```"):
        text = text[:-3].rstrip()
    if told.rank is None and text[:1] == "[":
        found = _PEEK_RANK.match(text)
        if found:
            told.rank = int(found[1])
    if not told.level:
        found = _PEEK_LEVEL.match(text)
        if found:
            told.level = found[1]
    elif "  " in text and text[-1:].isdigit():
        text = _RICH_PATH.sub("", text)
    return Line(
        number=number,
        text=text,
        speaker=told.speaker(),
        time=told.time,
        time_text=told.time_text,
        level=told.level,
        width=width,
    )
