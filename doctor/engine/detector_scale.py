"""Detectors of dynamic loss scaling that no longer works.

A loss scale starts far too high on purpose and halves itself until the gradients fit; the first skipped steps of a run,
and one now and then later, are how it works. It has failed where it reaches its floor, or where every step is skipped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from doctor.engine.curve import Board, Finding, make_finding, rounded, step_of
from doctor.model.log import Field, Series

# Where each dialect's scale has failed. apex knows no minimum, and sums over tokens train soundly below 1; fairseq does
# so too and ends the run itself at its minimum, so that its scale is not judged here.
FLOORS = {"megatron": 1.0, "deepspeed": 1.0, "deepspeed_overflow": 1.0, "apex_overflow": 2.0**-4}
# A scale that never was above this is a static one: bf16 and fp32 runs print 1.0 throughout.
DYNAMIC_FROM = 16.0
# Halving 2**32 down to 1 with a hysteresis of 2 and more takes fewer skipped steps than this.
SETTLED_AFTER = 45


def find_loss_scale_floor(board: Board) -> Iterator[Finding]:
    """Find a loss scale that fell to its floor and did not rise again."""
    for series in board.of("loss_scale"):
        values, floor = series.values, FLOORS.get(series.source, -1.0)
        at = len(values)
        while at and values[at - 1] <= floor:
            at -= 1
        highest = max((value for value in values[:at] if math.isfinite(value)), default=0.0)
        points = len(values) - at
        overflows = series.source.endswith("overflow")
        if points < (1 if overflows and at else 2) or (highest < DYNAMIC_FROM and not (overflows and not at)):
            continue
        fields: dict[str, Field] = {"loss_scale": rounded(values[-1])}
        if highest:
            fields["highest_scale"] = rounded(highest)
            fields["halvings"] = round(math.log2(highest / max(values[-1], 2.0**-200)))
        yield make_finding("loss-scale-floor", board, series, min(at, len(values) - 1), fields)


def find_skipped_step_run(board: Board) -> Iterator[Finding]:
    """Find an unbroken run of skipped steps that is too long for a loss scale that settles."""
    for series in board.of("skipped"):
        if series.source.endswith("overflow"):
            continue  # it prints only where a step is skipped, so that the steps between cannot be counted
        skipped = _skipped_shares(series)
        at, steps = len(skipped), 0.0
        while at and skipped[at - 1][0] >= 0.99 * skipped[at - 1][1]:
            at -= 1
            steps += skipped[at][0]
        if steps >= SETTLED_AFTER and at < len(skipped):
            fields: dict[str, Field] = {"skipped_steps": round(steps), "from_start": at == 0}
            yield make_finding("skipped-step-run", board, series, at, fields)


def _skipped_shares(series: Series) -> list[tuple[float, float]]:
    """Return for each point the steps it reports as skipped and the steps it covers."""
    running_total = series.source == "deepspeed"
    shares: list[tuple[float, float]] = []
    for index, value in enumerate(series.values):
        before, here = (step_of(series, index - 1) if index else None), step_of(series, index)
        covered = float(here - before) if here is not None and before is not None and here > before else 1.0
        previous = series.values[index - 1] if running_total and index else 0.0
        skipped = 0.0 if running_total and not index else value - previous
        # The first point, and one after a restart, covers an unknown number of steps.
        shares.append((skipped, covered if index and here != before else max(skipped, 1.0)))
    return shares
