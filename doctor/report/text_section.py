"""The sections of one diagnosis as text."""

from __future__ import annotations

from doctor.model.diagnosis import Diagnosis, Evidence, Remedy, ScanReport
from doctor.model.vocabulary import Risk
from doctor.report.escape import one_line
from doctor.report.measure import pad, width_of
from doctor.report.phrase import (
    REASONS,
    RISKS,
    common_verify,
    consequence_names,
    counted,
    is_command,
    speaker,
    unshown,
)
from doctor.report.text_layout import INDENT, Page

MAX_EVIDENCE = 4
MAX_REMEDIES = 5
MAX_STEPS = 8
_DEEP = INDENT * 2
_ANSWER_COLOURS = {"yes": "green", "no": "dim", "unknown": "yellow"}


def place_of(diagnosis: Diagnosis) -> str:
    """Return ``file:line`` of the root line."""
    first = diagnosis.evidence[0]
    return f"{first.file}:{first.line}"


def add_because(page: Page, diagnosis: Diagnosis) -> None:
    """Say why, with the numbers of this case."""
    if diagnosis.because:
        page.gap()
        page.paragraph(diagnosis.because)


def add_charts(page: Page, diagnosis: Diagnosis) -> None:
    """Draw the series around the moment that matters."""
    if not diagnosis.charts:
        return
    # Few reports have one; the others start sooner without it.
    from doctor.report.chart import draw

    for chart in diagnosis.charts:
        page.gap()
        page.lines += [INDENT + line for line in draw(chart, page.style, page.style.width - len(INDENT))]


def add_evidence(page: Page, diagnosis: Diagnosis, verbose: bool) -> None:
    """Show the lines that the diagnosis rests on, the root line first."""
    if not diagnosis.evidence:
        return
    page.heading("Evidence")
    shown = diagnosis.evidence if verbose else diagnosis.evidence[:MAX_EVIDENCE]
    for index, one in enumerate(shown):
        _add_line(page, one, most=12 if verbose else 5 if index == 0 else 2)
    rest = unshown(diagnosis.evidence, shown)
    if rest > 0:
        page.paragraph(f"and {counted(rest, 'more line')} like these", "dim")


def _add_line(page: Page, evidence: Evidence, most: int) -> None:
    by, place = one_line(speaker(evidence)), one_line(f"{evidence.file}:{evidence.line}")
    if width_of(f"{INDENT}{place}  {by}") <= page.style.width:
        page.lines.append(f"{INDENT}{page.style.paint(place, 'cyan')}  {page.style.paint(by, 'dim')}".rstrip())
    else:
        page.verbatim(place, INDENT, "cyan")
        page.paragraph(by, "dim", first=_DEEP)
    page.paragraph(evidence.text, first=_DEEP, most=most)


def add_remedies(page: Page, diagnosis: Diagnosis, verbose: bool) -> None:
    """List what to do, best first, each with its exact line and how to see that it worked."""
    if not diagnosis.remedies:
        return
    page.heading("What to do")
    shared = common_verify(diagnosis)
    shown = diagnosis.remedies if verbose else diagnosis.remedies[:MAX_REMEDIES]
    for number, remedy in enumerate(shown, 1):
        _add_remedy(page, remedy, f"{INDENT}{number}. ", "" if remedy.verify == shared else remedy.verify)
    if len(shown) < len(diagnosis.remedies):
        page.paragraph(f"{len(diagnosis.remedies) - len(shown)} more; -v shows them", "dim")
    if shared:
        page.heading("How to see that it worked")
        page.paragraph(shared)


def add_first_remedy(page: Page, diagnosis: Diagnosis, indent: str = INDENT) -> None:
    """Show only the best remedy."""
    for remedy in diagnosis.remedies[:1]:
        _add_remedy(page, remedy, f"{indent}Do: ", "", rest=indent)


def _add_remedy(page: Page, remedy: Remedy, first: str, verify: str, rest: str = "") -> None:
    page.paragraph(remedy.do, first=first, rest=rest)
    indent = rest or " " * len(first)
    settings = [(name, text) for name in ("run", "set", "edit") if (text := getattr(remedy, name))]
    for name, text in settings:
        if len(settings) > 1:
            page.paragraph(f"{name}:", "dim", first=indent)
        page.verbatim(text, indent + _DEEP, "cyan")
    if remedy.risk in (Risk.DISRUPTIVE, Risk.DESTRUCTIVE):
        page.paragraph(f"{remedy.risk.value.capitalize()}: {RISKS[remedy.risk]}.", "yellow", first=indent)
    if verify:
        page.paragraph(f"Worked if: {verify}", first=indent)


def add_path(page: Page, diagnosis: Diagnosis, verbose: bool) -> None:
    """Show the questions on the way to the cause, each with its answer and what gave it."""
    if not diagnosis.path:
        return
    page.heading("How this was concluded")
    # What was ruled out only matters to those who doubt; the answers that led here matter to everyone.
    last = len(diagnosis.path) - 1
    led = [step for at, step in enumerate(diagnosis.path) if step.answer != "no" or at == last][-MAX_STEPS:]
    shown = diagnosis.path if verbose else led
    indent = INDENT + " " * 9
    for step in shown:
        start = len(page.lines)
        page.paragraph(step.ask, first=indent)
        answer = pad(one_line(step.answer), 9)
        answer = page.style.paint(answer, _ANSWER_COLOURS.get(step.answer, "dim"))
        page.lines[start] = INDENT + answer + page.lines[start].removeprefix(indent)
        # What an answer lacked is said among the missing facts.
        if step.answer != "unknown" or verbose:
            page.paragraph(step.by, "dim", first=indent, most=0 if verbose else 1)
    if len(shown) < len(diagnosis.path):
        hidden = len(diagnosis.path) - len(shown)
        page.paragraph(f"{counted(hidden, 'other question')} ruled something out; -v shows them", "dim")


def add_outlook(page: Page, diagnosis: Diagnosis, report: ScanReport) -> None:
    """Say what would make it surer, what looks alike and what followed."""
    if diagnosis.missing:
        page.heading("What would make this surer")
        for missing in diagnosis.missing:
            page.paragraph(f"{missing.fact} ({REASONS[missing.why]})", first=f"{INDENT}- ")
            if is_command(missing.how):
                page.verbatim(missing.how, _DEEP * 2, "cyan")
            else:
                page.paragraph(missing.how, first=_DEEP)
    rivals, followed = ", ".join(diagnosis.rivals), "; ".join(consequence_names(diagnosis, report))
    if rivals or followed:
        page.gap()
    if followed:
        page.paragraph(f"Because of this: {followed}.", first="", rest=INDENT)
    if rivals:
        page.paragraph(f"Looks alike (see llm-doctor explain): {rivals}.", first="", rest=INDENT)
