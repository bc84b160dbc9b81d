"""Judgement over the numbers that training prints: which of them mean that something broke.

Pure functions: series in, findings out. A detector speaks once a run, for the writer that shows it first; ranks that
print the same numbers do not multiply it. A long healthy log must stay silent: one odd point is not enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from doctor.engine.curve import Board, Finding
from doctor.engine.detector_finite import (
    find_eval_not_finite,
    find_gradient_not_finite,
    find_loss_not_finite,
    find_loss_zero,
)
from doctor.engine.detector_scale import find_loss_scale_floor, find_skipped_step_run
from doctor.engine.detector_shape import find_loss_divergence, find_loss_spike, find_throughput_drop
from doctor.model.log import Series

__all__ = ["DETECTORS", "Finding", "judge_series"]

_FINDERS: tuple[Callable[[Board], Iterator[Finding]], ...] = (
    find_loss_not_finite,
    find_loss_zero,
    find_gradient_not_finite,
    find_eval_not_finite,
    find_loss_scale_floor,
    find_skipped_step_run,
    find_loss_divergence,
    find_loss_spike,
    find_throughput_drop,
)
DETECTORS = frozenset(
    {
        "loss-not-finite",
        "loss-not-finite-passing",
        "loss-zero-with-nan-gradient",
        "loss-zero",
        "gradient-not-finite",
        "eval-loss-not-finite",
        "loss-scale-floor",
        "skipped-step-run",
        "loss-divergence",
        "loss-spike",
        "throughput-drop",
    }
)
# What each finding makes superfluous, because it says the same thing better.
_COVERS: dict[str, tuple[str, ...]] = {
    "loss-not-finite": ("loss-not-finite-passing", "loss-zero", "loss-zero-with-nan-gradient"),
    "loss-zero-with-nan-gradient": ("loss-not-finite-passing", "loss-zero"),
    "loss-scale-floor": ("skipped-step-run",),
    "loss-divergence": ("loss-spike",),
}


def judge_series(series: Sequence[Series]) -> list[Finding]:
    """Return what the numbers of one or more logs show to be wrong, in the order of file, run and line."""
    boards: dict[tuple[str, int], list[Series]] = {}
    for one in series:
        boards.setdefault((one.file, one.run), []).append(one)
    findings: list[Finding] = []
    for (file, run), members in boards.items():
        findings += _judge_run(Board(file, run, tuple(members)))
    return findings


def _judge_run(board: Board) -> list[Finding]:
    """Return the first finding of each detector in one run, less what others cover."""
    first: dict[str, Finding] = {}
    writers: dict[str, set[str]] = {}
    for find in _FINDERS:
        for finding in find(board):
            writers.setdefault(finding.detector, set()).add(finding.stream)
            known = first.get(finding.detector)
            if known is None or finding.line < known.line:
                first[finding.detector] = finding
    covered = {name for detector in first for name in _COVERS.get(detector, ())}
    kept = [finding for detector, finding in first.items() if detector not in covered]
    for finding in kept:
        if len(writers[finding.detector]) > 1:
            finding.fields["writers"] = len(writers[finding.detector])
    return sorted(kept, key=lambda finding: finding.line)
