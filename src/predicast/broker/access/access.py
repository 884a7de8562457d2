"""``Access``: who somebody is, and the tenant that they may use."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from predicast.broker.access.exposure import check_caller
from predicast.broker.access.grants import SCOPES, Grant
from predicast.broker.access.limited_tenant import ChangeHeard, LimitedTenant
from predicast.broker.access.limits import Limits
from predicast.broker.access.tokens import TokenFile
from predicast.broker.broker import Broker
from predicast.broker.tenant import Tenant
from predicast.errors import LimitReachedError, NotAllowedError, PredicastError
from predicast.protocol.records import RegistryOperation

EVERYBODY: Final = Grant("anonymous", None, SCOPES)
_BEARER: Final = "bearer "
_LOOK_S: Final = 2.0  # how soon whoever is connected notices that a token is gone


class Access:
    """The way in to a broker. Without a file of tokens everybody may do everything."""

    def __init__(
        self,
        broker: Broker,
        *,
        tokens: TokenFile | None = None,
        limits: Limits | None = None,
        is_local: bool = True,
    ) -> None:
        self.broker = broker
        self.limits = limits or Limits()
        self.on_change: ChangeHeard | None = None
        self.private_sinks = True  # whether webhooks may call this machine and its network
        self._tokens = tokens
        self._is_local = is_local
        self._names: set[str] = set()
        broker.make_tenants_by(self._limited)

    @property
    def is_open(self) -> bool:
        """Whether nobody is asked for a token."""
        return self._tokens is None

    def grant(self, headers: Mapping[str, str]) -> Grant:
        """What a request with these headers may do, by their names in lower case."""
        if self._tokens is None:
            check_caller(headers, is_local=self._is_local)
            return EVERYBODY
        given = headers.get("authorization", "")
        if given[: len(_BEARER)].lower() != _BEARER:
            raise NotAllowedError(
                "a token is needed, in the header 'Authorization: Bearer …'; "
                "predicast token add makes one"
            )
        return self.grant_of(given[len(_BEARER) :].strip())

    def grant_of(self, token: str) -> Grant:
        """What the holder of a token may do."""
        found = EVERYBODY if self._tokens is None else self._tokens.find(token)
        if found is None:
            raise NotAllowedError("there is no such token; predicast token list shows who has one")
        return found

    async def until_revoked(self, headers: Mapping[str, str]) -> None:
        """Return when these headers grant no longer what they do now: the token was removed."""
        granted = self.grant(headers)
        if self._tokens is None:
            await asyncio.Event().wait()  # what nobody was given cannot be taken away
        while self._still_grants(headers, granted):  # noqa: ASYNC110 - a file tells nobody
            await asyncio.sleep(_LOOK_S)

    def _still_grants(self, headers: Mapping[str, str], granted: Grant) -> bool:
        try:
            return self.grant(headers) == granted
        except PredicastError:
            return False

    def tenant(self, name: str) -> LimitedTenant:
        """The tenant, within its limits."""
        found = self.broker.tenant(name)
        assert isinstance(found, LimitedTenant)
        return found

    def _limited(self, name: str) -> LimitedTenant:
        if len(self._names) >= self.limits.tenants and name not in self._names:
            raise LimitReachedError(
                f"there are {self.limits.tenants:,} tenants, which is as many as are allowed",
                what="tenants",
                limit=self.limits.tenants,
            )
        self._names.add(name)
        return LimitedTenant(
            name, self.broker, self.limits, self._changed, lambda: self.private_sinks
        )

    def _changed(self, tenant: Tenant, window: Sequence[RegistryOperation]) -> None:
        if self.on_change is not None:
            self.on_change(tenant, window)
