"""Host-memory and process-exit faults made real, each returning the text that the machine printed.

A fault that needs a privilege or a package which is not at hand raises ``pytest.skip`` with the reason. Every process
that is made to eat memory runs in a control group or under an rlimit, so that the machine itself is never short.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

LIMIT_S = 60
MEBIBYTE = 1 << 20
CGROUP_ROOT = Path("/sys/fs/cgroup")

DATASET = """
    import os, signal, sys
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Numbers(Dataset):
        def __len__(self):
            return 64

        def __getitem__(self, index):
            if index == 9 and sys.argv[1].startswith("SIG"):
                os.kill(os.getpid(), getattr(signal, sys.argv[1]))
            if index == 9 and sys.argv[1] == "exit":
                os._exit(3)
            return torch.zeros(int(sys.argv[2]))

    if __name__ == "__main__":
        for batch in DataLoader(Numbers(), batch_size=4, num_workers=2):
            pass
"""

KEEPER = """
    from torch.utils.data import DataLoader, Dataset
    import torch

    class Pieces(Dataset):
        def __len__(self):
            return 640

        def __getitem__(self, index):
            return [torch.zeros(1) for _ in range(10)]

    if __name__ == "__main__":
        kept = [batch for batch in DataLoader(Pieces(), batch_size=None, num_workers=2)]
"""

RANKS = """
    import os, signal, sys, time
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    if dist.get_rank() == 1:
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))
    time.sleep(0.5)
    dist.all_reduce(torch.ones(1))
"""


def kernel_text_of_cgroup_kill() -> str:
    """Return the kernel's log of an OOM kill within a memory limit of 64 MiB."""
    with _limited_group(64 * MEBIBYTE) as group:
        began = _uptime()
        run = _python("hold = []\nwhile True: hold.append(bytearray(8 << 20))", group=group)
        if run.returncode != -signal.SIGKILL:
            pytest.skip(f"the memory limit did not bite (exit code {run.returncode})")
    return _kernel_log_since(began)


def shell_text_of_cgroup_kill() -> str:
    """Return what bash prints when its child is ended by the OOM killer."""
    with _limited_group(64 * MEBIBYTE) as group:
        script = f"""
            ( echo $BASHPID > {group}/cgroup.procs; exec {sys.executable} -c 'x = bytearray(512 << 20)' )
            echo exit code $?
        """
        return _output(["bash", "-c", textwrap.dedent(script)])


def python_text_of_address_limit() -> str:
    """Return Python's traceback when its address space is bounded."""
    return _output(["bash", "-c", f"ulimit -v 400000; {sys.executable} -c 'x = bytearray(1 << 32)'"])


def numpy_text_of_refusal() -> str:
    """Return numpy's message for an array larger than any address space."""
    _need("numpy")
    return _python("import numpy\nnumpy.zeros((1 << 25, 1 << 24))").stderr


def torch_text_of_refusal() -> str:
    """Return the CPU allocator's message for a tensor of 4 PiB."""
    _need("torch")
    return _python("import torch\ntorch.empty(1 << 50)").stderr


def text_of_open_file_limit() -> str:
    """Return Python's traceback when one file too many is opened."""
    return _output(["bash", "-c", f"ulimit -n 32; {sys.executable} -c 'f = [open(\"/dev/null\") for _ in range(64)]'"])


def dataloader_text_of_open_file_limit(folder: Path) -> str:
    """Return what a DataLoader prints whose tensors use up the descriptors."""
    _need("torch")
    script = _script(folder, "keeper.py", KEEPER)
    return _output(["bash", "-c", f"ulimit -n 40; exec {sys.executable} {script}"])


def dataloader_text_of_signal(folder: Path, name: str) -> str:
    """Return what the main process prints when a DataLoader worker ends by ``name`` (SIGKILL …, or ``exit``)."""
    _need("torch")
    return _output([sys.executable, str(_script(folder, "loader.py", DATASET)), name, "10"])


def dataloader_text_of_small_shm(folder: Path) -> str:
    """Return what a DataLoader prints with a /dev/shm of 1 MiB, in a mount namespace of its own."""
    _need("torch")
    script = _script(folder, "loader.py", DATASET)
    inside = f"mount -t tmpfs -o size=1m tmpfs /dev/shm && exec {sys.executable} {script} none 2000000"
    _need_namespace()
    return _output(["unshare", "-m", "bash", "-c", inside])


def text_of_bus_error(folder: Path) -> str:
    """Return what bash prints for a write beyond the end of a mapped file that was cut short."""
    code = """
        import mmap, os, sys
        path = sys.argv[1]
        with open(path, "wb") as file:
            file.truncate(1 << 20)
        with open(path, "r+b") as file:
            mapped = mmap.mmap(file.fileno(), 1 << 20)
            os.truncate(path, 0)
            mapped[4096] = 1
    """
    script = _script(folder, "mapped.py", code)
    return _output(["bash", "-c", f"{sys.executable} {script} {folder / 'mapped.bin'}; echo exit code $?"])


