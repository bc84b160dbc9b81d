"""What the examples of a signature claim to capture."""

from __future__ import annotations

from doctor.model.rule import Example, Signature, Value
from doctor.model.unit import field_name


def wanted_fields(rule: Signature, example: Example) -> dict[str, Value]:
    """Return the fields that an example of a signature claims to have."""
    return {field_name(name, rule.captures.get(name, "")): value for name, value in example.captures.items()}
