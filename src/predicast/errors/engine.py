"""What an engine refuses."""

from __future__ import annotations

from typing import Any

from predicast.errors.limits import LimitError
from predicast.errors.root import PredicastError


class EngineError(PredicastError):
    """A request that the engine refuses."""


class InvalidIdError(EngineError, ValueError):
    """A subscription id or owner that is not a non-empty string, or is too long."""

    id: Any


class InvalidSubscriptionError(EngineError, ValueError):
    """Something that is not a subscription with its id, among many that are to be added."""

    position: int | None


class DuplicateIdError(EngineError, ValueError):
    """The id is taken; ``change`` replaces what it stands for."""

    id: str | None


class UnknownIdError(EngineError, KeyError):
    """No subscription has this id."""

    id: str | None
    suggestion: str | None


class UnknownMatcherError(EngineError, ValueError):
    """No matcher is registered under this name."""

    name: str | None
    suggestion: str | None


class UnsupportedByMatcherError(EngineError, ValueError):
    """The chosen matcher's structure cannot hold this subscription."""

    matcher: str | None
    constraint: str | None


class TooManyClausesError(LimitError, UnsupportedByMatcherError):
    """A subscription whose normal form is too large for a matcher that needs clauses."""


class NotCompiledError(EngineError):
    """What matching needs could not be compiled; it works without, at a fraction of the speed."""
