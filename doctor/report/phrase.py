"""The same wording in every report: who is concerned, what risk a remedy has, what was read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from doctor.model.diagnosis import Diagnosis, Evidence, Scanned, ScanReport
from doctor.model.vocabulary import Confidence, Place, Risk, Why

RISKS = {
    Risk.READ_ONLY: "only looks, changes nothing",
    Risk.SAFE: "",
    Risk.DISRUPTIVE: "interrupts work that is running",
    Risk.DESTRUCTIVE: "destroys something that cannot be brought back",
}
SURE = {
    Confidence.CERTAIN: "certain: the log itself says so",
    Confidence.LIKELY: "likely: the evidence points here",
    Confidence.POSSIBLE: "possible: the evidence fits, and fits others too",
}
REASONS = {
    Why.NOT_SUPPORTED: "not supported here",
    Why.NO_PERMISSION: "no permission to look",
    Why.TOOL_ABSENT: "its tool is not installed",
    Why.TIMED_OUT: "the look timed out",
    Why.NOT_PROBED: "not looked at",
    Why.NOT_IN_LOG: "not in the log",
    Why.UNPARSABLE: "could not be read",
}
_MAX_RANGES = 6


def of_role(report: ScanReport, role: Place) -> list[Diagnosis]:
    """Return the diagnoses of one place in the chain of events, in their order."""
    return [diagnosis for diagnosis in report.diagnoses if diagnosis.role is role]


def ranks_text(ranks: Sequence[int]) -> str:
    """Return rank numbers in short: ``ranks 0–3, 7``.

    >>> ranks_text([3]), ranks_text([7, 0, 1, 2, 3])
    ('rank 3', 'ranks 0–3, 7')
    """
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    spans: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if spans and rank == spans[-1][1] + 1:
            spans[-1][1] = rank
        else:
            spans.append([rank, rank])
    parts = [str(a) if a == b else f"{a}, {b}" if b == a + 1 else f"{a}–{b}" for a, b in spans]
    if len(parts) > _MAX_RANGES:
        return f"{len(set(ranks))} ranks, first {spans[0][0]}"
    return f"ranks {', '.join(parts)}"


def who(diagnosis: Diagnosis) -> str:
    """Return who is concerned: ``rank 3 of 8, node gpu-07``; nothing where the log does not say."""
    first = diagnosis.evidence[0] if diagnosis.evidence else None
    rank, node = diagnosis.facts.get("rank"), diagnosis.facts.get("node")
    if first is not None:
        rank = rank if first.rank is None else first.rank
        node = first.node or node
    ranks = diagnosis.facts.get("ranks")
    numbers = [r for r in ranks if isinstance(r, int)] if isinstance(ranks, (list, tuple)) else []
    if not numbers and isinstance(rank, int):
        numbers = [rank]
    parts = []
    if numbers:
        world = diagnosis.facts.get("world_size")
        parts.append(ranks_text(numbers) + (f" of {world}" if isinstance(world, int) else ""))
    if node and len(numbers) < 2:
        parts.append(f"node {node}")
    return ", ".join(parts)


def speaker(evidence: Evidence) -> str:
    """Return who printed a line and when, as far as it is known."""
    rank = f"rank {evidence.rank}" if evidence.rank is not None else ""
    return ", ".join(part for part in (rank, evidence.node or "", evidence.time or "") if part)


def unshown(evidence: Sequence[Evidence], shown: Sequence[Evidence]) -> int:
    """Return how many lines of the kinds in the evidence are not among those shown."""
    totals: dict[str, int] = {}
    held: dict[str, int] = {}
    for one in evidence:
        held[one.signature] = held.get(one.signature, 0) + 1
        totals[one.signature] = max(totals.get(one.signature, 0), one.count)
    return sum(max(totals[kind], held[kind]) for kind in held) - len(shown)


def common_verify(diagnosis: Diagnosis) -> str:
    """Return the proof that most remedies share, or nothing where each of several has its own."""
    proofs = [remedy.verify for remedy in diagnosis.remedies]
    common = max(proofs, key=proofs.count, default="")
    return common if len(proofs) == 1 or proofs.count(common) > 1 else ""


def is_command(text: str) -> bool:
    """Tell whether a hint is something to type rather than a sentence.

    >>> is_command("nvidia-smi -q"), is_command("CUDA_LAUNCH_BLOCKING=1 python train.py"), is_command("Ask the kernel.")
    (True, True, False)
    """
    word = text.split(maxsplit=1)[0] if text.strip() else ""
    return "=" in word or word[:1].islower() or word[:1] in ("/", ".", "~")


def consequence_names(diagnosis: Diagnosis, report: ScanReport) -> Iterable[str]:
    """Yield what followed from a diagnosis, by title where the report holds it, each once."""
    titles = {other.id: other.title for other in report.diagnoses if other.role is Place.CONSEQUENCE}
    for identity in dict.fromkeys(diagnosis.consequences):
        yield f"{titles[identity]} ({identity})" if identity in titles else identity


def further_steps(report: ScanReport) -> list[str]:
    """Return the next steps that are not already told beside a missing fact."""
    told = {missing.how for diagnosis in of_role(report, Place.ROOT) for missing in diagnosis.missing}
    return [step for step in report.next_steps if step not in told]


def read_text(scanned: Scanned) -> str:
    """Return what was read: ``8 files, 1,204,331 lines, 88.1 MiB in 0.42 s``."""
    text = f"{counted(scanned.files, 'file')}, {counted(scanned.lines, 'line')}, {size_text(scanned.bytes)}"
    return f"{text} in {scanned.seconds:.2f} s"


def context_text(scanned: Scanned) -> str:
    """Return what the logs hold beyond their size: several runs, the ranks that were heard."""
    parts = []
    if scanned.runs > 1:
        parts.append(f"up to {scanned.runs} runs in a file, judged by the last")
    if scanned.ranks:
        parts.append(f"heard {ranks_text(scanned.ranks)}")
    return "; ".join(parts)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 file``, ``1,204 lines``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size_text(size_bytes: int) -> str:
    """Return a size as people read it."""
    size = float(size_bytes)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:,.0f} bytes" if unit == "bytes" else f"{size:,.1f} {unit}"
