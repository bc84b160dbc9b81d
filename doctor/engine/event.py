"""Events: what the log shows to have happened, each with every signal that tells of it.

An event gathers the occurrences of one moment of one writer: all that matched on one line, in one chain of
exceptions, or one judgement over a number series. Grouping comes later; nothing is concluded here.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import Optional

import msgspec

from doctor.engine.series import Finding
from doctor.model.diagnosis import Chart
from doctor.model.log import ExceptionBlock, LogFile, Occurrence, Speaker
from doctor.model.rule import Signature
from doctor.model.vocabulary import Role, Severity


class Kind(enum.Enum):
    """What makes an event known."""

    SIGNATURE = "signature"
    SERIES = "series"
    UNKNOWN = "unknown"  # an exception or fatal line that no signature knows


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened, at one place of one file.

    ``primary`` is the occurrence that says most, ``others`` the further ones of the same moment, ``chain`` the
    exceptions it stands in, first raised first. ``signature`` is None for an unknown exception.
    """

    kind: Kind
    file_index: int
    file: str
    line: int
    run: int
    speaker: Speaker
    time: Optional[float]
    primary: Occurrence
    signature: Optional[Signature]
    others: tuple[Occurrence, ...] = ()
    chain: tuple[ExceptionBlock, ...] = ()
    chart: Optional[Chart] = None

    @property
    def role(self) -> Role:
        """Return the part this event plays; what nobody knows can be what broke."""
        return self.signature.role if self.signature else Role.INITIATING

    @property
    def exception(self) -> Optional[ExceptionBlock]:
        """Return the exception that the primary occurrence stands in."""
        index = self.primary.exception
        return next((block for block in self.chain if block.index == index), self.chain[0] if self.chain else None)


def read_events(
    log: LogFile, file_index: int, signatures: dict[str, Signature], findings: Iterable[Finding]
) -> list[Event]:
    """Return the events of one log in file order; what stands in an ignored exception is none."""
    chains = _chains(log.exceptions)
    ignored = {block.index for block in log.exceptions if block.ignored}
    clusters = [one for one in _clusters(log, signatures) if one[0].exception not in ignored]
    events = [_of_cluster(cluster, chains, file_index, signatures) for cluster in clusters]
    explained = {block.index for event in events if _explains(event) for block in event.chain}
    heads = {chain[0].index: chain for chain in chains.values()}
    for chain in heads.values():
        if not chain[0].ignored and not explained.intersection(block.index for block in chain):
            events.append(_of_unknown(chain, file_index))
    judges = {signature.detector: signature for signature in signatures.values() if signature.detector}
    events += [_of_finding(f, file_index, judges[f.detector]) for f in findings if f.detector in judges]
    return sorted(events, key=lambda event: (event.line, event.kind is Kind.UNKNOWN))


def _explains(event: Event) -> bool:
    """Return whether a known signal accounts for the exceptions around it: by a cause, as a report or as noise.

    Advice and mere context do not, nor does a warning for an exception that ended the program.
    """
    signature = event.signature
    if signature is None or signature.role in (Role.WRAPPER, Role.TEARDOWN, Role.HARMLESS):
        return True
    harmful = signature.severity.order >= Severity.ERROR.order
    return harmful and signature.role is not Role.ADVICE and bool(signature.opens or signature.cause)


def _chains(blocks: Sequence[ExceptionBlock]) -> dict[int, tuple[ExceptionBlock, ...]]:
    """Map each exception's index to its whole chain, first raised first.

    A block may be chained to one that is printed after it: a remote traceback stands inside its carrier's message.
    """
    known = {block.index: block for block in blocks}
    members: dict[int, list[tuple[int, ExceptionBlock]]] = {}
    for block in blocks:
        depth, origin = 0, block
        while origin.chained_to in known and depth < len(blocks):
            depth, origin = depth + 1, known[origin.chained_to]
        members.setdefault(origin.index, []).append((depth, block))
    chains: dict[int, tuple[ExceptionBlock, ...]] = {}
    for found in members.values():
        chain = tuple(block for _, block in sorted(found, key=lambda item: item[0]))
        chains.update((block.index, chain) for block in chain)
    return chains


def _clusters(log: LogFile, signatures: dict[str, Signature]) -> list[list[Occurrence]]:
    """Gather the occurrences of one moment: one exception block of one role, or one line of one writer."""
    clusters: dict[tuple[object, ...], list[Occurrence]] = {}
    for occurrence in log.occurrences:
        signature = signatures.get(occurrence.signature)
        if signature is None:
            continue
        if occurrence.exception is not None:
            key: tuple[object, ...] = ("exception", occurrence.exception, signature.role)
        else:
            key = (occurrence.line, occurrence.speaker.stream, signature.role)
        clusters.setdefault(key, []).append(occurrence)
    return list(clusters.values())


def _of_cluster(
    cluster: list[Occurrence],
    chains: dict[int, tuple[ExceptionBlock, ...]],
    file_index: int,
    signatures: dict[str, Signature],
) -> Event:
    def weight(occurrence: Occurrence) -> tuple[int, int, int]:
        signature = signatures[occurrence.signature]
        leads = bool(signature.opens or signature.cause)
        gate = max((len(pattern.gate) for pattern in signature.patterns), default=0)
        return (leads * (1 + signature.severity.order), len(occurrence.fields), gate)

    primary = max(cluster, key=weight)
    first = min(cluster, key=lambda occurrence: occurrence.line)
    chain = chains.get(primary.exception, ()) if primary.exception is not None else ()
    return Event(
        kind=Kind.SIGNATURE,
        file_index=file_index,
        file=primary.file,
        line=first.line,
        run=primary.run,
        speaker=primary.speaker,
        time=first.time,
        primary=primary,
        signature=signatures[primary.signature],
        others=tuple(occurrence for occurrence in cluster if occurrence is not primary),
        chain=chain,
    )


def _of_unknown(chain: tuple[ExceptionBlock, ...], file_index: int) -> Event:
    block = chain[0]
    text = f"{block.type}: {block.message}" if block.message else block.type
    primary = Occurrence(
        signature="",
        file=block.file,
        line=block.line,
        text=text,
        run=block.run,
        speaker=block.speaker,
        time=block.time,
        time_text=block.time_text,
        exception=block.index,
    )
    return Event(
        kind=Kind.UNKNOWN,
        file_index=file_index,
        file=block.file,
        line=block.line,
        run=block.run,
        speaker=block.speaker,
        time=block.time,
        primary=primary,
        signature=None,
        chain=chain,
    )


def _of_finding(finding: Finding, file_index: int, signature: Signature) -> Event:
    speaker = Speaker(stream=finding.stream)
    primary = Occurrence(
        signature=signature.id,
        file=finding.file,
        line=finding.line,
        text=finding.text,
        run=finding.run,
        speaker=speaker,
        fields={**signature.sets, **finding.fields},
    )
    return Event(
        kind=Kind.SERIES,
        file_index=file_index,
        file=finding.file,
        line=finding.line,
        run=finding.run,
        speaker=speaker,
        time=None,
        primary=primary,
        signature=signature,
        chart=finding.chart,
    )
