"""What a connection may do, and how much of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from predicast.errors import NotAllowedError

PUBLISH: Final = "publish"
SUBSCRIBE: Final = "subscribe"
LINK: Final = "link"  # joining another broker to this one
ADMIN: Final = "admin"  # whatever the others may, and what concerns the whole tenant
SCOPES: Final = frozenset({PUBLISH, SUBSCRIBE, LINK, ADMIN})


class Permissions(NamedTuple):
    """The scopes of whoever is connected.

    ``spend`` is asked before events are taken, with their number and the steady time; it raises a
    ``LimitReachedError`` if they are too many.
    """

    scopes: frozenset[str] = SCOPES
    spend: Callable[[int, float], None] | None = None

    def require(self, scope: str) -> None:
        """Refuse what the scopes do not cover."""
        if scope not in self.scopes and ADMIN not in self.scopes:
            raise NotAllowedError(
                f"this needs a token with the scope {scope!r}; "
                f"this one has {', '.join(sorted(self.scopes)) or 'none'}",
                scope=scope,
            )


class ConnectionLimits(NamedTuple):
    """How much one connection may ask for; whatever is over it is refused, and changes nothing."""

    frame_bytes: int = 8 << 20
    batch: int = 10_000  # events of a publish or a dry run
    explanations: int = 10_000  # of a dry run: events times recipients, a second or so
    operations: int = 100_000  # of a window
    consumed: int = 1_000_000  # subscriptions that one connection reads
    credit: int = 1_000_000  # deliveries that may be granted in all
    unacknowledged: int = 100_000  # deliveries that are out; no more are sent until some are done
    unanswered: int = 64  # publishes that wait for their receipts; no more are read until one has
    delivery_bytes: int = 1 << 20  # of one frame of deliveries, or one event if that is more


DEFAULT_LIMITS: Final = ConnectionLimits()
EVERYTHING: Final = Permissions()
