"""``Backend``: what keeps subscriptions, events, and who has had what.

Two implement it, and pass one suite of tests (``predicast.testing.backends``): ``embedded/``, a
SQLite file beside the engine, and ``nats/``, where many processes share streams. A broker knows no
other difference between one machine and many.

Everything here is scoped by a tenant's name. Nothing that is said of one tenant, positions and
errors included, depends on what another one does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from heapq import nsmallest
from typing import NamedTuple, Protocol, TypeAlias

from predicast.broker.subscriptions import Subscriptions
from predicast.engine import Report
from predicast.protocol.records import (
    DeadLetter,
    Definition,
    Delivery,
    NewEvent,
    Receipt,
    RegistryOperation,
    StoredEvent,
)

# Told the tenant, and what its subscriptions are now: nothing, of those that are gone.
Watcher: TypeAlias = Callable[[str, Mapping[str, Definition | None]], None]


class Start(NamedTuple):
    """Where a consumer of a durable subscription begins, if not where it was left.

    After a position, or with what came at a time or later: what is kept from there is matched again
    by what the subscription states now, and delivered anew.
    """

    after: int | None = None
    since: float | None = None


class Longest(NamedTuple):
    """How many durable subscriptions have deliveries waiting, and how many those with most."""

    queues: int
    waiting: Mapping[str, int]

    @classmethod
    def of(cls, queues: int, waiting: Iterable[tuple[str, int]], most: int) -> Longest:
        """Of those that may be the longest, the longest first."""
        return cls(queues, dict(nsmallest(most, waiting, key=lambda each: (-each[1], each[0]))))


class Consumer(Protocol):
    """One reader of the deliveries of one or many subscriptions of a tenant.

    Several may read the same one: then each delivery goes to one of them. What a durable
    subscription delivered and nobody acknowledged within its ``ack_wait``, or before the consumer
    was closed, is delivered again. Ephemeral ones need no acknowledgement.
    """

    async def add(self, ids: Collection[str], start: Start | None = None) -> None:
        """Read these, too."""

    async def remove(self, ids: Collection[str]) -> None:
        """Read these no longer; what was not acknowledged is for whoever reads them next."""

    async def take(self, most: int, wait: float | None = None) -> list[Delivery]:
        """At least one and at most that many, in order; none when the wait is over."""

    async def acknowledge(self, subscription: str, positions: Sequence[int]) -> None:
        """These need not come again. What was never delivered, or is done, is passed over."""

    async def acknowledge_all(self, positions: Mapping[str, Sequence[int]]) -> None:
        """Nor these, by subscription: all are kept at once, which costs hardly more than one."""

    async def acknowledge_up_to(self, subscription: str, position: int) -> None:
        """Nor these: all that were delivered, up to that one."""

    async def give_back(self, subscription: str, position: int, delay: float, why: str) -> None:
        """This one failed: again after the delay, or among the dead letters if it was the last."""

    def take_drops(self) -> Mapping[str, int]:
        """How many were dropped since this was last asked, by subscription: it was too slow."""

    async def close(self) -> None:
        """Read no more. Ephemeral subscriptions that nobody reads now are removed."""


class Backend(Protocol):
    """Keeps what must not be lost.

    A call that returns has it kept, one that raises changed nothing. ``own_sinks`` are the sinks of
    subscriptions that it serves itself.
    """

    own_sinks: Collection[str]

    async def start(self) -> None:
        """Recover what was kept; raises a ``BackendError`` if that is damaged."""

    async def stop(self) -> None:
        """Finish what was begun and let go of it all; consumers are closed."""

    async def tenants(self) -> list[str]:
        """Those that have ever subscribed or published."""

    def subscriptions(self, tenant: str) -> Subscriptions:
        """What is wanted there, for whoever asks and explains; only ``change`` changes it."""

    # What is wanted.

    async def change(self, tenant: str, window: Sequence[RegistryOperation]) -> Report:
        """Run a window, all or nothing. The next event is matched by what then holds."""

    async def definition(self, tenant: str, id: str) -> Definition:
        """The subscription, or an ``UnknownIdError``."""

    async def definitions(
        self,
        tenant: str,
        *,
        owner: str | None = None,
        text: str | None = None,
        after: str | None = None,
        most: int = 100,
    ) -> list[Definition]:
        """Those of the owner whose id or expression has the text in it, by id, after that one."""

    async def with_sinks(self, tenant: str) -> list[Definition]:
        """Those whose deliveries are sent somewhere; quick where they are few among many."""

    def watch(self, watcher: Watcher) -> None:
        """Tell one more about changes that come from other processes, from now on."""

    # What happens.

    async def publish(self, tenant: str, events: Sequence[NewEvent]) -> list[Receipt]:
        """Keep the events, in this order, match and deliver them."""

    async def consumer(self, tenant: str) -> Consumer:
        """A reader, of nothing yet."""

    async def events(
        self, tenant: str, *, after: int = 0, since: float | None = None, most: int = 100
    ) -> list[StoredEvent]:
        """What is kept, by position: after that one, or from that time on."""

    async def latest(self, tenant: str, most: int) -> list[StoredEvent]:
        """The last events that are kept, by position."""

    async def recipients(self, tenant: str, position: int) -> Mapping[str, str]:
        """Durable subscriptions that matched a kept event, and what became of each delivery:
        ``waiting``, ``delivered``, ``acknowledged``, ``dead`` or ``dropped``.
        """

    async def dead_letters(
        self, tenant: str, *, subscription: str | None = None, most: int = 100
    ) -> list[DeadLetter]:
        """Deliveries that were given up, the latest first."""

    async def try_again(self, tenant: str, subscription: str, positions: Sequence[int]) -> int:
        """Deliver dead letters once more; how many there were."""

    # How it does.

    async def pending(self, tenant: str, ids: Collection[str] | None = None) -> Mapping[str, int]:
        """How many deliveries wait, by durable subscription; of all that have any, if not told."""

    async def longest(self, tenant: str, most: int) -> Longest:
        """The longest queues of durable subscriptions; quick where there are many."""

    def statistics(self, tenant: str | None = None) -> Mapping[str, float]:
        """Counts since the start and sizes now, by names that metrics can carry."""
