"""``LinkSettings``: which brokers a tenant is linked to, and how long a lost one is waited for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from predicast.broker.broker import DEFAULT_TENANT
from predicast.client.addresses import websocket_url
from predicast.errors import InvalidOptionError, shortened
from predicast.routing.options import RouterOptions, is_name

MAX_EVENT_BYTES: Final = 1 << 20  # of an event's body that goes over links
MAX_FRAME: Final = 16 << 20  # bytes; a large event alone, with its body beside what is matched
_PATH: Final = "/link"
_MOST_SUBSCRIPTIONS: Final = 100_000_000  # what may be subscribed to is limited elsewhere
# Operations that a broker takes at once: some hundredths of a second, in which it serves nobody.
_WINDOW: Final = 100
_MAX_TEXT: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class Parent:
    """A broker to attach to: where it is, and the token that it asks for."""

    url: str
    token: str | None = None

    def __post_init__(self) -> None:
        websocket_url(self.url, _PATH, option="parent")

    def __repr__(self) -> str:
        """Without what must not be seen in a log."""
        return f"Parent({self.url!r})"

    @property
    def address(self) -> str:
        """Where its links are, as the address of a WebSocket."""
        return websocket_url(self.url, _PATH)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSettings:
    """How one tenant of a broker is linked to others.

    Brokers have names that no two of a tree share; one that is given none makes one up and keeps
    it. A broker's ``level`` is its distance from the core, that of its first parent and one more
    unless it is said.

    While a neighbour is away, up to ``max_waiting`` events are kept for it, for ``patience_s``
    seconds. When more would have to wait, what comes next is not taken from the log of the broker
    where it was published, and waits there. When the patience is over a child is forgotten with
    what was kept for it, and the others go on. A parent is never forgotten.
    """

    parents: tuple[Parent, ...] = ()
    tenant: str = DEFAULT_TENANT
    name: str | None = None
    level: int | None = None
    patience_s: float = 600.0
    max_waiting: int = 50_000
    keep_alive_s: float = 5.0  # without a word, a sign of life is sent
    ttl_s: float = 15.0  # of silence, after which a neighbour is taken to be away
    retry_s: float = 0.5  # until a lost connection is made again; doubled for each that fails
    retry_max_s: float = 15.0

    def __post_init__(self) -> None:
        urls = [each.url for each in self.parents]
        if len(set(urls)) < len(urls):
            raise InvalidOptionError("a parent is given twice", option="parent")
        if self.name is not None and not is_name(self.name):
            raise InvalidOptionError(
                f"a broker is named by 1 to 255 characters, not {shortened(self.name)}",
                option="name",
            )
        if not 0 < self.retry_s <= self.retry_max_s:
            raise InvalidOptionError(
                f"retry_s is a number of seconds up to retry_max_s, not {self.retry_s!r}",
                option="retry_s",
            )
        self.router_options("any", level=self.level or 0, epoch=1)  # which checks the others

    def router_options(
        self, name: str, *, level: int, epoch: int, candidates: tuple[str, ...] = ()
    ) -> RouterOptions:
        """What the tenant's router goes by."""
        return RouterOptions(
            name=name,
            level=level,
            epoch=epoch,
            candidates=candidates,
            keep_alive_s=self.keep_alive_s,
            ttl_s=self.ttl_s,
            forget_after_s=self.patience_s,
            retransmit_s=self.keep_alive_s / 2,  # a connection loses nothing while it holds
            max_window=_WINDOW,
            max_waiting=self.max_waiting,
            max_subscriptions=_MOST_SUBSCRIPTIONS,
            max_text=_MAX_TEXT,
        )
