"""Prefixes: what each dialect tells, stacked in any order, and texts that only look like one."""

from __future__ import annotations

from typing import Any

import pytest

from doctor.logs.line import LineParser

# Physical line, message, and what the prefixes tell (only the parts named are compared).
PREFIXES: list[tuple[str, str, dict[str, Any]]] = [
    ("[rank3]:   File \"/x.py\", line 3", "  File \"/x.py\", line 3",
     {"stream": "rank3", "rank": 3, "local_rank": None}),
    ("[default3]:RuntimeError: x", "RuntimeError: x", {"stream": "default3", "rank": None, "local_rank": 3}),
    ("[rank0]: [rank0]:   File", "  File", {"stream": "rank0", "rank": 0}),
    ("[TensorRT-LLM][ERROR] x", "[TensorRT-LLM][ERROR] x", {"level": "ERROR"}),
    ("[default3]:[rank11]: x", "x", {"rank": 11, "local_rank": 3}),
    ("[rank3]:[E1130 03:12:44.123456789 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught", "[Rank 3] Watchdog caught",
     {"stream": "rank3", "rank": 3, "local_rank": None, "level": "ERROR", "time_text": "1130 03:12:44.123456789"}),
    ("[rank6]:[E217 00:13:05.609415848 P.cpp:1484] [PG ID 0 PG GUID 0(default_pg) Rank 6] x",
     "[PG ID 0 PG GUID 0(default_pg) Rank 6] x", {"rank": 6, "level": "ERROR"}),
    ("[W1130 03:12:44.123456789 socket.cpp:460] [c10d] x", "[c10d] x", {"level": "WARNING", "stream": ""}),
    ("[E P.cpp:1] x", "[E P.cpp:1] x", {}),
    ("E1130 03:12:44.123000 1234 torch/api.py:869] failed", "failed", {"level": "ERROR", "pid": 1234, "stream": ""}),
    ("F1130 03:12:44.123 1234 file.cpp:12] boom", "boom", {"level": "FATAL"}),
    ("3: Traceback (most recent call last):", "Traceback (most recent call last):", {"stream": "3", "rank": 3}),
    (" 12: RuntimeError: x", "RuntimeError: x", {"rank": 12}),
    ("node01: [2026-11-30 03:12:44,123] [INFO] [engine.py:12:fn] [Rank 0] step=10", "step=10",
     {"stream": "node01", "node": "node01", "rank": 0, "level": "INFO"}),
    ("[1,3]<stderr>:RuntimeError", "RuntimeError", {"stream": "1,3", "rank": 3}),
    ("[1,mpirank:3,algo-1]<stderr>:x", "x", {"rank": 3, "node": "algo-1"}),
    ("[node07:12345] *** Process received signal ***", "*** Process received signal ***",
     {"node": "node07", "pid": 12345}),
    ("(Worker pid=7, ip=10.0.0.2) x", "x", {"stream": "(Worker pid=7, ip=10.0.0.2)", "node": "10.0.0.2", "pid": 7}),
    ("\x1b[36m(RayTrainWorker pid=123)\x1b[0m   File", "  File", {"stream": "(RayTrainWorker pid=123)", "pid": 123}),
    ("[36m(RayTrainWorker pid=123)[0m x", "x", {"stream": "(RayTrainWorker pid=123)"}),
    ("(raylet, ip=10.0.0.2) x", "x", {"node": "10.0.0.2"}),
    ("(EngineCore_DP0 pid=9) ERROR 09-28 15:47:24 [core.py:718]   File", "  File",
     {"stream": "(EngineCore_DP0 pid=9)", "pid": 9, "level": "ERROR", "time_text": "09-28 15:47:24"}),
    ("(VllmWorker rank=1 pid=8) x", "x", {"rank": 1, "pid": 8}),
    ("(Worker_TP1 pid=9) ERROR 12-13 11:54:35 [multiproc_executor.py:826]     with", "    with", {"rank": 1}),
    ("(EngineCore_DP0 pid=1) (Worker_TP0 pid=2) WARNING 09-28 15:47:24 [a.py:1] x", "x",
     {"stream": "(EngineCore_DP0 pid=1)/(Worker_TP0 pid=2)", "level": "WARNING"}),
    ("[2025-12-13T19:54:35Z] (Worker_TP0 pid=9) ERROR 12-13 11:54:35 [a/b.py:826] x", "x",
     {"time_text": "2025-12-13T19:54:35Z", "level": "ERROR"}),
    ("(APIServer pid=1) INFO:     Started server process [1]", "Started server process [1]", {"level": "INFO"}),
    ("INFO 02-12 19:33:41 [vllm.py:751] x", "x", {"level": "INFO", "stream": ""}),
    ("[2025-01-02 03:04:05 TP0] x", "x", {"stream": "TP0", "rank": 0}),
    ("[2025-01-02 03:04:05 DP1 TP0 EP0] x", "x", {"stream": "DP1 TP0 EP0", "rank": None}),
    ("trainer-1  | x", "x", {"stream": "trainer-1"}),
    ("Nov 30 03:12:44 node7 kernel: [12345.678901] NVRM: Xid", "NVRM: Xid",
     {"node": "node7", "time_text": "Nov 30 03:12:44"}),
    ("node7 python[123]: x", "x", {"node": "node7", "pid": 123}),
    ("2026-11-30T03:12:44.5+0000 node7 python[12]: x", "x", {"node": "node7", "pid": 12}),
    ("[12345.678901] NVRM: Xid", "NVRM: Xid", {"time": None, "time_text": "12345.678901"}),
    ("[Mon Nov 30 03:12:44 2026] NVRM: x", "NVRM: x", {"time": 1796008364.0}),
    ("<3>[12345.678901] x", "x", {"level": "ERROR"}),
    ('{"log":"RuntimeError: x\\n","stream":"stderr","time":"2026-11-30T03:12:44.5Z"}', "RuntimeError: x",
     {"time": 1796008364.5}),
    ('{"event": "x", "level": "error", "rank": 3, "pid": 7}', "x", {"level": "ERROR", "rank": 3, "pid": 7}),
    ("2026-11-30T03:12:44.123456789Z stderr F   File", "  File", {"time_text": "2026-11-30T03:12:44.123456789Z"}),
    ("2026-11-30T03:12:44.123456789Z stderr P part", "part", {}),
    ("[pod/x-0/main] x", "x", {"stream": "pod/x-0/main"}),
    ("2026-11-30 03:12:44,123 - name.x - ERROR - x", "x", {"level": "ERROR"}),
    ("10/28/2024 12:00:00 - INFO - __main__ - ***** Running", "***** Running", {"level": "INFO"}),
    ("2026-11-30 03:12:44,123 - INFO - one - two", "one - two", {"level": "INFO"}),
    ("2026-11-30 03:12:44,123 ERROR x", "x", {"level": "ERROR"}),
    ("[2025-05-20 10:05:56,819] [INFO] [axolotl.load_model:1326] [PID:12] [RANK:3] x", "x",
     {"rank": 3, "pid": 12, "stream": ""}),
    ("INFO:name.x:message", "message", {"level": "INFO"}),
    ("[INFO|trainer.py:123] 2026-11-30 03:12:44,123 >> x", "x",
     {"level": "INFO", "time_text": "2026-11-30 03:12:44,123"}),
    ("[WARNING|2024-04-29 13:28:50] llamafactory.x:123 >> x", "x", {"level": "WARNING"}),
    ("[NeMo E 2026-11-30 03:12:44 nemo_logging:349] x", "x", {"level": "ERROR"}),
    ("2026-11-30 03:12:44.123 | ERROR    | mod.x:fn:12 - x", "x", {"level": "ERROR"}),
    ("[09/28/24 12:00:00] ERROR    CUDA error                 train.py:123", "CUDA error", {"level": "ERROR"}),
    ("                    INFO     epoch is incremented.      util.py:779", "epoch is incremented.", {"level": "INFO"}),
    ("2026-11-30 03:12:44.123456: E tensorflow/stream.cc:12] x", "x", {"level": "ERROR"}),
    ("node7:123:456 [3] NCCL INFO x", "NCCL INFO x",
     {"stream": "node7:123", "node": "node7", "pid": 123, "local_rank": 3}),
    ("[2026-11-30 03:12:44] 10.0.0.1:123:456 [3] misc/x.cc:12 NCCL WARN x", "misc/x.cc:12 NCCL WARN x",
     {"node": "10.0.0.1", "local_rank": 3}),
    ("2025-12-13T19:54:35.1234567Z ##[error]x", "##[error]x", {"time_text": "2025-12-13T19:54:35.1234567Z"}),
    ("10.0.0.1: [2026-11-30 03:12:44,123] [INFO] x", "x", {"node": "10.0.0.1", "level": "INFO"}),
    (">   File x", "  File x", {}),
    ("> RuntimeError: x", "RuntimeError: x", {}),
    ("```RuntimeError: x", "RuntimeError: x", {}),
    ("\u200b0: Traceback (most recent call last):", "Traceback (most recent call last):", {"rank": 0}),
    (" [2024-04-06 02:59:36] iteration       43/     100 | x", "iteration       43/     100 | x",
     {"time_text": "2024-04-06 02:59:36"}),
    ("[titan] 2025-01-02 03:04:05,678 - root - INFO - step: 1", "step: 1", {"level": "INFO"}),
    ("[1732937564.123456] [node07:1234 :0]     ucp_worker.c:1783 UCX  ERROR x", "ucp_worker.c:1783 UCX  ERROR x",
     {"node": "node07", "pid": 1234}),
    ("18:11:06.680 [rank4]:[E205 18:11:06.375750231 P.cpp:1870] x", "x", {"rank": 4}),
    ("22:17:36-821197 INFO     Starting up", "Starting up", {"level": "INFO", "time_text": "22:17:36-821197"}),
    ("0.21.532.942 E srv  load: x", "srv  load: x", {"level": "ERROR"}),
    ("[2025-10-09 11:58:17][ERROR] x", "x", {"level": "ERROR"}),
    ("2023-08-31 16:39:05 INFO:Loading x...", "Loading x...", {"level": "INFO"}),
    ("[12/01/2024-10:20:30] [TRT] [E] Error[1]: x", "[TRT] [E] Error[1]: x", {"time_text": "12/01/2024-10:20:30"}),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "text", "told"), PREFIXES, ids=[case[0][:50] for case in PREFIXES])
