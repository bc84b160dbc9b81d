"""The README shows what the program really prints, and its commands are the ones that are run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"(<!-- showcase -->\n```text\n)(.*?)(```\n<!-- /showcase -->)", re.S)


def showcase() -> str:
    """Return the report of the showcase as a terminal of 80 columns without colour shows it."""
    env = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "doctor", "scan", "fixtures/logs/showcase"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stderr
    return re.sub(r" in [\d.]+ m?s;", " in 0.1 s;", done.stdout)


def test_the_readme_shows_what_is_printed() -> None:
    readme = ROOT / "README.md"
    text = readme.read_text()
    wanted = BLOCK.sub(lambda match: match[1] + showcase() + match[3], text)
    if os.environ.get("LLM_DOCTOR_UPDATE"):
        readme.write_text(wanted)
    assert text == wanted, "run this test with LLM_DOCTOR_UPDATE=1 and read the difference"
