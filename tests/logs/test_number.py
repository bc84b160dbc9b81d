"""Training numbers: one line of every dialect, and lines that report none."""

from __future__ import annotations

import math
from typing import Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.logs.number import NUMBER_GATES, read_numbers

NAN = math.nan
INF = math.inf
GIB = 1 << 30

LINES: list[tuple[str, str, Optional[float], dict[str, float]]] = [
    (
        "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 2e-05, 'epoch': 0.01}",
        "hf_trainer", None, {"loss": 0.0, "grad_norm": NAN, "learning_rate": 2e-5, "epoch": 0.01},
    ),
    (
        "{'loss': '1.23', 'grad_norm': '0.5', 'learning_rate': '2e-05', 'epoch': '0.01'}",
        "hf_trainer", None, {"loss": 1.23, "grad_norm": 0.5, "learning_rate": 2e-5, "epoch": 0.01},
    ),
    ("{'eval_loss': inf, 'eval_runtime': 3.2, 'eval_samples_per_second': 3.0, 'epoch': 1.0}",
     "hf_trainer", None, {"eval_loss": INF, "epoch": 1.0}),
    ("{'loss': -inf, 'rewards/margins': 0.1, 'reward': 0.2, 'epoch': 1.5}", "hf_trainer", None,
     {"loss": -INF, "epoch": 1.5}),
    (" 10%|█         | 12/120 [00:10<01:30]{'loss': 2.5, 'epoch': 0.1}", "hf_trainer", None,
     {"loss": 2.5, "epoch": 0.1}),
    ("Epoch 0:  10%|█         | 12/120 [00:10<01:30,  1.20it/s, v_num=3, train_loss=nan]",
     "lightning", 12, {"epoch": 0.0, "loss": NAN}),
    ("Epoch 0:  10%|█         | 12/120 [00:10<01:30, v_num=3, reduced_train_loss=nan.0, global_step=40.00, it/s]",
     "nemo", 40, {"epoch": 0.0, "loss": NAN}),
    ("steps:   1%|▋       | 41/3280 [00:50<1:06:54,  1.24s/it, avr_loss=nan]", "tqdm", 41, {"loss": NAN}),
    (
        " iteration     1000/    5000 | consumed samples:         5504 | elapsed time per iteration (ms): 5444.9 |"
        " throughput per GPU (TFLOP/s/GPU): 239.8 | learning rate: 8.600000E-06 | global batch size:   128 |"
        " lm loss: nan | loss scale: 1.0 | grad norm: nan | num zeros: 0.0 | number of skipped iterations:   1 |"
        " number of nan iterations:   1 |",
        "megatron", 1000,
        {"throughput": 239.8, "learning_rate": 8.6e-6, "loss": NAN, "loss_scale": 1.0, "grad_norm": NAN, "skipped": 1},
    ),
    (
        " iteration        7/      50 | learning rate: 1.0E-06 | loss scale: 8.0 | grad norm: 0.000 |"
        " number of skipped iterations:   0 | number of nan iterations:   1 |",
        "megatron", 7, {"learning_rate": 1e-6, "loss_scale": 8.0, "grad_norm": 0.0, "skipped": 0, "loss": NAN},
    ),
    ("steps: 10 loss: 1.2000 iter time (s): 1.230 samples/sec: 12.300", "deepspeed", 10,
     {"loss": 1.2, "throughput": 12.3}),
    ("step=10, skipped=6, lr=[9.65e-06, 9.65e-06], mom=[(0.9, 0.95), (0.9, 0.95)]", "deepspeed", 10,
     {"skipped": 6, "learning_rate": 9.65e-6}),
    ("[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
     "deepspeed_overflow", None, {"skipped": 1, "loss_scale": 32768}),
    ("OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, but hysteresis is 2. Reducing hysteresis to 1",
     "deepspeed_overflow", None, {"skipped": 1, "loss_scale": 65536}),
    ("Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 8192.0", "apex_overflow", None,
     {"skipped": 1, "loss_scale": 8192}),
    ("step: 10  loss:  7.9123  grad_norm:  1.2000  memory: 10.50GiB(13.20%)  tps: 1,234  tflops: 12.30  mfu: 3.90%",
     "torchtitan", 10, {"loss": 7.9123, "grad_norm": 1.2, "throughput": 1234, "memory": 10.5 * GIB}),
    ("validate step: 20  loss:  7.5  memory: 10.50GiB(13.20%)  tps: 1,234", "torchtitan", 20,
     {"eval_loss": 7.5, "throughput": 1234, "memory": 10.5 * GIB}),
    ("iter 10: loss 4.1000, time 12.30ms, mfu 3.00%", "nanogpt", 10, {"loss": 4.1}),
    ("step 250: train loss 2.1000, val loss 2.2000", "nanogpt", 250, {"loss": 2.1, "eval_loss": 2.2}),
    ("1|20|Loss: 1.9123:   2%|▏ | 20/100 [00:20<01:00]", "torchtune", 20, {"loss": 1.9123, "epoch": 1}),
    ("Step 1 | loss:1.9 lr:2e-05 tokens_per_second_per_gpu:320.1", "torchtune", 1,
     {"loss": 1.9, "learning_rate": 2e-5, "throughput": 320.1}),
    ('{"epoch": 1, "loss": "3.2", "num_updates": "100", "lr": "0.0001", "gnorm": "1.2", "loss_scale": "64"}',
     "fairseq", 100, {"epoch": 1, "loss": 3.2, "learning_rate": 1e-4, "grad_norm": 1.2, "loss_scale": 64}),
    ("step:1 - actor/kl_loss:0.000 - actor/pg_loss:-0.001 - actor/grad_norm:0.841 - actor/lr:0.000", "plain", 1,
     {"grad_norm": 0.841, "learning_rate": 0.0}),
    ("Epoch 3 step 100 loss 2.3", "plain", 100, {"epoch": 3, "loss": 2.3}),
    ("[100/500] Loss: nan", "plain", 100, {"loss": NAN}),
    ("step=10, loss=NaN, lr=2e-5", "plain", 10, {"loss": NAN, "learning_rate": 2e-5}),
    ("loss: tensor(nan, device='cuda:0', grad_fn=<NllLossBackward0>)", "plain", None, {"loss": NAN}),
    ("Epoch: [127/300][ 35/464]\tTime  0.738 ( 0.738)\tLoss 2.1274e+00 (1.5406e+00)", "plain", 35, {"loss": 2.1274}),
]  # fmt: skip


