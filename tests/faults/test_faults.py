"""Real faults, made on this machine, scanned as they were printed: each must get the cause that made it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import host_memory
import precision
import pytest
import quantization

from doctor.exam.scan import scan
from doctor.model.vocabulary import Place, Verdict

pytestmark = pytest.mark.faults

# What makes the fault, and the causes that its text allows. A bare SIGKILL must not be called out of memory.
HOST: dict[str, tuple[Callable[[Path], str], set[str]]] = {
    "cgroup kill, kernel log": (lambda _: host_memory.kernel_text_of_cgroup_kill(), {"host-memory.cgroup-limit"}),
    "address limit": (lambda _: host_memory.python_text_of_address_limit(), {"host-memory.allocation-refused"}),
    "numpy refused": (lambda _: host_memory.numpy_text_of_refusal(), {"host-memory.allocation-refused"}),
    "torch refused": (lambda _: host_memory.torch_text_of_refusal(), {"host-memory.allocation-refused"}),
    "open files": (lambda _: host_memory.text_of_open_file_limit(), {"limits.open-files"}),
    "open files in a loader": (host_memory.dataloader_text_of_open_file_limit, {"limits.open-files"}),
    "threads": (lambda _: host_memory.text_of_thread_limit(), {"limits.processes"}),
    "small /dev/shm": (host_memory.dataloader_text_of_small_shm, {"host-memory.shm-too-small"}),
    "full disk": (host_memory.text_of_full_disk, {"storage.disk-full"}),
    "full disk, torch.save": (host_memory.torch_text_of_full_disk, {"storage.disk-full"}),
    "read-only disk": (host_memory.text_of_read_only_disk, {"storage.not-writable"}),
    "loader worker killed": (
        lambda folder: host_memory.dataloader_text_of_signal(folder, "SIGKILL"),
        {"host-memory.dataloader-workers", "launcher.worker-died-silently"},
    ),
    "rank killed": (
        lambda folder: host_memory.torchrun_text_of_signal(folder, "SIGKILL"),
        {"launcher.worker-died-silently"},
    ),
    "rank terminated": (
        lambda folder: host_memory.torchrun_text_of_signal(folder, "SIGTERM"),
        {"distributed.stopped-from-outside"},
    ),
}


def roots_of(text: str, folder: Path) -> list[str]:
    """Scan a printed text and return the ids of its root diagnoses."""
    report = scan([str(_written(text, folder))])
    assert report.verdict is Verdict.FAILED, f"nothing was found in:\n{text[-3000:]}"
    return [diagnosis.id for diagnosis in report.diagnoses if diagnosis.role is Place.ROOT]


@pytest.mark.parametrize("name", HOST)
def test_host_memory(name: str, tmp_path: Path) -> None:
    make, causes = HOST[name]
    text = make(tmp_path)
    assert roots_of(text, tmp_path)[0] in causes, text[-3000:]


@pytest.mark.parametrize("make", precision.FAULTS, ids=lambda make: make.__name__)
def test_precision(make: Callable[[], str], tmp_path: Path) -> None:
    text = make()
    report = scan([str(_written(text, tmp_path))])
    assert report.diagnoses[0].id == precision.FAULTS[make], text[-3000:]


@pytest.mark.parametrize("name", quantization.FAULTS)
def test_quantization(name: str, tmp_path: Path) -> None:
    fault = quantization.FAULTS[name]
    if importlib.util.find_spec(fault.needs) is None:
        pytest.skip(f"{fault.needs} is not installed")
    text = quantization.make(name, sys.executable)
    report = scan([str(_written(text, tmp_path))])
    found = [d.id for d in report.diagnoses]
    assert f"quantization.{fault.cause}" in found or fault.cause in found, text[-3000:]


def _written(text: str, folder: Path) -> Path:
    log = folder / "printed.log"
    log.write_text(text)
    return log
