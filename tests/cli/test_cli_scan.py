"""``llm-doctor scan`` from the shell: inputs, forms, where the report goes, and the exit code."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from doctor.cli.main import cli

FAILED = """step 1 loss 2.0
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    main()
ZeroShardError: bad shard index 7
"""


def scan(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["scan", *map(str, arguments)], standalone_mode=False)


@pytest.fixture
def failed(tmp_path: Path) -> Path:
    file = tmp_path / "failed.log"
    file.write_text(FAILED)
    return file


@pytest.fixture
def fine(tmp_path: Path) -> Path:
    file = tmp_path / "fine.log"
    file.write_text("step 1 loss 2.0\nstep 2 loss 1.9\n")
    return file


def test_text(failed: Path) -> None:
    result = scan(failed)
    assert result.return_value == 1
    assert "bad shard index 7" in result.stdout.splitlines()[0]
    assert f"{failed}:5" in result.stdout
    assert "\x1b" not in result.stdout


def test_json_and_markdown(failed: Path) -> None:
    document = json.loads(scan(failed, "-f", "json").stdout)
    assert document["verdict"] == "failed"
    assert document["diagnoses"][0]["evidence"][0]["line"] == 5
    assert scan(failed, "--format", "markdown").stdout.startswith("### ")


def test_brief_verbose_and_colour(failed: Path) -> None:
    assert len(scan(failed, "-q").stdout.splitlines()) == 1
    assert len(scan(failed, "-v").stdout) >= len(scan(failed).stdout)
    assert "\x1b[1;31m" in scan(failed, "--color", "always").stdout


def test_healthy_is_0(fine: Path) -> None:
    result = scan(fine)
    assert result.return_value == 0
    assert "Nothing wrong was found" in result.stdout


def test_stdin_by_name_and_by_pipe() -> None:
    for arguments in (["-"], []):
        command = [sys.executable, "-m", "doctor", "scan", *arguments]
        done = subprocess.run(command, input=FAILED, capture_output=True, text=True)
        assert done.returncode == 1
        assert "bad shard index 7" in done.stdout


def test_without_a_path_on_a_terminal_the_usage_is_shown() -> None:
    master, terminal = pty.openpty()
    command = [sys.executable, "-m", "doctor", "scan"]
    done = subprocess.run(command, stdin=terminal, capture_output=True, text=True, timeout=60)
    os.close(master)
    os.close(terminal)
    assert done.returncode == 2
    assert "Name a log file" in done.stderr


def test_what_cannot_be_read_is_2_unless_a_problem_was_found(failed: Path, fine: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.log"
    alone = scan(missing)
    assert alone.return_value == 2
    assert alone.stdout == ""
    assert alone.stderr
    assert scan(fine, missing).return_value == 2
    beside = scan(failed, missing)
    assert beside.return_value == 1
    assert "Could not read" in beside.stdout


def test_rules_that_do_not_load_are_2(failed: Path, tmp_path: Path) -> None:
    bad = tmp_path / "own" / "signatures" / "mine"
    bad.mkdir(parents=True)
    (bad / "broken.yaml").write_text("title: [unclosed\n")
    result = scan(failed, "--rules", tmp_path / "own")
    assert result.return_value == 2
    assert "broken.yaml" in result.stderr
    assert scan(failed, "--rules", tmp_path / "nowhere").return_value == 2


def test_output_file(failed: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    result = scan(failed, "-f", "json", "-o", report)
    assert result.stdout == ""
    assert result.return_value == 1
    assert json.loads(report.read_text())["schema"] == "llm-doctor/scan/1"


@pytest.mark.parametrize("name", ["failed.log", "*.log", "."])
def test_a_log_is_never_overwritten(failed: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(failed.parent)
    result = scan(name, "-o", failed)
    assert result.exception is not None
    assert "is one of the logs" in str(result.exception)
    assert failed.read_text() == FAILED


def test_an_output_that_cannot_be_written_is_said(failed: Path, tmp_path: Path) -> None:
    result = scan(failed, "-o", tmp_path / "no" / "folder" / "x")
    assert "cannot be written" in str(result.exception)


def test_follow_wants_one_file(failed: Path, fine: Path) -> None:
    assert "--follow reads one file" in str(scan("--follow", failed, fine).exception)


def test_follow_reports_again_when_the_answer_changes(fine: Path) -> None:
    command = [sys.executable, "-m", "doctor", "scan", "--follow", "-f", "json", str(fine)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        deadline = threading.Timer(60, child.kill)
        deadline.start()
        assert json.loads(child.stdout.readline())["verdict"] == "healthy"
        with fine.open("a") as log:
            log.write(FAILED)
        assert json.loads(child.stdout.readline())["verdict"] == "failed"
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=30)
        deadline.cancel()
    assert child.returncode == 130
    assert said == "Interrupted.\n"
