"""Exceptions and fatal lines that stand in a log without a traceback."""

from __future__ import annotations

import re
from typing import Optional

from doctor.logs.line import Line
from doctor.model.log import ExceptionBlock

UNKNOWN_GATES: tuple[bytes, ...] = (
    b"Error: ", b"Exception: ", b"terminate called", b"uncaught exception", b"  what():  ", b"Segmentation fault",
    b"Bus error", b"(core dumped)", b"Illegal instruction", b"Floating point exception", b"Fatal Python error",
    b"*** SIG", b"Caught signal ", b"double free or corruption", b"free(): invalid", b"malloc(): ", b"munmap_chunk(): ",
    b"corrupted size vs. prev_size", b"stack smashing detected", b"panic: ", b"' panicked at ", b"FATAL", b"CRITICAL",
    b"Check failed: ", b"GGML_ASSERT", b"Assertion `", b"Assertion '", b"assert failed", b"Killed",
    b": error: ", b"[E] Error[", b"[TensorRT-LLM][ERROR]", b"error loading model: ", b"CUDA error: ", b"HIP error: ",
)  # fmt: skip

_MESSAGE_CHARACTERS = 6_000
_CALM = frozenset({"DEBUG", "INFO", "NOTICE", "WARNING", "TRACE", "SUCCESS"})
_EXCEPTION = re.compile(
    r"((?:[A-Za-z_]\w{0,80}\.){0,12}(?:[A-Z_]\w{0,80})?(?:Error|Exception)(?:\(\w{1,80}\))?): (?=\S)(.*)", re.DOTALL
)
_LAUNCHERS = (
    r"srun|slurmstepd|sbatch|salloc|mpirun|mpiexec|orterun|prterun|torchrun|deepspeed|accelerate|[\w./-]{1,120}\.py"
)
_Rule = tuple[str, re.Pattern[str]]
# Kind, and the place at the beginning of the message. The first group is what is shown; without one, the whole line.
_RULES: tuple[_Rule, ...] = (
    ("terminate", re.compile(r"terminate called (?:after throwing an instance of '|without an active)")),
    ("terminate", re.compile(r".{0,200}?terminating (?:due to|with) uncaught exception")),
    ("terminate", re.compile(r"\s{1,4}what\(\):  ")),
    ("segfault", re.compile(
        r"(?:bash: line \d+: +\d+ |[\w./-]{1,120}: line \d+: +\d+ )?Segmentation fault(?:\b|$)|"
        r"(?:!!!!!!! |\*\*\* )?(?:Process received )?SIGSEGV|\*\*\* SIGSEGV|Caught signal 11 \(Segmentation fault|"
        r"\[[\w.-]{1,80}:\d{1,8} *(?::\d+)*\] Caught signal 11|(?:Signal: )?Segmentation fault \(11\)")),
    ("bus-error", re.compile(
        r"(?:[\w./-]{1,120}: line \d+: +\d+ )?Bus error|\*\*\* SIGBUS|.{0,60}Caught signal 7 \(Bus error")),
    ("illegal-instruction", re.compile(r"(?:[\w./-]{1,120}: line \d+: +\d+ )?Illegal instruction|\*\*\* SIGILL")),
    ("arithmetic", re.compile(r"(?:[\w./-]{1,120}: line \d+: +\d+ )?Floating point exception|\*\*\* SIGFPE")),
    ("abort", re.compile(r"(?:[\w./-]{1,120}: line \d+: +\d+ )?Aborted +(?:\(core dumped\)|\S)|\*\*\* SIGABRT")),
    ("python-fatal", re.compile(r"Fatal Python error: ")),
    ("heap-corruption", re.compile(
        r"(?:\*\*\* Error in `[^'\n]{1,200}': )?(?:double free or corruption|free\(\): invalid|malloc\(\): |"
        r"munmap_chunk\(\): |corrupted size vs\. prev_size)|\*\*\* stack smashing detected")),
    ("panic", re.compile(r"panic: (?=\S)|thread '[^'\n]{0,120}'(?: \(\d+\))? panicked at ")),
    ("assertion", re.compile(
        r".{0,300}?(?:Check failed: |GGML_ASSERT[(:]|[Aa]ssert(?:ion)? failed)|"
        r"(?:[\w./-]{1,120}: )?[\w./+-]{1,300}:\d{1,9}: .{0,600}?Assertion [`'][^\n]{1,600}' failed")),
    ("tensorrt", re.compile(r"(?:\[TRT(?:-LLM)?\] )?\[E\] Error\[\d{1,3}\]|\[TensorRT-LLM\]\[ERROR\] (?=\S)")),
    ("killed", re.compile(r"(?:[\w./-]{1,120}: line \d+: +\d+ )?Killed(?: {2,}\S.*)?$")),
    ("fatal-line", re.compile(r"\[?(?:FATAL|CRITICAL)(?:\]|[: ])(?=.*[a-z])")),
    ("fatal-line", re.compile(
        r"(?:[\w./-]{1,80}: )?error loading model: (?=\S)|[^'\"\n]{0,200}?(?:CUDA|HIP) error: (?=\S)")),
    ("launcher", re.compile(rf"(?:{_LAUNCHERS})(?: <[^>\n]{{1,80}}>)?: error: (?=\S)")),
)  # fmt: skip
_HARMLESS = re.compile(
    r"pip's dependency resolver|.{0,200}(?:will be (?:ignored|deprecated|removed)|is deprecated|ignoring|falling back)",
    re.IGNORECASE,
)


def bare(line: Line) -> Optional[ExceptionBlock]:
    """Return the exception or the death that a single line names, or None.

    ``type`` is the class of an exception, or a kind: terminate, segfault, bus-error, illegal-instruction, arithmetic,
    abort, python-fatal, heap-corruption, panic, assertion, tensorrt, killed, fatal-line, launcher.
    """
    text = line.text
    if not text or line.level in _CALM or "Warning: " in text[:200]:
        return None
    found = _EXCEPTION.match(text)
    if found:
        return None if _HARMLESS.match(found[2]) else _block(line, found[1], found[2])
    for kind, pattern in _RULES:
        matched = pattern.match(text)
        if matched:
            return _block(line, kind, text.strip())
    if line.level in ("FATAL", "CRITICAL") and text.strip():
        return _block(line, "fatal-line", text.strip())
    return None


def _block(line: Line, kind: str, message: str) -> ExceptionBlock:
    return ExceptionBlock(
        index=0,
        file="",
        first_line=line.number,
        line=line.number,
        type=kind,
        message=message[:_MESSAGE_CHARACTERS],
        speaker=line.speaker,
        time=line.time,
        time_text=line.time_text,
    )