def torchrun_text_of_signal(folder: Path, name: str) -> str:
    """Return what torchrun prints when rank 1 of 2 ends by the signal ``name``."""
    _need("torch")
    script = _script(folder, "ranks.py", RANKS)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    return _output([*launcher, str(script), name])


def text_of_thread_limit() -> str:
    """Return Python's traceback when the user may start no more threads."""
    if os.geteuid() != 0 or not shutil.which("su") or not Path("/usr/bin/python3").exists():
        pytest.skip("needs root, su and a system python3: root itself has no thread limit")
    code = "import threading, time\nfor _ in range(64): threading.Thread(target=time.sleep, args=(1,)).start()"
    return _output(["su", "nobody", "-s", "/bin/bash", "-c", f"ulimit -u 20; /usr/bin/python3 -c '{code}'"])


def text_of_full_disk(folder: Path) -> str:
    """Return Python's traceback for a write to a full file system (a tmpfs of 64 KiB)."""
    _need_namespace()
    code = f'open("{folder}/model.bin", "wb").write(bytes(1 << 20))'
    inside = f"mount -t tmpfs -o size=64k tmpfs {folder} && exec {sys.executable} -c '{code}'"
    return _output(["unshare", "-m", "bash", "-c", inside])


def torch_text_of_full_disk(folder: Path) -> str:
    """Return what ``torch.save`` prints on a full file system (a tmpfs of 64 KiB)."""
    _need("torch")
    _need_namespace()
    code = f'import torch; torch.save(torch.zeros(1 << 20), "{folder}/model.pt")'
    inside = f"mount -t tmpfs -o size=64k tmpfs {folder} && exec {sys.executable} -c '{code}'"
    return _output(["unshare", "-m", "bash", "-c", inside])


def text_of_read_only_disk(folder: Path) -> str:
    """Return Python's traceback for a write to a read-only mount."""
    _need_namespace()
    code = f'open("{folder}/model.bin", "wb")'
    inside = f"mount -t tmpfs -o ro tmpfs {folder} && exec {sys.executable} -c '{code}'"
    return _output(["unshare", "-m", "bash", "-c", inside])


def _need(package: str) -> None:
    probe = subprocess.run([sys.executable, "-c", f"import {package}"], capture_output=True, timeout=LIMIT_S)
    if probe.returncode:
        pytest.skip(f"{package} is not installed")


def _need_namespace() -> None:
    if not shutil.which("unshare") or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("needs the right to make a mount namespace (unshare -m)")


def _script(folder: Path, name: str, code: str) -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(code), encoding="utf-8")
    return path


def _output(command: Sequence[str]) -> str:
    """Run a command that is meant to fail; return stdout and stderr in the order in which they were written."""
    environment = {**os.environ, "LC_ALL": "C", "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S, env=environment
    )
    return run.stdout


def _python(code: str, group: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run Python code, in a control group where one is given."""
    join = f"open('{group}/cgroup.procs', 'w').write('0')\n" if group else ""
    return subprocess.run([sys.executable, "-c", join + code], capture_output=True, text=True, timeout=LIMIT_S)


@contextlib.contextmanager
def _limited_group(limit_bytes: int) -> Iterator[Path]:
    """Yield a fresh memory control group with a limit, cgroup v1 or v2, and remove it afterwards."""
    first = (CGROUP_ROOT / "memory").is_dir()
    group = (CGROUP_ROOT / "memory" if first else CGROUP_ROOT) / f"llm-doctor-{uuid.uuid4().hex[:8]}"
    try:
        group.mkdir()
        (group / ("memory.limit_in_bytes" if first else "memory.max")).write_text(str(limit_bytes))
        if not first:
            (group / "memory.swap.max").write_text("0")
    except OSError as error:
        with contextlib.suppress(OSError):
            group.rmdir()
        pytest.skip(f"needs the right to make a memory control group: {error.strerror}")
    try:
        yield group
    finally:
        _remove(group)


def _remove(group: Path) -> None:
    """Remove a group once the kernel has let go of its last process."""
    for _ in range(50):
        try:
            group.rmdir()
        except OSError:
            time.sleep(0.05)
        else:
            return


def _uptime() -> float:
    return float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])


def _kernel_log_since(began: float) -> str:
    """Return the kernel's lines since an uptime, as dmesg prints them."""
    time.sleep(0.3)
    if not shutil.which("dmesg"):
        pytest.skip("dmesg is not installed")
    run = subprocess.run(["dmesg"], capture_output=True, text=True, timeout=LIMIT_S)
    if run.returncode:
        pytest.skip(f"the kernel log may not be read: {run.stderr.strip()}")
    lines = [line for line in run.stdout.splitlines() if _stamp(line) >= began - 0.1]
    if not lines:
        pytest.skip("the kernel log does not hold the kill (another host's kernel, or a container's view)")
    return "\n".join(lines)


def _stamp(line: str) -> float:
    inside = line.partition("]")[0].lstrip("[").strip()
    try:
        return float(inside)
    except ValueError:
        return 0.0
