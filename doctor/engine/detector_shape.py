"""Detectors of curves that go wrong while every number stays finite: spikes, divergence, lost throughput.

All thresholds are relative to the series' own noise and its own past, so that small batches, diffusion losses and
warm-up stay silent. Losses that go below zero (rewards, adversarial terms) have no scale of their own: left alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from doctor.engine.curve import Board, Finding, finite_before, make_finding, median, rounded, spread
from doctor.model.log import Field, Series

BLOCK = 20  # points that say together where a curve stands
NOISES = 12  # robust standard deviations that noise does not reach
MOST_NOISE = 0.35  # relative spread above which a curve is too noisy to be judged
SPIKE_FACTOR = 3.0
SPIKE_POINTS = 3
THROUGHPUT_KEPT = 0.6


def find_loss_divergence(board: Board) -> Iterator[Finding]:
    """Find a loss that had learnt, rose far above its best and did not come back."""
    for series in board.of("loss"):
        values = series.values
        blocks = _blocks(values)
        if len(blocks) < 4:
            continue
        centres = [median(block) for block in blocks]
        best_at = min(range(len(centres)), key=centres.__getitem__)
        best, last = centres[best_at], centres[-1]
        noise = max(spread(blocks[best_at], best), 0.01 * best)
        learnt = max(centres[: best_at + 1]) - best
        if best <= 0 or noise > MOST_NOISE * best or learnt < 0.25 * best or best_at > len(centres) - 2:
            continue
        if last < max(2 * best, best + 0.5 * learnt) or min(blocks[-1]) < best + NOISES * noise:
            continue
        rises = [at for at in range(best_at + 1, len(centres)) if centres[at] > best + NOISES * noise]
        start = _first_above(values, rises[0] * len(values) // len(blocks), best + NOISES * noise)
        fields = _heights(best, last)
        fields["learnt_lost_ratio"] = rounded((last - best) / learnt)
        fields |= _rate(board, series, start)
        yield make_finding("loss-divergence", board, series, start, fields)


def find_loss_spike(board: Board) -> Iterator[Finding]:
    """Find a loss that jumps far out of its noise for several points, whether or not it comes back."""
    for series in board.of("loss"):
        values = series.values
        blocks = _blocks(values)
        if len(blocks) < 3 or min(values) <= 0 or max(values) < SPIKE_FACTOR * min(map(median, blocks)):
            continue
        size = len(values) / len(blocks)
        for at in range(1, len(blocks) - 1):
            centre = median(blocks[at])
            noise = max(spread(blocks[at], centre), 0.02 * centre)
            limit = max(SPIKE_FACTOR * centre, centre + NOISES * noise)
            high = [value > limit for value in blocks[at + 1]]
            if noise > MOST_NOISE * centre or not _runs(high, SPIKE_POINTS):
                continue
            start = _first_above(values, int((at + 1) * size), limit)
            after = values[start : start + 3 * BLOCK]
            back = [offset for offset, value in enumerate(after) if value < centre + 3 * noise]
            fields = _heights(centre, max(after)) | _rate(board, series, start)
            fields["recovered"] = bool(back)
            yield make_finding("loss-spike", board, series, start, fields)
            break


def find_throughput_drop(board: Board) -> Iterator[Finding]:
    """Find a throughput that sank well below its own usual value and stayed there to the end."""
    for series in board.of("throughput"):
        values = series.values
        start = len(values)
        usual = median(values[: max(1, len(values) // 2)])
        while start and values[start - 1] < THROUGHPUT_KEPT * usual:
            start -= 1
        low = len(values) - start
        if start < 3 * BLOCK or low < BLOCK:
            continue
        before = values[:start]
        if spread(before, usual) > MOST_NOISE * usual / 2:
            continue
        now = median(values[start:])
        fields: dict[str, Field] = {
            "usual": rounded(usual),
            "now": rounded(now),
            "drop_ratio": rounded(1 - now / usual),
            "bad_points": low,
        }
        yield make_finding("throughput-drop", board, series, start, fields)


def _blocks(values: Sequence[float]) -> list[Sequence[float]]:
    """Return consecutive blocks of equal size, at most some thousand; none where a value is not finite or negative."""
    count = min(len(values) // BLOCK, 4000)
    if count < 3 or any(not math.isfinite(value) or value < 0 for value in values):
        return []
    bounds = [at * len(values) // count for at in range(count + 1)]
    return [values[begin:end] for begin, end in itertools.pairwise(bounds)]


def _runs(flags: Sequence[bool], length: int) -> bool:
    """Return whether so many flags in a row are set."""
    row = 0
    for flag in flags:
        row = row + 1 if flag else 0
        if row >= length:
            return True
    return False


def _first_above(values: Sequence[float], begin: int, limit: float) -> int:
    return next((at for at in range(max(begin - 1, 0), len(values)) if values[at] > limit), begin)


def _heights(usual: float, peak: float) -> dict[str, Field]:
    return {"usual_loss": rounded(usual), "peak_loss": rounded(peak), "factor": rounded(peak / usual)}


def _rate(board: Board, series: Series, at: int) -> dict[str, Field]:
    """Return the learning rate and the gradient norm at a point, as far as they are printed."""
    fields: dict[str, Field] = {}
    for metric in ("learning_rate", "grad_norm"):
        other = board.companion(metric, series)
        if other is None:
            continue
        near = finite_before(other, series.lines[at] + 1, 5)
        if near:
            fields[metric] = rounded(near[-1])
    return fields
