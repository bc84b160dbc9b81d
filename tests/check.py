"""The one command before every push: ``python tests/check.py [fast|all|fix]``.

``all`` (the default) runs every check, ``fast`` leaves the slow tests out, ``fix`` repairs what can be repaired and
then runs ``all``. One line a step; what a step printed is shown where it failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
SCRIPTS = Path(sysconfig.get_path("scripts"))
PYTEST = [PYTHON, "-m", "pytest", "-n", "auto", "--dist", "loadfile"]

REPAIRS = {
    "repair lint": [PYTHON, "-m", "ruff", "check", "--fix", "."],
    "repair format": [PYTHON, "-m", "ruff", "format", "."],
}
STEPS = {
    "format": [PYTHON, "-m", "ruff", "format", "--check", "."],
    "lint": [PYTHON, "-m", "ruff", "check", "."],
    "types": [PYTHON, "-m", "mypy"],
    "floors": [str(SCRIPTS / "lint-imports"), "--no-cache"],
    "rules": [PYTHON, "-m", "doctor", "rules", "lint"],
}
TESTS = {
    "fast": [*PYTEST, "-m", "not faults", "--deselect", "tests/test_wheel.py", "--deselect", "tests/test_floors.py"],
    "all": PYTEST,
}


def main(mode: str = "all") -> int:
    """Run the steps of a mode; return 1 where any failed, 2 where there is no such mode."""
    if mode not in ("fast", "all", "fix"):
        print(__doc__)
        return 2
    steps = {**(REPAIRS if mode == "fix" else {}), **STEPS, "tests": TESTS["fast" if mode == "fast" else "all"]}
    began = time.monotonic()
    failed = [name for name, command in steps.items() if not passes(name, command)]
    verdict = f"failed: {', '.join(failed)}" if failed else "all passed"
    print(f"{verdict} ({time.monotonic() - began:.0f} s)")
    return 1 if failed else 0


def passes(name: str, command: list[str]) -> bool:
    """Run one step, print its line, and its output where it failed."""
    began = time.monotonic()
    path = os.pathsep.join(part for part in (str(ROOT), os.environ.get("PYTHONPATH", "")) if part)
    try:
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, errors="replace"
        )
        code, output = done.returncode, done.stdout + done.stderr
    except OSError as error:
        code, output = 127, f"{command[0]}: {error.strerror}\n"
    print(f"{'ok    ' if code == 0 else 'FAILED'} {name:<14} {time.monotonic() - began:6.1f} s", flush=True)
    if code:
        print(output.rstrip(), flush=True)
    elif name == "tests":
        print(output.rstrip().rpartition("\n")[2], flush=True)  # how many passed
    return code == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
