"""How wide text is on a terminal, and how it is cut and wrapped to a width."""

from __future__ import annotations

from unicodedata import category, east_asian_width


def width_of(text: str) -> int:
    """Return the number of terminal columns that visible text takes.

    >>> width_of("rank 3"), width_of("显存")
    (6, 4)
    """
    return len(text) if text.isascii() else sum(_width(character) for character in text)


def _width(character: str) -> int:
    if character < "\u0300":
        return 1
    if category(character) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def pad(text: str, columns: int) -> str:
    """Return text filled with blanks up to a width."""
    return text + " " * (columns - width_of(text))


def clip(text: str, columns: int, ellipsis: str = "…") -> str:
    """Return text cut to a width, with an ellipsis where anything was cut."""
    if width_of(text) <= columns:
        return text
    return text[: _fitting(text, columns - width_of(ellipsis))].rstrip() + ellipsis


def wrap(text: str, columns: int) -> list[str]:
    """Return the text as lines of at most a width: broken at blanks, between wide characters, else anywhere."""
    columns = max(columns, 2)
    lines: list[str] = []
    for paragraph in text.split("\n"):
        lines += _wrap_paragraph(paragraph.strip(" "), columns)
    return lines


def _wrap_paragraph(rest: str, columns: int) -> list[str]:
    lines = []
    while (fitting := _fitting(rest, columns)) < len(rest):
        end = _break_before(rest, max(1, fitting))
        lines.append(rest[:end].rstrip(" "))
        rest = rest[end:].lstrip(" ")
    return [*lines, rest]


def _fitting(text: str, columns: int) -> int:
    """Return how many characters of the text fit into a width."""
    if text.isascii():
        return min(len(text), max(columns, 0))
    used = 0
    for index, character in enumerate(text):
        used += _width(character)
        if used > columns:
            return index
    return len(text)


def _break_before(text: str, end: int) -> int:
    """Return the best place at or before ``end`` to break a line."""
    for index in range(end, 0, -1):
        if text[index : index + 1] == " " or (index < end and text[index] == " "):
            return index
        if _width(text[index - 1]) == 2 and not _clings(text[index : index + 1]):
            return index
    return end


def _clings(character: str) -> bool:
    """Tell whether a line may not begin with this character (closing punctuation of wide scripts)."""
    return bool(character) and character in "，。、；：？！）」』】》…"
