"""Text from logs and rules, made fit for a terminal or for Markdown: nothing in it can act."""

from __future__ import annotations

import re

# Escape sequences are removed whole; an unfinished one loses its escape character below.
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"  # CSI: colours, cursor, erase
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM, APC
    r"|\x1b(?:[ -/]{1,8}[0-~]|[0-OQ-WYZ\\`-~])"
)
# Controls, lone surrogates and everything of the category "format": bidi, zero width, byte order marks, tags.
UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_MARKS = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_STACKED_MARKS = re.compile(f"({_MARKS}{{3}}){_MARKS}+")
_MARKDOWN = re.compile(r"([\\`*{}\[\]<>|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
_MENTION = re.compile(r"(?<!&)([@#])(?=\w)")
_BACKTICKS = re.compile("`+")
_BLANKS = re.compile(r"[ \t\r\n\x0b\x0c]+")
# Longer texts are cut before they are looked at: nobody reads a megabyte on a terminal.
MAX_TEXT = 16_384


def visible(text: str) -> str:
    r"""Return the text with escape sequences removed and every unseen character but the newline spelled out.

    >>> visible("\x1b[31mred\x1b[0m \u202eabc")
    'red \\u202eabc'
    """
    if len(text) > MAX_TEXT:
        text = text[:MAX_TEXT] + "…"
    text = _SEQUENCES.sub("", text).replace("\r\n", "\n").replace("\t", "    ")
    text = "\n".join(UNSEEN.sub(_spelled, line) for line in text.split("\n"))
    return text if text.isascii() else _STACKED_MARKS.sub(r"\1", text)


def one_line(text: str) -> str:
    """Return visible text on one line, with each run of blanks as one."""
    return _BLANKS.sub(" ", visible(_BLANKS.sub(" ", text[: MAX_TEXT + 1]))).strip()


def markdown_text(text: str) -> str:
    """Return text on one line that Markdown shows as it is: no markup, no HTML, no mention of people or issues."""
    return _MENTION.sub(r"\1<!-- -->", _MARKDOWN.sub(r"\\\1", one_line(text)))


def code_span(text: str) -> str:
    """Return text on one line as inline code, in fences longer than any run of backticks in it."""
    inner = one_line(text)
    ticks = "`" * (_longest_run(inner) + 1)
    pad = " " if inner[:1] == "`" or inner[-1:] == "`" or not inner else ""
    return f"{ticks}{pad}{inner}{pad}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """Return text as a code block that nothing in it can close."""
    inner = visible(text)
    ticks = "`" * max(3, _longest_run(inner) + 1)
    return f"{ticks}{language}\n{inner}\n{ticks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def _spelled(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
