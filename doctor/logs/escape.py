"""What terminals need and readers do not: colours, cursor movements, invisible characters, boxes."""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"(?:\x1b|␛|\\033|\\x1b|\\u001b|\\e(?=\[)|\^\[)(?:"
    r"\[[0-?]{0,32}[ -/]{0,4}[@-~]"  # CSI: colours, cursor, erase
    r"|\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)"  # OSC: titles, links
    r"|[PX^_][^\x1b]{0,2048}\x1b\\"
    r"|[()#][0-9A-Za-z]|[0-9<-~])"
)
# What is left of a colour where the escape character itself was lost in copying.
_REMNANTS = re.compile(
    r"\ufffd?\[(?:0|[0-9]{1,2};[0-9;]{1,16}|[1-9][0-9]?)m(?![\])\w])|\[(?:[01];)?(?:3[0-9]|9[0-7]|0)(?:;20)?m"
)
_INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u2060\ufeff\x80-\x9f]")
_BOX = re.compile("[\u2500-\u257f]")
_BORDER = re.compile("[ \t]*[│┃║┆┊] ?")
_BLANK_BOX = dict.fromkeys(range(0x2500, 0x2580), " ")


def visible(text: str) -> str:
    """Return the text without escapes and invisible characters; carriage returns and tabs stay."""
    if "\x1b" in text or "\\" in text or "␛" in text or "^[" in text:
        text = _ESCAPES.sub("", text)
    if "m" in text and "[" in text:
        text = _REMNANTS.sub("", text)
    if not text.isascii():
        text = text.replace("\xa0", " ")
    return _INVISIBLE.sub("", text) if _INVISIBLE.search(text) else text


def unboxed(text: str) -> str:
    """Return what stands inside a box's borders; lines drawn alone become empty."""
    if _BOX.search(text) is None:
        return text
    border = _BORDER.match(text)
    if border:
        # A second border right behind is a box in the box; a guide of indented code is not.
        return text[border.end() :].translate(_BLANK_BOX).rstrip()
    inner = text.translate(_BLANK_BOX)
    first = text.lstrip()[:1]
    if first in "╭┌┏╔╰└┗╚─━═├┣╠":
        drawn = sum(1 for c in text if "\u2500" <= c <= "\u257f")
        if drawn > 3:
            return inner.strip()
    return inner.rstrip()
