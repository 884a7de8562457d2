"""Who looks at the console, and what they may do there.

A token is given once, on the page for signing in. From then on the browser has a number that stands
for it, in a cookie that no script can read. What the token allows is asked anew for every page, so
that one that was removed opens none.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from predicast.broker.broker import DEFAULT_TENANT
from predicast.broker.clock import Clock
from predicast.errors import NotAllowedError

PUBLISH: Final = "publish"
SUBSCRIBE: Final = "subscribe"
ADMIN: Final = "admin"
ALL_SCOPES: Final = frozenset({PUBLISH, SUBSCRIBE, ADMIN})

_KEPT_FOR: Final = 12 * 3600.0  # seconds: a day's work
_MOST: Final = 10_000  # visitors that are known at once; the oldest give way


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who may see a tenant's pages."""

    tenant: str = DEFAULT_TENANT
    scopes: frozenset[str] = ALL_SCOPES

    def may(self, scope: str) -> bool:
        """Whether the scope is theirs; an administrator's is everything of the tenant."""
        return scope in self.scopes or ADMIN in self.scopes

    def require(self, scope: str) -> None:
        """Refuse what their token does not cover."""
        if not self.may(scope):
            raise NotAllowedError(
                f"your token does not have the scope {scope!r}; sign in with one that has",
                scope=scope,
            )


class SignedIn:
    """Tokens by the number in a visitor's cookie; in memory alone, and never shown."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tokens: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def add(self, token: str) -> str:
        """Let somebody in; the number that their browser keeps."""
        number = secrets.token_urlsafe(32)
        self._tokens[number] = (token, self._clock.steady() + _KEPT_FOR)
        while len(self._tokens) > _MOST:
            self._tokens.popitem(last=False)
        return number

    def token(self, number: str | None) -> str | None:
        """What they came in with, if it is not too long ago."""
        token, until = self._tokens.get(number or "", (None, 0.0))
        if token is not None and self._clock.steady() >= until:
            self.remove(number)
            return None
        return token

    def remove(self, number: str | None) -> None:
        """Let them out."""
        self._tokens.pop(number or "", None)
