"""Which names a condition or a text may use, and whether anything in the book can ever give them a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from doctor.model.rule import Signature, Tree
from doctor.model.unit import field_name
from doctor.rulebook.book import Rulebook
from doctor.rulebook.document import Path
from doctor.rulebook.expression import compile_expression
from doctor.rulebook.relation import leads_to, openers_of
from doctor.rulebook.syntax import ExpressionError
from doctor.rulebook.template import Placeholder, TemplateError, parse_template

# What the engine tells of every event, besides its fields.
SPECIAL = frozenset(
    {"stage", "framework", "rank", "local_rank", "node", "pid", "exception", "message", "line", "where", "code"}
)
# First parts of the names of live facts.
LIVE = ("gpu.", "host.", "node.", "rdma.", "nccl.", "storage.")

Found = Iterator[tuple[Path, str, str]]


def fields_of(signature: Signature) -> set[str]:
    """Return the fields that a signature can have."""
    return {field_name(name, unit) for name, unit in signature.captures.items()} | set(signature.sets)


class Names:
    """The names of a whole book, and of the signatures and trees that lead to one cause or tree."""

    def __init__(self, book: Rulebook) -> None:
        self.book = book
        self.detectors = any(signature.detector for signature in book.signatures.values())
        self._everywhere = set().union(*(fields_of(signature) for signature in book.signatures.values()))
        self._lets = {name for tree in book.trees.values() for name in tree.let}

    def for_tree(self, tree: Tree) -> set[str]:
        """Return the fields at hand in a tree."""
        return set().union(*(fields_of(signature) for signature in self._signatures(openers_of(tree.id, self.book))))

    def for_cause(self, cause: str) -> set[str]:
        """Return the fields and lets that may be at hand when a cause is explained."""
        trees, signatures = leads_to(cause, self.book)
        names = set().union(*(fields_of(signature) for signature in self._signatures(signatures)))
        for tree in trees:
            names |= self.for_tree(self.book.trees[tree]) | set(self.book.trees[tree].let)
        return names

    def _signatures(self, ids: Iterable[str]) -> list[Signature]:
        return [self.book.signatures[identity] for identity in ids]

    def check(self, text: str, path: Path, near: set[str], lets: Iterable[str] = ()) -> Found:
        """Yield the names and signatures in a condition that nothing gives a value; broken ones are others' matter."""
        try:
            expression = compile_expression(text)
        except ExpressionError:
            return
        plain = set(lets)
        for name in sorted(expression.names):
            yield from self._name(name, path, near, plain)
        for call in expression.calls:
            if call.function in ("seen", "seen_before", "count", "ranks", "field"):
                yield from self._signature(str(call.arguments[0]), path)
            if call.function == "field":
                yield from self._field(str(call.arguments[0]), str(call.arguments[1]), path)

    def check_text(self, text: str, path: Path, near: set[str], lets: Iterable[str] = ()) -> Found:
        """Yield the same for every placeholder of a text."""
        try:
            parts = parse_template(text)
        except TemplateError:
            return
        for part in parts:
            if isinstance(part, Placeholder):
                yield from self.check(part.text, path, near, lets)

    def _name(self, name: str, path: Path, near: set[str], lets: set[str]) -> Found:
        short = name.removeprefix("signal.")
        if short in SPECIAL or short in near or (short == name and short in lets) or name.startswith(LIVE):
            return
        if short in self._everywhere or (short == name and short in self._lets):
            yield path, f"{name}: no signature that leads here captures it", "warning"
        elif "." in short:
            yield path, f"{name}: live facts begin with {', '.join(LIVE)}", "error"
        else:
            level = "warning" if self.detectors else "error"
            yield path, f"{name}: no signature captures it and no tree names it", level

    def _signature(self, signature: str, path: Path) -> Found:
        if signature not in self.book.signatures:
            yield path, f"there is no signature {signature}", "error"

    def _field(self, signature: str, field: str, path: Path) -> Found:
        rule = self.book.signatures.get(signature)
        if rule and field not in fields_of(rule) | SPECIAL and not rule.detector:
            known = ", ".join(sorted(fields_of(rule))) or "none"
            yield path, f"{signature} has no field {field}; it has {known}", "error"
