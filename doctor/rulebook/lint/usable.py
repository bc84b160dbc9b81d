"""What an examination relies on: texts that parse, regexes that compile, ids that exist, trees that end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Union

from doctor.model.rule import Cause, Leaf, Signature, Tree
from doctor.rulebook.book import Rulebook
from doctor.rulebook.document import Document, Path
from doctor.rulebook.expression import compile_expression
from doctor.rulebook.fault import Fault
from doctor.rulebook.lint.pattern import compile_fault
from doctor.rulebook.relation import exits
from doctor.rulebook.syntax import ExpressionError
from doctor.rulebook.template import TemplateError, parse_template

MIN_GATE_BYTES = 5


def usable_faults(rule: Union[Signature, Tree, Cause], document: Document, book: Rulebook) -> list[Fault]:
    """Return what would make an examination with this rule fail."""
    if isinstance(rule, Signature):
        found = _signature(rule, book)
    elif isinstance(rule, Tree):
        found = _tree(rule, book)
    else:
        found = _cause(rule, book)
    return [document.fault(path, message) for path, message in found]


def _signature(rule: Signature, book: Rulebook) -> Iterator[tuple[Path, str]]:
    for index, pattern in enumerate(rule.patterns):
        message = compile_fault(pattern.regex)
        if message:
            yield ("patterns", index, "regex"), message
        if len(pattern.gate.encode()) < MIN_GATE_BYTES:
            yield ("patterns", index, "gate"), f"a gate has at least {MIN_GATE_BYTES} bytes, or too many lines pass it"
        if not pattern.gate.isprintable():
            yield ("patterns", index, "gate"), "a gate is one line of printable text"
        if not 1 <= pattern.lines <= 64:
            yield ("patterns", index, "lines"), "lines is 1 to 64"
    if not rule.patterns and not rule.detector:
        yield (), "patterns is missing (or a detector)"
    if rule.opens and rule.cause:
        yield ("opens",), "a signature opens a tree or names a cause, not both"
    if rule.opens and rule.opens not in book.trees:
        yield ("opens",), f"there is no tree {rule.opens}"
    if rule.cause and rule.cause not in book.causes:
        yield ("cause",), f"there is no cause {rule.cause}"
    for index, name in enumerate(rule.recovers):
        if name not in book.signatures:
            yield ("recovers", index), f"there is no signature {name}"


def _tree(rule: Tree, book: Rulebook) -> Iterator[tuple[Path, str]]:
    for name, text in rule.let.items():
        yield from expression_faults(text, ("let", name))
    if rule.start not in rule.nodes:
        yield ("start",), f"there is no node {rule.start}"
    for name, node in rule.nodes.items():
        yield from expression_faults(node.when, ("nodes", name, "when"))
        yield from template_faults(node.ask, ("nodes", name, "ask"))
        for key, exit_ in exits(node):
            if isinstance(exit_, Leaf):
                if exit_.cause not in book.causes:
                    yield ("nodes", name, key), f"there is no cause {exit_.cause}"
            elif exit_ not in rule.nodes:
                yield ("nodes", name, key), f"there is no node {exit_}"
    yield from _cycles(rule)


def _cycles(rule: Tree) -> Iterator[tuple[Path, str]]:
    """Report where a walk could go on for ever."""
    following = {
        name: {exit_ for _, exit_ in exits(node) if isinstance(exit_, str)} for name, node in rule.nodes.items()
    }
    # Nodes that only lead to ends are dropped until nothing more can be: the rest goes round.
    open_nodes = dict(following)
    while True:
        ended = [name for name, after in open_nodes.items() if not after & open_nodes.keys()]
        if not ended:
            break
        for name in ended:
            del open_nodes[name]
    for name in list(open_nodes)[:1]:
        yield ("nodes", name), f"the walk may never end: {', '.join(open_nodes)} lead in a circle"


def _cause(rule: Cause, book: Rulebook) -> Iterator[tuple[Path, str]]:
    for path, text in cause_texts(rule):
        yield from template_faults(text, path)
    for index, remedy in enumerate(rule.remedies):
        if remedy.when:
            yield from expression_faults(remedy.when, ("remedies", index, "when"))
    for index, sentence in enumerate(rule.sentences):
        if sentence.when:
            yield from expression_faults(sentence.when, ("because", index, "when"))
    for index, rival in enumerate(rule.rivals):
        if rival not in book.causes:
            yield ("rivals", index), f"there is no cause {rival}"


def cause_texts(rule: Cause) -> Iterator[tuple[Path, str]]:
    """Yield every text of a cause that is rendered, with its path."""
    yield ("title",), rule.title
    yield ("verify",), rule.verify
    for index, sentence in enumerate(rule.sentences):
        yield ("because", index), sentence.say
    for index, text in enumerate(rule.next_steps):
        yield ("next_steps", index), text
    for index, remedy in enumerate(rule.remedies):
        for key in ("do", "run", "set", "edit", "verify"):
            yield ("remedies", index, key), getattr(remedy, key)
        for framework, setting in remedy.by_framework.items():
            for key in ("run", "set", "edit"):
                yield ("remedies", index, "by_framework", framework, key), getattr(setting, key)


def expression_faults(text: str, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield why a condition cannot be used."""
    try:
        expression = compile_expression(text)
    except ExpressionError as error:
        yield path, f"column {error.column} of {text!r}: {error.message}"
        return
    for call in expression.calls:
        if call.function in ("in_trace", "matches") and isinstance(call.arguments[-1], str):
            message = compile_fault(call.arguments[-1])
            if message:
                yield path, message


def template_faults(text: str, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield why a text with placeholders cannot be used."""
    try:
        parts = parse_template(text)
    except TemplateError as error:
        yield path, f"column {error.column} of the text: {error.message}"
        return
    for part in parts:
        if not isinstance(part, str):
            for _, message in expression_faults(part.text, path):
                yield path, f"placeholder {{{part.text}}}: {message} (double the braces of JSON and shell text)"
