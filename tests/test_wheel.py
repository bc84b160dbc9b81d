"""What is installed is what is in the tree: every rule and schema, and nothing that is not code or knowledge."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Return the names in a wheel that is built without reaching out to anything."""
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling, which builds the wheel, is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder)]
    done = subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(ROOT)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(next(folder.glob("llm_doctor-*.whl"))) as wheel:
        return set(wheel.namelist())


def tree(folder: str, inside: str) -> set[str]:
    """Return the files of a folder of the tree, by their name in the wheel."""
    files = [file for file in (ROOT / folder).rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    return {f"{inside}/{file.relative_to(ROOT / folder).as_posix()}" for file in files}


def test_the_wheel_holds_every_rule(members: set[str]) -> None:
    held = {name for name in members if name.startswith("doctor/rules/")}
    assert held == tree("rules", "doctor/rules")
    assert len(held) > 1


def test_the_wheel_holds_the_package_and_nothing_else(members: set[str]) -> None:
    code = {name for name in members if not name.startswith("doctor/rules/") and ".dist-info/" not in name}
    assert code == tree("doctor", "doctor")
    assert "doctor/report/schema/scan-1.json" in code
