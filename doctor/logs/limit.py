"""The bounds of reading a log. A bound that bites is reported as a ``LimitHit``, never passed over in silence."""

from __future__ import annotations

import msgspec

MAX_TEXT = 4096
"""Characters kept of the text of an occurrence."""

LOOK_BACK = 64 << 10
"""Bytes before a hit that its line may reach back."""

LOOK_AHEAD = 256 << 10
"""Bytes after a hit in which its continuation lines are looked for."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much of one log is kept, and how much work is spent on it.

    ``line_bytes`` is how much of one line is looked at around a hit (never more than 64 KiB).
    ``number_lines`` is the number of lines decoded for their numbers before only a sample is (a 25th of it at
    either end of a log above ``number_all_bytes``); a caller with many rank logs lowers it, since ranks repeat each
    other's numbers. Lines that print NaN or infinity are read beyond that.
    ``rejoined`` matches of a signature are looked at with their following lines, ``captures`` on their line alone,
    and from there on gates are only counted.
    """

    output_bytes: int = 16 << 30
    output_ratio: int = 2000
    ratio_free_bytes: int = 1 << 30
    line_bytes: int = 64 << 10
    kept_first: int = 150
    kept_last: int = 50
    rejoined: int = 500
    captures: int = 5000
    misses: int = 20_000
    exceptions_first: int = 1500
    exceptions_last: int = 500
    number_all_bytes: int = 64 << 20
    number_head_bytes: int = 16 << 20
    number_tail_bytes: int = 48 << 20
    number_lines: int = 5_000
    points: int = 200_000
    wrapped_bytes: int = 64 << 20
    alive: int = 2000
