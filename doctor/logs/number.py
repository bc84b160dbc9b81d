"""Training numbers that a log prints as it goes.

Metrics: loss, eval_loss, grad_norm, learning_rate, loss_scale, throughput, skipped, memory (bytes), epoch. ``skipped``
is what the line itself reports: steps of the interval (Megatron), 1 for one overflow message (``*_overflow`` sources),
or DeepSpeed's running total (source ``deepspeed``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Optional

import msgspec

from doctor.logs.metric import NAMES, STEPS, TRAINING

NUMBER_GATES: tuple[bytes, ...] = (
    b"loss'", b'loss"', b"loss=", b"loss:", b"loss ", b"Loss:", b"Loss=", b"Loss ", b"Loss]",
    b"grad_norm", b"grad norm", b"skipped=",
)  # fmt: skip

_DECIMAL = r"(?:\d+(?:,\d{3})*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_VALUE = rf"[-+]?(?:{_DECIMAL}|(?i:nan|inf(?:inity)?))(?![A-Za-z\d_])"
_PAIR = re.compile(
    rf"(?<![a-z_/.\-])([a-z_][\w/.\-]*(?: (?:loss|norm|rate|scale))?)\]?[:= \t]\s{{0,12}}(?:tensor\(|\[)?({_VALUE})"
)
# The lines that the most used loops print, read in one go.
_TITAN = re.compile(
    rf"step: +(\d+) +loss: +({_VALUE}) +(?:grad_norm: +({_VALUE}) +)?memory: +([\d.]+)GiB\([^)]*\) +tps: ([\d,]+)"
)
_STEPS_LOSS = re.compile(rf"steps: (\d+) loss: ({_VALUE}) .{{0,300}}?iter time \(s\): [\d.]+ samples/sec: ([\d.]+)")
_STEP_SKIPPED = re.compile(rf"step=(\d+), skipped=(\d+), lr=\[({_VALUE})")
_NANO_ITER = re.compile(rf"iter (\d+): loss ({_VALUE})")
_NANO_EVAL = re.compile(rf"step (\d+): train loss ({_VALUE}), val loss ({_VALUE})")
_BAR = re.compile(r"\| *(\d{1,9})/(?:\d{1,9}|\?) \[")
_EPOCH = re.compile(r"\s{0,8}Epoch (\d{1,9}):")
_FRACTION = re.compile(r"(?:[\[(] {0,8}| )(\d{1,9})/ {0,8}\d{1,9}(?=[\]) :,|])")
_MEGATRON_STEP = re.compile(r"iteration +(\d{1,9})/ *\d{1,9}")
_ATTEMPTED = re.compile(r"loss scale: ?([\d.eE+]{1,24}), (?:reducing to ([\d.eE+]{1,24})|but)")
_APEX = re.compile(r"reducing loss scale to ([\d.eE+-]{1,24})")
_TORCHTUNE = re.compile(rf"(\d{{1,6}})\|(\d{{1,9}})\|Loss: ({_VALUE})")


class Numbers(msgspec.Struct, frozen=True):
    """The metrics of one line, by their normalised names, and the dialect that printed them."""

    step: Optional[float]
    source: str
    values: dict[str, float]


def read_numbers(text: str) -> Optional[Numbers]:
    """Return the training numbers of a message, or None where it reports none."""
    if len(text) > 8_192:
        return None
    for applies, read in _READERS:
        if applies(text):
            return read(text)
    return _plain(text)


def _collect(pairs: Iterable[tuple[str, str]]) -> tuple[Optional[float], dict[str, float]]:
    """Return the step and the known metrics of name-value pairs; the first mention of a metric counts."""
    step: Optional[float] = None
    values: dict[str, float] = {}
    for raw, value in pairs:
        name = NAMES.get(raw)
        try:
            if name is not None:
                if name not in values:
                    values[name] = float(value)
            elif raw in STEPS and step is None:
                step = float(value)
        except ValueError:
            continue
    return step, values


def _dictionary(text: str) -> Optional[Numbers]:
    """Read a printed dict or a JSON object whose values are numbers, quoted or not."""
    start = text.find("{")
    end = text.find("}", start)
    body = text[start + 1 : end] if end > 0 else text[start + 1 :]
    pairs = []
    for part in body.split(", "):
        key, _, value = part.partition(": ")
        pairs.append((key[1:-1], value.strip("'\"")))
    step, values = _collect(pairs)
    if "_runtime" in body:
        # The closing summary: an average over the run and the evaluation's speed, which are no points of a curve.
        values.pop("throughput", None)
        if "train_runtime" in body:
            values.pop("loss", None)
    if TRAINING.isdisjoint(values):
        return None
    return Numbers(step, "fairseq" if '"num_updates"' in body else "hf_trainer", values)


def _megatron(text: str) -> Optional[Numbers]:
    step = _MEGATRON_STEP.search(text)
    values: dict[str, float] = {}
    nan_iterations = 0.0
    for part in text.split("|"):
        key, colon, value = part.partition(":")
        if not colon:
            continue
        key = key.strip()
        name = NAMES.get(key)
        try:
            if name is not None:
                values[name] = float(value)
            elif key == "number of nan iterations":
                nan_iterations = float(value)
        except ValueError:
            continue
    if nan_iterations and "loss" not in values:
        # Several versions leave the loss out where its sum is not above zero, and NaN is not.
        values["loss"] = float("nan")
    if not values:
        return None
    return Numbers(float(step[1]) if step else None, "megatron", values)


def _deepspeed_overflow(text: str) -> Optional[Numbers]:
    found = _ATTEMPTED.search(text)
    if found is None:
        return None
    try:
        return Numbers(None, "deepspeed_overflow", {"skipped": 1.0, "loss_scale": float(found[2] or found[1])})
    except ValueError:
        return None


def _apex_overflow(text: str) -> Optional[Numbers]:
    found = _APEX.search(text)
    if found is None:
        return None
    try:
        return Numbers(None, "apex_overflow", {"skipped": 1.0, "loss_scale": float(found[1].rstrip("."))})
    except ValueError:
        return None


def _torchtune(text: str) -> Optional[Numbers]:
    found = _TORCHTUNE.search(text)
    if found is None:
        return None
    return Numbers(float(found[2]), "torchtune", {"loss": float(found[3]), "epoch": float(found[1])})


def _torchtitan(text: str) -> Optional[Numbers]:
    found = _TITAN.search(text)
    if found is None:
        return _plain(text)
    values = {"eval_loss" if "validate step" in text else "loss": float(found[2])}
    if found[3]:
        values["grad_norm"] = float(found[3])
    values["throughput"] = float(found[5].replace(",", ""))
    try:
        values["memory"] = float(found[4]) * (1 << 30)
    except ValueError:
        values.pop("memory", None)
    return Numbers(float(found[1]), "torchtitan", values)


def _deepspeed(text: str) -> Optional[Numbers]:
    found = _STEPS_LOSS.search(text)
    if found:
        step, values = float(found[1]), {"loss": float(found[2])}
        try:
            values["throughput"] = float(found[3].rstrip("."))
        except ValueError:
            return Numbers(step, "deepspeed", values)
        return Numbers(step, "deepspeed", values)
    found = _STEP_SKIPPED.search(text)
    if found is None:
        return _plain(text)
    return Numbers(float(found[1]), "deepspeed", {"skipped": float(found[2]), "learning_rate": float(found[3])})


def _nanogpt(text: str) -> Optional[Numbers]:
    found = _NANO_ITER.search(text)
    if found:
        return Numbers(float(found[1]), "nanogpt", {"loss": float(found[2])})
    found = _NANO_EVAL.search(text)
    if found:
        return Numbers(float(found[1]), "nanogpt", {"loss": float(found[2]), "eval_loss": float(found[3])})
    return _plain(text)


def _progress_bar(text: str) -> Optional[Numbers]:
    """Read ``name=value`` after a tqdm bar, the form of Lightning, NeMo and hand-made loops."""
    bar = _BAR.search(text)
    if bar is None:
        return _plain(text)
    end = text.find("]", bar.end())
    pairs = []
    for part in text[bar.end() : end if end > 0 else len(text)].split(", "):
        key, _, value = part.partition("=")
        # Lightning cuts values to five characters, so that NaN can print as "nan.0".
        pairs.append((key, "nan" if value.startswith("nan") else value))
    step, values = _collect(pairs)
    epoch = _EPOCH.match(text)
    if epoch:
        values["epoch"] = float(epoch[1])
    if TRAINING.isdisjoint(values):
        return _plain(text)
    return Numbers(float(bar[1]) if step is None else step, _bar_source(text, epoch is not None), values)


def _plain(text: str) -> Optional[Numbers]:
    """Read ``name: value``, ``name=value`` and ``name value`` pairs around a loss or a gradient norm."""
    pairs = _PAIR.findall(text.lower())
    step, values = _collect((name, value.replace(",", "")) for name, value in pairs)
    if TRAINING.isdisjoint(values):
        return None
    if step is None:
        places = _FRACTION.findall(text)  # an epoch's place comes before the step's
        step = float(places[-1]) if places else None
    return Numbers(step, "torchtune" if "tokens_per_second_per_gpu:" in text else "plain", values)


def _bar_source(text: str, epoch_first: bool) -> str:
    if "reduced_train_loss" in text:
        return "nemo"
    return "lightning" if epoch_first or "v_num=" in text else "tqdm"


_READERS: tuple[tuple[Callable[[str], bool], Callable[[str], Optional[Numbers]]], ...] = (
    (lambda t: "'loss': " in t or "_loss': " in t or "'grad_norm': " in t, _dictionary),
    (lambda t: "iteration" in t and "| " in t and (" loss" in t or "grad norm:" in t), _megatron),
    (lambda t: "Skipping step. Attempted loss scale" in t, _deepspeed_overflow),
    (lambda t: "Gradient overflow" in t, _apex_overflow),
    (lambda t: "|Loss: " in t, _torchtune),
    (lambda t: "tps: " in t and "loss: " in t, _torchtitan),
    (lambda t: "loss=" in t and ("it/s" in t or "s/it" in t), _progress_bar),
    (lambda t: "iter " in t and ": loss " in t, _nanogpt),
    (lambda t: ": train loss " in t, _nanogpt),
    (lambda t: "iter time (s): " in t or ("skipped=" in t and "lr=" in t), _deepspeed),
    (lambda t: '{"' in t and 'loss": ' in t, _dictionary),
)
