"""``Broker``: a backend and the tenants that it serves."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Self

from predicast.broker.backend import Backend
from predicast.broker.clock import Clock, SystemClock
from predicast.broker.tenant import Tenant
from predicast.errors import InvalidOptionError, shortened

DEFAULT_TENANT: Final = "default"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)


def check_tenant_name(name: str) -> None:
    """Refuse what cannot be a tenant's name."""
    if _NAME.fullmatch(name) is None:
        raise InvalidOptionError(
            "a tenant is named by up to 63 lower-case letters, digits, '-' and '_', "
            f"not {shortened(name)}",
            option="tenant",
        )


class Broker:
    """One process of a broker. ``async with`` starts and stops it."""

    def __init__(self, backend: Backend, *, clock: Clock | None = None) -> None:
        self.backend = backend
        self.clock = clock or SystemClock()
        self._tenants: dict[str, Tenant] = {}
        self._made: Callable[[str], Tenant] = lambda name: Tenant(name, backend, self.clock)

    def make_tenants_by(self, made: Callable[[str], Tenant]) -> None:
        """Have tenants made so, before there is any: within limits, for example.

        There is one ``Tenant`` of each name, for requests, links and the console alike.
        """
        assert not self._tenants, f"{sorted(self._tenants)} are in use already"
        self._made = made

    def tenant(self, name: str = DEFAULT_TENANT) -> Tenant:
        """What a tenant may do; it need not have been heard of before."""
        if name not in self._tenants:
            check_tenant_name(name)
            self._tenants[name] = self._made(name)
        return self._tenants[name]

    async def start(self) -> None:
        """Recover what the backend has kept; then it can be used."""
        await self.backend.start()

    async def stop(self) -> None:
        """Finish what was begun."""
        await self.backend.stop()

    def statistics(self) -> Mapping[str, float]:
        """Counts and sizes of all tenants together, for whoever runs the broker."""
        return self.backend.statistics()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()
