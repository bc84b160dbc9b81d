"""The judgement over number series: what must be found, and above all what must not."""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest

from doctor.engine.series import DETECTORS, Finding, judge_series
from doctor.model.log import Field, Series

NAN, INF = float("nan"), float("inf")


def series(
    metric: str,
    values: Iterable[float],
    *,
    source: str = "hf_trainer",
    stream: str = "",
    step: int = 1,
    run: int = 0,
    first_line: int = 10,
    known_steps: bool = True,
) -> Series:
    numbers = array("d", values)
    steps = (step * (at + 1) if known_steps else NAN for at in range(len(numbers)))
    lines = range(first_line, first_line + len(numbers))
    return Series(
        metric=metric,
        file="train.log",
        run=run,
        stream=stream,
        source=source,
        steps=array("d", steps),
        values=numbers,
        lines=array("q", lines),
    )


def found(*members: Series) -> dict[str, Finding]:
    return {finding.detector: finding for finding in judge_series(members)}


def learning(points: int, *, start: float = 10.0, end: float = 2.0, noise: float = 0.05, seed: int = 0) -> list[float]:
    rng = random.Random(seed)
    tau = points / 4
    return [(end + (start - end) * math.exp(-at / tau)) * (1 + rng.gauss(0, noise)) for at in range(points)]


def test_loss_not_finite_tells_the_step_and_what_moved_before() -> None:
    good = learning(100)
    grads = [1.0 + 0.1 * (at % 3) for at in range(96)] + [4.0, 9.0, 20.0, 40.0] + [NAN] * 20
    rate = series("learning_rate", [3e-4] * 120)
    finding = found(series("loss", good + [NAN] * 20), series("grad_norm", grads), rate)["loss-not-finite"]
    fields = finding.fields
    assert (finding.line, fields["step"], fields["points_before"], fields["bad_points"]) == (110, 101, 100, 20)
    assert fields["last_loss"] == pytest.approx(good[-1], rel=1e-3)
    assert fields["grad_norm_before"] == 40
    assert fields["grad_norm_rise"] == pytest.approx(40 / 1.1, rel=0.05)
    assert fields["learning_rate"] == pytest.approx(3e-4)
    assert fields["value"] == "NaN"
    assert fields["began"] == "after 100 finite points"
    assert finding.chart is not None
    assert finding.chart.mark is not None
    assert finding.chart.values[finding.chart.mark] is None


def test_loss_not_finite_says_that_it_was_bad_from_the_start() -> None:
    assert found(series("loss", [NAN] * 6))["loss-not-finite"].fields["from_start"] is True


def test_loss_not_finite_says_that_the_gradients_went_first() -> None:
    grads = [1.0] * 30 + [NAN] * 10
    finding = found(series("loss", learning(35) + [INF] * 5), series("grad_norm", grads))["loss-not-finite"]
    assert finding.fields["gradient_first"] is True
    assert finding.fields["gradient_bad_points"] == 5


def test_loss_not_finite_one_finding_for_all_ranks() -> None:
    values = [2.0] * 9 + [NAN] * 3
    members = [series("loss", values, stream=f"rank{rank}", first_line=10 + rank) for rank in range(8)]
    finding = found(*members)["loss-not-finite"]
    assert (finding.line, finding.fields["writers"]) == (19, 8)


def test_loss_not_finite_runs_are_judged_apart() -> None:
    findings = judge_series([series("loss", [2.0, NAN]), series("loss", [2.0, 1.9], run=1)])
    assert [(finding.detector, finding.run) for finding in findings] == [("loss-not-finite", 0)]


def test_loss_not_finite_passing_nan_is_only_a_warning() -> None:
    values = learning(60)
    values[20] = NAN
    assert list(found(series("loss", values))) == ["loss-not-finite-passing"]


def test_loss_not_finite_infinite_start_value_is_silent() -> None:
    assert not found(series("loss", [INF, *learning(30)]))


