"""What a broker refuses of its neighbours; it tells them so, and raises nothing."""

from __future__ import annotations

from predicast.errors.limits import LimitError
from predicast.errors.root import PredicastError


class RoutingError(PredicastError):
    """A message that a broker refuses, or a broker that cannot be started."""


class MalformedMessageError(RoutingError, ValueError):
    """Bytes that are no message, or a message with a field that cannot be what it is."""

    field: str | None


class MessageTooLargeError(RoutingError, LimitError):
    """A message with more bytes, events or operations than one is allowed to have."""


class TooManySubscriptionsError(RoutingError, LimitError):
    """More subscriptions than one neighbour is allowed to have."""


class UnknownInterfaceError(RoutingError, LookupError):
    """A message from a neighbour that has not said hello."""

    interface: str | None


class InterfaceRefusedError(RoutingError):
    """A neighbour that cannot be one: its place in the tree, its name, or one too many."""

    interface: str | None


class WrongEpochError(RoutingError):
    """A message of a stream that is over, or that nobody has announced."""

    epoch: int | None
    expected: int | None


class OutOfOrderError(RoutingError):
    """A sequence so far ahead that what lies between cannot be kept in mind."""

    sequence: int | None
    expected: int | None


class ForeignPublisherError(RoutingError):
    """An event that a host publishes under the name of another."""

    publisher: str | None


class DamagedStateError(RoutingError):
    """The state of a broker that was kept cannot be read, or is another broker's."""
