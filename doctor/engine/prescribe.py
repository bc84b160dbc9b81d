"""From a conclusion to the texts a person reads: title, because, remedies, next steps."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.engine.scope import EventScope
from doctor.model.diagnosis import Remedy
from doctor.model.rule import Cause, RemedyRule, Setting
from doctor.model.vocabulary import Truth
from doctor.rulebook.expression import compile_expression
from doctor.rulebook.template import render, render_one


def prescribe(cause: Cause, scope: EventScope) -> tuple[Remedy, ...]:
    """Return the remedies that fit this case, best first, with the setting for the framework seen."""
    return tuple(_remedies(cause, scope))


def _remedies(cause: Cause, scope: EventScope) -> Iterator[Remedy]:
    for rule in cause.remedies:
        if rule.when and compile_expression(rule.when).evaluate(scope).truth is Truth.FALSE:
            continue
        setting = _setting(rule, scope)
        texts = [render_one(text, scope) for text in (rule.do, setting.run, setting.set, setting.edit)]
        verify = render_one(rule.verify or cause.verify, scope)
        if any(text is None for text in texts):
            continue
        do, run, set_, edit = (text or "" for text in texts)
        yield Remedy(do=do, run=run, set=set_, edit=edit, risk=rule.risk, verify=verify or "")


def _setting(rule: RemedyRule, scope: EventScope) -> Setting:
    framework = scope.name("framework")
    if isinstance(framework, str) and framework in rule.by_framework:
        return rule.by_framework[framework]
    return Setting(run=rule.run, set=rule.set, edit=rule.edit)


def explain_cause(cause: Cause, scope: EventScope) -> str:
    """Return the because paragraph: the sentences whose numbers are known."""
    said = [one.say for one in cause.sentences if not one.when or _holds(one.when, scope)]
    return render(said, scope)


def _holds(condition: str, scope: EventScope) -> bool:
    return compile_expression(condition).evaluate(scope).truth is Truth.TRUE


def title_of(cause: Cause, scope: EventScope) -> str:
    """Return the title, with its placeholders filled where they are known."""
    filled = render_one(cause.title, scope)
    return filled if filled is not None else cause.title.split("{", 1)[0].rstrip(" :,")


def next_steps_of(cause: Cause, scope: EventScope) -> tuple[str, ...]:
    """Return what else to look at, for this case."""
    return tuple(step for text in cause.next_steps if (step := render_one(text, scope)))
