"""Detectors of numbers that are none: a loss or gradients that became NaN or infinite, and how that hides.

A point that is not finite and is followed by a normal one is no failure: fp16 training skips such steps, and a batch
without a single target token leaves the weights alone. Weights that took in a NaN never print a finite loss again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Optional

from doctor.engine.curve import (
    Board,
    Finding,
    at_line,
    began,
    count_until,
    finite_before,
    make_finding,
    median,
    rounded,
    step_of,
)
from doctor.model.log import Field, Series

# A scaler that starts at 2**32 halves itself 32 times before it gives up; few healthy runs skip this many steps.
WARM_UP_SKIPS = 40
# Gradients that stay bad over this many logged points, after good ones, do not come back.
LOST_POINTS = 5
# Loss this far above zero does not fall to exactly zero between two log lines by learning.
ABRUPT_LOSS = 0.05


def find_loss_not_finite(board: Board) -> Iterator[Finding]:
    """Find where a loss became NaN or infinite for good, and apart from that losses that recovered."""
    for series in board.of("loss"):
        bad = [index for index, value in enumerate(series.values) if not math.isfinite(value)]
        if not bad or _is_start_value(series, bad):
            continue
        first = _lost_from(bad, len(series.values))
        if first is None:
            fields: dict[str, Field] = {"bad_points": len(bad), "value": _name(series.values[bad[0]])}
            yield make_finding("loss-not-finite-passing", board, series, bad[0], fields)
        else:
            yield make_finding("loss-not-finite", board, series, first, _before_loss(board, series, first))


def find_eval_not_finite(board: Board) -> Iterator[Finding]:
    """Find evaluation losses that are not finite while the training loss is."""
    losses = list(board.of("loss"))
    if not losses or any(not math.isfinite(value) for series in losses for value in series.values):
        return
    for series in board.of("eval_loss"):
        bad = [index for index, value in enumerate(series.values) if math.isnan(value)]
        if bad and bad[-1] == len(series.values) - 1:
            yield make_finding("eval-loss-not-finite", board, series, bad[0], {"bad_points": len(bad)})


def find_gradient_not_finite(board: Board) -> Iterator[Finding]:
    """Find gradients that stay NaN or infinite while the loss of the same steps is a normal number."""
    for series in board.of("grad_norm"):
        first = _tail_start(series)
        if first == len(series.values) or not _beyond_warm_up(board, series, first):
            continue
        loss = board.companion("loss", series)
        # Megatron leaves out a loss that is not above zero, and NaN is not.
        hidden = series.source == "megatron" and (loss is None or not _printed_from(loss, series.lines[first]))
        if not hidden and (loss is None or not _normal_from(loss, series.lines[first])):
            continue
        typical = [value for value in series.values[:first] if math.isfinite(value)]
        fields: dict[str, Field] = {"bad_points": len(series.values) - first, "value": _name(series.values[first])}
        if typical:
            fields["grad_norm_before"] = rounded(typical[-1])
            fields["grad_norm_typical"] = rounded(median(typical[-200:]))
        fields |= _last_of(board, series, ("loss", "learning_rate", "loss_scale"), series.lines[first] + 1)
        fields |= {"from_start": first == 0, "began": began(first)}
        if hidden:
            fields["loss_hidden"] = True
        yield make_finding("gradient-not-finite", board, series, first, fields)


def find_loss_zero(board: Board) -> Iterator[Finding]:
    """Find the loss of exactly 0 that stands for NaN in logs whose program filters NaN out of its averages."""
    for series in board.of("loss"):
        grads = board.companion("grad_norm", series)
        first, shown = _zero_with_bad_gradient(series, grads), True
        if first is None and grads is None:
            first, shown = _zero_without_gradient(series), False
        if first is None:
            continue
        fields: dict[str, Field] = {"bad_points": len(series.values) - first, "from_start": first == 0}
        fields["began"] = began(first)
        finite = [value for value in finite_before(series, series.lines[first], 50) if value != 0]
        if finite:
            fields["last_loss"] = rounded(finite[-1])
        fields |= _last_of(board, series, ("learning_rate", "loss_scale"), series.lines[first] + 1)
        fields |= _gradients_before(board, series, series.lines[first])
        detector = "loss-zero-with-nan-gradient" if shown else "loss-zero"
        yield make_finding(detector, board, series, first, fields)


def _name(value: float) -> str:
    return "NaN" if math.isnan(value) else "infinite"


def _is_start_value(series: Series, bad: list[int]) -> bool:
    """Return whether the only bad point is the first, infinite one: the start value of a best-so-far."""
    return bad == [0] and math.isinf(series.values[0]) and len(series.values) > 1


def _lost_from(bad: list[int], total: int) -> Optional[int]:
    """Return the point from which on most are bad up to the end; None where the series recovered."""
    if bad[-1] != total - 1:
        tail = [index for index in bad if index >= total - 10]
        if len(tail) < LOST_POINTS:
            return None
    for at, index in enumerate(bad):
        if 2 * (len(bad) - at) >= total - index:
            return index
    return bad[-1]


def _printed_from(loss: Series, line: int) -> bool:
    return count_until(loss, line) < len(loss.values)


def _tail_start(series: Series) -> int:
    """Return the index where the unbroken bad end of a series begins; its length where the end is good."""
    first = len(series.values)
    while first and not math.isfinite(series.values[first - 1]):
        first -= 1
    return first


def _normal_from(loss: Series, line: int) -> bool:
    """Return whether losses follow from a line on and all of them are finite and not the zero that hides NaN."""
    values = loss.values[count_until(loss, line) :]
    return _printed_from(loss, line) and all(math.isfinite(value) and value != 0 for value in values)


def _beyond_warm_up(board: Board, series: Series, first: int) -> bool:
    """Return whether so many steps are bad that a loss scale that settles cannot be the reason."""
    count = len(series.values) - first
    scale = board.companion("loss_scale", series)
    scales = scale.values[count_until(scale, series.lines[first]) :] if scale is not None else []
    if len(scales) and max(scales) <= 1:
        return count >= LOST_POINTS
    if len(scales) > 1 and scales[-1] < scales[0] and len(scales) < WARM_UP_SKIPS:
        return False
    begin, end = step_of(series, first), step_of(series, len(series.values) - 1)
    if count >= 3 and begin is not None and end is not None and end - begin >= WARM_UP_SKIPS:
        return True
    return count >= (LOST_POINTS if first else 12)


def _before_loss(board: Board, series: Series, first: int) -> dict[str, Field]:
    """Return what the numbers did before the first bad loss."""
    line = series.lines[first]
    bad_points = sum(not math.isfinite(value) for value in series.values[first:])
    good = sum(math.isfinite(value) for value in series.values[:first])
    fields: dict[str, Field] = {
        "from_start": not good,
        "began": began(good),
        "value": _name(series.values[first]),
        "bad_points": bad_points,
    }
    finite = finite_before(series, line, 200)
    if finite:
        fields["last_loss"] = rounded(finite[-1])
        fields["typical_loss"] = rounded(median(finite))
        if len(finite) >= 10 and finite[-1] > 1.5 * median(finite) > 0:
            fields["loss_rise"] = rounded(finite[-1] / median(finite))
    fields |= _gradients_before(board, series, line)
    return fields | _last_of(board, series, ("learning_rate", "loss_scale"), line + 1)


def _gradients_before(board: Board, series: Series, line: int) -> dict[str, Field]:
    """Return how the gradient norm moved before a line, and whether it went bad before the loss did."""
    grads = board.companion("grad_norm", series)
    if grads is None:
        return {}
    fields: dict[str, Field] = {}
    end = count_until(grads, line)
    start = end
    while start and not math.isfinite(grads.values[start - 1]):
        start -= 1
    if start < end:
        fields["gradient_first"] = True
        fields["gradient_bad_points"] = end - start
    finite = finite_before(grads, line, 200)
    if len(finite) >= 8:
        typical, late = median(finite[:-3]), max(finite[-3:])
        fields["grad_norm_typical"], fields["grad_norm_before"] = rounded(typical), rounded(late)
        if typical > 0 and late > 4 * typical:
            fields["grad_norm_rise"] = rounded(late / typical)
    return fields


def _last_of(board: Board, series: Series, metrics: tuple[str, ...], line: int) -> dict[str, Field]:
    """Return the last finite value of some metrics before a line, under their own names."""
    fields: dict[str, Field] = {}
    for metric in metrics:
        values = finite_before(board.companion(metric, series), line, 5)
        if values:
            fields["last_loss" if metric == "loss" else metric] = rounded(values[-1])
    return fields


def _zero_with_bad_gradient(loss: Series, grads: Optional[Series]) -> Optional[int]:
    """Return the first point that prints loss 0 beside a bad gradient norm, where that lasts to the end."""
    if grads is None:
        return None
    zeros = [index for index, value in enumerate(loss.values) if value == 0]
    pairs = [index for index in zeros if _is_bad(at_line(grads, loss.lines[index]))]
    if not pairs:
        return None
    first = pairs[0]
    return first if 2 * len(pairs) >= len(loss.values) - first else None


def _is_bad(value: Optional[float]) -> bool:
    return value is not None and not math.isfinite(value)


def _zero_without_gradient(loss: Series) -> Optional[int]:
    """Return where a loss falls from a usual value to exactly 0 and stays there, or is 0 from its first point on."""
    first = len(loss.values)
    while first and loss.values[first - 1] == 0:
        first -= 1
    if len(loss.values) - first < LOST_POINTS:
        return None
    abrupt = first == 0 or loss.values[first - 1] > ABRUPT_LOSS
    return first if abrupt else None
