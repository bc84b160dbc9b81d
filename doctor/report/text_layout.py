"""A page of text: headings, wrapped paragraphs, items and lines that stay whole."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.report.escape import one_line, visible
from doctor.report.measure import clip, width_of, wrap
from doctor.report.style import PLAIN_CHARACTERS, Style

INDENT = "  "


class Page:
    """Collects lines. Everything given as ``text`` is escaped here; ``paint`` names are applied after that."""

    def __init__(self, style: Style) -> None:
        self.style = style
        self.lines: list[str] = []

    def text(self) -> str:
        """Return the page, ending with a newline."""
        return self._drawable("\n".join(self.lines).strip("\n") + "\n")

    def _drawable(self, text: str) -> str:
        return text if self.style.unicode else text.translate(PLAIN_CHARACTERS)

    def gap(self) -> None:
        """Leave one blank line."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def heading(self, words: str) -> None:
        """Open a section."""
        self.gap()
        self.lines.append(self.style.paint(words, "bold"))

    def paragraph(self, text: str, *paint: str, first: str = INDENT, rest: str = "", most: int = 0) -> None:
        """Add wrapped text behind a first indent; at most ``most`` lines, cut with an ellipsis."""
        text = self._drawable(one_line(text))
        if not text:
            return
        rest = rest or " " * width_of(first)
        room = self.style.width - max(width_of(first), len(rest))
        lines = wrap(text, room)
        if most and len(lines) > most:
            end = self.style.glyph("ellipsis")
            lines = [*lines[: most - 1], clip(" ".join(lines[most - 1 : most + 1]), room, end)]
        for index, line in enumerate(lines):
            self.lines.append((first if index == 0 else rest) + self.style.paint(line, *paint))

    def verbatim(self, text: str, indent: str, *paint: str) -> None:
        """Add lines to copy: visible, indented and never wrapped."""
        for line in visible(text).rstrip("\n").split("\n"):
            self.lines.append(indent + self.style.paint(line, *paint))

    def items(self, texts: Sequence[str], most: int, bullet: str = "- ") -> None:
        """Add a list of sentences and how many more there are."""
        for text in texts[:most]:
            self.paragraph(text, first=INDENT + bullet)
        if len(texts) > most:
            self.paragraph(f"and {len(texts) - most:,} more", "dim", first=INDENT + " " * len(bullet))
