"""Signatures, trees and causes as pages of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from doctor.model.rule import Cause, RemedyRule, Setting, Signature, Tree, Value
from doctor.rulebook.book import Rulebook
from doctor.rulebook.capture import wanted_fields
from doctor.rulebook.drawing import WIDTH, draw_tree
from doctor.rulebook.plain import plain_text
from doctor.rulebook.quantity import format_value
from doctor.rulebook.relation import causes_of, causes_with, leads_to, openers_of


def signature_page(rule: Signature, book: Rulebook) -> str:
    """Return what a signature claims, where it leads and what it looks like."""
    leads = f"the tree {rule.opens}" if rule.opens else f"the cause {rule.cause} ({rule.confidence.value})"
    gates = list(dict.fromkeys(pattern.gate for pattern in rule.patterns))
    lines = [
        *_head(rule.id, f"{rule.severity.value}, {rule.role.value}", rule.title),
        *_section("It does not say", [rule.says_not]),
        *_section("Printed by", [rule.emitter]),
        *_section("Leads to", [leads if rule.opens or rule.cause else "nothing by itself; trees may ask for it"]),
        *_section("Captures", [", ".join(f"{name} ({unit})" for name, unit in rule.captures.items())]),
        *_heading("Looked for", gates or [f"the detector {rule.detector}"]),
    ]
    for example in rule.examples[:2]:
        lines += _section("Example", example.line.splitlines())
        lines += _section("which captures", [captured_text(wanted_fields(rule, example))])
    for near in rule.near_misses:
        lines += _section(f"Not meant: {near.why}", near.line.splitlines())
    related = [tree.id for tree in book.trees.values() if any(rule.id in node.when for node in tree.nodes.values())]
    lines += _heading("Asked for by the trees", related)
    return "\n".join([*lines, *_heading("Read more", rule.references)])


def tree_page(rule: Tree, book: Rulebook) -> str:
    """Return a tree's drawing with its signatures and causes."""
    lines = _head(rule.id, "tree", rule.title)
    lines += _named("Opened by", {key: book.signatures[key].title for key in openers_of(rule.id, book)})
    if rule.let:
        lines += ["", "Computed first"]
        for name, text in rule.let.items():
            lines += _wrap(f"{name} = {text}", "  ", "      ")
    lines += ["", "Questions", *draw_tree(rule)]
    found = causes_of(rule)
    lines += _named("Causes", {key: book.causes[key].title for key in found if key in book.causes})
    return "\n".join([*lines, *_heading("Read more", rule.references)])


def cause_page(rule: Cause, book: Rulebook) -> str:
    """Return what a cause means, what mends it and how one sees that it is mended."""
    lines = _head(rule.id, rule.severity.value, plain_text(rule.title))
    lines += _section("What it means", [plain_text(sentence.say) for sentence in rule.sentences])
    for number, remedy in enumerate(rule.remedies, 1):
        lines += _remedy(number, remedy)
    lines += _section("How to see that it worked", [plain_text(rule.verify)])
    lines += _section("Next", [plain_text(text) for text in rule.next_steps])
    trees, signatures = leads_to(rule.id, book)
    lines += _named("Found by the trees", {key: book.trees[key].title for key in trees})
    lines += _named("Settled by the signatures", {key: book.signatures[key].title for key in signatures})
    rivals = [*rule.rivals, *causes_with(rule.id, book)]
    titles = {key: plain_text(book.causes[key].title) for key in dict.fromkeys(rivals) if key in book.causes}
    lines += _named("Looks like", titles)
    return "\n".join([*lines, *_heading("Read more", rule.references)])


def _remedy(number: int, remedy: RemedyRule) -> list[str]:
    lines = ["", *_wrap(plain_text(remedy.do), f"{f'Remedy {number}':<10}", " " * 10)]
    lines += _setting(Setting(run=remedy.run, set=remedy.set, edit=remedy.edit), " " * 10)
    for framework, setting in remedy.by_framework.items():
        lines += [f"          under {framework}:", *_setting(setting, " " * 12)]
    if remedy.when:
        lines += _wrap(remedy.when, "          only when: ", " " * 12)
    if remedy.verify:
        lines += _wrap(plain_text(remedy.verify), "          verify: ", " " * 12)
    return [*lines, f"          risk: {remedy.risk.value.replace('_', ' ')}"]


def _setting(setting: Setting, indent: str) -> Iterator[str]:
    """Yield commands as they are, unwrapped, so that they can be copied."""
    for key in ("run", "set", "edit"):
        for index, line in enumerate(plain_text(getattr(setting, key)).splitlines()):
            yield f"{indent}{f'{key}:' if index == 0 else '':<6}{line}"


def captured_text(fields: Mapping[str, Value]) -> str:
    """Return captured fields in one line: ``requested_bytes 2.5 GiB, gpu 3``."""
    return ", ".join(f"{name} {format_value(name, value)}" for name, value in fields.items())


def _head(identity: str, kind: str, title: str) -> list[str]:
    return [f"{identity}{kind:>{max(len(kind) + 2, WIDTH - len(identity))}}", *_wrap(title, "", "")]


def _section(heading: str, texts: Sequence[str]) -> list[str]:
    body = [line for text in texts if text for line in _wrap(text, "  ", "  ")]
    return ["", *_wrap(heading, "", ""), *body] if body else []


def _heading(heading: str, texts: Iterable[str]) -> list[str]:
    body = [f"  {text}" for text in texts]
    return ["", heading, *body] if body else []


def _named(heading: str, titles: dict[str, str]) -> list[str]:
    if not titles:
        return []
    column = min(36, max(map(len, titles)) + 4)
    lines = ["", heading]
    for key, title in titles.items():
        lines += _wrap(title, f"  {key:<{column - 2}}" if len(key) < column - 2 else f"  {key}  ", " " * column)
    return lines


def _wrap(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
