"""What tests of the rulebook share: a small folder of rules with ways to change it, and a scope of plain names."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

from doctor.model.rule import Value

SIGNATURE = """\
title: The widget store refused memory
role: initiating
severity: fatal
emitter: widget 1.0 store.py
says_not: That the store is full.
patterns:
  - gate: widget store refused
    regex: 'widget store refused (?P<requested>[\\d.]+ [KMGT]iB) on device (?P<device>\\d+)'
captures: {requested: bytes, device: index}
opens: widget
examples:
  - line: 'widget store refused 2.00 GiB on device 3'
    captures: {requested: 2147483648, device: 3}
near_misses:
  - {why: the store is well, line: widget store ready}
references: ['https://example.org/widget']
"""
TREE = """\
title: Who holds the widgets?
start: large
let: {half_bytes: signal.requested_bytes / 2}
nodes:
  large:
    ask: Is half of it more than {half_bytes}?
    when: half_bytes > GiB(1)
    then: {cause: widget.demand, confidence: certain}
    else: again
    unknown: again
  again:
    ask: Does the host know?
    when: host.widget_count > 3
    probe: host.widget_count
    then: {cause: widget.demand}
    else: {cause: widget.demand, confidence: possible}
    unknown: {cause: widget.demand, confidence: possible}
"""
CAUSE = """\
title: The job needs more widgets than there are
severity: fatal
because:
  - Every step takes one.
  - It asked for {requested_bytes} on device {device}.
remedies:
  - do: Ask for fewer.
    run: "widget --less '{{n:1}}'"
    risk: safe
verify: The step passes.
"""
FILES = {
    "signatures/widget/refused.yaml": SIGNATURE,
    "trees/widget.yaml": TREE,
    "causes/widget/demand.yaml": CAUSE,
}


def write_rules(folder: Path, changes: dict[str, str] | None = None, *, whole: bool = True) -> Path:
    """Write the three files, with some replaced or added, and return the folder."""
    for relative, text in {**(FILES if whole else {}), **(changes or {})}.items():
        path = folder / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


class Fields(dict[str, Value]):
    """A scope of plain names; log functions answer from the key ``function(args)``."""

    def name(self, dotted: str) -> Optional[Value]:
        """Return what the name holds."""
        return self.get(dotted)

    def call(self, function: str, args: tuple[Value, ...]) -> Optional[Value]:
        """Return what the call is said to answer."""
        return self.get(f"{function}({', '.join(map(str, args))})")
