"""Causes: an explanation that always says something, a remedy that always applies, a way to see that it worked."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.model.rule import Cause, RemedyRule
from doctor.rulebook.document import Path
from doctor.rulebook.lint.name import Names
from doctor.rulebook.lint.signature import url_faults
from doctor.rulebook.lint.usable import cause_texts
from doctor.rulebook.relation import leads_to
from doctor.rulebook.template import Placeholder, TemplateError, parse_template

Found = Iterator[tuple[Path, str, str]]

# Causes that the engine names itself, without a rule that leads to them.
_NAMED_BY_ENGINE = "unknown."


def cause_faults(rule: Cause, names: Names) -> Found:
    """Yield path, message and level of every fault of a cause that can be used."""
    for index, url in enumerate(rule.references):
        yield from url_faults(url, ("references", index))
    for key in ("title", "verify"):
        if not getattr(rule, key).strip():
            yield (key,), f"{key} is empty", "error"
    if not any(_constant(one.say) and not one.when for one in rule.sentences):
        yield ("because",), "one sentence without placeholders must explain the mechanism", "error"
    if not rule.remedies:
        yield ("remedies",), "at least one remedy is needed", "error"
    elif not any(_always(remedy) for remedy in rule.remedies):
        yield ("remedies",), "every remedy has placeholders or a condition; add one that always applies", "error"
    for index, remedy in enumerate(rule.remedies):
        if not remedy.do.strip():
            yield ("remedies", index, "do"), "the remedy says nothing", "error"
    if rule.id in rule.rivals:
        yield ("rivals",), "a cause is no rival of itself", "error"
    near = names.for_cause(rule.id)
    for path, text in cause_texts(rule):
        yield from names.check_text(text, path, near)
    for index, remedy in enumerate(rule.remedies):
        if remedy.when:
            yield from names.check(remedy.when, ("remedies", index, "when"), near)
    for index, sentence in enumerate(rule.sentences):
        if sentence.when:
            yield from names.check(sentence.when, ("because", index, "when"), near)
    if not any(leads_to(rule.id, names.book)) and not rule.id.startswith(_NAMED_BY_ENGINE):
        yield (), "no tree and no signature leads to this cause", "warning"


def _always(remedy: RemedyRule) -> bool:
    return not remedy.when and all(_constant(text) for text in (remedy.do, remedy.run, remedy.set, remedy.edit))


def _constant(text: str) -> bool:
    try:
        return not any(isinstance(part, Placeholder) for part in parse_template(text))
    except TemplateError:
        return True
