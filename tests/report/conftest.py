"""Reports built by hand, as the engine would hand them over."""

from __future__ import annotations

import pytest

from doctor.model.diagnosis import (
    Chart,
    Diagnosis,
    Evidence,
    MissingFact,
    Remedy,
    Scanned,
    ScanReport,
    Step,
)
from doctor.model.vocabulary import Confidence, Place, Risk, Severity, Verdict, Why

SCHEMA = "llm-doctor/scan/1"
OOM_TEXT = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB "
    "of which 1.31 GiB is free. Including non-PyTorch memory, this process has 77.83 GiB memory in use. Of the "
    "allocated memory 76.02 GiB is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated."
)


def report_of(
    verdict: Verdict, *diagnoses: Diagnosis, next_steps: tuple[str, ...] = (), **scanned: object
) -> ScanReport:
    amounts = {"files": 1, "bytes": 90_177, "lines": 1_204, "seconds": 0.118} | scanned
    return ScanReport(
        schema=SCHEMA,
        verdict=verdict,
        diagnoses=diagnoses,
        next_steps=next_steps,
        scanned=Scanned(**amounts),  # type: ignore[arg-type]
    )


def _oom_remedies() -> tuple[Remedy, ...]:
    verify = "Peak memory (torch.cuda.max_memory_allocated) stays at least 5 % below the capacity over 50 steps."
    return (
        Remedy(
            do="Halve the micro-batch and double the accumulation; the gradient stays the same.",
            run="torchrun --nproc-per-node 8 train.py --per_device_train_batch_size 4 --gradient_accumulation_steps 16",
            risk=Risk.SAFE,
            verify=verify,
        ),
        Remedy(
            do="Recompute activations in the backward pass instead of keeping them; costs about a third more compute.",
            set="gradient_checkpointing=True",
            edit="model.gradient_checkpointing_enable()",
            risk=Risk.SAFE,
            verify=verify,
        ),
        Remedy(
            do="If a stranger's process came back on the GPU, end it.",
            run="kill 41233",
            risk=Risk.DISRUPTIVE,
            verify=verify,
        ),
    )


@pytest.fixture
def oom() -> ScanReport:
    """Return this case: rank 3 of 8 ran out of memory, the others were brought down by it."""
    root = Diagnosis(
        id="gpu-memory.demand",
        title="One step needs more memory than the GPU has",
        role=Place.ROOT,
        severity=Severity.FATAL,
        confidence=Confidence.LIKELY,
        because=(
            "The backward pass asked for 2 GiB where 1.31 GiB of 79.15 GiB were free. PyTorch itself held 76.02 GiB in "
            "tensors and only 512 MiB in unused blocks, so neither fragmentation nor another process is to blame."
        ),
        path=(
            Step("neighbour", "Does another process hold memory on this GPU?", "no", "other_process_bytes is 0"),
            Step("fragmented", "Is much memory reserved but unallocated?", "no", "unallocated_bytes is 512 MiB"),
            Step("growing", "Did memory grow from step to step?", "unknown", "no memory series in the log"),
        ),
        evidence=(
            Evidence(
                file="logs/rank3.log",
                line=10_482,
                text=OOM_TEXT,
                signature="gpu-memory/torch-oom",
                time="2026-03-01 02:58:11",
                rank=3,
                node="gpu-07",
                count=512,
                fields={"requested_bytes": 2 << 30, "gpu": 3},
            ),
            Evidence(
                file="logs/rank3.log", line=10_440, text="[rank3] File train.py, line 211", signature="frame", rank=3
            ),
        ),
        facts={"world_size": 8, "requested_bytes": 2 << 30},
        missing=(
            MissingFact(
                "gpu.other_process_bytes",
                Why.NOT_PROBED,
                "nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv",
            ),
        ),
        remedies=_oom_remedies(),
        rivals=("gpu-memory.fragmentation", "gpu-memory.leak"),
        consequences=("distributed.peer-failed",),
    )
    peers = Diagnosis(
        id="distributed.peer-failed",
        title="A collective ended because another rank failed",
        role=Place.CONSEQUENCE,
        severity=Severity.FATAL,
        confidence=Confidence.CERTAIN,
        because="The other ranks waited for rank 3.",
        facts={"ranks": [0, 1, 2, 4, 5, 6, 7]},
        evidence=(
            Evidence(file="logs/rank0.log", line=10_490, text="Connection closed by peer", signature="d/p", rank=0),
        ),
    )
    return report_of(
        Verdict.FAILED,
        root,
        peers,
        next_steps=(
            "nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv",
            "Estimate what the model needs before the next start.",
        ),
        files=8,
        bytes=92_380_111,
        lines=1_204_331,
        seconds=0.4213,
        ranks=(0, 1, 2, 3, 4, 5, 6, 7),
    )


