"""Deaths that stand in a log without a traceback, and lines that only sound like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.logs.exception import TRACEBACK_GATES, UNKNOWN_GATES, bare
from doctor.logs.line import Line, LineParser


def parsed(text: str) -> Line:
    return LineParser().parse(text.encode(), 1)[0]


DEATHS: list[tuple[str, str]] = [
    ("RuntimeError: CUDA error: x", "RuntimeError"),
    ("torch.OutOfMemoryError: CUDA out of memory", "torch.OutOfMemoryError"),
    ("Error: Invalid value for '--x'", "Error"),
    ("[rank3]: ValueError: x", "ValueError"),
    ("(EngineCore_DP0 pid=9) ERROR 09-28 15:47:24 [core.py:718] ValueError: x", "ValueError"),
    ("terminate called after throwing an instance of 'c10::Error'", "terminate"),
    ("  what():  CUDA error: x", "terminate"),
    ("Segmentation fault (core dumped)", "segfault"),
    ("run.sh: line 3: 1234 Segmentation fault      (core dumped) python x.py", "segfault"),
    ("!!!!!!! Segfault encountered !!!!!!!\n", ""),
    ("[node7:123  :0:123] Caught signal 11 (Segmentation fault: address not mapped)", "segfault"),
    ("*** SIGSEGV received at time=1 on cpu 3 ***", "segfault"),
    ("Bus error (core dumped)", "bus-error"),
    ("Illegal instruction (core dumped)", "illegal-instruction"),
    ("Floating point exception (core dumped)", "arithmetic"),
    ("Aborted (core dumped)", "abort"),
    ("Fatal Python error: Segmentation fault", "python-fatal"),
    ("double free or corruption (!prev)", "heap-corruption"),
    ("malloc(): invalid size (unsorted)", "heap-corruption"),
    ("panic: runtime error: index out of range", "panic"),
    ("thread 'main' panicked at src/main.rs:3:5:", "panic"),
    ("F1130 03:12:44.123 1234 file.cpp:12] boom", "fatal-line"),
    ("F1130 03:12:44.123 1234 file.cpp:12] Check failed: x == y", "assertion"),
    ("CRITICAL:root:boom", "fatal-line"),
    ("2026-11-30 03:12:44,123 - x - CRITICAL - boom", "fatal-line"),
    ("[FATAL] cannot go on", "fatal-line"),
    ("Killed", "killed"),
    ("run.sh: line 3: 1234 Killed                  python x.py", "killed"),
    ("GGML_ASSERT(n_tokens > 0) failed", "assertion"),
    ("/x/ggml.c:123: GGML_ASSERT(n > 0) failed", "assertion"),
    ("python: /x/y.cc:12: void f(): Assertion `x' failed.", "assertion"),
    ("/usr/include/c++/16/bits/stl_vector.h:1251: T& f(): Assertion '__n < this->size()' failed.", "assertion"),
    ("[TRT] [E] Error[1]: x", "tensorrt"),
    ("[TensorRT-LLM][ERROR] ICudaEngine: Error Code 1: x", "tensorrt"),
    ("srun: error: node7: task 3: Segmentation fault", "launcher"),
    ("train.py: error: the following arguments are required: --x", "launcher"),
]


@pytest.mark.parametrize(("text", "kind"), DEATHS, ids=[case[0][:40] for case in DEATHS])
def test_deaths_without_a_traceback(text: str, kind: str) -> None:
    block = bare(parsed(text))
    assert (block.type if block else "") == kind
    if kind and not text.startswith("F1130"):
        assert any(gate in text.encode() for gate in UNKNOWN_GATES)


@pytest.mark.parametrize(
    "text",
    [
        "UserWarning: x is deprecated",
        "/x.py:3: FutureWarning: RuntimeError: x",
        "WARNING:root:ImportError: no flash_attn",
        "WARNING 09-28 15:47:24 [core.py:718] ImportError: x",
        "INFO:root:RuntimeError: retried",
        "errors=0",
        "Error rate: 0.1",
        "Word Error Rate: 0.2",
        "eval_error: 0.3",
        "  --error: what to do",
        "on_error: retry",
        '"error": null',
        "ERROR: pip's dependency resolver does not currently take into account all the packages",
        "raise ValueError: x",
        "expect RuntimeError: x in the log",
        "killed 3 workers",
        "The process was Killed",
        "FATAL_LEVEL = 3",
        "",
    ],
)
def test_what_is_no_death(text: str) -> None:
    assert bare(parsed(text)) is None


def test_gates_are_long_enough_to_be_rare() -> None:
    assert all(len(gate) >= 5 for gate in (*TRACEBACK_GATES, *UNKNOWN_GATES))


@given(st.text(max_size=300))
def test_any_text_is_answered(text: str) -> None:
    found = bare(Line(number=1, text=text))
    assert found is None or found.type
