"""The judgement over a whole scan: which event broke the job, what only followed, what merely warns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional

from doctor.engine.compose import Judgement, compose
from doctor.engine.conclude import UNKNOWN_EXIT, Conclusion, conclude
from doctor.engine.event import Event, Kind, read_events
from doctor.engine.order import Timeline, can_be_root, order_events
from doctor.engine.series import judge_series
from doctor.model.log import Field, LogFile
from doctor.model.vocabulary import Place, Role, Severity
from doctor.rulebook.book import Rulebook

# More conclusions than this are no help to anyone; the first ones are kept.
MAX_DIAGNOSES = 24
MAX_CONCLUDED = 400


def judge(logs: Sequence[LogFile], book: Rulebook, live: Mapping[str, Field] | None = None) -> Judgement:
    """Judge what the logs say. Pure: the same logs and rules always give the same answer."""
    events: list[Event] = []
    for index, log in enumerate(logs):
        events += read_events(log, index, book.signatures, judge_series(log.series))
    timeline = order_events(logs, events)
    conclusions = _conclude_all(timeline, logs, book, live or {})
    placed = _place(conclusions, timeline)
    return compose(placed, logs, book)


def _conclude_all(
    timeline: Timeline, logs: Sequence[LogFile], book: Rulebook, live: Mapping[str, Field]
) -> list[tuple[int, Conclusion]]:
    """Judge each event that can speak; of events that say the same, only the first few per signature and rank."""
    runs: dict[int, list[Event]] = {}
    for event in timeline.events:
        runs.setdefault(event.run, []).append(event)
    concluded: list[tuple[int, Conclusion]] = []
    heard: dict[tuple[object, ...], int] = {}
    for index, event in enumerate(timeline.events):
        if event.role in (Role.ADVICE, Role.HARMLESS, Role.TEARDOWN):
            continue
        sayer = event.signature.id if event.signature else event.primary.text[:80]
        key = (sayer, event.file, event.speaker.rank, event.run)
        heard[key] = heard.get(key, 0) + 1
        if heard[key] > 8 or len(concluded) >= MAX_CONCLUDED:
            continue
        conclusion = conclude(event, runs[event.run], logs[event.file_index], book, live)
        if conclusion is not None and conclusion.cause in book.causes:
            concluded.append((index, conclusion))
    return concluded


def _place(
    concluded: Sequence[tuple[int, Conclusion]], timeline: Timeline
) -> list[tuple[Place, list[tuple[int, Conclusion]]]]:
    """Fold conclusions of one cause together and give each its place: root, consequence or warning.

    A wrapper reports another failure; where that failure is known, the report adds nothing and is left out.
    """
    root = _find_root(concluded, timeline)
    folded: dict[str, list[tuple[int, Conclusion]]] = {}
    for index, conclusion in concluded:
        folded.setdefault(_fold_key(conclusion), []).append((index, conclusion))
    placed: list[tuple[Place, list[tuple[int, Conclusion]]]] = []
    for members in folded.values():
        if root is not None and root in members:
            members.remove(root)
            placed.insert(0, (Place.ROOT, [root, *members]))
        elif root is None or not all(member.event.role is Role.WRAPPER for _, member in members):
            placed.append((_place_of(members, root, timeline), members))
    order = {Place.ROOT: 0, Place.CONSEQUENCE: 1, Place.WARNING: 2}
    return sorted(placed, key=lambda item: order[item[0]])[:MAX_DIAGNOSES]


def _fold_key(conclusion: Conclusion) -> str:
    """One diagnosis a cause; unknown exceptions only fold with their own kind."""
    if conclusion.event.kind is Kind.UNKNOWN:
        return f"{conclusion.cause}|{conclusion.event.chain[0].type}|{conclusion.event.chain[0].message[:60]}"
    return conclusion.cause


def _find_root(concluded: Sequence[tuple[int, Conclusion]], timeline: Timeline) -> Optional[tuple[int, Conclusion]]:
    """Return the conclusion that explains the rest, or None where nothing harmful was seen.

    In order: what can be what broke and was not outlived; then a launcher's report that tells how a process ended;
    then cascades; then bare reports; then harmful events that the job outlived. Within a class the last run of a log
    counts before earlier ones, and the first event before later ones.
    """
    fatal = [item for item in concluded if can_be_root(item[1].event)]
    fresh = [item for item in fatal if not timeline.alive_after(item[0])]
    known = [item for item in fresh if item[1].event.kind is not Kind.UNKNOWN]
    unknown = [item for item in fresh if item[1].event.kind is Kind.UNKNOWN]
    best = _first_of_last_run(known)
    stray = _first_of_last_run(unknown)
    if best and stray:
        return stray if _broke_first(stray, best) else best
    if best or stray:
        return best or stray
    followers = [item for item in concluded if item[1].event.role in (Role.CASCADE, Role.WRAPPER)]
    harmful = [item for item in followers if _severity(item[1].event).order >= Severity.ERROR.order]
    telling = [item for item in harmful if item[1].cause != UNKNOWN_EXIT]
    reports = [item for item in telling if item[1].event.role is Role.WRAPPER]
    outlived = [i for i in fatal if i[1].event.kind is not Kind.UNKNOWN and i[0] not in timeline.recovered]
    candidates = (reports, telling, harmful, outlived)
    return next((first for items in candidates if (first := _first_of_last_run(items))), None)


def _broke_first(stray: tuple[int, Conclusion], known: tuple[int, Conclusion]) -> bool:
    """Return whether an unknown exception came before a known signal and ended another writer.

    A writer that goes on to report a known failure did not die of the exception before it.
    """
    a, b = stray[1].event, known[1].event
    if a.run != b.run:
        return a.run > b.run
    return stray[0] < known[0] and (a.file, a.speaker.stream) != (b.file, b.speaker.stream)


def _first_of_last_run(items: Sequence[tuple[int, Conclusion]]) -> Optional[tuple[int, Conclusion]]:
    if not items:
        return None
    last = max(conclusion.event.run for _, conclusion in items)
    return next(item for item in items if item[1].event.run == last)


def _severity(event: Event) -> Severity:
    return event.signature.severity if event.signature else Severity.FATAL


def _place_of(
    members: Sequence[tuple[int, Conclusion]], root: Optional[tuple[int, Conclusion]], timeline: Timeline
) -> Place:
    """Return the place of conclusions that are not the root."""
    harmful = [m for m in members if _severity(m[1].event).order >= Severity.ERROR.order]
    if root is None or not harmful:
        return Place.WARNING
    if all(timeline.alive_after(index) for index, _ in harmful):
        return Place.WARNING
    return Place.CONSEQUENCE
