"""The marks of stages and frameworks: regexes that compile, literals that are long enough to mean something."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.rulebook.book import Rulebook
from doctor.rulebook.fault import Fault
from doctor.rulebook.lint.pattern import compile_fault
from doctor.rulebook.source import Layer

STAGES = frozenset(
    {
        "load", "to_device", "optimizer_init", "forward", "logits", "backward", "optimizer_step", "evaluation", "save",
        "generation", "kv_cache", "quantise", "data", "init",
    }
)  # fmt: skip
MIN_LITERAL = 5


def catalogue_faults(book: Rulebook, layers: Sequence[Layer]) -> list[Fault]:
    """Return the faults of ``catalogue/stages.yaml`` and ``catalogue/frameworks.yaml``."""
    files = {file.relative: file.shown for layer in layers for file in layer.files}
    stages = files.get("catalogue/stages.yaml", "catalogue/stages.yaml")
    frameworks = files.get("catalogue/frameworks.yaml", "catalogue/frameworks.yaml")
    faults: list[Fault] = []
    for stage in book.stages:
        if stage.stage not in STAGES:
            faults.append(Fault(stages, 1, 1, f"{stage.stage} is no stage; there are {', '.join(sorted(STAGES))}"))
        for where in stage.where:
            message = compile_fault(where)
            if message:
                faults.append(Fault(stages, 1, 1, f"{stage.stage}: {message}"))
    for framework in book.frameworks:
        for literal in framework.literals:
            if len(literal.encode()) < MIN_LITERAL:
                faults.append(Fault(frameworks, 1, 1, f"{framework.framework}: {literal!r} is too short to mean it"))
    return faults
