"""``Reader``: what one consumer may take next, out of all queues that it reads. No I/O.

A heap has one entry for each queue with something to give: the position that is next there. What is
taken comes in the order of positions, whatever the number of queues, and an event that several of
them have comes once. Entries are hints: a queue that several readers share may have given its head
to another one, which is noticed when the entry is looked at.

Events for ephemeral subscriptions that nobody else reads come by themselves, with all their ids:
there is nothing to remember about them, and a queue for each would cost more than the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush, heapreplace
from typing import Final, NamedTuple

from predicast.broker.embedded.queue import MOST_PASSING, Lease, Queue


class Taken(NamedTuple):
    """An event's position, which attempt it is, and for which subscriptions."""

    position: int
    attempt: int
    ids: list[str]


_new: Final = tuple.__new__  # three times as quick as the class, and called for every delivery


class Reader:
    """One consumer's."""

    def __init__(self, started: Callable[[Queue], None]) -> None:
        self._started = started  # told when a queue has the first delivery out
        self.queues: dict[str, Queue] = {}
        self.drops: dict[str, int] = {}
        self.wake: Callable[[], None] | None = None
        self._heap: list[tuple[int, int, Queue]] = []
        self._listed: dict[int, int] = {}  # by number of the queue: the position of its entry
        self._passing: deque[Taken] = deque()
        self._count = 0  # of ids there
        self._left: set[str] = set()  # what was read when something passed, and is no longer

    def attach(self, queue: Queue) -> None:
        """Read this one, too."""
        if queue.id in self.queues:
            return
        self._forget_left()
        self.queues[queue.id] = queue
        queue.readers = [*queue.readers, self]
        if queue.untold:
            self.drops[queue.id] = self.drops.get(queue.id, 0) + queue.untold
            queue.untold = 0
        head = queue.head()
        if head is not None:
            self.offer(queue, head)

    def detach(self, id: str) -> Queue | None:
        """Read that one no longer."""
        queue = self.queues.pop(id, None)
        if queue is not None:
            queue.readers.remove(self)
            self._listed.pop(queue.number, None)
            queue.release(self)
            if self._passing:
                self._left.add(id)
        return queue

    def offer(self, queue: Queue, position: int) -> None:
        """The queue has this to give."""
        listed = self._listed.get(queue.number)
        if listed is None or position < listed:
            self._listed[queue.number] = position
            heappush(self._heap, (position, queue.number, queue))
            if self.wake is not None:
                self.wake()

    # What passes.

    def pass_on(self, position: int, ids: list[str]) -> bool:
        """An event for ephemeral subscriptions; whether there is room for it."""
        if self._count >= MOST_PASSING:
            return False
        self._count += len(ids)
        passing = self._passing
        passing.append(_new(Taken, (position, 1, ids)))
        if len(passing) == 1 and self.wake is not None:  # nobody waits while there is something
            self.wake()
        return True

    def withdraw(self, id: str) -> list[int]:
        """Take back what passes for a subscription; the positions."""
        positions = [taken.position for taken in self._passing if id in taken.ids]
        self._left.add(id)
        self._forget_left()
        return positions

    def _forget_left(self) -> None:
        if self._left:
            left, self._left = self._left, set()
            kept = [
                Taken(position, attempt, [id for id in ids if id not in left])
                for position, attempt, ids in self._passing
            ]
            self._passing = deque(taken for taken in kept if taken.ids)
            self._count = sum(len(taken.ids) for taken in self._passing)

    def _pass(self) -> Taken:
        taken = self._passing.popleft()
        self._count -= len(taken.ids)
        return taken

    # Taking.

    def take(self, most: int, now: float) -> list[Taken]:
        """At most that many events, in the order of their positions."""
        self._forget_left()
        taken = self._take_queued(most, now) if self._heap else []
        while self._passing and len(taken) < most:
            taken.append(self._pass())
        return taken

    def _take_queued(self, most: int, now: float) -> list[Taken]:
        """The same while there are queues with something to give."""
        taken: list[Taken] = []
        by_attempt: dict[int, Taken] = {}  # of the last position
        leases: dict[tuple[float, int], Lease] = {}
        last = -1
        heap, listed, passing = self._heap, self._listed, self._passing
        while heap:
            position, number, queue = heap[0]
            if listed.get(number) != position:
                heappop(heap)
                continue
            if passing and passing[0].position <= position:
                if len(taken) >= most:
                    return taken
                passed = self._pass()
                last, by_attempt = passed.position, {1: passed}
                taken.append(passed)
                continue
            head = queue.head()
            if head == position:
                if position != last:
                    last, by_attempt = position, {}
                attempt = queue.next_attempt(position) if queue.again else 1
                same = by_attempt.get(attempt)
                if same is None:
                    if len(taken) >= most:
                        return taken
                    same = by_attempt[attempt] = Taken(position, attempt, [])
                    taken.append(same)
                same.ids.append(queue.id)
                key = (queue.settings.ack_wait, attempt)
                if key not in leases:
                    leases[key] = Lease(now + key[0], attempt, self)
                head = queue.take(position, leases[key])
                if queue.timer is None and queue.is_durable:
                    self._started(queue)
            if head is None:
                heappop(heap)
                del listed[number]
            else:
                heapreplace(heap, (head, number, queue))
                listed[number] = head
        return taken

    def close(self) -> list[Queue]:
        """Read nothing more; what was read."""
        return [queue for id in self.ids() if (queue := self.detach(id)) is not None]

    def ids(self) -> list[str]:
        """What it reads."""
        return [*self.queues]
