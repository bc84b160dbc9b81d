"""What a whole log yields: exceptions, runs, numbers, signs of life, and the bounds that bite."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from knowledge import OOM, TIMEOUT, signature

from doctor.logs.limit import Limits
from doctor.logs.matcher import Matcher
from doctor.logs.reader import read_log
from doctor.logs.run import BANNERS, Sighting, boundaries
from doctor.logs.source import Source
from doctor.model.log import LogFile

MATCHER = Matcher([OOM, TIMEOUT], [("deepspeed", b"DeepSpeed"), ("transformers", b"transformers")])
OOM_MESSAGE = "CUDA out of memory. Tried to allocate 2.00 GiB."


def read(text: str, limits: Limits | None = None, matcher: Matcher = MATCHER) -> LogFile:
    return read_log(Source(path="log", data=text.encode()), matcher, limits or Limits())


def traceback(message: str, prefix: str = "") -> list[str]:
    return [
        f"{prefix}Traceback (most recent call last):",
        f'{prefix}  File "/app/train.py", line 12, in main',
        f"{prefix}    loss = model(batch)",
        f"{prefix}torch.OutOfMemoryError: {message}",
    ]


def first_lines(log: LogFile) -> list[str]:
    return [block.message.split("\n")[0] for block in log.exceptions]


def test_an_occurrence_knows_its_exception() -> None:
    log = read("\n".join(["start", *traceback(OOM_MESSAGE), "end"]))
    (block,) = log.exceptions
    assert (block.first_line, block.line, block.type) == (2, 5, "torch.OutOfMemoryError")
    assert block.frames[-1].function == "main"
    (occurrence,) = log.occurrences
    assert (occurrence.line, occurrence.exception) == (5, 0)


def test_interleaved_writers_are_kept_apart() -> None:
    zero, one = (
        traceback(OOM_MESSAGE, "[rank0]: "),
        traceback("CUDA out of memory. Tried to allocate 3.00 GiB.", "[rank1]: "),
    )
    log = read("\n".join(line for pair in zip(zero, one, strict=True) for line in pair))
    assert [(block.speaker.rank, block.first_line, block.line) for block in log.exceptions] == [(0, 1, 7), (1, 2, 8)]
    assert [(each.speaker.rank, each.exception) for each in log.occurrences] == [(0, 0), (1, 1)]


def test_chained_exceptions_count_once_and_point_back() -> None:
    lines = [
        *traceback("one"),
        "",
        "During handling of the above exception, another exception occurred:",
        "",
        *traceback("two"),
    ]
    log = read("\n".join(["first", *traceback("zero"), "a healthy line", *lines]))
    assert first_lines(log) == ["zero", "one", "two"]
    assert [block.index for block in log.exceptions] == [0, 1, 2]
    assert [block.chained_to for block in log.exceptions] == [None, None, 1]


def test_many_exceptions_keep_the_first_and_the_last() -> None:
    lines = [line for i in range(30) for line in [*traceback(f"number {i}"), f"healthy {i}"]]
    log = read("\n".join(lines), Limits(exceptions_first=5, exceptions_last=3))
    assert first_lines(log) == [f"number {i}" for i in (0, 1, 2, 3, 4, 27, 28, 29)]
    assert [block.index for block in log.exceptions] == list(range(8))
    assert "22 exceptions" in next(hit.text for hit in log.limits if hit.what == "exceptions")


def test_many_occurrences_are_counted_and_the_ends_kept() -> None:
    log = read(f"{OOM_MESSAGE}\n" * 1000)
    assert log.counts == {OOM.id: 1000}
    lines = [each.line for each in log.occurrences]
    assert lines == [*range(1, 151), *range(951, 1001)]


def test_beyond_the_captures_gates_are_counted() -> None:
    log = read(f"{OOM_MESSAGE}\n" * 9000, Limits(captures=1000))
    assert log.counts == {OOM.id: 9000}
    assert log.occurrences[-1].line == 9000


def test_a_gate_that_is_everywhere_is_given_up_and_told() -> None:
    everywhere = signature("a/everywhere", ("common", "common rare"))
    log = read("common thing\n" * 2000, Limits(misses=500), Matcher([everywhere]))
    assert log.counts == {}
    assert [hit.what for hit in log.limits] == ["misses"]


def test_numbers_become_series() -> None:
    rows = [f"{{'loss': {3 - i / 10}, 'grad_norm': 1.5, 'learning_rate': 1e-05, 'epoch': {i / 10}}}" for i in range(9)]
    rows.append("{'loss': nan, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.9}")
    log = read("\n".join(rows))
    loss = next(each for each in log.series if each.metric == "loss")
    assert list(loss.lines) == list(range(1, 11))
    assert loss.values[0] == 3.0
    assert math.isnan(loss.values[-1])


def test_a_single_nan_is_not_sampled_away() -> None:
    rows = [f"{{'loss': 1.5, 'grad_norm': 1.5, 'learning_rate': 1e-05, 'epoch': {i}}}" for i in range(5000)]
    rows[4321] = "{'loss': nan, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 4321}"
    log = read("\n".join(rows), Limits(number_lines=50))
    loss = next(each for each in log.series if each.metric == "loss")
    assert len(loss.values) < 2000
    assert [line for line, value in zip(loss.lines, loss.values, strict=True) if math.isnan(value)] == [4322]
    assert "numbers" in [hit.what for hit in log.limits]


def test_points_are_bounded() -> None:
    rows = [f"{{'loss': 1.5, 'grad_norm': 1.5, 'learning_rate': 1e-05, 'epoch': {i}}}" for i in range(100)]
    log = read("\n".join(rows), Limits(points=40))
    assert {len(each.values) for each in log.series} == {40}
    assert "points" in [hit.what for hit in log.limits]


def test_signs_of_life_are_thinned_and_keep_the_last() -> None:
    bars = [f" 12%|#  | {i}/90000 [00:01<00:09, 10.0it/s]" for i in range(6000)]
    log = read("\n".join(["no work: 0%| | 0/9 [00:00<?, ?it/s]", *bars, "the end"]), Limits(alive=100))
    assert len(log.alive_lines) <= 101
    assert log.alive_lines == sorted(set(log.alive_lines))
    assert log.alive_lines[0] > 1
    assert log.alive_lines[-1] > 5000


def test_frameworks_are_first_sights() -> None:
    assert read("a\nDeepSpeed\nDeepSpeed transformers\n").frameworks == {"deepspeed": 2, "transformers": 3}


START = "[2024-05-01 10:00:00,000] [INFO] [launch.py:146:main] WORLD INFO DICT: {'localhost': [0, 1]}"


def test_a_relaunch_after_a_failure_is_a_new_run() -> None:
    log = read("\n".join([START, "work", *traceback(OOM_MESSAGE), START, "work", *traceback(OOM_MESSAGE)]))
    assert log.runs == 2
    assert [each.run for each in log.occurrences] == [0, 1]
    assert [each.run for each in log.exceptions] == [0, 1]


def test_one_start_printed_by_many_is_one_run() -> None:
    assert read("\n".join([START, START, "work", START])).runs == 1


def test_series_are_split_by_runs() -> None:
    row = "{'loss': 1.5, 'grad_norm': 1.5, 'learning_rate': 1e-05, 'epoch': 1.0}"
    log = read("\n".join([START, row, row, *traceback(OOM_MESSAGE), START, row]))
    loss = [each for each in log.series if each.metric == "loss"]
    assert [(each.run, list(each.lines)) for each in loss] == [(0, [2, 3]), (1, [9])]


@pytest.mark.parametrize(
    ("sightings", "failures", "begins"),
    [
        ([(10, 0, "a", None)], [], [10]),
        ([(10, 0, "a", None), (12, 0, "b", None)], [11], [10]),  # two nodes tell of one restart
        ([(10, 0, "a", None), (50, 0, "a", None)], [40], [10, 50]),
        ([(10, 1, "", 5.0), (5000, 1, "", 60.0)], [], []),  # far in lines, near in time
        ([(10, 1, "", 5.0), (5000, 1, "", 600.0)], [], [5000]),
        ([(10, 1, "a", None), (20, 1, "b", None)], [15], []),  # another writer's first start
        ([(10, 1, "", None), (20, 2, "", None), (40, 2, "", None), (42, 1, "", None)], [30], [40]),
    ],
)
def test_run_boundaries(
    sightings: list[tuple[int, int, str, float | None]], failures: list[int], begins: list[int]
) -> None:
    assert BANNERS[0].restart
    assert boundaries([Sighting(*each) for each in sightings], failures) == begins


def test_a_hard_wrapped_log_is_read_unwrapped() -> None:
    rows = [
        f"step {i:04d} of the training run that prints one rather long record for every single step it takes"
        for i in range(200)
    ]
    rows.append(
        f"torch.OutOfMemoryError: {OOM_MESSAGE} GPU 1 has a total capacity of 79.15 GiB of which 1.02 GiB is free."
    )
    wrapped = [row[i : i + 80] for row in rows for i in range(0, len(row), 80)]
    log = read("\n".join(wrapped) + "\n")
    (occurrence,) = log.occurrences
    assert occurrence.fields["gpu"] == 1
    assert wrapped[occurrence.line - 1].startswith("torch.OutOfMemoryError")
    assert log.counts == {OOM.id: 1}


def test_a_small_line_limit_cuts_around_the_hit() -> None:
    log = read("x" * 9000 + OOM_MESSAGE + "y" * 9000, Limits(line_bytes=4096))
    assert [len(each.text) <= 4096 and OOM_MESSAGE in each.text for each in log.occurrences] == [True]
    assert [hit.what for hit in log.limits] == ["line"]


def test_cancelling_leaves_what_was_read(tmp_path: Path) -> None:
    path = tmp_path / "long.log"
    path.write_bytes(f"{OOM_MESSAGE}\n".encode() + b"work\n" * 1_000_000)
    seen: list[int] = []
    log = read_log(Source(path=str(path)), MATCHER, Limits(), seen.append, lambda: len(seen) >= 2)
    assert 0 < log.lines < 1_000_000
    assert len(log.occurrences) == 1
    assert [hit.what for hit in log.limits] == ["cancelled"]


def test_progress_is_reported_in_full(tmp_path: Path) -> None:
    path = tmp_path / "long.log"
    path.write_bytes(b"work\n" * 1_000_000)
    seen: list[int] = []
    assert read_log(Source(path=str(path)), MATCHER, on_bytes=seen.append).lines == 1_000_000
    assert sum(seen) == 5_000_000


def test_a_traceback_whose_head_was_cut_off_keeps_its_frames() -> None:
    log = read(
        'ing the state\n  File "train.py", line 4, in main\n    load_model()\n'
        '  File "/x/torch/serialization.py", line 387, in load\n    return _load(f)\nValueError: no\n'
    )
    assert [(block.type, block.line, [frame.function for frame in block.frames]) for block in log.exceptions] == [
        ("ValueError", 6, ["main", "load"])
    ]
