"""Logs that grow, rotate and shrink while they are read."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from knowledge import OOM

from doctor.logs.follow import follow_log
from doctor.logs.matcher import Matcher
from doctor.logs.source import Source
from doctor.model.log import LogFile

LINE = "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"


@pytest.fixture
def following(tmp_path: Path) -> Iterator[Callable[[], Iterator[LogFile]]]:
    stop = threading.Event()
    path = tmp_path / "train.log"
    path.write_text("one\ntwo\n")

    def start() -> Iterator[LogFile]:
        return follow_log(Source(path=str(path)), Matcher([OOM]), interval=0.02, cancelled=stop.is_set)

    timer = threading.Timer(20, stop.set)
    timer.start()
    yield start
    timer.cancel()


def until(snapshots: Iterator[LogFile], lines: int) -> LogFile:
    """Return the first snapshot with so many lines."""
    return next(log for log in snapshots if log.lines >= lines)


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_a_growing_file(tmp_path: Path, following: Callable[[], Iterator[LogFile]]) -> None:
    path = tmp_path / "train.log"
    snapshots = following()
    assert until(snapshots, 2).occurrences == []
    append(path, LINE[:40])
    append(path, LINE[40:] + "after\n")
    log = until(snapshots, 4)
    assert [each.line for each in log.occurrences] == [3]
    append(path, LINE)
    assert [each.line for each in until(snapshots, 5).occurrences] == [3, 5]


def test_rotation_by_renaming(tmp_path: Path, following: Callable[[], Iterator[LogFile]]) -> None:
    path = tmp_path / "train.log"
    snapshots = following()
    until(snapshots, 2)
    append(path, LINE)
    path.rename(tmp_path / "train.log.1")
    path.write_text("new\n" + LINE)
    log = until(snapshots, 5)
    assert [each.line for each in log.occurrences] == [3, 5]
    assert [hit.what for hit in log.limits] == ["rotated"]


def test_truncation(tmp_path: Path, following: Callable[[], Iterator[LogFile]]) -> None:
    path = tmp_path / "train.log"
    append(path, "three\nfour\nfive\n" * 20)
    snapshots = following()
    until(snapshots, 62)
    path.write_text(LINE)
    assert [each.line for each in until(snapshots, 63).occurrences] == [63]


def test_a_fifo_ends_with_its_writer(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_text("one\n" + LINE + "no newline at the end"))
    writer.start()
    snapshots = list(follow_log(Source(path=str(path)), Matcher([OOM]), interval=0.02))
    writer.join()
    assert snapshots[-1].lines == 3
    assert [each.line for each in snapshots[-1].occurrences] == [2]


def test_a_missing_file_is_a_sentence(tmp_path: Path) -> None:
    (log,) = follow_log(Source(path=str(tmp_path / "none")), Matcher([OOM]))
    assert log.failure == "No such file or folder."
