"""Rule files → the rulebook: every layer read, checked and laid over the one below."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from doctor.rulebook.book import Rulebook
from doctor.rulebook.cache import Cache, default_folder, digest_of
from doctor.rulebook.fault import Fault, RuleFaults
from doctor.rulebook.source import Layer, RulesNotFoundError, languages_of, read_layers

__all__ = ["DEFAULT_CACHE", "Fault", "RuleFaults", "RulesNotFoundError", "load_rulebook"]

DEFAULT_CACHE = Path()
"""Stands for the user's cache folder, which is looked up when it is needed."""


def load_rulebook(extra: Sequence[Path] = (), locale: str = "", cache: Optional[Path] = DEFAULT_CACHE) -> Rulebook:
    """Return the rulebook of the shipped rules, those of ``$LLM_DOCTOR_RULES`` and the folders in ``extra``.

    Later folders add rules and override earlier ones by id. ``cache`` is the folder of compiled books; None goes
    without.

    Raises:
        RuleFaults: files that are no rules; all faults at once.
        RulesNotFoundError: a folder that was named is not there.

    """
    layers = read_layers(extra)
    languages = languages_of(locale)
    digest = digest_of(layers, languages)
    store = None if cache is None else Cache(default_folder() if cache is DEFAULT_CACHE else cache)
    book = store.read(digest) if store else None
    if book is None:
        book = compile_layers(layers, languages, digest)
        if store:
            store.write(digest, book)
    return book


def compile_layers(layers: Sequence[Layer], languages: Sequence[str] = (), digest: str = "") -> Rulebook:
    """Return the rulebook of layers, without a cache.

    Raises:
        RuleFaults: files that are no rules; all faults at once.

    """
    # Only a book that no cache holds needs the YAML reader.
    from doctor.rulebook.compilation import Compilation

    compilation = Compilation(languages)
    for layer in layers:
        compilation.add(layer)
    compilation.check_usable()
    if compilation.faults:
        raise RuleFaults(sorted(compilation.faults))
    return compilation.book(digest)
