"""What the rulebook knows under one id: as a page to read, or as a document."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

import msgspec

from doctor.rulebook.book import Rulebook
from doctor.rulebook.page import cause_page, signature_page, tree_page
from doctor.rulebook.relation import causes_of, leads_to, openers_of

SCHEMA = "llm-doctor/explain/1"


class UnknownIdError(Exception):
    """Nothing has this id; ``near`` are the ids that come closest."""

    def __init__(self, identity: str, near: tuple[str, ...]) -> None:
        super().__init__(f"nothing is called {identity}" + (f"; did you mean {', '.join(near)}?" if near else ""))
        self.near = near


def explain(identity: str, book: Rulebook) -> str:
    """Return the page of a signature, tree or cause.

    Raises:
        UnknownIdError: there is none of that id.

    """
    if identity in book.signatures:
        return signature_page(book.signatures[identity], book)
    if identity in book.trees:
        return tree_page(book.trees[identity], book)
    if identity in book.causes:
        return cause_page(book.causes[identity], book)
    raise UnknownIdError(identity, nearest(identity, [*book.signatures, *book.trees, *book.causes]))


def explain_document(identity: str, book: Rulebook) -> dict[str, Any]:
    """Return the same as a document of schema ``llm-doctor/explain/1``.

    Raises:
        UnknownIdError: there is none of that id.

    """
    head = {"schema": SCHEMA, "id": identity}
    if identity in book.signatures:
        return {**head, "kind": "signature", "rule": msgspec.to_builtins(book.signatures[identity])}
    if identity in book.trees:
        tree = book.trees[identity]
        opened = {"opened_by": openers_of(identity, book), "causes": causes_of(tree)}
        return {**head, "kind": "tree", "rule": msgspec.to_builtins(tree), **opened}
    if identity in book.causes:
        trees, signatures = leads_to(identity, book)
        found = {"trees": trees, "signatures": signatures}
        return {**head, "kind": "cause", "rule": msgspec.to_builtins(book.causes[identity]), **found}
    raise UnknownIdError(identity, nearest(identity, [*book.signatures, *book.trees, *book.causes]))


def nearest(identity: str, ids: Iterable[str]) -> tuple[str, ...]:
    """Return up to three ids that look like what was typed, or that hold it."""
    everything = list(ids)
    folded = {key.replace("/", ".").lower(): key for key in everything}
    typed = identity.replace("/", ".").lower()
    close = [folded[key] for key in difflib.get_close_matches(typed, folded, 3, cutoff=0.6)]
    holding = [key for key in everything if len(typed) > 2 and typed in key.replace("/", ".").lower()]
    return tuple(dict.fromkeys([*close, *holding]))[:3]
