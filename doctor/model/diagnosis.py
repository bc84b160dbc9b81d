"""What an examination concludes: diagnoses with their path, evidence and remedies."""

from __future__ import annotations

from typing import Any, Optional

import msgspec

from doctor.model.vocabulary import Confidence, Place, Risk, Severity, Verdict, Why


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a log that a diagnosis rests on."""

    file: str
    line: int
    text: str
    signature: str
    time: Optional[str] = None
    rank: Optional[int] = None
    node: Optional[str] = None
    count: int = 1
    fields: dict[str, Any] = {}


class Step(msgspec.Struct, frozen=True):
    """One question on the way to a cause, its answer (yes, no, unknown) and what answered it."""

    node: str
    ask: str
    answer: str
    by: str


class MissingFact(msgspec.Struct, frozen=True):
    """A fact that would have helped, why it was not at hand, and how to get it."""

    fact: str
    why: Why
    how: str = ""


class Remedy(msgspec.Struct, frozen=True, kw_only=True):
    """A fix for this very case, with its setting for the framework that was seen."""

    do: str
    risk: Risk
    verify: str
    run: str = ""
    set: str = ""
    edit: str = ""


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """A small picture of a number series: values around the moment that matters."""

    metric: str
    steps: tuple[float, ...]
    values: tuple[Optional[float], ...]  # None where the number was NaN or infinite
    mark: Optional[int] = None  # index of the bad point


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """A cause with everything that leads to it and out of it."""

    id: str
    title: str
    role: Place
    severity: Severity
    confidence: Confidence
    because: str
    path: tuple[Step, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    facts: dict[str, Any] = {}
    missing: tuple[MissingFact, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    rivals: tuple[str, ...] = ()
    consequences: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()


class Scanned(msgspec.Struct, frozen=True, kw_only=True):
    """How much was read, and which bounds bit."""

    files: int
    bytes: int
    lines: int
    seconds: float
    ranks: tuple[int, ...] = ()
    runs: int = 1
    limits: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


class ScanReport(msgspec.Struct, frozen=True, kw_only=True):
    """The scan document, schema ``llm-doctor/scan/1``."""

    schema: str
    verdict: Verdict
    diagnoses: tuple[Diagnosis, ...]
    next_steps: tuple[str, ...]
    scanned: Scanned
