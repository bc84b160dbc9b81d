"""The rulebook: every signature, tree and cause by its id, and the marks of stages and frameworks."""

from __future__ import annotations

import msgspec

from doctor.model.rule import Cause, Signature, Tree


class StageRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Regexes over ``file:function: code`` of a stack frame that show a stage of the work."""

    stage: str
    where: tuple[str, ...]


class FrameworkRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Literals in a log or a stack frame that show a framework; the more specific frameworks come first."""

    framework: str
    literals: tuple[str, ...]
    weight: int = 0


class Rulebook(msgspec.Struct, frozen=True, kw_only=True):
    """All knowledge of one run. ``digest`` names the content of the files that it came from."""

    signatures: dict[str, Signature] = {}
    trees: dict[str, Tree] = {}
    causes: dict[str, Cause] = {}
    stages: tuple[StageRule, ...] = ()
    frameworks: tuple[FrameworkRule, ...] = ()
    digest: str = ""

    def gates(self) -> list[str]:
        """Return the unique literals that a log is searched for, sorted."""
        return sorted({pattern.gate for rule in self.signatures.values() for pattern in rule.patterns})
