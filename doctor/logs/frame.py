"""The grammars of traceback lines: CPython's own, Rich's boxes, IPython's."""

from __future__ import annotations

import re
from typing import Optional

import msgspec

from doctor.model.log import Frame

_PYTHON = re.compile(r'\s*File "([^"\n]{1,4096})", line (\d{1,9})(?:, in (.{1,400}))?\s*$')
_RICH = re.compile(
    r"((?:/|[A-Za-z]:[\\/]|<|~|\.)[^\n]{0,600}?):(\d{1,9}) in ?(\S.{0,200})?$|(<string>|<stdin>):(\d{1,9}) in (\S+)$"
)
# Rich's form of a frame whose source it could not open.
_RICH_CELL = re.compile(r"in (<[^<>\n]{1,80}>|[A-Za-z_]\w{0,120}):(\d{1,9})$")
# Notebooks copied out of a browser come with links: [text](address).
_LINK = re.compile(r"\[([^\[\]\n]{0,300}(?:\[[^\[\]\n]{0,40}\][^\[\]\n]{0,100})?)\]\((?:https?|vscode)[^)\s]{0,600}\)")
_AFTER_FUNCTION = re.compile(r"\s{2,}|[█▏▎▍▌▋▊▉]")
_RICH_HERE = re.compile(r"[>❱] *(\d{1,9})(?: (.*))?$")
_IPYTHON = (
    re.compile(r"(<ipython-input-[^>\n]{1,120}>) in (.{1,300})$"),
    re.compile(r"((?:Cell )?In(?:put)? ?\[\d{1,6}\]), (?:line (\d{1,9})|in (.{1,300}))(?:, in (.{1,300}))?$"),
    re.compile(r"File ([^\s\"].{0,600}?):(\d{1,9}), in (.{1,4000})$"),
    re.compile(r"((?:/|~|[A-Z]:\\).{1,600}?\.py) in (.{1,4000})$"),
)
_ARROW = re.compile(r"-{1,8}> ?(\d{1,9}) ?(.*)$")
_CONTEXT = re.compile(r"\s*\d{1,9}(?: |$)")
_MARKERS = frozenset(" ^~\t|")
_REPEATED = re.compile(r"\s*\[Previous line repeated \d+ more times?\]")
# A class name as tracebacks print it. Strict ones are unmistakable, loose ones need the place.
_STRICT_NAME = (
    r"(?:Error|Exception|Exit|Interrupt|Interrupted|Warning|Iteration|Group|Timeout|Expired|Fault|Failure|Abort)"
)
_STRICT = re.compile(
    rf"((?:[A-Za-z_]\w{{0,80}}\.){{0,12}}_?\w{{0,80}}{_STRICT_NAME}\w{{0,20}}(?:\(\w{{1,80}}\))?)(?:: ?(.*)|\s*)$"
)
_LOOSE = re.compile(r"((?:[a-z_]\w{0,80}\.){1,12}\w{1,80}|[A-Z][a-z0-9]+[A-Z]\w{1,80})(?:: (.*)|:?\s*)$")
_NO_TYPE = re.compile(r"\S+\.(?:py|cpp|cc|cu|c|h|json|yaml|yml|sh|com|org|io)(?::|$)")


class Found(msgspec.Struct, frozen=True):
    """A frame line; ``open`` says that its function stands on the next line."""

    frame: Frame
    dialect: str
    open: bool = False


def read_frame(text: str, dialect: str) -> Optional[Found]:
    """Return the frame that a line names. ``dialect`` is the traceback's so far: python, rich, ipython or empty."""
    found = _PYTHON.match(text)
    if found:
        function = _AFTER_FUNCTION.split((found[3] or "").strip(), maxsplit=1)[0]
        return Found(Frame(found[1], int(found[2]), function), "python")
    if dialect in ("rich", ""):
        found = _RICH_CELL.match(text.strip())
        if found:
            return Found(Frame("<cell>", int(found[2]), found[1]), "rich")
        found = _RICH.match(text.strip())
        if found:
            if found[4]:
                return Found(Frame(found[4], int(found[5]), found[6]), "rich")
            return Found(Frame(found[1], int(found[2]), found[3] or ""), "rich", not found[3])
    if dialect in ("ipython", ""):
        return _ipython(text.strip())
    return None


def _ipython(text: str) -> Optional[Found]:
    text = _unlinked(text)
    for number, grammar in enumerate(_IPYTHON):
        found = grammar.match(text)
        if found is None:
            continue
        if number == 1:
            line, function = int(found[2] or 0), found[4] or found[3] or ""
        elif number == 2:
            line, function = int(found[2]), found[3]
        else:
            line, function = 0, found[2]
        return Found(Frame(found[1], line, function.split("(")[0].strip()), "ipython")
    return None


def _unlinked(text: str) -> str:
    return _LINK.sub(r"\1", text) if "](" in text else text


def read_code(text: str, dialect: str, frame: Frame) -> Optional[Frame]:
    """Return the frame with the code that a line under it shows, or None where the line shows none."""
    if dialect == "python":
        if frame.code or not text[:1].isspace() or not text.strip() or set(text) <= _MARKERS:
            return None
        return Frame(frame.file, frame.line, frame.function, text.strip())
    here = (_RICH_HERE if dialect == "rich" else _ARROW).match(_unlinked(text.strip()))
    if here is None or frame.code:
        return None
    line = frame.line or int(here[1])
    if frame.line and int(here[1]) != frame.line and dialect == "rich":
        return None
    return Frame(frame.file, line, frame.function, (here[2] or "").strip("| "))


def is_filler(text: str, dialect: str) -> bool:
    """Return whether a line inside a traceback carries nothing: markers, context lines, repetitions."""
    if not text or text.isspace() or set(text) <= _MARKERS or _REPEATED.match(text):
        return True
    if text[0].isspace():
        return True
    return dialect in ("rich", "ipython") and _CONTEXT.match(_unlinked(text)) is not None


def read_type(text: str, *, strict: bool = False) -> Optional[tuple[str, str]]:
    """Return class name and message of a traceback's last line."""
    found = _STRICT.match(text)
    if found is None and not strict and not _NO_TYPE.match(text):
        found = _LOOSE.match(text)
    return (found[1], (found[2] or "").strip()) if found else None
