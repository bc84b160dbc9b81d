"""Sentences with placeholders: ``{requested_bytes}``, ``{free_bytes / capacity_bytes:percent}``.

A sentence whose placeholders are not all known says nothing. Braces that belong to the text are doubled:
``{{"a": 1}}``. Values come from logs, which strangers write: control characters are removed from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Optional, Union

import msgspec

from doctor.rulebook.expression import Expression, Scope, compile_expression
from doctor.rulebook.quantity import FORMS, format_value

__all__ = ["Placeholder", "TemplateError", "format_value", "parse_template", "render", "render_one"]


class TemplateError(Exception):
    """A text whose placeholders cannot be read. ``column`` is 1-based within the text."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.column = column


class Placeholder(msgspec.Struct, frozen=True):
    """One hole in a text: an expression and the form of its value."""

    text: str
    form: str = ""

    @property
    def expression(self) -> Expression:
        """Return the compiled expression."""
        return compile_expression(self.text)


Part = Union[str, Placeholder]


def render(sentences: Sequence[str], scope: Scope) -> str:
    """Return the sentences whose placeholders are all known, as one paragraph."""
    return " ".join(text for sentence in sentences if (text := render_one(sentence, scope)))


def render_one(text: str, scope: Scope) -> Optional[str]:
    """Return a text with its placeholders filled, or None where one of them is unknown."""
    if "{" not in text and "}" not in text:
        return text
    out: list[str] = []
    for part in parse_template(text):
        if isinstance(part, str):
            out.append(part)
            continue
        expression = part.expression
        value = expression.evaluate(scope).value
        if value is None:
            return None
        out.append(format_value(expression.unit, value, part.form))
    return "".join(out)


@lru_cache(maxsize=4096)
def parse_template(text: str) -> tuple[Part, ...]:
    """Return the plain texts and placeholders of a template.

    Raises:
        TemplateError: a brace stands alone, or a form is not known.

    """
    parts: list[Part] = []
    plain: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char not in "{}":
            plain.append(char)
            at += 1
        elif text.startswith(char * 2, at):
            plain.append(char)
            at += 2
        elif char == "}":
            raise TemplateError("a single } in a text; write }} for the character itself", at + 1)
        else:
            end = _closing(text, at)
            parts += ["".join(plain), _placeholder(text[at + 1 : end], at + 1)]
            plain = []
            at = end + 1
    return tuple(part for part in (*parts, "".join(plain)) if part != "")


def _closing(text: str, start: int) -> int:
    quote = ""
    for at in range(start + 1, len(text)):
        char = text[at]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "}":
            return at
        elif char == "{":
            break
    raise TemplateError("a { that no } closes; write {{ for the character itself", start + 1)


def _placeholder(inner: str, column: int) -> Placeholder:
    """Split ``expression:form``; a colon cannot stand in an expression outside of quotes."""
    quote = ""
    for at, char in enumerate(inner):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == ":":
            text, form = inner[:at].strip(), inner[at + 1 :].strip()
            if form not in FORMS:
                raise TemplateError(
                    f"no such form: {form!r} (there are {', '.join(FORMS)}); double the braces of JSON and shell text",
                    column,
                )
            return _nonempty(text, form, column)
    return _nonempty(inner.strip(), "", column)


def _nonempty(text: str, form: str, column: int) -> Placeholder:
    if not text:
        raise TemplateError("an empty placeholder; write {{}} for the characters themselves", column)
    return Placeholder(text, form)