@pytest.fixture
def nan() -> ScanReport:
    """Return this case: the loss fell, then the gradient norm exploded and the loss was no number any more."""
    losses = [
        2.61,
        2.55,
        2.52,
        2.47,
        2.44,
        2.42,
        2.41,
        2.38,
        2.37,
        2.36,
        2.34,
        2.33,
        2.33,
        2.31,
        2.30,
        2.36,
        2.71,
        3.94,
    ]
    values = (*losses, None, None, None)
    root = Diagnosis(
        id="precision.diverged",
        title="The loss became NaN after the gradients exploded",
        role=Place.ROOT,
        severity=Severity.ERROR,
        confidence=Confidence.LIKELY,
        because="The loss was NaN from step 1160 on. It had risen from 2.3 to 3.94 in the 30 steps before.",
        evidence=(
            Evidence(
                file="train.log",
                line=611,
                text="{'loss': nan, 'grad_norm': nan, 'learning_rate': 9.1e-05, 'epoch': 0.42}",
                signature="precision/loss-nan",
                count=3,
            ),
        ),
        remedies=(
            Remedy(
                do="Start again from the last checkpoint before step 1120 with clipped gradients.",
                set="max_grad_norm=1.0",
                risk=Risk.SAFE,
                verify="grad_norm stays below 10 past step 1160.",
            ),
            Remedy(
                do="Delete the checkpoints that hold NaN, so that nobody resumes from them.",
                run="rm -r checkpoint-1160",
                risk=Risk.DESTRUCTIVE,
                verify="Only checkpoints up to step 1120 are left.",
            ),
        ),
        charts=(Chart(metric="loss", steps=tuple(980.0 + 10 * i for i in range(len(values))), values=values, mark=18),),
    )
    return report_of(Verdict.FAILED, root)


@pytest.fixture
def unknown() -> ScanReport:
    """Return this case: an exception that no rule knows, a second root, and an input that could not be read."""
    first = Diagnosis(
        id="unknown.exception",
        title="Uncaught ValueError: bad shard index 7",
        role=Place.ROOT,
        severity=Severity.FATAL,
        confidence=Confidence.POSSIBLE,
        because="No signature knows this message, so nothing is claimed beyond what the log shows.",
        evidence=(Evidence(file="a.log", line=12, text="ValueError: bad shard index 7", signature="exception"),),
        remedies=(
            Remedy(
                do="Read the first exception of the chain and the innermost frame of your own code.",
                risk=Risk.READ_ONLY,
                verify="The same command passes the step at which it failed.",
            ),
        ),
    )
    second = Diagnosis(
        id="storage.quota",
        title="The quota is used up",
        role=Place.ROOT,
        severity=Severity.ERROR,
        confidence=Confidence.CERTAIN,
        because="Writing /scratch/ckpt failed with EDQUOT.",
        evidence=(Evidence(file="b.log", line=3, text="OSError: [Errno 122] Disk quota exceeded", signature="s/q"),),
        remedies=(
            Remedy(do="See what uses the quota.", run="quota -s", risk=Risk.READ_ONLY, verify="A write succeeds."),
        ),
    )
    return report_of(
        Verdict.FAILED,
        first,
        second,
        files=2,
        unreadable=("c.log: Permission denied.",),
        limits=("a.log: line 9 is longer than 1 MiB; the rest of it was not read.",),
    )


@pytest.fixture
def warned() -> ScanReport:
    """Return this case: a job that ended well, with one warning."""
    warning = Diagnosis(
        id="process.group-not-destroyed",
        title="The process group was not destroyed before exit",
        role=Place.WARNING,
        severity=Severity.WARNING,
        confidence=Confidence.CERTAIN,
        because="PyTorch says so at exit. It costs nothing here, but a rank may hang in its last collective.",
        evidence=(
            Evidence(file="train.log", line=1_203, text="[W] destroy_process_group() was not called", signature="p/g"),
        ),
        remedies=(
            Remedy(
                do="Call it as the last line of the program.",
                edit="torch.distributed.destroy_process_group()",
                risk=Risk.SAFE,
                verify="The warning is gone.",
            ),
        ),
    )
    return report_of(Verdict.WARNINGS, warning)


@pytest.fixture
def healthy() -> ScanReport:
    """Return this case: nothing wrong."""
    return report_of(Verdict.HEALTHY)