def test_hidden_nan_zero_beside_nan_gradient() -> None:
    findings = found(series("loss", [1.8, 1.7, 0.0, 0.0]), series("grad_norm", [1.0, 1.1, NAN, NAN]))
    assert list(findings) == ["loss-zero-with-nan-gradient"]
    assert findings["loss-zero-with-nan-gradient"].fields["last_loss"] == 1.7


def test_hidden_nan_single_line() -> None:
    assert "loss-zero-with-nan-gradient" in found(series("loss", [0.0]), series("grad_norm", [NAN]))


def test_hidden_nan_zero_without_gradients_printed() -> None:
    assert list(found(series("loss", [1.8, 0.0, 0.0, 0.0, 0.0, 0.0]))) == ["loss-zero"]


def test_hidden_nan_toy_task_learnt_to_zero_is_silent() -> None:
    assert not found(series("loss", [0.5, 0.1, 0.02, 0.004, 0.0003, 0.0, 0.0, 0.0, 0.0, 0.0]))


def test_hidden_nan_policy_loss_of_zero_is_silent() -> None:
    assert not found(series("loss", [0.0] * 50), series("grad_norm", [0.4] * 50))


def test_hidden_nan_evaluation_alone() -> None:
    findings = found(series("loss", learning(40)), series("eval_loss", [NAN, NAN]))
    assert list(findings) == ["eval-loss-not-finite"]


def test_gradient_bad_after_good_ones() -> None:
    findings = found(series("loss", learning(40)), series("grad_norm", [1.0] * 34 + [NAN] * 6))
    assert list(findings) == ["gradient-not-finite"]
    assert findings["gradient-not-finite"].fields["grad_norm_before"] == 1


def test_gradient_many_steps_between_few_points() -> None:
    members = (series("loss", [1.7, 1.2, 1.1], step=20), series("grad_norm", [NAN] * 3, step=20))
    assert list(found(*members)) == ["gradient-not-finite"]


def test_gradient_loss_left_out_by_megatron() -> None:
    scale = series("loss_scale", [1.0] * 8, source="megatron")
    finding = found(series("grad_norm", [NAN] * 8, source="megatron"), scale)["gradient-not-finite"]
    assert finding.fields["loss_hidden"] is True


@pytest.mark.parametrize("skips", [1, 4, 9])
def test_gradient_warm_up_of_the_scaler_is_silent(skips: int) -> None:
    assert not found(series("loss", learning(skips)), series("grad_norm", [INF] * skips))


def test_gradient_falling_scale_is_silent() -> None:
    scale = series("loss_scale", [2.0 ** (32 - at) for at in range(20)], source="megatron")
    assert not found(series("loss", learning(20)), series("grad_norm", [NAN] * 20), scale)


def test_gradient_skips_now_and_then_are_silent() -> None:
    grads = [NAN if at % 5 == 0 else 0.5 for at in range(60)] + [0.5]
    assert not found(series("loss", learning(61)), series("grad_norm", grads))


def test_loss_scale_floor() -> None:
    scale = [2.0 ** (16 - at) for at in range(17)] + [1.0, 1.0, 1.0]
    fields = found(series("loss_scale", scale, source="megatron"))["loss-scale-floor"].fields
    assert (fields["loss_scale"], fields["highest_scale"], fields["halvings"]) == (1, 65536, 16)


def test_loss_scale_floor_from_overflow_messages_alone() -> None:
    assert "loss-scale-floor" in found(series("loss_scale", [1.0, 1.0], source="deepspeed_overflow"))


@pytest.mark.parametrize(
    ("values", "source"),
    [
        ([1.0] * 100, "megatron"),
        ([2.0 ** (32 - at) for at in range(18)] + [2.0**14] * 50, "megatron"),
        ([64.0, 8.0, 1.0, 1.0, 2.0, 4.0], "megatron"),
        ([2.0 ** (16 - at) for at in range(14)], "deepspeed_overflow"),
        ([128.0, 8.0, 1.0, 0.5, 0.0625, 0.0625], "plain"),
        ([1.0, 0.5, 1.0, 0.5, 0.25, 0.5], "apex_overflow"),
    ],
)
def test_loss_scale_scales_that_work_are_silent(values: Sequence[float], source: str) -> None:
    assert not found(series("loss_scale", values, source=source))


