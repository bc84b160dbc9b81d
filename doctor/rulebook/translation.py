"""Texts in another language, laid over a rule: ``rules/locale/<lang>/<the rule's own path>`` holds text keys only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from doctor.rulebook.document import Document, Path
from doctor.rulebook.fault import Fault

# The keys that hold text for readers, by kind; everything else is logic and cannot be translated.
_TEXTS = {
    "signatures": {"title", "says_not"},
    "trees": {"title", "nodes"},
    "causes": {"title", "because", "remedies", "verify", "next_steps"},
}
_NODE_TEXTS = {"ask", "why", "how"}
_REMEDY_TEXTS = {"do", "verify"}


def translate(kind: str, data: dict[str, Any], texts: Document) -> tuple[dict[str, Any], list[Fault]]:
    """Return rule data with the texts of a translation, and where the translation does not match the rule."""
    faults = [texts.fault(path, message) for path, message in _mismatches(kind, data, texts.data)]
    if faults:
        return data, faults
    merged = dict(data)
    for key, value in texts.data.items():
        if key == "nodes":
            merged[key] = {name: {**node, **value.get(name, {})} for name, node in data[key].items()}
        elif key == "remedies":
            merged[key] = [{**one, **other} for one, other in zip(data[key], value, strict=True)]
        elif key == "because":
            merged[key] = [
                {**one, "say": text} if isinstance(one, dict) else text
                for one, text in zip(data[key], value, strict=True)
            ]
        else:
            merged[key] = value
    return merged, []


def _mismatches(kind: str, data: dict[str, Any], texts: Any) -> Iterator[tuple[Path, str]]:
    if not isinstance(texts, dict):
        yield (), "a mapping of texts is needed here"
        return
    for key, value in texts.items():
        if key not in _TEXTS[kind]:
            yield (key,), f"{key} is no text and cannot be translated"
        elif key == "nodes":
            yield from _nodes(data.get(key), value)
        elif key in ("because", "next_steps", "remedies"):
            yield from _list(key, data.get(key), value)


def _nodes(nodes: Any, texts: Any) -> Iterator[tuple[Path, str]]:
    if not isinstance(nodes, dict) or not isinstance(texts, dict):
        yield ("nodes",), "a mapping of the tree's nodes is needed here"
        return
    for name, node in texts.items():
        if name not in nodes:
            yield ("nodes", name), f"the tree has no node {name}"
        elif not isinstance(node, dict) or set(node) - _NODE_TEXTS:
            yield ("nodes", name), f"a node's texts are {', '.join(sorted(_NODE_TEXTS))}"


def _list(key: str, items: Any, texts: Any) -> Iterator[tuple[Path, str]]:
    if not isinstance(items, list) or not isinstance(texts, list) or len(items) != len(texts):
        wanted = len(items) if isinstance(items, list) else 0
        yield (key,), f"{key} needs {wanted} entries, one for each of the rule's"
        return
    for index, text in enumerate(texts):
        if key == "remedies" and (not isinstance(text, dict) or set(text) - _REMEDY_TEXTS):
            yield (key, index), f"a remedy's texts are {', '.join(sorted(_REMEDY_TEXTS))}"
