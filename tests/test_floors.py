"""The floors hold, stdout has one writer, and the test command is the one the README shows."""

from __future__ import annotations

import ast
import subprocess
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_imports_only_go_down() -> None:
    linter = Path(sysconfig.get_path("scripts")) / "lint-imports"
    done = subprocess.run([str(linter), "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_only_the_console_writes_to_the_standard_streams() -> None:
    writers = []
    for file in sorted((ROOT / "doctor").rglob("*.py")):
        if file == ROOT / "doctor/report/console.py":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "print",
                "click.echo",
                "click.secho",
                "sys.stdout.write",
                "sys.stderr.write",
            ):
                writers.append(f"{file.relative_to(ROOT)}:{node.lineno}")
    assert writers == []


def test_every_package_states_its_charter() -> None:
    for file in sorted((ROOT / "doctor").glob("*/__init__.py")):
        docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
        assert docstring, file
        assert docstring.startswith("Floor "), file


def test_the_pipeline_runs_what_the_readme_says() -> None:
    done = subprocess.run([ROOT / ".ci/run", "--show"], capture_output=True, text=True, check=True)
    assert "python tests/check.py" in done.stdout
    assert done.stdout.strip() in (ROOT / "README.md").read_text(encoding="utf-8")
