"""Running the examples and near misses of signatures: what each captured, and whether that is what the rule says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from doctor.model.rule import Signature
from doctor.rulebook.capture import wanted_fields
from doctor.rulebook.lint.signature import Match, difference
from doctor.rulebook.page import captured_text


class Trial(msgspec.Struct, frozen=True):
    """One example or near miss: ``good`` where the rule's claim about it holds, and ``said`` in words."""

    signature: str
    kind: str
    number: int
    good: bool
    said: str
    fields: dict[str, Any] = {}


def try_signatures(rules: Iterable[Signature], match: Match) -> list[Trial]:
    """Return the trial of every example and near miss of the rules; detectors look at numbers and have no lines."""
    return [trial for rule in rules if rule.patterns for trial in _trials(rule, match)]


def _trials(rule: Signature, match: Match) -> list[Trial]:
    trials: list[Trial] = []
    for number, example in enumerate(rule.examples, 1):
        found = [dict(fields) for identity, fields in match(example.line) if identity == rule.id]
        wanted = wanted_fields(rule, example)
        wrong = [difference(rule, wanted, fields) for fields in found]
        # A line that matches several times is good where one of the matches is.
        best = min(range(len(found)), key=lambda index: len(wrong[index]), default=None)
        if best is None:
            trials.append(Trial(rule.id, "example", number, False, "does not match"))
            continue
        in_order = {name: found[best][name] for name in (*wanted, *found[best]) if name in found[best]}
        said = "; ".join(wrong[best]) or captured_text(in_order) or "matches"
        trials.append(Trial(rule.id, "example", number, not wrong[best], said, found[best]))
    for number, near in enumerate(rule.near_misses, 1):
        hit = any(identity == rule.id for identity, _ in match(near.line))
        said = f"matches, and must not: {near.why}" if hit else f"rightly silent: {near.why}"
        trials.append(Trial(rule.id, "near miss", number, not hit, said))
    return trials
