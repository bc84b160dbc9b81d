"""Faults of numerical precision made real on the CPU, each returning the text that torch printed.

Every function runs a small program in a child process, so that what is returned is what a user's
terminal would show. ``FAULTS`` maps each to the cause that the log proves. Without torch they raise ``pytest.skip``.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

LIMIT_S = 120

ATTENTION = """
    import torch

    def attend(query, key, mask):
        scores = query @ key.transpose(-1, -2)
        scores = scores.masked_fill(mask, {value})
        return scores.softmax(-1)

    query = torch.randn(1, 2, 4, 8).to(torch.{dtype})
    attend(query, query, torch.ones(4, 4, dtype=torch.bool).triu(1))
"""

# Float16 training as the transformers Trainer logs it: an average that leaves NaN out, and the norm of the last step.
FILTERED = """
    import torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)).half()
    optimizer = torch.optim.SGD(model.parameters(), lr={rate})
    total, logged = torch.tensor(0.0), 0
    for step in range(1, 61):
        features, labels = torch.randn(32, 16).half(), torch.randint(0, 4, (32,))
        loss = torch.nn.functional.cross_entropy(model(features) * 8, labels)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1e6)
        optimizer.step()
        optimizer.zero_grad()
        total = total + (total / (1 + step - logged) if not torch.isfinite(loss) else loss.detach().float())
        if step % 5 == 0:
            average = round(total.item() / (step - logged), 4)
            print({{"loss": average, "grad_norm": norm.item(), "learning_rate": {rate}, "epoch": round(step / 60, 2)}})
            total, logged = torch.tensor(0.0), step
"""

SCALER = """
    import torch

    model = torch.nn.Linear(8, 2){cast}
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = torch.amp.GradScaler("cpu")
    loss = model(torch.randn(4, 8){cast}).float().sum()
    {steps}
"""


def run_torch(program: str) -> str:
    """Run a program in a child process and return what it printed on both streams, in order."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed for this Python")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "train.py")
        script.write_text(textwrap.dedent(program), encoding="utf-8")
        return _output(script)


def _output(script: Path) -> str:
    ended = subprocess.run(
        [sys.executable, "-u", str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    return ended.stdout


def bfloat16_mask() -> str:
    """Mask bfloat16 scores with float32's lowest number."""
    return run_torch(ATTENTION.format(dtype="bfloat16", value="torch.finfo(torch.float32).min"))


def half_mask() -> str:
    """Mask float16 scores with -1e9."""
    return run_torch(ATTENTION.format(dtype="float16", value="-1e9"))


def whole_number_mask() -> str:
    """Fill an int8 mask with a number that needs a float."""
    return run_torch("import torch\ntorch.zeros(4, dtype=torch.int8).fill_(-1e4)")


def half_gradients_refused() -> str:
    """Unscale the gradients of a float16 model."""
    return run_torch(SCALER.format(cast=".half()", steps="scaler.scale(loss).backward(); scaler.step(optimizer)"))


def scaler_without_gradients() -> str:
    """Step a scaler whose optimiser has no gradient."""
    return run_torch(SCALER.format(cast="", steps="scaler.scale(loss); scaler.step(optimizer)"))


def scaler_unscaled_twice() -> str:
    """Unscale one optimiser twice in a step."""
    steps = "scaler.scale(loss).backward(); scaler.unscale_(optimizer); scaler.unscale_(optimizer)"
    return run_torch(SCALER.format(cast="", steps=steps))


def anomaly_square_root() -> str:
    """Take the derivative of a square root at zero under anomaly detection."""
    return run_torch(
        """
        import torch

        with torch.autograd.set_detect_anomaly(True):
            weight = torch.zeros(3, requires_grad=True)
            (weight.sqrt() * 0).sum().backward()
        """
    )


def clip_refuses_norm() -> str:
    """Clip gradients of which one is NaN, with errors switched on."""
    return run_torch(
        """
        import torch

        weight = torch.nn.Parameter(torch.ones(3))
        (weight * torch.tensor([1.0, float("nan"), 1.0])).sum().backward()
        torch.nn.utils.clip_grad_norm_([weight], 1.0, error_if_nonfinite=True)
        """
    )


def sample_from_nan() -> str:
    """Sample from logits of which one is NaN."""
    return run_torch(
        "import torch\ntorch.multinomial(torch.tensor([[0.1, float('nan'), 2.0]]).softmax(-1), num_samples=1)"
    )


def matrix_product_mixed() -> str:
    """Feed float32 to a bfloat16 layer with a bias."""
    return run_torch("import torch\ntorch.nn.Linear(4, 2).bfloat16()(torch.randn(3, 4))")


def convolution_mixed() -> str:
    """Feed float16 to a float32 convolution."""
    return run_torch("import torch\ntorch.nn.Conv1d(2, 2, 1)(torch.randn(1, 2, 8).half())")


def attention_mixed() -> str:
    """Give attention a query of another type than key and value."""
    return run_torch(
        """
        import torch

        key = torch.randn(1, 2, 4, 8, dtype=torch.bfloat16)
        torch.nn.functional.scaled_dot_product_attention(key.float(), key, key)
        """
    )


def index_put_mixed() -> str:
    """Write float32 into a bfloat16 tensor by index."""
    return run_torch("import torch\ntorch.zeros(4).bfloat16()[torch.tensor([0, 1])] = torch.ones(2)")


def no_kernel_for_half() -> str:
    """Decompose a float16 matrix on the CPU, for which there is no kernel."""
    return run_torch("import torch\ntorch.linalg.svd(torch.randn(3, 3).half())")


def half_training_goes_nan() -> str:
    """Train in pure float16 until the weights are NaN, with a log that filters NaN out as the Trainer does."""
    return run_torch(FILTERED.format(rate=3000.0))


def labels_all_masked() -> str:
    """Train on batches of which some, and at last all, have no label."""
    return run_torch(
        """
        import torch

        torch.manual_seed(0)
        model = torch.nn.Linear(8, 4)
        for step in range(1, 31):
            labels = torch.full((6,), -100) if step == 11 else torch.randint(0, 4, (6,))
            loss = torch.nn.functional.cross_entropy(model(torch.randn(6, 8)), labels)
            print(f"step {step} loss {loss.item():.4f}")
        """
    )


FAULTS: dict[Callable[[], str], str] = {
    bfloat16_mask: "precision.value-overflow",
    half_mask: "precision.value-overflow",
    whole_number_mask: "precision.value-overflow",
    half_gradients_refused: "precision.fp16-trainable-params",
    scaler_without_gradients: "precision.scaler-protocol",
    scaler_unscaled_twice: "precision.scaler-protocol",
    anomaly_square_root: "precision.nan-gradient",
    clip_refuses_norm: "precision.nan-gradient",
    sample_from_nan: "precision.sampling-nan",
    matrix_product_mixed: "precision.dtype-mismatch",
    convolution_mixed: "precision.dtype-mismatch",
    attention_mixed: "precision.dtype-mismatch",
    index_put_mixed: "precision.dtype-mismatch",
    no_kernel_for_half: "precision.dtype-mismatch",
    half_training_goes_nan: "precision.nan-loss",
    labels_all_masked: "precision.loss-mask-empty",
}