def test_loss_scale_long_run_of_skipped_steps() -> None:
    skipped = series("skipped", [0.0, 0.0, 10.0, 10.0, 10.0, 10.0, 10.0], source="megatron", step=10)
    finding = found(skipped)["skipped-step-run"]
    assert (finding.fields["skipped_steps"], finding.fields["step"]) == (50, 30)


def test_loss_scale_running_total_of_skipped_steps() -> None:
    totals = [6.0, 6.0, 6.0, 8.0, 8.0, 8.0]
    assert not found(series("skipped", totals, source="deepspeed", step=10))
    assert "skipped-step-run" in found(
        series("skipped", [6.0, 16.0, 26.0, 36.0, 46.0, 56.0], source="deepspeed", step=10)
    )


def test_shape_divergence() -> None:
    values = learning(400) + [8.0 + 0.1 * (at % 3) for at in range(60)]
    finding = found(series("loss", values), series("learning_rate", [6e-4] * 460))["loss-divergence"]
    assert 395 <= int(finding.fields["point"]) <= 402
    assert finding.fields["learning_rate"] == pytest.approx(6e-4)


def test_shape_spike_that_recovers() -> None:
    values = learning(400)
    values[300:306] = [9.0, 9.5, 9.2, 8.0, 7.0, 6.5]
    findings = found(series("loss", values))
    assert list(findings) == ["loss-spike"]
    assert findings["loss-spike"].fields["recovered"] is True


def test_shape_single_high_point_is_silent() -> None:
    values = learning(400)
    values[300] = 14.0
    assert not found(series("loss", values))


def test_shape_throughput_that_sank() -> None:
    fields = found(series("throughput", [8000.0] * 200 + [3000.0] * 40))["throughput-drop"].fields
    assert fields["drop_ratio"] == pytest.approx(0.625)


def test_shape_slow_steps_now_and_then_are_silent() -> None:
    assert not found(series("throughput", [900.0 if at % 50 == 0 else 8000.0 for at in range(600)]))


def small_batches(rng: random.Random) -> list[float]:
    return [abs(rng.gauss(1.4, 0.9)) for _ in range(3000)]


def diffusion(rng: random.Random) -> list[float]:
    return [math.exp(rng.gauss(-2.5, 0.9)) for _ in range(3000)]


def adversarial(rng: random.Random) -> list[float]:
    return [max(0.01, 0.7 + 3.0 * at / 3000 + rng.gauss(0, 1.2)) for at in range(3000)]


def reinforcement(rng: random.Random) -> list[float]:
    return [rng.gauss(0.0, 0.05) for _ in range(3000)]


def restarts(rng: random.Random) -> list[float]:
    return [2.0 + 0.6 * math.exp(-(at % 500) / 60) + rng.gauss(0, 0.04) for at in range(3000)]


def other_data(rng: random.Random) -> list[float]:
    return [(1.2 if at // 700 % 2 else 2.0) + rng.gauss(0, 0.08) for at in range(2800)]


def pretraining(rng: random.Random) -> list[float]:
    return learning(5000, start=11.0, end=2.2, noise=0.02, seed=rng.randrange(99))


HEALTHY = (small_batches, diffusion, adversarial, reinforcement, restarts, other_data, pretraining)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("make", HEALTHY, ids=lambda make: make.__name__)
def test_healthy_curves_are_silent(make: Callable[[random.Random], list[float]], seed: int) -> None:
    assert not found(series("loss", make(random.Random(seed))))


def test_every_detector_has_its_signature() -> None:
    rules = Path(__file__).parents[2] / "rules" / "signatures" / "precision"
    named = {
        line.removeprefix("detector:").strip()
        for path in rules.glob("*.yaml")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("detector:")
    }
    assert named == DETECTORS


def test_fields_are_plain_values() -> None:
    members = (series("loss", learning(60) + [NAN] * 9), series("grad_norm", [1.0] * 69))
    values: list[Field] = [value for finding in judge_series(members) for value in finding.fields.values()]
    assert values
    assert all(isinstance(value, (str, int, float, bool)) for value in values)
