"""Walking a diagnostic tree: from its start to a leaf, with every answer and what answered it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Optional

import msgspec

from doctor.engine.scope import EventScope
from doctor.model.diagnosis import MissingFact, Step
from doctor.model.rule import Leaf, Node, Tree
from doctor.model.vocabulary import Truth, Why
from doctor.rulebook.expression import Expression, compile_expression
from doctor.rulebook.template import format_value, render_one


class Walk(msgspec.Struct, frozen=True):
    """The way through a tree: its leaf, its steps, and the facts that were missing on the way."""

    leaf: Leaf
    path: tuple[Step, ...]
    missing: tuple[MissingFact, ...]


def compute_lets(tree: Tree, scope: EventScope) -> None:
    """Compute the tree's named values into the scope; those that stay unknown are left out."""
    for name, text in tree.let.items():
        outcome = compile_expression(text).evaluate(scope)
        if outcome.value is not None:
            scope.lets[name] = outcome.value
        else:
            scope.undecided[name] = tuple(dict.fromkeys(_underlying(outcome.missing, scope)))


def walk_tree(tree: Tree, scope: EventScope) -> Walk:
    """Follow the tree from its start. A tree has no cycles (lint proves it), so the walk ends."""
    steps: list[Step] = []
    missing: dict[str, MissingFact] = {}
    at: str | Leaf = tree.start
    while isinstance(at, str):
        node = tree.nodes[at]
        expression = compile_expression(node.when)
        outcome = expression.evaluate(scope)
        steps.append(Step(at, _ask(node, scope), outcome.truth.value, _answered_by(expression, scope)))
        if outcome.truth is Truth.UNKNOWN:
            for name in _underlying(outcome.missing, scope):
                missing.setdefault(name, _missing(name, node))
        at = {Truth.TRUE: node.then, Truth.FALSE: node.otherwise, Truth.UNKNOWN: node.unknown}[outcome.truth]
    return Walk(at, tuple(steps), tuple(missing.values()))


def _underlying(names: Iterable[str], scope: EventScope) -> Iterator[str]:
    """Replace a let that stayed unknown by the names that it lacked."""
    for name in names:
        yield from scope.undecided.get(name, (name,))


def _ask(node: Node, scope: EventScope) -> str:
    return render_one(node.ask, scope) or node.ask


def _answered_by(expression: Expression, scope: EventScope) -> str:
    """Say which values answered: ``requested_bytes 2.34 GiB, free_bytes 1.2 GiB``."""
    parts: list[str] = []
    for name in sorted(expression.names):
        value = scope.name(name)
        short = name.removeprefix("signal.")
        parts.append(f"{short} not known" if value is None else f"{short} {format_value(short, value)}")
    return ", ".join(parts)


def _missing(name: str, node: Node) -> MissingFact:
    live = name.startswith(("gpu.", "host.", "node.", "rdma.", "nccl.", "storage."))
    why = Why.NOT_PROBED if live else Why.NOT_IN_LOG
    how: Optional[str] = node.how or None
    return MissingFact(name.removeprefix("signal."), why, how or "")
