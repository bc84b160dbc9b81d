"""The knowledge as nouns: signatures, trees and causes, as their YAML files say them.

Ids come from paths below ``rules/``: ``signatures/gpu-memory/cuda-oom.yaml`` is ``gpu-memory/cuda-oom``,
``trees/gpu-memory.yaml`` is ``gpu-memory`` and ``causes/gpu-memory/demand.yaml`` is ``gpu-memory.demand``.
"""

from __future__ import annotations

from typing import Union

import msgspec

from doctor.model.vocabulary import Confidence, Risk, Role, Severity

Value = Union[str, int, float, bool]


class Pattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One wording of a message.

    ``gate`` is a literal that every match contains; bytes are searched for it, and only lines that hold it
    are decoded and given to ``regex`` (RE2 syntax, searched, not anchored). With ``lines`` above 1 the regex
    sees the hit line and up to ``lines - 1`` following lines of the same stream, joined by a newline.
    """

    gate: str
    regex: str
    lines: int = 1


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line (or several, newline-separated) that the signature matches, with what it captures.

    ``captures`` maps capture names to the converted value: bytes as a whole number, seconds as a float.
    """

    line: str
    captures: dict[str, Value] = {}


class NearMiss(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line that looks alike and must not match, with the reason."""

    why: str
    line: str


class Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A log pattern: a claim that certain text appeared, and nothing more.

    ``patterns`` match lines; ``detector`` instead names a judgement over the numbers in the log
    (see ``doctor.engine.series``). ``opens`` names the tree to walk; ``cause`` settles the matter at once;
    a signature with neither is context that trees may ask about. ``sets`` are constant fields that the
    signature adds to its captures (the operator, the back end, the device kind). ``recovers`` names signatures
    whose failure this line shows to have been got over (a retry with less, a fallback): what they reported before it
    in the same file and run is then no cause of anything.
    """

    title: str
    role: Role
    severity: Severity
    emitter: str
    says_not: str
    id: str = ""
    patterns: tuple[Pattern, ...] = ()
    detector: str = ""
    captures: dict[str, str] = {}
    sets: dict[str, Value] = {}
    opens: str = ""
    cause: str = ""
    recovers: tuple[str, ...] = ()
    confidence: Confidence = Confidence.LIKELY
    examples: tuple[Example, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()
    references: tuple[str, ...] = ()
    origin: str = ""  # file that defines it, for messages


class Leaf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The end of a walk: a cause, and how sure the path makes it."""

    cause: str
    confidence: Confidence = Confidence.LIKELY


Exit = Union[str, Leaf]


class Node(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One question. ``when`` is an expression; all three exits are compulsory.

    ``why`` tells the reader why it is asked, ``probe`` which fact would answer it, and ``how`` the command
    or the look at the set-up that a person would answer it with.
    """

    ask: str
    when: str
    then: Exit
    otherwise: Exit = msgspec.field(name="else")
    unknown: Exit
    why: str = ""
    probe: str = ""
    how: str = ""


class Tree(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The questions between a signal and its cause.

    ``let`` names values computed once from the evidence (in order, each may use the earlier ones); they are
    at hand as plain names in every ``when`` and every text, and are shown among the facts of the diagnosis.
    """

    title: str
    start: str
    nodes: dict[str, Node]
    id: str = ""
    let: dict[str, str] = {}
    references: tuple[str, ...] = ()
    origin: str = ""


class Setting(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a remedy is carried out under one framework: a command, a variable or an edit."""

    run: str = ""
    set: str = ""
    edit: str = ""


class RemedyRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One fix. ``when`` may leave it out (only where it is false; unknown keeps it).

    ``by_framework`` maps a framework (pytorch, fsdp, deepspeed, accelerate, transformers, lightning,
    megatron, nemo, vllm, sglang, llama.cpp, ollama, tensorflow, jax, ray …) to its own setting; ``run``,
    ``set`` and ``edit`` are what stands where the framework is unknown or has no entry.
    """

    do: str
    run: str = ""
    set: str = ""
    edit: str = ""
    risk: Risk = Risk.SAFE
    verify: str = ""
    when: str = ""
    by_framework: dict[str, Setting] = {}


class Sentence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sentence that is only said where ``when`` is true; an unknown condition leaves it out."""

    say: str
    when: str = ""


class Cause(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is wrong, why, what mends it and how one sees that it is mended.

    ``because`` is a list of sentences with ``{name}`` placeholders, each a text or a text with its condition. A
    sentence whose names are unknown is left out, so that the paragraph only ever says what this case proves.
    """

    title: str
    severity: Severity
    because: tuple[Union[str, Sentence], ...]
    remedies: tuple[RemedyRule, ...]
    verify: str
    id: str = ""
    next_steps: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    origin: str = ""

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Return the because sentences, each with its condition."""
        return tuple(one if isinstance(one, Sentence) else Sentence(one) for one in self.because)
