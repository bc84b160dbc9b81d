"""The report for a person at three in the morning: verdict, reason, evidence, what to do, how to check."""

from __future__ import annotations

from doctor.model.diagnosis import Diagnosis, ScanReport
from doctor.model.vocabulary import Place, Verdict
from doctor.report.escape import one_line
from doctor.report.phrase import (
    SURE,
    context_text,
    counted,
    further_steps,
    of_role,
    read_text,
    who,
)
from doctor.report.style import Style
from doctor.report.text_layout import INDENT, Page
from doctor.report.text_section import (
    add_because,
    add_charts,
    add_evidence,
    add_first_remedy,
    add_outlook,
    add_path,
    add_remedies,
    place_of,
)

MAX_NOTES = 3
MAX_WARNINGS = 6
MAX_ROOTS = 4


def text_of(report: ScanReport, style: Style, verbose: bool = False) -> str:
    """Return a report as text; ``verbose`` shows all evidence, every question and what followed."""
    page = Page(style)
    roots = of_role(report, Place.ROOT)
    if not roots:
        _add_all_clear(page, report)
    for index, root in enumerate(roots[: None if verbose else MAX_ROOTS]):
        page.gap()
        if index == 0 or verbose:
            _add_full(page, root, report, verbose)
        else:
            _add_short(page, root)
    if len(roots) > MAX_ROOTS and not verbose:
        page.gap()
        page.paragraph(f"{counted(len(roots) - MAX_ROOTS, 'more cause')} found; -v shows all.", first="")
    if verbose:
        _add_consequences(page, of_role(report, Place.CONSEQUENCE))
    _add_warnings(page, report, verbose)
    steps = further_steps(report)
    if steps:
        page.heading("Next")
        page.items(steps, len(steps) if verbose else 4)
    _add_closing(page, report)
    return page.text()


def brief_of(report: ScanReport) -> str:
    """Return one line a diagnosis, in the form of a compiler's messages, or one line that says there is none."""
    lines = []
    for diagnosis in report.diagnoses:
        kind = diagnosis.severity.value if diagnosis.role is Place.ROOT else diagnosis.role.value
        where = f" ({who(diagnosis)})" if who(diagnosis) else ""
        place = f"{place_of(diagnosis)}: " if diagnosis.evidence else ""
        lines.append(one_line(f"{place}{kind}: {diagnosis.title}{where} [{diagnosis.id}]"))
    if not lines:
        lines.append(f"{report.verdict.value}: {read_text(report.scanned)}")
    return "\n".join(lines) + "\n"


def _add_full(page: Page, root: Diagnosis, report: ScanReport, verbose: bool) -> None:
    _add_verdict(page, root)
    add_because(page, root)
    add_charts(page, root)
    add_evidence(page, root, verbose)
    add_remedies(page, root, verbose)
    add_path(page, root, verbose)
    add_outlook(page, root, report)


def _add_short(page: Page, root: Diagnosis) -> None:
    _add_verdict(page, root, "Also: ")
    page.paragraph(root.because, most=4)
    if root.evidence:
        page.paragraph(place_of(root), "dim")
    add_first_remedy(page, root)


def _add_verdict(page: Page, root: Diagnosis, before: str = "") -> None:
    grave = root.severity.order >= 2
    colour = "red" if grave else "yellow"
    sign = page.style.glyph("failed" if grave else "warning")
    concerned = who(root)
    title = f"{before}{root.title.rstrip('.')}{f' — {concerned}' if concerned else ''}"
    page.paragraph(f"{sign} {title}", "bold", colour, first="", rest=INDENT)
    page.paragraph(f"{root.id}, {SURE[root.confidence]}", "dim")


def _add_all_clear(page: Page, report: ScanReport) -> None:
    """Say that nothing broke, and no more than was looked at."""
    warnings = of_role(report, Place.WARNING)
    if not report.scanned.lines:
        page.paragraph("! The log is empty, which says nothing about the job.", "bold", "yellow", first="")
        return
    limited = " that could be read" if report.scanned.unreadable else ""
    if report.verdict is Verdict.HEALTHY or not warnings:
        sign, colour, words = "healthy", "green", f"Nothing wrong was found in the log{limited}."
    else:
        sign, colour = "warning", "yellow"
        words = f"Nothing broke in the log{limited}; {counted(len(warnings), 'warning')}."
    page.paragraph(f"{page.style.glyph(sign)} {words}", "bold", colour, first="", rest=INDENT)


def _add_consequences(page: Page, consequences: list[Diagnosis]) -> None:
    if not consequences:
        return
    page.heading("What followed")
    for one in consequences:
        concerned = who(one)
        page.paragraph(f"{one.title}{f' — {concerned}' if concerned else ''}", first=INDENT + "- ")
        if one.evidence:
            page.paragraph(place_of(one), "dim", first=INDENT * 2)


def _add_warnings(page: Page, report: ScanReport, verbose: bool) -> None:
    warnings = of_role(report, Place.WARNING)
    if not warnings:
        return
    page.heading("Warnings" if of_role(report, Place.ROOT) else "What to look at")
    for one in warnings[: None if verbose else MAX_WARNINGS]:
        page.paragraph(one.title, first=f"{INDENT}{page.style.glyph('warning')} ")
        if one.evidence:
            page.paragraph(place_of(one), "dim", first=INDENT * 2)
        if not of_role(report, Place.ROOT) or verbose:
            page.paragraph(one.because, first=INDENT * 2, most=4)
        add_first_remedy(page, one, INDENT * 2)
    if len(warnings) > MAX_WARNINGS and not verbose:
        page.paragraph(f"and {len(warnings) - MAX_WARNINGS:,} more", "dim", first=INDENT * 2)


def _add_closing(page: Page, report: ScanReport) -> None:
    scanned = report.scanned
    page.gap()
    context = context_text(scanned)
    page.paragraph(f"Read {read_text(scanned)}{f'; {context}' if context else ''}.", "dim", first="")
    for label, sentences in (("Could not read", scanned.unreadable), ("Limit reached", scanned.limits)):
        for sentence in sentences[:MAX_NOTES]:
            page.paragraph(f"{label}: {sentence}", "yellow", first="", rest=INDENT)
        if len(sentences) > MAX_NOTES:
            page.paragraph(f"{label}: {len(sentences) - MAX_NOTES:,} more", "yellow", first="")
