"""The progress line: nothing for a quick scan, nothing left behind by a slow one."""

from __future__ import annotations

import io

from doctor.exam.scan import Progress
from doctor.report.progress import ProgressBar


def test_a_quick_scan_draws_nothing() -> None:
    stream = io.StringIO()
    bar = ProgressBar(stream, clock=iter([0.0, 0.1, 0.4]).__next__)
    bar.update(Progress(0, 1, 10, 100))
    bar.update(Progress(1, 1, 100, 100))
    bar.close()
    assert stream.getvalue() == ""


def test_a_slow_scan_is_drawn_seldom_and_erased() -> None:
    stream = io.StringIO()
    bar = ProgressBar(stream, clock=iter([0.0, 0.6, 0.65, 0.8]).__next__)
    for done in (25, 30, 50):
        bar.update(Progress(1, 4, done << 20, 100 << 20))
    bar.close()
    assert stream.getvalue().split("\r\x1b[K") == [
        "",
        "Reading [######..................]  25% of 100 MiB, 1 of 4 files",
        "Reading [############............]  50% of 100 MiB, 1 of 4 files",
        "",
    ]


def test_a_pipe_has_no_known_end() -> None:
    stream = io.StringIO()
    bar = ProgressBar(stream, clock=iter([0.0, 1.0]).__next__)
    bar.update(Progress(0, 1, 7 << 20, 0))
    assert stream.getvalue() == "\r\x1b[KReading: 7 MiB"
