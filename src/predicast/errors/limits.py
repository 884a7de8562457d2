"""Input beyond a limit."""

from __future__ import annotations

from predicast.errors.root import PredicastError


class LimitError(PredicastError, ValueError):
    """Input beyond a limit that keeps time and memory bounded."""

    limit: int | None
    actual: int | None


class TextTooLongError(LimitError):
    """An expression with too many characters."""


class NestingTooDeepError(LimitError):
    """Parentheses, NOTs or nested objects past the limit."""


class ListTooLongError(LimitError):
    """A list of an event with more elements than one is allowed to have."""


class TooManyAlternativesError(LimitError):
    """A region event that would have to be tried in too many ways on one subscription."""


class GraphTooLargeError(LimitError):
    """A graph, or a graph pattern, with more statements than one is allowed to have."""


class WindowTooLargeError(LimitError):
    """A window of more operations than one is allowed to hold."""


class IdsTooLargeError(LimitError):
    """Ids that together have more bytes than an answer can hold."""
