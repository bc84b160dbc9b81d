"""Real quantisation faults on the CPU: each is made by torch (2.x) itself in a child process.

``make(name, python)`` runs one and returns what it printed, stdout and stderr together. ``python`` is an interpreter
that has torch, and for the torchao faults torchao too; this module imports neither. ``FAULTS`` says which signature
the text must show and which cause it must lead to.
"""

from __future__ import annotations

import subprocess
from typing import NamedTuple

TIME_LIMIT_SECONDS = 120

_HEADER = """
import torch
torch.set_num_threads(1)
def act(scale, shape=(1, 4, 8, 8)):
    return torch.quantize_per_tensor(torch.ones(*shape), scale, 0, torch.quint8)
def weight(scale, shape):
    return torch.quantize_per_tensor(torch.ones(*shape), scale, 0, torch.qint8)
def linear(in_scale, weight_scale, out_scale):
    packed = torch.ops.quantized.linear_prepack(weight(weight_scale, (4, 8)), torch.zeros(4))
    return torch.ops.quantized.linear(act(in_scale, (2, 8)), packed, out_scale, 0)
def conv_packed(scale=0.01):
    return torch.ops.quantized.conv2d_prepack(weight(scale, (4, 4, 3, 3)), None, [1, 1], [0, 0], [1, 1], 1)
def channels(shape=(4, 8)):
    return torch.quantize_per_channel(torch.ones(*shape), torch.ones(4) * 0.1, torch.zeros(4), 0, torch.qint8)
"""
_QNNPACK = "torch.backends.quantized.engine = 'qnnpack'\n"
_F = "F = torch.nn.functional\n"


class Fault(NamedTuple):
    """A script that fails (or warns), the signature of what it prints, and the cause behind it."""

    script: str
    signature: str
    cause: str
    needs: str = "torch"


def _qnnpack(call: str, kind: str, cause: str) -> Fault:
    return Fault(_QNNPACK + _F + call, f"quantization/qnnpack-{kind}", f"quantization.{cause}")


def _torch(call: str, signature: str, cause: str, needs: str = "torch") -> Fault:
    return Fault(_F + call, f"quantization/{signature}", f"quantization.{cause}", needs)


_SCALE, _SHAPE, _OP = "qnnpack-scale", "qnnpack-shape", "unsupported-op"