def test_prefix(raw: str, text: str, told: dict[str, Any]) -> None:
    (line,) = LineParser().parse(raw.encode(), 7)
    assert line.text == text
    for name, value in told.items():
        got = getattr(line, name) if name in ("level", "time", "time_text") else getattr(line.speaker, name)
        assert got == value, name


def test_order_of_lines_changes_no_prefix() -> None:
    parser = LineParser()
    for _ in range(2):
        for raw, text, _told in PREFIXES:
            assert [line.text for line in parser.parse(raw.encode(), 1)] == [text]


@pytest.mark.parametrize(
    "raw",
    [
        "Error 12: x",
        "RuntimeError: CUDA error",
        "torch.OutOfMemoryError: CUDA out of memory",
        "12:03:44 x",
        "0: 0.12",
        '  "12": 3',
        "12: learning_rate",
        "key1: value",
        "epoch3: loss 2",
        "cuda:0: x",
        "Error: [2026] x",
        "ERROR: Could not find a version",
        "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x98",
        "[ 12%] Building CXX object",
        "[Rank 3] Watchdog caught",
        "[1] 12345 killed",
        "(most recent call last)",
        "(foo bar) x",
        "> building train, validation, and test datasets",
        "epoch-1 | train loss 2.3",
        "[Epoch1]: loss 2.3",
        "1. step one",
        "{'loss': 2.0}",
        '{"loss": 2.0, "epoch": 1}',
        "[tensor(1.), 2]: x",
        "INFO about x",
        "name | value",
        "GPU 0: NVIDIA H100 80GB HBM3",
    ],
)
def test_message_is_left_whole(raw: str) -> None:
    (line,) = LineParser().parse(raw.encode(), 1)
    assert line.text == raw


def test_label_is_peeled_once_labels_repeat() -> None:
    parser = LineParser()
    rows = [b"0: one", b"1: one", b"0: two", b"1: two", b"0: three"]
    assert parser.parse(rows[0], 1)[0].text == "0: one"
    for row in rows[1:]:
        last = parser.parse(row, 1)
    assert (last[0].text, last[0].speaker.rank) == ("three", 0)


def test_host_is_peeled_once_it_has_shown_itself() -> None:
    parser = LineParser()
    assert parser.parse(b"node01: hello", 1)[0].text == "node01: hello"
    parser.parse(b"node01: [2026-11-30 03:12:44,123] [INFO] x", 2)
    assert parser.parse(b"node01: hello", 3)[0].text == "hello"
    assert parser.parse(b"node02: hello", 4)[0].text == "node02: hello"
