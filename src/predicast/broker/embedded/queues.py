"""``TenantQueues``: all queues of one tenant, and what is due in them. No I/O of its own.

A queue is made when something comes for it or somebody reads it, with terms that are looked up
then, and of what the backlog has for it. Subscriptions for which nothing waits cost nothing, and
those whose queue nobody has looked at since the start are a row of the backlog.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import chain, count

from predicast.broker.backend import Longest
from predicast.broker.embedded.backlog import Arrived, Backlog
from predicast.broker.embedded.journal import Journal
from predicast.broker.embedded.queue import Queue, Terms
from predicast.broker.embedded.reader import Reader
from predicast.broker.subscriptions import Matched

Lookup = Callable[[Sequence[str]], Mapping[str, Terms]]


class TenantQueues:
    """Made for one tenant; ``lookup`` gives the terms of those subscriptions that exist."""

    def __init__(self, journal: Journal, lookup: Lookup) -> None:
        self.journal = journal
        self._lookup = lookup
        self.held: dict[str, Queue] = {}
        self.backlog = Backlog()
        self.arrived: list[Arrived] = []  # since the backlog was what there is
        self.delivered = 0  # to durable subscriptions, since the start
        self._first = 0  # position that is kept
        self._numbers = count(1)
        self._timers: list[tuple[float, int, Queue]] = []
        self.redelivered = 0

    def __len__(self) -> int:
        """How many deliveries wait."""
        return self.backlog.waiting + sum(map(len, self.held.values()))

    def get(self, id: str) -> Queue | None:
        """The queue of a subscription, made if need be; none if there is no such subscription."""
        if id not in self.held:
            self.make([id])
        return self.held.get(id)

    def find(self, id: str) -> Queue | None:
        """The queue of a subscription, unless there is nothing in it."""
        queue = self.held.get(id)
        return self.get(id) if queue is None and id in self.backlog else queue

    def make(self, ids: Iterable[str]) -> None:
        """Make the queues of subscriptions that have none."""
        missing = [id for id in ids if id not in self.held]
        if missing:
            self.make_with(self._lookup(missing))

    def make_with(self, terms: Mapping[str, Terms]) -> None:
        """Make the queues of subscriptions that were looked up, and have none."""
        for id, each in terms.items():
            if id not in self.held:
                queue = self.held[id] = Queue(id, next(self._numbers), each, self.journal)
                state = self.backlog.open(id) if each.settings.durable else None
                if state is not None:
                    queue.restore(state)
                    queue.untold = self.backlog.untold.pop(id, 0)
                    queue.cut(self._first)

    def reader(self) -> Reader:
        """A reader of nothing yet."""
        return Reader(self.watch)

    # Events.

    def deliver(self, first: int, matched: Sequence[Matched]) -> None:
        """Events that are kept, from this position on, for those who match."""
        held = self.held
        missing = {id for ids, _ in matched for id in ids if id not in held}
        if missing:
            self.make(missing)
        arrived = Arrived(first, [ids for ids, _ in matched])
        count = sum(map(len, arrived.ids))
        if count:
            self.arrived.append(arrived)
            self.delivered += count
        for position, (durable, ephemeral) in enumerate(matched, first):
            for id in durable:
                queue = held.get(id)
                if queue is not None:
                    queue.push(position)
            if ephemeral:
                self._pass_on(position, ephemeral)

    def _pass_on(self, position: int, ids: list[str]) -> None:
        """An event for ephemeral subscriptions: by consumer, unless a queue is needed."""
        held = self.held
        by_reader: dict[Reader, list[str]] = {}
        for id in ids:
            queue = held.get(id)
            if queue is None:
                continue
            readers = queue.readers
            if queue.may_pass and len(readers) == 1 and not queue.waiting and queue.cursor is None:
                reader = readers[0]
                if reader in by_reader:
                    by_reader[reader].append(id)
                else:
                    by_reader[reader] = [id]
            else:
                queue.push(position)
        for reader, passing in by_reader.items():
            if not reader.pass_on(position, passing):
                for id in passing:
                    self.held[id].push(position)

    def cut(self, first: int) -> None:
        """The log begins here now."""
        self._first = first
        self.journal.dropped += self.backlog.cut(first)
        for queue in self.held.values():
            queue.cut(first)

    # Subscriptions.

    def settle_change(self, id: str, terms: Terms | None, *, is_same: bool) -> None:
        """What a window made of a subscription; ``is_same`` if what waits is still for it."""
        queue = self.held.get(id)
        if terms is None or not is_same:
            self.backlog.remove(id)
            if queue is not None:
                self._end(queue, terms)
        elif queue is not None:
            if terms.settings.paused and queue.may_pass:
                for reader in queue.readers:
                    queue.waiting = [*reader.withdraw(id), *queue.waiting]
            queue.adopt(terms.settings)
            queue.tell_readers()

    def _end(self, queue: Queue, terms: Terms | None) -> None:
        """Remove a queue; those who read it go on with the one that takes its place, if any."""
        readers = [*queue.readers]
        queue.clear()
        for reader in readers:
            reader.detach(queue.id)
        del self.held[queue.id]
        if terms is not None and readers:
            after = self.held[queue.id] = Queue(queue.id, next(self._numbers), terms, self.journal)
            for reader in readers:
                reader.attach(after)

    # Time.

    def watch(self, queue: Queue) -> None:
        """Look at the queue again when something in it is due."""
        due = queue.due()
        if due is not None and (queue.timer is None or due < queue.timer):
            queue.timer = due
            heappush(self._timers, (due, queue.number, queue))

    def tick(self, now: float) -> None:
        """Do what is due."""
        while self._timers and self._timers[0][0] <= now:
            due, _, queue = heappop(self._timers)
            if queue.timer == due:
                queue.timer = None
                if self.held.get(queue.id) is queue:
                    before = len(queue.again)
                    queue.expire(now)
                    self.redelivered += max(0, len(queue.again) - before)
                    self.watch(queue)

    # Remembering.

    def pending(self) -> dict[str, int]:
        """How many deliveries wait, by durable subscription, where some do."""
        counts = self.backlog.pending()
        for id, queue in self.held.items():
            if queue.is_durable and len(queue):
                counts[id] = len(queue)
        return counts

    def longest(self, most: int) -> Longest:
        """The durable subscriptions for which most deliveries wait."""
        unopened, longest = self.backlog.longest(most)
        opened = [
            (id, len(queue)) for id, queue in self.held.items() if queue.is_durable and len(queue)
        ]
        return Longest.of(unopened + len(opened), chain(longest, opened), most)

    def count(self, id: str) -> int:
        """How many deliveries wait for a subscription."""
        queue = self.held.get(id)
        return self.backlog.count(id) if queue is None else len(queue)

    def forget_idle(self, queues: Iterable[Queue]) -> None:
        """Let go of those queues that say nothing, and said nothing when they were captured."""
        for queue in queues:
            if queue.is_idle and not queue.is_dirty and self.held.get(queue.id) is queue:
                del self.held[queue.id]
                self.backlog.remove(queue.id)
