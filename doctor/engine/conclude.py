"""From one event to a conclusion: which cause it names, on which path, with which facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from doctor.engine.event import Event, Kind
from doctor.engine.scope import EventScope, event_fields
from doctor.engine.stage import read_framework, read_stage
from doctor.engine.walk import compute_lets, walk_tree
from doctor.model.diagnosis import MissingFact, Step
from doctor.model.log import Field, LogFile, Occurrence
from doctor.model.vocabulary import Confidence, Role, Severity
from doctor.rulebook.book import Rulebook

# What is left to say where a launcher reports a failure and nothing tells of the failure itself.
UNKNOWN_EXIT = "unknown.exit"
# What the catch-all calls an exception or fatal line that no signature knows.
_FATAL_LINES = frozenset(
    {
        "terminate",
        "segfault",
        "bus-error",
        "illegal-instruction",
        "arithmetic",
        "abort",
        "python-fatal",
        "heap-corruption",
        "panic",
        "assertion",
        "tensorrt",
        "killed",
        "fatal-line",
        "launcher",
    }
)


class Conclusion(msgspec.Struct, frozen=True, kw_only=True):
    """The cause that one event leads to; several events may lead to the same."""

    event: Event
    cause: str
    confidence: Confidence
    scope: EventScope
    path: tuple[Step, ...] = ()
    missing: tuple[MissingFact, ...] = ()

    @property
    def consulted(self) -> list[Occurrence]:
        """Return the occurrences elsewhere in the log that answered questions on the path."""
        return self.scope.consulted

    def facts(self) -> dict[str, Any]:
        """Return the numbers and names of this case: captures, lets, and where it happened."""
        facts: dict[str, Any] = dict(event_fields(self.event))
        facts.update({name: value for name, value in self.scope.lets.items() if not isinstance(value, bool)})
        for name in ("rank", "local_rank", "node", "pid", "stage", "framework", "exception", "where"):
            value = self.scope.name(name)
            if value is not None:
                facts.setdefault(name, value)
        return facts


def conclude(
    event: Event, context: Sequence[Event], log: LogFile, book: Rulebook, live: Mapping[str, Field]
) -> Conclusion | None:
    """Judge one event; None where its signature is mere context (it names neither a tree nor a cause)."""
    scope = EventScope(
        event,
        context,
        stage=read_stage(event.chain, book.stages),
        framework=read_framework(log, event.chain, book.frameworks),
        facts=live,
    )
    if event.kind is Kind.UNKNOWN:
        block = event.chain[0]
        kind = "fatal-line" if block.type in _FATAL_LINES else "exception"
        return Conclusion(event=event, cause=f"unknown.{kind}", confidence=Confidence.CERTAIN, scope=scope)
    signature = event.signature
    assert signature is not None
    if signature.opens:
        tree = book.trees[signature.opens]
        compute_lets(tree, scope)
        walk = walk_tree(tree, scope)
        return Conclusion(
            event=event,
            cause=walk.leaf.cause,
            confidence=walk.leaf.confidence,
            scope=scope,
            path=walk.path,
            missing=walk.missing,
        )
    cause = signature.cause
    if not cause and signature.role is Role.WRAPPER and signature.severity.order >= Severity.ERROR.order:
        cause = UNKNOWN_EXIT
    if not cause:
        return None
    return Conclusion(event=event, cause=cause, confidence=signature.confidence, scope=scope)
