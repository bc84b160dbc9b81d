"""From placed conclusions to diagnoses: texts filled in, evidence gathered, verdict drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from doctor.engine.conclude import Conclusion
from doctor.engine.event import Event
from doctor.engine.prescribe import explain_cause, next_steps_of, prescribe, title_of
from doctor.model.diagnosis import Diagnosis, Evidence
from doctor.model.log import ExceptionBlock, LogFile, Occurrence
from doctor.model.vocabulary import Place, Role, Severity, Verdict
from doctor.rulebook.book import Rulebook

MAX_EVIDENCE = 40
MAX_EVIDENCE_TEXT = 2000

Members = Sequence[tuple[int, Conclusion]]


class Judgement(msgspec.Struct, frozen=True):
    """What the engine makes of the logs."""

    verdict: Verdict
    diagnoses: tuple[Diagnosis, ...]
    next_steps: tuple[str, ...]


def compose(placed: Sequence[tuple[Place, Members]], logs: Sequence[LogFile], book: Rulebook) -> Judgement:
    """Return verdict, diagnoses (roots first) and next steps."""
    counts = _total_counts(logs)
    consequences = tuple(members[0][1].cause for place, members in placed if place is Place.CONSEQUENCE)
    diagnoses = tuple(
        _diagnosis(place, members, book, counts, consequences if place is Place.ROOT else ())
        for place, members in placed
    )
    steps: dict[str, None] = {}
    for (place, members), diagnosis in zip(placed, diagnoses, strict=True):
        if place is Place.ROOT:
            steps.update(dict.fromkeys(next_steps_of(book.causes[diagnosis.id], members[0][1].scope)))
            steps.update(dict.fromkeys(missing.how for missing in diagnosis.missing if missing.how))
    return Judgement(_verdict(diagnoses), diagnoses, tuple(steps))


def _verdict(diagnoses: Iterable[Diagnosis]) -> Verdict:
    places = {(diagnosis.role, diagnosis.severity) for diagnosis in diagnoses}
    if any(role is Place.ROOT and severity.order >= Severity.ERROR.order for role, severity in places):
        return Verdict.FAILED
    return Verdict.WARNINGS if places else Verdict.HEALTHY


def _total_counts(logs: Iterable[LogFile]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for log in logs:
        for signature, count in log.counts.items():
            totals[signature] = totals.get(signature, 0) + count
    return totals


def _diagnosis(
    place: Place, members: Members, book: Rulebook, counts: dict[str, int], consequences: tuple[str, ...]
) -> Diagnosis:
    first = members[0][1]
    cause = book.causes[first.cause]
    severity = _severity(first, cause.severity, place)
    facts = first.facts()
    ranks = sorted({r for _, c in members if isinstance(r := c.scope.name("rank"), int)})
    if len(ranks) > 1:
        facts["ranks"] = ranks
    charts = tuple(c.event.chart for _, c in members if c.event.chart is not None)[:2]
    follows = place is Place.CONSEQUENCE and first.event.role is Role.CASCADE and first.event.signature
    return Diagnosis(
        id=first.cause,
        title=follows.title if follows else title_of(cause, first.scope),
        role=place,
        severity=severity,
        confidence=max((c.confidence for _, c in members), key=lambda confidence: confidence.order),
        because="It follows from the root; mend that." if follows else explain_cause(cause, first.scope),
        path=first.path,
        evidence=tuple(_evidence(members, counts)),
        facts=facts,
        missing=first.missing,
        remedies=() if follows else prescribe(cause, first.scope),
        rivals=() if follows else tuple(rival for rival in cause.rivals if rival != first.cause),
        consequences=consequences,
        charts=charts,
    )


def _severity(first: Conclusion, of_cause: Severity, place: Place) -> Severity:
    signature = first.event.signature
    if place is Place.WARNING:
        return Severity.WARNING
    return max(of_cause, signature.severity, key=lambda s: s.order) if signature else of_cause


def _evidence(members: Members, counts: dict[str, int]) -> Iterable[Evidence]:
    """Yield the root line first, then what else the diagnosis rests on, each line once."""
    seen: set[tuple[str, int]] = set()
    for candidate in _candidates(members, counts):
        place = (candidate.file, candidate.line)
        if place not in seen and len(seen) < MAX_EVIDENCE:
            seen.add(place)
            yield candidate


def _candidates(members: Members, counts: dict[str, int]) -> Iterable[Evidence]:
    for _, conclusion in members[:1]:
        yield from _of_event(conclusion.event, counts)
        for occurrence in conclusion.consulted:
            yield _of_occurrence(occurrence, counts.get(occurrence.signature, 1))
    for _, conclusion in members[1:]:
        yield from _of_event(conclusion.event, counts)


def _of_event(event: Event, counts: dict[str, int]) -> Iterable[Evidence]:
    for occurrence in (event.primary, *event.others):
        yield _of_occurrence(occurrence, counts.get(occurrence.signature, 1))
    for block in event.chain:
        yield _of_block(block)


def _of_occurrence(occurrence: Occurrence, count: int) -> Evidence:
    rank = occurrence.speaker.rank if occurrence.speaker.rank is not None else occurrence.fields.get("rank")
    node = occurrence.speaker.node or occurrence.fields.get("node")
    return Evidence(
        file=occurrence.file,
        line=occurrence.line,
        text=occurrence.text[:MAX_EVIDENCE_TEXT],
        signature=occurrence.signature or "unknown",
        time=occurrence.time_text or None,
        rank=rank if isinstance(rank, int) else None,
        node=node if isinstance(node, str) else None,
        count=max(count, 1),
        fields=dict(occurrence.fields),
    )


def _of_block(block: ExceptionBlock) -> Evidence:
    text = f"{block.type}: {block.message}" if block.message else block.type
    return Evidence(
        file=block.file,
        line=block.line,
        text=text[:MAX_EVIDENCE_TEXT],
        signature="exception",
        time=block.time_text or None,
        rank=block.speaker.rank,
        node=block.speaker.node,
        fields={"exception": block.type},
    )
