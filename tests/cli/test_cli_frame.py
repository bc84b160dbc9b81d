"""The frame of the command line: what is imported, what is said when things go wrong, and with which code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from doctor.cli import main as program
from doctor.cli.lazy import Entry, LazyGroup

# What costs time to import and is not needed to say --help or to read a log.
HEAVY = {
    *("asyncio", "concurrent.futures", "dataclasses", "email", "importlib.metadata", "json", "logging"),
    *("multiprocessing", "psutil", "rich", "socket", "ssl", "textual", "torch", "unittest", "urllib.request", "yaml"),
}


def modules_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def doctor(*arguments: str, stdin: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "doctor", *arguments],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


def test_the_group_imports_no_command() -> None:
    loaded = modules_after("import doctor.cli.main")
    before = modules_after("import click")
    assert (HEAVY | {"hyperscan", "re2"}) & (loaded - before) == set()
    assert {name for name in loaded if name.startswith("doctor.")} == {
        "doctor.cli",
        "doctor.cli.lazy",
        "doctor.cli.main",
    }
    assert "msgspec" not in loaded


def test_the_group_help_lists_the_table_and_imports_no_command() -> None:
    loaded = modules_after("from doctor.cli.main import run\nrun(['--help'])")
    assert "doctor.cli.scan" not in loaded
    result = CliRunner().invoke(program.cli, ["--help"])
    assert result.exit_code == 0
    for name, entry in program.COMMANDS.items():
        assert name in result.output
        assert entry.summary in result.output


@pytest.mark.parametrize("name", program.COMMANDS)
def test_each_command_is_there_and_says_what_the_table_says(name: str) -> None:
    result = CliRunner().invoke(program.cli, [name, "--help"])
    assert result.exit_code == 0, result.output
    entry = program.COMMANDS[name]
    command = program.cli.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    assert (command.help or "").split("\n")[0] == entry.summary


def test_a_scan_of_a_small_log_imports_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("step 1 loss 2.0\n")
    run = f"from doctor.cli.main import run\nrun(['scan', {str(log)!r}])"
    modules_after(run)  # the first one may have to compile the rules
    assert HEAVY & (modules_after(run) - modules_after("import click, msgspec")) == set()


def test_usage_faults_are_code_2() -> None:
    for arguments in ([], ["nonsense"], ["scan", "--format", "xml"], ["scan", "--workers", "-1", "x"]):
        done = doctor(*arguments)
        assert done.returncode == 2, arguments
        assert done.stdout == ""
        assert "Usage:" in done.stderr


def test_version() -> None:
    done = doctor("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("llm-doctor ")


def test_a_fault_of_our_own_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = LazyGroup(name="x", entries={"scan": Entry("doctor.cli.no_such_module:scan", "A broken entry.")})
    monkeypatch.setattr(program, "cli", broken)
    monkeypatch.delenv("LLM_DOCTOR_DEBUG", raising=False)
    assert program.run(["scan"]) == 2
    said = capsys.readouterr().err
    assert "fault of the program" in said
    assert "Traceback" not in said
    assert said.count("\n") == 1
    monkeypatch.setenv("LLM_DOCTOR_DEBUG", "1")
    assert program.run(["scan"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_is_one_line_and_code_130() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "doctor", "scan", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        assert child.stdin is not None
        child.stdin.write(b"step 1 loss 2.0\n" * (1 << 17))  # returns when most of it has been read
        child.stdin.flush()
        child.send_signal(signal.SIGINT)
        out, said = child.communicate(timeout=20)
    assert child.returncode == 130
    assert out == b""
    assert said == b"Interrupted.\n"
