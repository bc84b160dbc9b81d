"""Regexes: whether they compile, which literals every match holds, and which alternatives examples reach."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Optional

import re2

MAX_VARIANTS = 512
# Stands in a variant where anything may be; no gate holds it.
_BREAK = "\x00"
_PROBE = "zz_lint_alternative"


def compile_fault(regex: str) -> Optional[str]:
    """Return why RE2 does not take a regex, or None."""
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(regex, options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        return f"not an RE2 regex: {reason.decode() if isinstance(reason, bytes) else reason}"
    return None


def group_names(regex: str) -> set[str]:
    """Return the names of the capture groups of a regex that compiles."""
    return set(re2.compile(regex).groupindex)


def holds_literal(regex: str, literal: str) -> Optional[bool]:
    """Say whether every match of a regex holds a literal; None where that cannot be told."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = _parser().parse(regex)
    except (re.error, OverflowError, RecursionError):
        return None
    variants = _variants(parsed, bool(parsed.state.flags & re.IGNORECASE))
    return None if variants is None else all(literal in variant for variant in variants)


def _parser() -> Any:
    """Return Python's own regex parser, whose tree is the same for everything that RE2 shares with it."""
    try:
        from re import _parser  # type: ignore[attr-defined]
    except ImportError:  # Python 3.10
        import sre_parse as _parser
    return _parser


def _variants(parsed: Any, ignore_case: bool) -> Optional[list[str]]:
    """Return every text that a match must hold, one for each way through the alternatives."""
    texts = [""]
    for kind, argument in parsed:
        options = _options(str(kind), argument, ignore_case)
        if options is None or len(texts) * len(options) > MAX_VARIANTS:
            return None
        texts = [text + option for text in texts for option in options]
    return texts


def _options(kind: str, argument: Any, ignore_case: bool) -> Optional[list[str]]:
    if kind == "LITERAL":
        char = chr(argument)
        return [_BREAK if ignore_case and char.lower() != char.upper() else char]
    if kind == "AT":
        return [""]
    if kind == "SUBPATTERN":
        _, add, drop, inner = argument
        return _variants(inner, (ignore_case or bool(add & re.IGNORECASE)) and not drop & re.IGNORECASE)
    if kind == "BRANCH":
        branches = [_variants(branch, ignore_case) for branch in argument[1]]
        return None if any(b is None for b in branches) else [text for b in branches for text in b or ()]
    if kind in ("MAX_REPEAT", "MIN_REPEAT"):
        least, most, inner = argument
        if least == 0:
            return [_BREAK]
        found = _variants(inner, ignore_case)
        if found is None or (least == 1 and most == 1):
            return found
        return [f"{text}{_BREAK}{text}" for text in found]
    return [_BREAK]


class Alternative(NamedTuple):
    """One alternative of a group: its text, whether it stands outside of any group, and two regexes that show it.

    ``marked`` is the whole regex with this alternative captured, ``only`` the same without its rivals.
    """

    text: str
    top: bool
    marked: str
    only: str


def alternatives(regex: str) -> Iterator[Alternative]:
    """Yield every alternative of a regex that offers any."""
    for group in _groups(regex):
        spans = group.spans
        if len(spans) < 2:
            continue
        for start, end in spans:
            if regex[start:end] in ("", "^", "$"):
                continue  # an edge of the line is no wording
            probe = f"(?P<{_PROBE}>{regex[start:end]})"
            marked = regex[:start] + probe + regex[end:]
            only = regex[: spans[0][0]] + probe + regex[spans[-1][1] :]
            yield Alternative(regex[start:end], group.top, marked, only)


def reaches(alternative: Alternative, lines: Sequence[str]) -> bool:
    """Say whether a line is matched through this very alternative."""
    for regex in (alternative.marked, alternative.only):
        if compile_fault(regex):
            continue
        compiled = re2.compile(regex)
        for line in lines:
            match = compiled.search(line)
            if match and match.group(_PROBE) is not None:
                return True
    return False


class _Group(NamedTuple):
    top: bool
    spans: list[tuple[int, int]]


def _groups(regex: str) -> list[_Group]:
    """Return the groups of a regex (the regex itself is the first) with the spans of their alternatives."""
    groups = [_Group(True, [])]
    stack: list[tuple[_Group, int]] = [(groups[0], 0)]
    at = 0
    while at < len(regex):
        char = regex[at]
        if char == "\\":
            at += 2
            continue
        if char == "[":
            at = _class_end(regex, at)
        elif char == "(":
            head = re.compile(r"\((?:\?P?<\w+>|\?[a-zA-Z]*(?:-[a-zA-Z]+)?:|\?[a-zA-Z-]+(?=\)))?").match(regex, at)
            assert head
            at = head.end() - 1
            # A group around the whole regex is as good as none.
            groups.append(_Group(head.start() == 0 and _closes_at_end(regex), []))
            stack.append((groups[-1], at + 1))
        elif char in "|)":
            group, start = stack[-1]
            group.spans.append((start, at))
            stack[-1] = (group, at + 1)
            if char == ")" and len(stack) > 1:
                stack.pop()
        at += 1
    group, start = stack[0]
    group.spans.append((start, len(regex)))
    return groups


def _closes_at_end(regex: str) -> bool:
    depth = 0
    at = 0
    while at < len(regex):
        char = regex[at]
        if char == "\\":
            at += 1
        elif char == "[":
            at = _class_end(regex, at)
        elif char in "()":
            depth += 1 if char == "(" else -1
            if depth == 0:
                return at == len(regex) - 1
        at += 1
    return False


def _class_end(regex: str, start: int) -> int:
    """Return where a character class ends; a bracket right after its start is one of its characters."""
    at = start + 1
    if regex.startswith("^", at):
        at += 1
    if regex.startswith("]", at):
        at += 1
    while at < len(regex) and regex[at] != "]":
        if regex[at] == "\\":
            at += 1
        elif regex.startswith("[:", at):
            at = regex.index(":]", at) + 1 if ":]" in regex[at:] else at
        at += 1
    return at
