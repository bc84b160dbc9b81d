"""Conditions over evidence: Python's syntax, three values, and a list of what was missing.

A name that is not known makes everything that rests on it unknown; ``and`` and ``or`` are Kleene's, so that a false
part decides an ``and`` whatever else is unknown. Clashes of type and divisions by zero are unknown too: a condition
never fails at run time.

>>> class Fields(dict):
...     def name(self, dotted): return self.get(dotted)
...     def call(self, function, args): return None
>>> outcome = compile_expression("signal.free_bytes > GiB(2) and signal.gpu == 0").evaluate(Fields({"signal.gpu": 0}))
>>> outcome.truth.value, outcome.missing
('unknown', ('signal.free_bytes',))
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Optional, Protocol

import msgspec

from doctor.model.rule import Value
from doctor.model.vocabulary import Truth

if TYPE_CHECKING:
    from doctor.rulebook.syntax import Call


class Scope(Protocol):
    """What an expression can see. None means that the answer is not known."""

    def name(self, dotted: str) -> Optional[Value]:
        """Return the value of a dotted name."""

    def call(self, function: str, args: tuple[Value, ...]) -> Optional[Value]:
        """Answer seen, seen_before, count, field, ranks or in_trace."""


class Outcome(msgspec.Struct, frozen=True):
    """The value of an expression, or None together with the names that left it undecided."""

    value: Optional[Value]
    missing: tuple[str, ...] = ()

    @property
    def truth(self) -> Truth:
        """Return the value as yes, no or unknown."""
        if self.value is None:
            return Truth.UNKNOWN
        return Truth.TRUE if self.value else Truth.FALSE


Step = Callable[[Scope], Outcome]


class Expression:
    """A compiled condition.

    ``names`` are the dotted names it reads, ``calls`` the functions it calls, and ``unit`` is ``_bytes``, ``_seconds``,
    ``_ratio`` or empty: the unit that its value carries, as far as its names tell.
    """

    __slots__ = ("_step", "calls", "names", "text", "unit")

    def __init__(self, text: str, step: Step, names: frozenset[str], calls: tuple[Call, ...], unit: str) -> None:
        self.text = text
        self.names = names
        self.calls = calls
        self.unit = unit
        self._step = step

    def evaluate(self, scope: Scope) -> Outcome:
        """Return the value in a scope. Never raises for what the scope holds."""
        return self._step(scope)


@lru_cache(maxsize=8192)
def compile_expression(text: str) -> Expression:
    """Return the compiled form of a condition.

    Raises:
        doctor.rulebook.syntax.ExpressionError: the text is not of this language.

    """
    # Parsing loads the ``ast`` module, which a scan that meets no tree does not need.
    from doctor.rulebook import syntax
    from doctor.rulebook.evaluation import build, unit_of

    tree = syntax.parse(text)
    return Expression(text, build(tree), frozenset(syntax.names_in(tree)), tuple(syntax.calls_in(tree)), unit_of(tree))
