"""``Place``: what a page knows of where it is: the broker, the visitor, what they asked for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from predicast.broker import Broker, Tenant
from predicast.broker.subscriptions import Subscriptions
from predicast.console.visitors import Visitor
from predicast.errors import NotAllowedError

if TYPE_CHECKING:
    from predicast.console.rates import Rates


class Tree(Protocol):
    """Who knows a tenant's neighbours in the tree of brokers: the broker's links."""

    def status(self, tenant: str) -> Any:
        """The tenant's place in the tree, as a record that can be sent."""


@dataclass(frozen=True, slots=True)
class Place:
    """Given to whatever builds a page."""

    broker: Broker
    asks: Callable[[], Visitor | None]  # who has the page open, while they may
    rates: Rates
    asked: Mapping[str, str]  # the parameters of the address
    can_sign_out: bool
    tree: Tree | None = None
    is_dark: bool | None = None  # as the visitor has chosen; else as their system is
    address: str = "http://localhost:8642"  # of the broker, as the visitor's browser knows it

    @property
    def visitor(self) -> Visitor:
        """Who has the page open; it ends for whoever is not let in any more."""
        found = self.asks()
        if found is None:
            raise NotAllowedError("your token is not known any more; sign in with another one")
        return found

    @property
    def tenant(self) -> Tenant:
        """The visitor's."""
        return self.broker.tenant(self.visitor.tenant)

    @property
    def held(self) -> Subscriptions:
        """What the tenant wants, for whoever only reads."""
        return self.broker.backend.subscriptions(self.visitor.tenant)


Build: TypeAlias = Callable[[Place], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its address, what it is called, and who builds it."""

    path: str
    title: str
    build: Build
    icon: str | None = None  # in the list of pages; without one it is reached from another
    scope: str | None = None  # that a visitor needs to see it
