"""``Finding``: something about a subscription that its author would want to know."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final


class Severity(enum.StrEnum):
    """How bad it is: surely wrong, likely wrong, or worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Check(enum.StrEnum):
    """What was looked for."""

    INVALID = "invalid"  # it cannot be read; only of files
    NEVER_TRUE = "never-true"
    DEAD_PART = "dead-part"  # one of its alternatives is never true
    ALWAYS_TRUE = "always-true"
    DUPLICATE = "duplicate"
    COVERED = "covered"
    UNKNOWN_ATTRIBUTE = "unknown-attribute"
    OTHER_KIND = "other-kind"
    COSTLY = "costly"


SEVERITIES: Final = {
    Check.INVALID: Severity.ERROR,
    Check.NEVER_TRUE: Severity.ERROR,
    Check.DEAD_PART: Severity.WARNING,
    Check.ALWAYS_TRUE: Severity.WARNING,
    Check.DUPLICATE: Severity.WARNING,
    Check.COVERED: Severity.WARNING,
    Check.UNKNOWN_ATTRIBUTE: Severity.WARNING,
    Check.OTHER_KIND: Severity.WARNING,
    Check.COSTLY: Severity.NOTE,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about one subscription.

    ``message`` says what was found and ``advice`` what would be right; ``other`` is the
    subscription that it was found beside, and ``attribute`` the one that it is about.
    """

    id: str
    check: Check
    message: str
    advice: str
    other: str | None = None
    attribute: str | None = None

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return SEVERITIES[self.check]

    def __str__(self) -> str:
        return f"{self.id}: {self.severity} {self.check}: {self.message}; {self.advice}"