def same(one: float, other: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or one == pytest.approx(other)


@pytest.mark.parametrize(("text", "source", "step", "values"), LINES, ids=[line[0][:40] for line in LINES])
def test_each_dialect_is_read(text: str, source: str, step: Optional[float], values: dict[str, float]) -> None:
    found = read_numbers(text)
    assert found is not None
    assert (found.source, found.step) == (source, step)
    kept = {name: value for name, value in found.values.items() if name in values or name != "epoch"}
    assert kept.keys() == values.keys()
    assert all(same(kept[name], values[name]) for name in values)


@pytest.mark.parametrize("text", [line[0] for line in LINES])
def test_every_line_passes_a_gate(text: str) -> None:
    assert any(gate in text.encode() for gate in NUMBER_GATES)


@pytest.mark.parametrize(
    "text",
    [
        "loss function is CrossEntropy",
        "  loss_scale ...................... 1.0",
        "label loss weight: 0.1",
        "The loss is 3 times as high",
        "loss_type=sigmoid",
        "{'train_runtime': 3.2, 'train_samples_per_second': 3.0, 'train_loss': 1.3, 'epoch': 1.0}",
        "load_balancing_loss: 1.02",
        "",
    ],
)
def test_lines_that_report_no_numbers(text: str) -> None:
    assert read_numbers(text) is None


@given(st.text(alphabet=st.sampled_from("loss':=, {}\"nanife1234567890.|/[]step\t-+"), max_size=200))
def test_any_text_is_answered(text: str) -> None:
    found = read_numbers(text)
    assert found is None or found.values
