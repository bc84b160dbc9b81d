"""Tracebacks of every make, interleaved, boxed, prefixed, chained, cut off."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.logs.exception import ExceptionReader
from doctor.logs.line import Line, LineParser
from doctor.model.log import ExceptionBlock


def parsed(text: str) -> list[Line]:
    parser = LineParser()
    return [line for number, row in enumerate(text.split("\n"), 1) for line in parser.parse(row.encode(), number)]


def read(text: str, marker: int = 0) -> list[ExceptionBlock]:
    lines = parsed(text)
    starts = [n for n, line in enumerate(lines) if "Traceback (most recent call last)" in line.text]
    return ExceptionReader().read(lines[starts[marker] :])


def places(block: ExceptionBlock) -> list[tuple[str, int, str, str]]:
    return [(frame.file, frame.line, frame.function, frame.code) for frame in block.frames]


PLAIN = """\
Traceback (most recent call last):
  File "/a/train.py", line 3, in main
    trainer.train(
    ^^^^^^^^^^^^^
  File "/t/module.py", line 1553, in _call_impl
    return forward_call(*args)
           ~~~~~~~~~~~~^^^^^^^
  [Previous line repeated 12 more times]
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
CUDA kernel errors might be asynchronously reported
\tsecond line

Program goes on
"""
FRAMES = [
    ("/a/train.py", 3, "main", "trainer.train("),
    ("/t/module.py", 1553, "_call_impl", "return forward_call(*args)"),
]
PREFIXES = (
    "", "[rank3]: ", "3: ", "(Worker_TP1 pid=9) ", "(EngineCore_DP0 pid=9) ERROR 09-28 15:47:24 [core.py:718] ",
    "2026-11-30T03:12:44.5Z stderr F ", "trainer-1  | ", "[1,3]<stderr>:", "\x1b[36m(RayTrainWorker pid=1)\x1b[0m ",
    "│ ",
)  # fmt: skip


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_traceback_behind_every_prefix(prefix: str) -> None:
    text = "\n".join(prefix + row for row in PLAIN.split("\n"))
    (block,) = read(text)
    assert block.type == "torch.OutOfMemoryError"
    assert block.message.split("\n")[:2] == [
        "CUDA out of memory. Tried to allocate 2.00 GiB.",
        "CUDA kernel errors might be asynchronously reported",
    ]
    assert "Program" not in block.message
    assert places(block) == FRAMES
    assert (block.first_line, block.line, block.index, block.chained_to) == (1, 9, 0, None)


@pytest.mark.parametrize("tail", [2, 4, 6, 8])
def test_cut_off(tail: int) -> None:
    (block,) = read("\n".join(PLAIN.split("\n")[:tail]))
    assert (block.type, block.message) == ("", "")
    assert places(block)[0][:3] == FRAMES[0][:3]


def test_a_marker_alone_is_no_exception() -> None:
    assert read("Traceback (most recent call last):") == []


def test_two_ranks_at_once() -> None:
    rows = PLAIN.split("\n")[:9]
    other = [row.replace("OutOfMemoryError: CUDA out of memory", "cuda.Other: x") for row in rows]
    text = "\n".join(f"[rank0]: {one}\nnoise\n[rank1]: {two}" for one, two in zip(rows, other, strict=True))
    (first,), (second,) = read(text, 0), read(text, 1)
    assert (first.type, first.speaker.rank) == ("torch.OutOfMemoryError", 0)
    assert (second.type, second.speaker.rank) == ("torch.cuda.Other", 1)
    assert places(first) == places(second) == FRAMES


def test_another_record_of_the_same_writer_in_between() -> None:
    rows = PLAIN.split("\n")
    rows.insert(2, "[2023-11-16 11:33:53,454] [INFO] [axolotl.utils:178] [PID:80] [RANK:0] packing: 0.78")
    rows.insert(6, "Loading checkpoint shards:  50%|█████ | 1/2 [00:01<00:01,  1.0s/it]")
    (block,) = read("\n".join(rows))
    assert block.type == "torch.OutOfMemoryError"
    assert places(block) == FRAMES


def test_a_logger_prefixes_only_the_first_row() -> None:
    head, rest = PLAIN.split("\n", 1)
    (block,) = read(f"[2025-01-02 03:04:05 TP0] Scheduler hit an exception: {head}\n{rest}")
    assert (block.type, block.speaker.rank, places(block)) == ("torch.OutOfMemoryError", 0, FRAMES)
    assert block.speaker.stream == "", "what matches inside it is on the stream of its rows"


def test_the_next_record_ends_the_message() -> None:
    (block,) = read(
        "2026-11-30 03:12:44,123 - t - ERROR - failed\nTraceback (most recent call last):\n"
        '  File "/s/x.py", line 2, in f\n    raise\nsocket.timeout: timed out\n'
        "2026-11-30 03:12:45,123 - t - INFO - go on"
    )
    assert (block.type, block.message) == ("socket.timeout", "timed out")


@pytest.mark.parametrize(
    "end",
    ["srun: error: node7: task 3: Exited", "  5%|▌ | 5/100 [00:01<00:02, 1it/s]", "=" * 60, "wandb: Run summary:",
     "Process Process-1:", "ValueError: other", "{'loss': 2.0}"],
)  # fmt: skip
def test_what_is_no_more_of_the_message(end: str) -> None:
    (block,) = read(f'Traceback (most recent call last):\n  File "/x.py", line 2, in f\nRuntimeError: one\n{end}')
    assert block.message == "one"


@pytest.mark.parametrize(
    ("last", "kind", "message"),
    [
        ("AssertionError", "AssertionError", ""),
        ("KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("SystemExit: 1", "SystemExit", "1"),
        ("StopIteration", "StopIteration", ""),
        ("torch.distributed.DistBackendError: NCCL error", "torch.distributed.DistBackendError", "NCCL error"),
        ("pydantic_core._pydantic_core.ValidationError: 1", "pydantic_core._pydantic_core.ValidationError", "1"),
        ("subprocess.TimeoutExpired: x", "subprocess.TimeoutExpired", "x"),
        ("zmq.error.Again: Resource temporarily unavailable", "zmq.error.Again", "Resource temporarily unavailable"),
        ("MyOwnProblem: x", "MyOwnProblem", "x"),
    ],
)  # fmt: skip
def test_names_of_exceptions(last: str, kind: str, message: str) -> None:
    (block,) = read(f'Traceback (most recent call last):\n  File "/x.py", line 2, in f\n    g()\n{last}')
    assert (block.type, block.message) == (kind, message)


@pytest.mark.parametrize(
    ("head", "outer"),
    [
        ("ray.exceptions.RayTaskError(OutOfMemoryError): ray::W.actor() (pid=123, ip=10.0.0.1)",
         "ray.exceptions.RayTaskError(OutOfMemoryError)"),
        ("RuntimeError: Caught OutOfMemoryError in DataLoader worker process 0.\n"
         "Original Traceback (most recent call last):", "RuntimeError"),
        ("torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 1 terminated with the following error:\n"
         "Traceback (most recent call last):", "torch.multiprocessing.spawn.ProcessRaisedException"),
    ],
)  # fmt: skip
def test_a_remote_traceback_comes_before_what_carries_it(head: str, outer: str) -> None:
    remote = PLAIN.split("\n", 1)[1]
    first, second = read(
        f'Traceback (most recent call last):\n  File "/m.py", line 3, in main\n    get(x)\n{head}\n{remote}'
    )
    assert (first.type, first.chained_to, places(first)) == ("torch.OutOfMemoryError", None, FRAMES)
    assert (second.type, second.chained_to, places(second)) == (outer, 0, [("/m.py", 3, "main", "get(x)")])


def test_tasks_that_wait_for_tasks() -> None:
    frame = '  File "/{0}.py", line 1, in {0}\n    {0}()\n'
    blocks = read(
        "Traceback (most recent call last):\n" + frame.format("main")
        + "ray.exceptions.RayTaskError(OutOfMemoryError): ray::Runner.run() (pid=1)\n" + frame.format("run")
        + "ray.exceptions.RayTaskError(OutOfMemoryError): ray::W.update() (pid=2)\n" + frame.format("update")
        + "torch.OutOfMemoryError: x"
    )  # fmt: skip
    assert [(block.frames[0].function, block.chained_to) for block in blocks] == [
        ("update", None),
        ("run", 0),
        ("main", 1),
    ]


def test_it_stops_by_itself() -> None:
    lines = parsed(PLAIN + "x\n" * 10)
    taken = 0

    def counted() -> object:
        nonlocal taken
        for line in [*lines, *[Line(number=99, text="more")] * 10_000]:
            taken += 1
            yield line

    assert len(ExceptionReader("f").read(counted())) == 1  # type: ignore[arg-type]
    assert taken < 30


ROWS = st.sampled_from(
    [
        *PLAIN.split("\n"), "ValueError: x", '"""', "  | x", "  +-+---------------- 1 ----------------", "    +----",
        "During handling of the above exception, another exception occurred:", "│ /x.py:3 in f │", "❱ 3 x",
        "Original Traceback (most recent call last):", "ray::f()", "[rank1]: x", "----> 1 x",
    ]
)  # fmt: skip


@given(st.lists(ROWS, max_size=40))
def test_any_rows_are_answered(rows: list[str]) -> None:
    blocks = ExceptionReader().read(parsed("\n".join(rows)))
    assert [block.index for block in blocks] == list(range(len(blocks)))
    for block in blocks:
        assert block.chained_to is None or 0 <= block.chained_to < len(blocks)
        assert block.type or block.frames


@given(st.text(max_size=300))
def test_any_text_is_answered(text: str) -> None:
    ExceptionReader().read([Line(number=1, text=text), Line(number=2, text=text)])
