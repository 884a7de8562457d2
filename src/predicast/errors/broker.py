"""What a broker refuses, and what goes wrong behind it."""

from __future__ import annotations

from predicast.errors.limits import LimitError
from predicast.errors.root import PredicastError


class BrokerError(PredicastError):
    """A broker cannot do what it was asked to."""


class BackendError(BrokerError):
    """What keeps events and subscriptions cannot be used: no room, or no connection."""


class DamagedStoreError(BackendError):
    """What was kept is not what was written; ``where`` says which part of it."""

    where: str | None


class ChangedMeanwhileError(BrokerError):
    """A change was made from a definition that is no longer what it was."""

    id: str | None


class NotConnectedError(BrokerError):
    """A client has no connection, and could not make one."""

    url: str | None


class HttpError(BrokerError):
    """A request over HTTP that is refused with a status of its own, such as 404.

    ``allow`` names the methods that there are instead of the one that was asked for.
    """

    status: int | None
    allow: str | None


class ProtocolError(BrokerError, ValueError):
    """A request or frame that cannot be what it is; ``field`` says which part of it."""

    field: str | None


class NotAllowedError(BrokerError):
    """Without a token that is known, or with one whose scope does not cover it."""

    scope: str | None


class LimitReachedError(BrokerError, LimitError):
    """More than a connection or a tenant may have, send or ask for.

    Where waiting helps, ``wait_s`` says how long.
    """

    what: str | None
    wait_s: float | None
