"""Trees: every node can be reached, every name in a condition can have a value."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.model.rule import Tree
from doctor.rulebook.document import Path
from doctor.rulebook.lint.name import LIVE, Names
from doctor.rulebook.lint.signature import url_faults
from doctor.rulebook.relation import exits, openers_of

Found = Iterator[tuple[Path, str, str]]


def tree_faults(rule: Tree, names: Names) -> Found:
    """Yield path, message and level of every fault of a tree that can be used."""
    for index, url in enumerate(rule.references):
        yield from url_faults(url, ("references", index))
    for node in sorted(rule.nodes.keys() - _reached(rule)):
        yield ("nodes", node), f"no answer leads to {node}", "error"
    if not openers_of(rule.id, names.book):
        yield (), "no signature opens this tree", "warning"
    near = names.for_tree(rule)
    earlier: list[str] = []
    for name, text in rule.let.items():
        yield from names.check(text, ("let", name), near, earlier)
        if name in near:
            yield ("let", name), f"{name} hides a field of the signal", "warning"
        earlier.append(name)
    for key, node_ in rule.nodes.items():
        if not node_.ask.strip():
            yield ("nodes", key, "ask"), "the question is empty", "error"
        yield from names.check(node_.when, ("nodes", key, "when"), near, rule.let)
        yield from names.check_text(node_.ask, ("nodes", key, "ask"), near, rule.let)
        if node_.probe and not node_.probe.startswith(LIVE):
            yield ("nodes", key, "probe"), f"facts begin with {', '.join(LIVE)}", "error"


def _reached(rule: Tree) -> set[str]:
    reached: set[str] = set()
    todo = [rule.start]
    while todo:
        name = todo.pop()
        if name in reached or name not in rule.nodes:
            continue
        reached.add(name)
        todo += [exit_ for _, exit_ in exits(rule.nodes[name]) if isinstance(exit_, str)]
    return reached
