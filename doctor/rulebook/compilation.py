"""Layers of YAML files → rules by id, with every fault kept beside its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional, Union

import msgspec

from doctor.model.rule import Cause, Signature, Tree
from doctor.rulebook.book import FrameworkRule, Rulebook, StageRule
from doctor.rulebook.document import Document, read_document
from doctor.rulebook.fault import Fault
from doctor.rulebook.shape import convert
from doctor.rulebook.source import KINDS, Layer, RuleFile
from doctor.rulebook.translation import translate

Rule = Union[Signature, Tree, Cause]

_STRUCTS: dict[str, type[Rule]] = {"signatures": Signature, "trees": Tree, "causes": Cause}
_DEPTHS = {"signatures": 2, "trees": 1, "causes": 2}
ID_FORMS = {
    "signatures": re.compile(r"[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9_.-]*\Z"),
    "trees": re.compile(r"[a-z0-9][a-z0-9-]*\Z"),
    "causes": re.compile(r"[a-z0-9][a-z0-9-]*\.[a-z0-9][a-z0-9_-]*\Z"),
}
# Folders that are part of the layout and that others read.
_OTHERS = ("checks", "profiles", "catalogue")


class Entry(NamedTuple):
    """A rule with the document that it was read from."""

    rule: Rule
    document: Document
    shipped: bool


class Compilation:
    """What comes out of layers: ``entries`` by kind and id, the catalogue, and ``faults``."""

    def __init__(self, languages: Sequence[str] = ()) -> None:
        self.faults: list[Fault] = []
        self.entries: dict[str, dict[str, Entry]] = {kind: {} for kind in KINDS}
        self._languages = tuple(languages)
        self._stages: dict[str, StageRule] = {}
        self._frameworks: dict[str, FrameworkRule] = {}

    def add(self, layer: Layer) -> None:
        """Lay the rules of one folder over those that are there."""
        texts = self._translations(layer)
        own: dict[tuple[str, str], str] = {}
        for file in layer.files:
            kind = file.relative.split("/", 1)[0]
            if kind in KINDS:
                self._add_rule(kind, file, layer, texts.get(file.relative), own)
            elif file.relative in ("catalogue/stages.yaml", "catalogue/frameworks.yaml"):
                self._add_catalogue(file)
            elif kind not in (*_OTHERS, "locale"):
                self._fault(file, f"stands in none of {', '.join(f'{name}/' for name in KINDS)}")

    def book(self, digest: str = "") -> Rulebook:
        """Return everything as a rulebook."""
        return Rulebook(
            signatures=self._rules("signatures"),
            trees=self._rules("trees"),
            causes=self._rules("causes"),
            stages=tuple(self._stages.values()),
            frameworks=tuple(self._frameworks.values()),
            digest=digest,
        )

    def check_usable(self) -> None:
        """Check what an examination relies on in the user's own rules; the tests prove the shipped ones."""
        if self.faults or all(entry.shipped for table in self.entries.values() for entry in table.values()):
            return
        from doctor.rulebook.lint.usable import usable_faults

        book = self.book()
        for table in self.entries.values():
            for entry in table.values():
                if not entry.shipped:
                    self.faults += usable_faults(entry.rule, entry.document, book)

    def _rules(self, kind: str) -> dict[str, Any]:
        return {key: entry.rule for key, entry in sorted(self.entries[kind].items())}

    def _add_rule(
        self, kind: str, file: RuleFile, layer: Layer, texts: Optional[RuleFile], own: dict[tuple[str, str], str]
    ) -> None:
        document = self._document(file)
        identity = self._identity(kind, file, document)
        if document is None or identity is None:
            return
        first = own.setdefault((kind, identity), file.shown)
        if first != file.shown:
            self.faults.append(document.fault(("id",), f"{identity} is already defined by {first}"))
            return
        data = self._translated(kind, document.data, texts)
        rule, faults = convert(document, data, _STRUCTS[kind])
        self.faults += faults
        if rule is not None:
            rule = msgspec.structs.replace(rule, id=identity, origin=file.shown)
            self.entries[kind][identity] = Entry(rule, document, layer.shipped)

    def _identity(self, kind: str, file: RuleFile, document: Optional[Document]) -> Optional[str]:
        """Return a rule's id: what its file says, else what its path says."""
        if document is None or not isinstance(document.data, dict):
            if document is not None:
                self.faults.append(document.fault((), "a mapping is needed here"))
            return None
        parts = file.relative.rsplit(".", 1)[0].split("/")[1:]
        said = document.data.get("id")
        if said is None and len(parts) != _DEPTHS[kind]:
            layout = f"{kind}/<family>/<name>.yaml" if _DEPTHS[kind] == 2 else f"{kind}/<name>.yaml"
            self._fault(file, f"the file must stand at {layout}")
            return None
        identity = str(said) if said is not None else ("." if kind == "causes" else "/").join(parts)
        if not ID_FORMS[kind].match(identity):
            self.faults.append(document.fault(("id",), f"{identity!r} is no id: small letters, digits and dashes"))
            return None
        return identity

    def _document(self, file: RuleFile) -> Optional[Document]:
        document, faults = read_document(file.shown, file.content)
        self.faults += faults
        return document

    def _translations(self, layer: Layer) -> dict[str, RuleFile]:
        """Return the texts of the wanted language by the path of the rule that they belong to."""
        found: dict[str, RuleFile] = {}
        for language in reversed(self._languages):
            prefix = f"locale/{language}/"
            found.update({f.relative[len(prefix) :]: f for f in layer.files if f.relative.startswith(prefix)})
        paths = {file.relative for file in layer.files}
        for relative, file in found.items():
            if relative not in paths:
                self._fault(file, f"translates {relative}, which is not there")
        return found

    def _translated(self, kind: str, data: dict[str, Any], texts: Optional[RuleFile]) -> dict[str, Any]:
        document = self._document(texts) if texts else None
        if document is None:
            return data
        merged, faults = translate(kind, data, document)
        self.faults += faults
        return merged

    def _add_catalogue(self, file: RuleFile) -> None:
        document = self._document(file)
        if document is None:
            return
        if file.relative.endswith("stages.yaml"):
            stages, faults = convert(document, document.data, tuple[StageRule, ...])
            self._stages = {**{rule.stage: rule for rule in stages or ()}, **_without(self._stages, stages)}
        else:
            frameworks, faults = convert(document, document.data, tuple[FrameworkRule, ...])
            self._frameworks = {**{r.framework: r for r in frameworks or ()}, **_without(self._frameworks, frameworks)}
        self.faults += faults

    def _fault(self, file: RuleFile, message: str) -> None:
        self.faults.append(Fault(file.shown, 1, 1, message))


def _without(table: dict[str, Any], added: Optional[Sequence[Any]]) -> dict[str, Any]:
    """Return a catalogue without what a later layer says anew; the later layer's entries are asked first."""
    names = {getattr(rule, "stage", None) or getattr(rule, "framework", None) for rule in added or ()}
    return {name: rule for name, rule in table.items() if name not in names}
