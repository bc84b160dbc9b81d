"""A diagnostic tree as lines of text, with its questions, answers and causes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Union

from doctor.model.rule import Leaf, Node, Tree
from doctor.rulebook.plain import plain_text

WIDTH = 80
INDENT = "  "


def draw_tree(tree: Tree) -> list[str]:
    """Return the drawing. A node that several answers lead to is drawn once and named afterwards."""
    return list(_Drawing(tree).draw(tree.start, INDENT))


class _Drawing:
    def __init__(self, tree: Tree) -> None:
        self._nodes = tree.nodes
        self._drawn: set[str] = set()

    def draw(self, name: str, prefix: str) -> Iterator[str]:
        """Draw a node and what follows; the last new question goes on in the same column."""
        self._drawn.add(name)
        node = self._nodes[name]
        yield from _wrapped(f"{prefix}○ ", f"{prefix}│ ", f"{name}: {plain_text(node.ask)}")
        yield from _wrapped(f"{prefix}│   ", f"{prefix}│   ", f"when {node.when}")
        answers = _answers(node)
        # Ends come first, so that the longest way down stays in one column.
        ends = [(words, to) for words, to in answers if isinstance(to, Leaf) or to in self._drawn]
        onward = [(words, to) for words, to in answers if isinstance(to, str) and to not in self._drawn]
        for index, (words, to) in enumerate(ends):
            last = not onward and index == len(ends) - 1
            shown = f"{to.cause} ({to.confidence.value})" if isinstance(to, Leaf) else f"{to}, which stands above"
            corner, below = ("└─ ", "     ") if last else ("├─ ", "│    ")
            yield from _wrapped(prefix + corner, prefix + below, f"{words} → {shown}")
        for index, (words, to) in enumerate(onward):
            assert isinstance(to, str)
            if to in self._drawn:
                last = index == len(onward) - 1
                yield f"{prefix}{'└─' if last else '├─'} {words} → {to}, which stands above"
                continue
            yield f"{prefix}├─ {words}"
            yield from self.draw(to, prefix if index == len(onward) - 1 else f"{prefix}│  ")


def _answers(node: Node) -> list[tuple[str, Union[str, Leaf]]]:
    """Return the exits with the answers that lead there; answers with one exit are drawn together."""
    grouped: list[tuple[str, Union[str, Leaf]]] = []
    for word, to in (("yes", node.then), ("no", node.otherwise), ("unknown", node.unknown)):
        same = next((index for index, (_, known) in enumerate(grouped) if known == to), None)
        if same is None:
            grouped.append((word, to))
        else:
            grouped[same] = (f"{grouped[same][0]} or {word}", to)
    return grouped


def _wrapped(first: str, rest: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, max(WIDTH, len(rest) + 30), initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )
