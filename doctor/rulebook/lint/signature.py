"""Signatures: gates that every match holds, examples that match as they claim, near misses that do not match."""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Optional

import re2

from doctor.model.rule import Example, Pattern, Signature, Value
from doctor.model.unit import SUFFIXES, field_name
from doctor.rulebook.capture import wanted_fields
from doctor.rulebook.document import Path
from doctor.rulebook.lint import pattern as regex

Match = Callable[[str], Sequence[tuple[str, Mapping[str, Any]]]]
"""Finds the signatures in a text, as ``doctor.logs.matcher.Matcher.match_text`` does: ids with their fields."""

Found = Iterator[tuple[Path, str, str]]


def signature_faults(rule: Signature, match: Optional[Match] = None) -> Found:
    """Yield path, message and level of every fault of a signature that can be used."""
    for key in ("title", "emitter", "says_not"):
        if not getattr(rule, key).strip():
            yield (key,), f"{key} is empty", "error"
    for index, url in enumerate(rule.references):
        yield from url_faults(url, ("references", index))
    for name, unit in rule.captures.items():
        if unit not in SUFFIXES:
            yield ("captures", name), f"{unit!r} is no unit; there are {', '.join(SUFFIXES)}", "error"
    if rule.detector and not rule.patterns:
        return
    yield from _captures(rule)
    for index, pattern in enumerate(rule.patterns):
        if regex.compile_fault(pattern.regex) is None:
            yield from _pattern(pattern, ("patterns", index), [example.line for example in rule.examples])
    yield from _examples(rule, match)


def url_faults(url: str, path: Path) -> Found:
    """Yield a fault where a reference is no address."""
    if not url.startswith(("https://", "http://")) or any(char.isspace() for char in url):
        yield path, "a reference is a URL", "error"


def _captures(rule: Signature) -> Found:
    named: set[str] = set()
    for pattern in rule.patterns:
        if regex.compile_fault(pattern.regex) is None:
            named |= regex.group_names(pattern.regex)
    for name in sorted(filter(keyword.iskeyword, named)):
        yield (
            ("captures", name),
            f"{name} is a word of the condition language; call the capture something else",
            "error",
        )
    for name in sorted(named - set(rule.captures)):
        yield ("captures",), f"the capture {name} has no unit here", "error"
    for name in sorted(set(rule.captures) - named):
        yield ("captures", name), f"no regex captures {name}", "error"


def _pattern(pattern: Pattern, path: Path, lines: Sequence[str]) -> Found:
    held = regex.holds_literal(pattern.regex, pattern.gate)
    if held is False:
        yield (*path, "gate"), "the regex can match without the gate: write the gate's text into the regex", "error"
    elif held is None:
        yield (*path, "gate"), "it cannot be proved that every match holds the gate", "warning"
    compiled = re2.compile(pattern.regex)
    mine = [line for line in lines if pattern.gate in line and compiled.search(line)]
    if not mine:
        yield path, "no example has this gate and matches this regex", "error"
        return
    for alternative in regex.alternatives(pattern.regex):
        if not regex.reaches(alternative, mine):
            level = "error" if alternative.top else "warning"
            yield (*path, "regex"), f"no example reaches the alternative {alternative.text!r}", level


def _examples(rule: Signature, match: Optional[Match]) -> Found:
    if not rule.examples:
        yield (), "examples is missing", "error"
    if not rule.near_misses:
        yield (), "near_misses is missing: at least one line that looks alike and must not match", "error"
    for index, example in enumerate(rule.examples):
        for name in example.captures:
            if name not in rule.captures:
                yield ("examples", index, "captures", name), f"no regex captures {name}", "error"
        if match:
            yield from _example(rule, example, ("examples", index), match)
    for index, near in enumerate(rule.near_misses):
        if not near.why.strip():
            yield ("near_misses", index, "why"), "the reason is missing", "error"
        if match and any(found == rule.id for found, _ in match(near.line)):
            yield ("near_misses", index, "line"), "this line must not match, and it does", "error"


def _example(rule: Signature, example: Example, path: Path, match: Match) -> Found:
    found = [fields for identity, fields in match(example.line) if identity == rule.id]
    if not found:
        yield (*path, "line"), "this line does not match", "error"
        return
    wanted = wanted_fields(rule, example)
    differences = [difference(rule, wanted, fields) for fields in found]
    if all(differences):
        yield (*path, "captures"), "; ".join(differences[0]), "error"


def difference(rule: Signature, wanted: Mapping[str, Value], fields: Mapping[str, Any]) -> list[str]:
    """Say in which fields an example's claim and what was captured differ."""
    captured = {field_name(name, unit) for name, unit in rule.captures.items()}
    got = {name: value for name, value in fields.items() if name in captured and rule.sets.get(name) != value}
    said = {name: value for name, value in wanted.items() if rule.sets.get(name) != value}
    out: list[str] = []
    for name in sorted(said.keys() | got.keys()):
        if name not in got:
            out.append(f"{name} is not captured (claimed: {said[name]!r})")
        elif name not in said:
            out.append(f"{name} is {got[name]!r}, which the example does not say")
        elif not _same(said[name], got[name]):
            out.append(f"{name} is {got[name]!r}, not {said[name]!r}")
    return out


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-12)
    return bool(left == right)
