"""Rule texts as they stand, outside of any case: placeholders are shown by their names."""

from __future__ import annotations

from doctor.rulebook.template import TemplateError, parse_template


def plain_text(text: str) -> str:
    """Return a text with its placeholders as ``<names>`` and its doubled braces single.

    >>> plain_text("It asked for {signal.requested_bytes}.")
    'It asked for <requested_bytes>.'
    """
    try:
        parts = parse_template(text)
    except TemplateError:
        return text
    return "".join(part if isinstance(part, str) else f"<{part.text.replace('signal.', '')}>" for part in parts)
