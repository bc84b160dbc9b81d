"""The use case ``scan``: paths in, a scan document out.

Many files are read by worker processes, one large file by this one; the judgement is made once over all of them.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Optional

import msgspec

from doctor.engine.judge import judge
from doctor.logs.limit import Limits
from doctor.logs.matcher import Matcher
from doctor.logs.reader import read_log
from doctor.logs.source import Source, expand
from doctor.model.diagnosis import Scanned, ScanReport
from doctor.model.log import LogFile
from doctor.rulebook.book import Rulebook
from doctor.rulebook.loader import load_rulebook

SCHEMA = "llm-doctor/scan/1"
# Below this much work a pool of processes costs more than it saves.
POOL_MIN_BYTES = 24 << 20
POOL_MIN_FILES = 4
# Lines decoded for their training numbers in each of the first logs; the others share as many again.
NUMBER_LINES = 5000
CLOSELY_READ = 4


class ScanOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller may choose. ``workers`` 0 means as many as there are cores."""

    rules: tuple[Path, ...] = ()
    locale: str = ""
    workers: int = 0
    line_limit_bytes: int = 1 << 20


class Progress(msgspec.Struct, frozen=True):
    """How far a scan has come; ``bytes`` is 0 where the amount is not known (a pipe)."""

    files_done: int
    files: int
    bytes_done: int
    bytes: int


class InputError(Exception):
    """Nothing could be read; one sentence an input."""

    def __init__(self, sentences: Sequence[str]) -> None:
        super().__init__("\n".join(sentences))
        self.sentences = tuple(sentences)


DEFAULTS = ScanOptions()


def scan(
    paths: Sequence[str], options: ScanOptions = DEFAULTS, on_progress: Callable[[Progress], None] | None = None
) -> ScanReport:
    """Scan logs and return the scan document.

    Raises:
        InputError: no input could be read at all.
        doctor.rulebook.loader.RuleFaults: the rules do not load.

    """
    began = time.perf_counter()
    book = load_rulebook(extra=options.rules, locale=options.locale)
    sources, failures = expand(paths)
    unreadable = [failure.text for failure in failures]
    logs = _read_all(sources, book, options, on_progress)
    unreadable += [log.failure for log in logs if log.failure]
    readable = [log for log in logs if not log.failure]
    if not readable:
        raise InputError(unreadable or ["No log was found in what was named."])
    return _report(readable, book, unreadable, time.perf_counter() - began)


def follow(path: str, options: ScanOptions = DEFAULTS) -> Iterator[ScanReport]:
    """Yield a report of a growing file, first of what is there, then whenever what it says changes.

    Raises:
        InputError: the file cannot be read.

    """
    from doctor.logs.follow import follow_log

    book = load_rulebook(extra=options.rules, locale=options.locale)
    matcher = make_matcher(book)
    last: Optional[tuple[object, ...]] = None
    for log in follow_log(path, matcher, Limits(line_bytes=options.line_limit_bytes)):
        if log.failure:
            raise InputError([log.failure])
        report = _report([log], book, [], 0.0)
        said = tuple((d.id, d.role, d.title, len(d.evidence)) for d in report.diagnoses)
        if said != last:
            last = said
            yield report


def make_matcher(book: Rulebook) -> Matcher:
    """Return the matcher for all signatures and framework marks of a rulebook."""
    frameworks = [(rule.framework, literal.encode()) for rule in book.frameworks for literal in rule.literals]
    return Matcher(list(book.signatures.values()), frameworks)


def _report(logs: Sequence[LogFile], book: Rulebook, unreadable: Sequence[str], seconds: float) -> ScanReport:
    judgement = judge(logs, book)
    ranks = {o.speaker.rank for log in logs for o in log.occurrences if o.speaker.rank is not None}
    ranks |= {b.speaker.rank for log in logs for b in log.exceptions if b.speaker.rank is not None}
    return ScanReport(
        schema=SCHEMA,
        verdict=judgement.verdict,
        diagnoses=judgement.diagnoses,
        next_steps=judgement.next_steps,
        scanned=Scanned(
            files=len(logs),
            bytes=sum(log.size_bytes for log in logs),
            lines=sum(log.lines for log in logs),
            seconds=round(seconds, 3),
            ranks=tuple(sorted(rank for rank in ranks if rank is not None)),
            runs=max((log.runs for log in logs), default=1),
            limits=tuple(hit.text for log in logs for hit in log.limits),
            unreadable=tuple(unreadable),
        ),
    )


def _read_all(
    sources: Sequence[Source], book: Rulebook, options: ScanOptions, on_progress: Callable[[Progress], None] | None
) -> list[LogFile]:
    total = sum(source.size_bytes for source in sources)
    workers = options.workers or os.cpu_count() or 1
    if workers > 1 and len(sources) >= POOL_MIN_FILES and total >= POOL_MIN_BYTES:
        return _read_in_pool(sources, book, options, workers, on_progress)
    matcher = make_matcher(book)
    done = _Tally(len(sources), total, on_progress)
    logs = []
    for index, source in enumerate(sources):
        logs.append(read_log(source, matcher, _limits(index, len(sources), options), on_bytes=done.add_bytes))
        done.add_file()
    return logs


def _limits(index: int, files: int, options: ScanOptions) -> Limits:
    """Return the bounds for one of many logs: ranks repeat each other's numbers, so only the first are read closely."""
    lines = NUMBER_LINES if index < CLOSELY_READ else max(8, NUMBER_LINES * CLOSELY_READ // files)
    return Limits(line_bytes=options.line_limit_bytes, number_lines=min(lines, NUMBER_LINES))


class _Tally:
    """Adds up progress and passes it on."""

    def __init__(self, files: int, total: int, on_progress: Callable[[Progress], None] | None) -> None:
        self._files, self._total, self._on_progress = files, total, on_progress
        self._files_done = self._bytes_done = 0

    def add_bytes(self, count: int) -> None:
        self._bytes_done += count
        self._tell()

    def add_file(self) -> None:
        self._files_done += 1
        self._tell()

    def _tell(self) -> None:
        if self._on_progress:
            self._on_progress(Progress(self._files_done, self._files, self._bytes_done, self._total))


# What a worker process reads with: set before the fork, or by the initialiser where processes are spawned.
_matcher: Optional[Matcher] = None


def _start_worker(rules: tuple[Path, ...], locale: str) -> None:
    global _matcher
    if _matcher is None:
        _matcher = make_matcher(load_rulebook(extra=rules, locale=locale))


def _read_one(source: Source, limits: Limits) -> LogFile:
    assert _matcher is not None
    return read_log(source, _matcher, limits)


def _read_in_pool(
    sources: Sequence[Source],
    book: Rulebook,
    options: ScanOptions,
    workers: int,
    on_progress: Callable[[Progress], None] | None,
) -> list[LogFile]:
    """Read files by a pool of processes, in the order in which they were named."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    global _matcher
    _matcher = make_matcher(book)
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    done = _Tally(len(sources), sum(source.size_bytes for source in sources), on_progress)
    logs: list[LogFile] = []
    limits = [_limits(index, len(sources), options) for index in range(len(sources))]
    chunk = max(1, min(16, len(sources) // (workers * 4)))
    with ProcessPoolExecutor(workers, context, _start_worker, (options.rules, options.locale)) as pool:
        for source, log in zip(sources, pool.map(_read_one, sources, limits, chunksize=chunk), strict=True):
            logs.append(log)
            done.add_bytes(source.size_bytes)
            done.add_file()
    return logs
