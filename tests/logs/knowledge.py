"""Signatures made by hand for the tests of reading."""

from __future__ import annotations

from doctor.model.rule import Pattern, Signature, Value
from doctor.model.vocabulary import Role, Severity


def signature(
    name: str,
    *patterns: tuple[str, str],
    captures: dict[str, str] | None = None,
    sets: dict[str, Value] | None = None,
    lines: int = 1,
) -> Signature:
    """Return a signature with (gate, regex) patterns."""
    return Signature(
        id=name,
        title=name,
        role=Role.INITIATING,
        severity=Severity.FATAL,
        emitter="made by hand",
        says_not="anything",
        patterns=tuple(Pattern(gate, regex, lines) for gate, regex in patterns),
        captures=captures or {},
        sets=sets or {},
    )


OOM = signature(
    "gpu-memory/cuda-oom",
    (
        "CUDA out of memory. Tried to allocate",
        r"Tried to allocate (?P<requested>[\d.]+ [KMGT]iB)(?:\. GPU (?P<gpu>\d+) has a total capacity of"
        r" (?P<capacity>[\d.]+ [KMGT]iB))?",
    ),
    captures={"requested": "bytes", "gpu": "index", "capacity": "bytes"},
    sets={"device": "cuda"},
)
TIMEOUT = signature(
    "distributed/collective-timeout",
    ("Watchdog caught collective operation timeout", r"OpType=(?P<operation>\w+).*Timeout\(ms\)=(?P<limit>\d+)"),
    captures={"operation": "text", "limit": "milliseconds"},
)
TWO_LINES = signature(
    "launcher/two-lines",
    (
        "Root Cause (first observed failure)",
        r"Root Cause.*\n\[0\]:\n\s+time\s+: (?P<when>\S+)\n\s+host\s+: (?P<host>\S+)",
    ),
    captures={"when": "text", "host": "text"},
    lines=4,
)