FAULTS: dict[str, Fault] = {
    "add-ratio-large": _qnnpack("torch.ops.quantized.add(act(1000.0), act(0.1), 0.01, 0)", "scale-ratio", _SCALE),
    "add-ratio-small": _qnnpack("torch.ops.quantized.add(act(1e-6), act(0.1), 0.1, 0)", "scale-ratio", _SCALE),
    "conv-scale-inf": _qnnpack(
        "torch.ops.quantized.conv2d(act(1e30), conv_packed(1e30), 1e-30, 0)", "scale-value", _SCALE
    ),
    "linear-scale-zero": _qnnpack("linear(1e-20, 1e-20, 1e10)", "scale-value", _SCALE),
    "sigmoid-scale-zero": _qnnpack("torch.sigmoid(act(0.0))", "scale-value", _SCALE),
    "tanh-scale-zero": _qnnpack("torch.tanh(act(0.0))", "scale-value", _SCALE),
    "hardswish-scale-zero": _qnnpack("torch.ops.quantized.hardswish(act(0.1), 0.0, 0)", "scale-value", _SCALE),
    "hardswish-scale-negative": _qnnpack("torch.ops.quantized.hardswish(act(0.1), -1.0, 0)", "scale-value", _SCALE),
    "dynamic-linear-inf": _qnnpack(
        "packed = torch.ops.quantized.linear_prepack(weight(0.1, (4, 8)), None)\n"
        "torch.ops.quantized.linear_dynamic(torch.full((2, 8), float('inf')), packed)",
        "scale-value",
        _SCALE,
    ),
    "sigmoid-output-scale": _qnnpack("torch.ops.quantized.sigmoid(act(0.1), 0.1, 0)", "fixed-output", _SCALE),
    "sigmoid-zero-point": _qnnpack("torch.ops.quantized.sigmoid(act(0.1), 1 / 256, 5)", "fixed-output", _SCALE),
    "clamp-reversed": _qnnpack("torch.clamp(act(0.1), 1.0, -1.0)", "output-range", _SCALE),
    "avg-pool-1x1": _qnnpack("F.avg_pool2d(act(0.1), 1)", "shape", _SHAPE),
    "max-pool-1x1": _qnnpack("F.max_pool2d(act(0.1), 1)", "shape", _SHAPE),
    "max-pool-zero": _qnnpack("F.max_pool2d(act(0.1), 0)", "shape", _SHAPE),
    "max-pool-input-too-small": _qnnpack("F.max_pool2d(act(0.1, (1, 4, 2, 2)), 3)", "shape", _SHAPE),
    "conv-input-too-small": _qnnpack(
        "torch.ops.quantized.conv2d(act(0.1, (1, 4, 2, 2)), conv_packed(), 0.1, 0)", "shape", _SHAPE
    ),
    "max-pool-3d": _qnnpack("F.max_pool3d(act(0.1, (1, 4, 4, 4, 4)), 2)", "unsupported", _OP),
    "linear-fp16": _qnnpack("torch.ops.quantized.linear_prepack_fp16(torch.ones(4, 4), None)", "unsupported", _OP),
    "conv-signed-activation": _qnnpack(
        "x = torch.quantize_per_tensor(torch.ones(1, 4, 8, 8), 0.1, 0, torch.qint8)\n"
        "torch.ops.quantized.conv2d(x, conv_packed(), 0.1, 0)",
        "unsupported",
        _OP,
    ),
    "engine-unknown": _torch("torch.backends.quantized.engine = 'foo'", "engine-not-supported", "engine-missing"),
    "engine-none": _torch("torch.backends.quantized.engine = 'none'", "engine-not-supported", "engine-missing"),
    "float-into-conv": _torch(
        "torch.ops.quantized.conv2d(torch.ones(1, 4, 8, 8), conv_packed(), 0.1, 0)", "float-into-quantised-op", _OP
    ),
    "float-into-linear": _torch(
        "packed = torch.ops.quantized.linear_prepack(weight(0.1, (4, 8)), None)\n"
        "torch.ops.quantized.linear(torch.ones(2, 8), packed, 0.1, 0)",
        "float-into-quantised-op",
        _OP,
    ),
    "quantised-into-conv": _torch("F.conv2d(act(0.1), torch.ones(4, 4, 3, 3))", "quantised-into-float-op", _OP),
    "quantised-into-mul": _torch("act(0.1) * act(0.1)", "quantised-into-float-op", _OP),
    "quantised-into-softmax": _torch("torch.softmax(act(0.1), 1)", "quantised-into-float-op", _OP),
    "quantised-copied-to-float": _torch("torch.empty(1, 4, 8, 8).copy_(act(0.1))", "quantised-into-float-op", _OP),
    "int4-product-on-cpu": _torch(
        "torch._weight_int4pack_mm(torch.ones(2, 64, dtype=torch.bfloat16),"
        " torch.zeros(4, 1, 32, 1, dtype=torch.int32), 32, torch.ones(2, 32, 2, dtype=torch.bfloat16))",
        "quantised-op-on-device",
        _OP,
    ),
    "per-channel-add": _torch(
        "torch.ops.quantized.add(channels(), channels(), 0.1, 0)", "per-channel-not-supported", _OP
    ),
    "per-channel-relu": _torch("torch.relu(channels())", "per-channel-not-supported", _OP),
    "per-channel-transpose": _torch("channels().t()", "per-channel-not-supported", _OP),
    "signed-activation": _torch(
        "packed = torch.ops.quantized.linear_prepack(weight(0.1, (4, 8)), None)\n"
        "x = torch.quantize_per_tensor(torch.ones(2, 8), 0.1, 0, torch.qint8)\n"
        "torch.backends.quantized.engine = 'fbgemm'\n"
        "packed = torch.ops.quantized.linear_prepack(weight(0.1, (4, 8)), None)\n"
        "torch.ops.quantized.linear(x, packed, 0.1, 0)",
        "quantised-input-type",
        _OP,
    ),
    "observer-never-ran": _torch(
        "torch.ao.quantization.MinMaxObserver().calculate_qparams()", "observer-not-run", "calibration"
    ),
    "dynamic-linear-nan": _torch(
        "packed = torch.ops.quantized.linear_prepack(weight(0.1, (4, 8)), None)\n"
        "torch.ops.quantized.linear_dynamic(torch.full((2, 8), float('nan')), packed)",
        "degenerate-range",
        "calibration",
    ),
    "zero-point-out-of-range": _torch(
        "torch.quantize_per_tensor(torch.ones(3), 0.1, 300, torch.quint8)", "degenerate-range", "calibration"
    ),
    "int4-group-size": _torch(
        "w = torch._convert_weight_to_int4pack_for_cpu(torch.ones(32, 64, dtype=torch.int32), 1)\n"
        "torch._weight_int4pack_mm_for_cpu(torch.ones(2, 64, dtype=torch.bfloat16), w, 17,"
        " torch.ones(4, 32, 2, dtype=torch.bfloat16))",
        "group-not-divisible",
        "block-vs-parallel",
    ),
    "integer-weights-trained": _torch(
        "torch.ones(4, dtype=torch.int8).requires_grad_()", "quantised-model-trained", _OP
    ),
    "torchao-float8-on-cpu": _torch(
        "from torchao.quantization import quantize_, Float8DynamicActivationFloat8WeightConfig as Config\n"
        "quantize_(torch.nn.Sequential(torch.nn.Linear(32, 16, dtype=torch.bfloat16)), Config())",
        "fp8-capability",
        "device-unsupported",
        needs="torchao",
    ),
}


def make(name: str, python: str) -> str:
    """Make one fault happen in a child of that interpreter and return all that it printed."""
    done = subprocess.run(
        [python, "-c", _HEADER + FAULTS[name].script],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIME_LIMIT_SECONDS,
        check=False,
    )
    return done.stdout
