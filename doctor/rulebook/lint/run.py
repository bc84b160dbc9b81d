"""The whole lint: every check over every rule, all faults at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Optional

from doctor.model.rule import Cause, Signature
from doctor.model.vocabulary import Role
from doctor.rulebook.book import Rulebook
from doctor.rulebook.compilation import Compilation, Entry
from doctor.rulebook.document import Path
from doctor.rulebook.fault import Fault
from doctor.rulebook.lint.catalogue import catalogue_faults
from doctor.rulebook.lint.cause import cause_faults
from doctor.rulebook.lint.name import Names
from doctor.rulebook.lint.signature import Match, signature_faults
from doctor.rulebook.lint.tree import tree_faults
from doctor.rulebook.lint.usable import usable_faults
from doctor.rulebook.scaffold import TO_FILL_IN
from doctor.rulebook.source import Layer

MakeMatch = Callable[[Rulebook], Match]
Clean = tuple[str, str]
"""A log of a healthy run: its name and its text."""


def lint_layers(
    layers: Sequence[Layer],
    make_match: Optional[MakeMatch] = None,
    clean: Iterable[Clean] = (),
    languages: Sequence[str] = (),
) -> list[Fault]:
    """Return every fault of all layers, sorted by place.

    ``make_match`` gives the function that finds signatures in a text; without one, examples are held against the
    regexes alone. ``clean`` are texts in which no harmful signature may be found.
    """
    compilation = Compilation(languages)
    for layer in layers:
        compilation.add(layer)
    book = compilation.book()
    faults = list(compilation.faults)
    entries = [entry for table in compilation.entries.values() for entry in table.values()]
    unusable = [fault for entry in entries for fault in usable_faults(entry.rule, entry.document, book)]
    faults += unusable
    # A matcher is one database over all patterns: those that do not compile are left out of it.
    broken = {fault.file for fault in unusable}
    sound = {key: rule for key, rule in book.signatures.items() if rule.origin not in broken}
    match = make_match(Rulebook(signatures=sound, frameworks=book.frameworks)) if make_match else None
    names = Names(book)
    for entry in entries:
        faults += _entry(entry, names, match if entry.rule.origin not in broken else None)
    faults += catalogue_faults(book, layers)
    if match:
        for name, text in clean:
            faults += _clean(name, text, book, match)
    return sorted(set(faults))


def _entry(entry: Entry, names: Names, match: Optional[Match]) -> list[Fault]:
    rule = entry.rule
    if isinstance(rule, Signature):
        found = signature_faults(rule, match)
    elif isinstance(rule, Cause):
        found = cause_faults(rule, names)
    else:
        found = tree_faults(rule, names)
    faults = [entry.document.fault(path, message, level) for path, message, level in found]
    unfinished = _unfinished(entry.document.data)
    return faults + [entry.document.fault(path, f"still says {TO_FILL_IN}") for path in unfinished]


def _unfinished(data: Any, path: Path = ()) -> Iterator[Path]:
    """Yield where a scaffold was not filled in."""
    if isinstance(data, str) and TO_FILL_IN in data:
        yield path
    elif isinstance(data, (dict, list)):
        for key, item in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _unfinished(item, (*path, key))


def _clean(name: str, text: str, book: Rulebook, match: Match) -> list[Fault]:
    """Report each signature that claims a failure in a healthy log, once."""
    found: list[Fault] = []
    for identity in sorted({identity for identity, _ in match(text)}):
        if book.signatures[identity].role not in (Role.HARMLESS, Role.ADVICE):
            lines = (number for number, line in enumerate(text.splitlines(), 1) if _matches(line, identity, match))
            found.append(Fault(name, next(lines, 1), 1, f"{identity} matches in the log of a healthy run"))
    return found


def _matches(line: str, identity: str, match: Match) -> bool:
    return any(found == identity for found, _ in match(line))
