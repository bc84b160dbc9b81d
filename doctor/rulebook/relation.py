"""Who leads where: signatures to trees, trees and signatures to causes."""

from __future__ import annotations

from doctor.model.rule import Leaf, Node, Tree
from doctor.rulebook.book import Rulebook

Exits = tuple[tuple[str, "str | Leaf"], ...]


def exits(node: Node) -> Exits:
    """Return the three exits of a node with their keys."""
    return ("then", node.then), ("else", node.otherwise), ("unknown", node.unknown)


def causes_of(tree: Tree) -> list[str]:
    """Return the causes that a tree can end in, in the order of its nodes."""
    ends = (exit_ for node in tree.nodes.values() for _, exit_ in exits(node))
    return list(dict.fromkeys(end.cause for end in ends if isinstance(end, Leaf)))


def openers_of(tree: str, book: Rulebook) -> list[str]:
    """Return the signatures that open a tree."""
    return [rule.id for rule in book.signatures.values() if rule.opens == tree]


def leads_to(cause: str, book: Rulebook) -> tuple[list[str], list[str]]:
    """Return the trees that can end in a cause and the signatures that settle it themselves."""
    trees = [tree.id for tree in book.trees.values() if cause in causes_of(tree)]
    return trees, [rule.id for rule in book.signatures.values() if rule.cause == cause]


def causes_with(rival: str, book: Rulebook) -> list[str]:
    """Return the causes that name another one as their rival."""
    return [rule.id for rule in book.causes.values() if rival in rule.rivals]
