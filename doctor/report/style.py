"""How a report is drawn: width, colour and the characters that the output can show."""

from __future__ import annotations

import msgspec

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_GLYPHS = {
    "failed": ("✗", "x"),
    "warning": ("!", "!"),
    "healthy": ("✓", "+"),
    "dash": ("—", "-"),
    "ellipsis": ("…", "..."),
    "range": ("–", "-"),
    "times": ("×", "x"),
    "axis": ("│", "|"),
    "corner": ("└", "+"),
    "floor": ("─", "-"),
    "tick": ("┤", "|"),
    "caret": ("▲", "^"),
    "point": ("█", "*"),
    "gap": ("×", "x"),
}
PLAIN_CHARACTERS = str.maketrans({glyphs[0]: glyphs[1] for glyphs in _GLYPHS.values()})


class Style(msgspec.Struct, frozen=True):
    """The look of one output. The default is what a file gets: 80 columns, no colour."""

    width: int = 80
    colour: bool = False
    unicode: bool = True

    def paint(self, text: str, *names: str) -> str:
        """Return text in a colour or weight, where the output has them. Paint only text that was escaped."""
        if not (self.colour and text and names):
            return text
        return f"\x1b[{';'.join(_CODES[name] for name in names)}m{text}\x1b[0m"

    def glyph(self, name: str) -> str:
        """Return a sign in the characters that the output can show."""
        return _GLYPHS[name][0 if self.unicode else 1]
