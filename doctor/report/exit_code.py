"""The exit codes of every command, and which one a report earns."""

from __future__ import annotations

import enum

from doctor.model.diagnosis import ScanReport
from doctor.model.vocabulary import Verdict


class ExitCode(enum.IntEnum):
    """What a command says to the shell. Values never change meaning."""

    OK = 0  # nothing wrong; warnings alone count as nothing wrong
    PROBLEM = 1  # a problem was found; with --strict a warning is one
    USAGE = 2  # wrong usage, unreadable input, or a fault of the program itself
    UNKNOWN = 3  # nothing failed, but something that was required could not be looked at
    INTERRUPTED = 130  # stopped from the keyboard


def of_report(report: ScanReport, strict: bool = False) -> ExitCode:
    """Return the code of a scan: a problem that was found outranks an input that could not be read."""
    if report.verdict is Verdict.FAILED or (strict and report.verdict is Verdict.WARNINGS):
        return ExitCode.PROBLEM
    return ExitCode.USAGE if report.scanned.unreadable else ExitCode.OK
