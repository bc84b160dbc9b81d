"""The closed vocabularies of the project: one enum a word of judgement.

Every value is what users read and write in YAML and JSON, so values never change meaning.
"""

from __future__ import annotations

import enum


class Role(str, enum.Enum):
    """The part a signal plays in a failure."""

    INITIATING = "initiating"  # can be what broke
    CASCADE = "cascade"  # follows from a failure elsewhere
    WRAPPER = "wrapper"  # reports another failure without adding to it
    TEARDOWN = "teardown"  # the noise of a dying job
    ADVICE = "advice"  # a hint printed beside an error; never evidence of a cause
    HARMLESS = "harmless"  # looks frightening and is not


class Severity(str, enum.Enum):
    """Harm to the job, from none to its end."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    FATAL = "fatal"

    @property
    def order(self) -> int:
        """Return 0 for info up to 3 for fatal."""
        return list(Severity).index(self)


class Confidence(str, enum.Enum):
    """How sure a diagnosis is."""

    POSSIBLE = "possible"
    LIKELY = "likely"
    CERTAIN = "certain"

    @property
    def order(self) -> int:
        """Return 0 for possible up to 2 for certain."""
        return list(Confidence).index(self)


class Risk(str, enum.Enum):
    """Harm that a remedy itself can do."""

    READ_ONLY = "read_only"
    SAFE = "safe"
    DISRUPTIVE = "disruptive"
    DESTRUCTIVE = "destructive"


class Why(str, enum.Enum):
    """Why something could not be looked at. Never to be read as "healthy"."""

    NOT_SUPPORTED = "not_supported"
    NO_PERMISSION = "no_permission"
    TOOL_ABSENT = "tool_absent"
    TIMED_OUT = "timed_out"
    NOT_PROBED = "not_probed"
    NOT_IN_LOG = "not_in_log"
    UNPARSABLE = "unparsable"


class Place(str, enum.Enum):
    """Where a diagnosis stands in the chain of events."""

    ROOT = "root"
    CONSEQUENCE = "consequence"
    WARNING = "warning"


class Verdict(str, enum.Enum):
    """The one word over a whole examination."""

    HEALTHY = "healthy"
    WARNINGS = "warnings"
    FAILED = "failed"


class Truth(enum.Enum):
    """Kleene's three values; ``UNKNOWN`` is an answer, not an error."""

    TRUE = "yes"
    FALSE = "no"
    UNKNOWN = "unknown"
