"""A report to paste into an issue: the answer in sight, the evidence and the way to it folded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from doctor.model.diagnosis import Diagnosis, Remedy, ScanReport
from doctor.model.vocabulary import Place, Risk
from doctor.report.chart import draw
from doctor.report.escape import code_span, fenced, markdown_text, one_line
from doctor.report.phrase import (
    REASONS,
    RISKS,
    SURE,
    common_verify,
    consequence_names,
    context_text,
    counted,
    further_steps,
    is_command,
    of_role,
    read_text,
    speaker,
    unshown,
    who,
)
from doctor.report.style import Style

MAX_EVIDENCE = 20
MAX_NOTES = 10
_LANGUAGES = {"run": "bash", "set": "", "edit": ""}


def markdown_of(report: ScanReport) -> str:
    """Return a report as GitHub-flavoured Markdown."""
    blocks: list[str] = []
    roots, warnings = of_role(report, Place.ROOT), of_role(report, Place.WARNING)
    if not roots:
        limited = " that could be read" if report.scanned.unreadable else ""
        found = f"; {counted(len(warnings), 'warning')}" if warnings else ""
        blocks.append(f"### {'Nothing broke' if warnings else 'Nothing wrong was found'} in the log{limited}{found}")
    for root in roots:
        blocks += _diagnosis(root, report)
    if warnings:
        blocks.append("#### Warnings")
        blocks += [_warning(one) for one in warnings]
    blocks += _list("#### Next", (markdown_text(step) for step in further_steps(report)))
    blocks.append("---\n" + "\n".join(_closing(report)))
    return "\n\n".join(blocks) + "\n"


def _diagnosis(root: Diagnosis, report: ScanReport) -> Iterator[str]:
    concerned = who(root)
    yield f"### {markdown_text(root.title)}" + (f" — {markdown_text(concerned)}" if concerned else "")
    yield f"{code_span(root.id)}, {root.severity.value}, {SURE[root.confidence]}"
    if root.because:
        yield markdown_text(root.because)
    for chart in root.charts:
        yield fenced("\n".join(draw(chart, Style(), 76)), "text")
    if root.remedies:
        yield "#### What to do"
        shared = common_verify(root)
        for number, remedy in enumerate(root.remedies, 1):
            yield from _remedy(number, remedy, "" if remedy.verify == shared else remedy.verify)
        if shared:
            yield f"**Worked if:** {markdown_text(shared)}"
    followed = "; ".join(markdown_text(name) for name in consequence_names(root, report))
    if followed:
        yield f"**Because of this:** {followed}"
    if root.rivals:
        yield f"**Looks alike:** {', '.join(map(code_span, root.rivals))}"
    yield from _folded("Evidence", _evidence(root))
    yield from _folded("How this was concluded", _path(root))


def _remedy(number: int, remedy: Remedy, verify: str) -> Iterator[str]:
    risk = f" **({RISKS[remedy.risk]})**" if remedy.risk in (Risk.DISRUPTIVE, Risk.DESTRUCTIVE) else ""
    yield f"{number}. {markdown_text(remedy.do)}{risk}"
    indent = " " * (len(str(number)) + 2)
    for name, language in _LANGUAGES.items():
        text = getattr(remedy, name)
        if text:
            yield "\n".join(indent + line for line in fenced(text.rstrip("\n"), language).split("\n"))
    if verify:
        yield f"{indent}Worked if: {markdown_text(verify)}"


def _evidence(root: Diagnosis) -> Iterator[str]:
    shown = root.evidence[:MAX_EVIDENCE]
    for one in shown:
        by = speaker(one)
        yield code_span(f"{one.file}:{one.line}") + (f" {markdown_text(by)}" if by else "")
        yield fenced(one.text, "text")
    rest = unshown(root.evidence, shown)
    if rest > 0:
        yield f"and {counted(rest, 'more line')} like these"


def _path(root: Diagnosis) -> Iterator[str]:
    steps = []
    for step in root.path:
        by = f" ({markdown_text(step.by)})" if step.by else ""
        steps.append(f"- {markdown_text(step.ask)} **{markdown_text(step.answer)}**{by}")
    if steps:
        yield "\n".join(steps)
    missing = []
    for fact in root.missing:
        how = code_span(fact.how) if is_command(fact.how) else markdown_text(fact.how)
        how = f": {how}" if fact.how else ""
        missing.append(f"{code_span(fact.fact)} ({REASONS[fact.why]}){how}")
    yield from _list("What would make this surer:", missing)


def _warning(one: Diagnosis) -> str:
    place = f" {code_span(f'{one.evidence[0].file}:{one.evidence[0].line}')}" if one.evidence else ""
    do = f" {markdown_text(one.remedies[0].do)}" if one.remedies else ""
    return f"- **{markdown_text(one.title)}**{place}{do}"


def _closing(report: ScanReport) -> Iterator[str]:
    scanned = report.scanned
    context = context_text(scanned)
    yield f"llm-doctor read {read_text(scanned)}{f'; {context}' if context else ''}."
    for label, sentences in (("Could not read", scanned.unreadable), ("Limit reached", scanned.limits)):
        for sentence in sentences[:MAX_NOTES]:
            yield f"{label}: {markdown_text(sentence)}  "
        if len(sentences) > MAX_NOTES:
            yield f"{label}: {len(sentences) - MAX_NOTES:,} more"


def _folded(summary: str, blocks: Iterable[str]) -> Iterator[str]:
    inner = "\n\n".join(blocks)
    if inner:
        yield f"<details><summary>{one_line(summary)}</summary>\n\n{inner}\n\n</details>"


def _list(heading: str, texts: Iterable[str]) -> Iterator[str]:
    items = [f"- {text}" for text in texts]
    if items:
        yield heading
        yield "\n".join(items)
