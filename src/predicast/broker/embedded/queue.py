"""``Queue``: what waits for one subscription. No I/O, and the time is passed in.

::

    waiting ──take──▶ out ──acknowledged──▶ gone
       ▲               │
       │               ├──not in time, or its reader left──▶ again ──take──▶ out
    push               ├──given back──▶ delayed ──its time has come──▶ again
                       └──once too often──▶ a dead letter

Positions in ``waiting`` ascend and have never been delivered; those in ``again`` have. All four
together are bounded by ``max_pending``. While ``cursor`` is set, the queue is filled from the log,
as room permits, and new events pass it by: they are in the log, too.

A delivery costs a handful of dictionary operations, whatever the number of queues.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from predicast.broker.embedded.backlog import State
from predicast.broker.embedded.journal import Journal, Kind, Settlement
from predicast.protocol.records import Settings, WhenFull

if TYPE_CHECKING:
    from predicast.broker.embedded.reader import Reader

MOST_PASSING: Final = 100_000  # deliveries on their way to a reader that are in no queue
# What most of a million queues have in common: whoever has something to add makes one of its own.
_NOTHING: Final[dict[int, Any]] = {}
_NOBODY: Final[list[Any]] = []
_RANGES: Final = 256  # of dropped positions that are told apart; older ones are forgotten


class Terms(NamedTuple):
    """How a subscription is served, and from which position on it is the one that it is."""

    settings: Settings
    born: int


class Lease(NamedTuple):
    """Who has a delivery, which attempt it is, and until when."""

    deadline: float
    attempt: int
    reader: Reader


class Queue:
    """One subscription's."""

    __slots__ = (
        "_again_order",
        "_is_gap",
        "_journal",
        "again",
        "born",
        "cursor",
        "delayed",
        "dropped",
        "id",
        "is_dirty",
        "is_durable",
        "may_pass",
        "number",
        "out",
        "readers",
        "settings",
        "since",
        "timer",
        "untold",
        "waiting",
    )

    def __init__(self, id: str, number: int, terms: Terms, journal: Journal) -> None:
        self.id = id
        self.number = number  # tells it from a later one with the same id
        self.born = terms.born
        self.is_durable = terms.settings.durable
        self.adopt(terms.settings)
        self._journal = journal
        self.waiting: deque[int] | list[int] = []  # of those that nobody takes, the smaller one
        self.out: dict[int, Lease] = _NOTHING
        self.again: dict[int, int] = _NOTHING  # attempts so far
        self._again_order: list[int] = _NOBODY
        self.delayed: dict[int, tuple[float, int]] = _NOTHING  # when it is due, attempts so far
        self.dropped: list[int] = _NOBODY  # pairs: from one position to another
        self._is_gap = True  # whether the next drop begins another pair
        self.cursor: int | None = None
        self.since: float | None = None
        self.readers: list[Reader] = _NOBODY
        self.untold = 0  # drops that nobody was there to hear of
        self.timer: float | None = None
        self.is_dirty = True  # not what was written down, and what has arrived since

    def __len__(self) -> int:
        return len(self.waiting) + len(self.out) + len(self.again) + len(self.delayed)

    def adopt(self, settings: Settings) -> None:
        """Be served like this from now on."""
        self.settings = settings
        self.may_pass = not (self.is_durable or settings.paused) and (
            settings.max_pending >= MOST_PASSING
        )

    @property
    def is_idle(self) -> bool:
        """Whether it says nothing that a new one would not."""
        return not (len(self) or self.readers or self.dropped or self.untold) and (
            self.cursor is None
        )

    # Coming in.

    def push(self, position: int) -> None:
        """An event that matches, with the highest position so far."""
        if self.cursor is not None or not (self.is_durable or self.readers):
            return
        if position < self.born:  # matched by another one, of this name
            self.is_dirty = True
            return
        held = len(self.waiting) + len(self.out) + len(self.again) + len(self.delayed)
        if held >= self.settings.max_pending and not self._made_room(position):
            return
        waiting = self.waiting
        waiting.append(position)
        if len(waiting) == 1 and not self.settings.paused:
            for reader in self.readers:
                reader.offer(self, position)

    def refill(self, positions: Iterable[int]) -> None:
        """What the log had for it, behind all that is here."""
        self.is_dirty = True
        self.waiting.extend(positions)
        self.tell_readers()

    def _made_room(self, position: int) -> bool:
        """Drop one; whether the new one may stay."""
        if self.settings.when_full is WhenFull.DROP_OLDEST and self.waiting:
            while self.waiting and len(self) >= self.settings.max_pending:
                self._drop(self._in_line().popleft())
            return True
        self._drop(position)
        return False

    def _drop(self, position: int) -> None:
        self.is_dirty = True
        if self._is_gap or not self.dropped:
            self.dropped = [*self.dropped, position, position]
            self._is_gap = False
            if len(self.dropped) > 2 * _RANGES:
                del self.dropped[:2]
        else:
            self.dropped[-1] = position
        if self.is_durable:
            self._journal.note(Settlement(Kind.DROPPED, self.id, [self.dropped[-2], position]))
        self.tell_drops(1)

    def tell_drops(self, count: int) -> None:
        """Count drops for those who read it, or for whoever will."""
        self._journal.dropped += count
        for reader in self.readers:
            reader.drops[self.id] = reader.drops.get(self.id, 0) + count
        if not self.readers:
            self.untold += count

    # Going out.

    def head(self) -> int | None:
        """The position that is next, if there is one and it may go."""
        if self.settings.paused:
            return None
        if not self.again:
            return self.waiting[0] if self.waiting else None
        order = self._again_order
        while order and order[0] not in self.again:
            heappop(order)
        if order and not (self.waiting and self.waiting[0] < order[0]):
            return order[0]
        return self.waiting[0] if self.waiting else None

    def next_attempt(self, position: int) -> int:
        """Which attempt it would be to deliver this one, the head."""
        return self.again.get(position, 0) + 1

    def take(self, position: int, lease: Lease) -> int | None:
        """Deliver the head; the next one."""
        self._is_gap = True  # between what was dropped and what will be
        if self.is_durable:
            self.is_dirty = True
            if self.out is _NOTHING:
                self.out = {}
            self.out[position] = lease
        if not self.again or self.again.pop(position, None) is None:
            self._in_line().popleft()
        return self.head()

    def _in_line(self) -> deque[int]:
        """What waits, as something whose first one is taken quickly."""
        if not isinstance(self.waiting, deque):
            self.waiting = deque(self.waiting)
        return self.waiting

    def due(self) -> float | None:
        """When something here must be looked at."""
        times = [when for when, _ in self.delayed.values()]
        if self.out:  # taken one after the other, they are due one after the other
            times.append(next(iter(self.out.values())).deadline)
        return min(times, default=None)

    # Coming back.

    def expire(self, now: float) -> None:
        """Try again what was not acknowledged in time, and what was given back for now."""
        late = []
        for position, lease in self.out.items():
            if lease.deadline > now:
                break
            late.append(position)
        for position in late:
            self._fail(position, self.out.pop(position).attempt, "no acknowledgement in time")
        ready = [position for position, (when, _) in self.delayed.items() if when <= now]
        for position in ready:
            self._retry(position, self.delayed.pop(position)[1])
        self.tell_readers()

    def give_back(self, position: int, due: float, why: str) -> bool:
        """A delivery failed; whether it was out at all."""
        lease = self.out.pop(position, None)
        if lease is None:
            return False
        if lease.attempt >= self.settings.max_attempts:
            self._bury(position, lease.attempt, why)
        else:
            if self.delayed is _NOTHING:
                self.delayed = {}
            self.delayed[position] = (due, lease.attempt)
        return True

    def put_back(self, positions: Iterable[int], reader: Reader) -> None:
        """What a reader has taken and did not try: that was no attempt."""
        for position in positions:
            lease = self.out.get(position)
            if lease is not None and lease.reader is reader:
                del self.out[position]
                self._retry(position, lease.attempt - 1)
        self.tell_readers()

    def release(self, reader: Reader) -> None:
        """A reader left: what it has is for the others."""
        self.is_dirty = True  # or nobody would find out that it is idle
        for position in [p for p, lease in self.out.items() if lease.reader is reader]:
            self._fail(position, self.out.pop(position).attempt, "its reader left")
        self.tell_readers()

    def retry(self, positions: Iterable[int]) -> None:
        """Dead letters that are to be tried once more."""
        self.is_dirty = True
        for position in positions:
            self._retry(position, 0)
        self.tell_readers()

    def _fail(self, position: int, attempt: int, why: str) -> None:
        if attempt >= self.settings.max_attempts:
            self._bury(position, attempt, why)
        else:
            self._retry(position, attempt)

    def _bury(self, position: int, attempt: int, why: str) -> None:
        self.is_dirty = True
        self._journal.bury(self.id, position, attempt, why)

    def _retry(self, position: int, attempts: int) -> None:
        if self.again is _NOTHING:
            self.again, self._again_order = {}, []
        self.again[position] = attempts
        heappush(self._again_order, position)

    def tell_readers(self) -> None:
        """Have readers know of what may go."""
        head = self.head()
        if head is not None:
            for reader in self.readers:
                reader.offer(self, head)

    # Being done.

    def delivered(self, positions: Iterable[int]) -> list[int]:
        """Those of the positions that were delivered and are not done."""
        if not (self.again or self.delayed):
            out = self.out
            return [position for position in positions if position in out]
        return [p for p in positions if p in self.out or p in self.again or p in self.delayed]

    def delivered_up_to(self, position: int) -> list[int]:
        """All that were delivered and are not done, up to that one."""
        return sorted(
            p for held in (self.out, self.again, self.delayed) for p in held if p <= position
        )

    def settle(self, positions: Iterable[int]) -> int:
        """These are done; how many there were."""
        self.is_dirty = self._is_gap = True
        count = 0
        out = self.out
        for position in positions:
            if (
                out.pop(position, None) is not None
                or self.again.pop(position, None) is not None
                or self.delayed.pop(position, None) is not None
            ):
                count += 1
        return count

    def cut(self, first: int) -> int:
        """The log begins here now: what was before cannot be delivered; how many were dropped."""
        count = 0
        while self.waiting and self.waiting[0] < first:
            self._in_line().popleft()
            count += 1
        for held in (self.out, self.again, self.delayed):
            gone = [position for position in held if position < first]
            count += len(gone)
            for position in gone:
                del held[position]
        while self.dropped and self.dropped[1] < first:
            del self.dropped[:2]
        if self.cursor is not None and self.cursor < first - 1:
            self.cursor = first - 1
        if count:
            self.is_dirty = True
            self.tell_drops(count)
        return count

    def restart(self, cursor: int, since: float | None) -> None:
        """Forget all that is here, and read the log after that position."""
        self.clear()
        self.cursor, self.since = cursor, since

    def clear(self) -> None:
        """Forget all that is here."""
        self.waiting = []
        self.out = self.again = self.delayed = _NOTHING
        self._again_order = _NOBODY
        self.cursor = self.since = None
        self.is_dirty = True

    # Remembering.

    def pending(self) -> list[int]:
        """All positions that are not done, in order."""
        if not (self.out or self.again or self.delayed):
            return [*self.waiting]
        return sorted([*self.waiting, *self.out, *self.again, *self.delayed])

    def attempts(self) -> dict[int, int]:
        """How often each was delivered, where that is not never."""
        return (
            {position: lease.attempt for position, lease in self.out.items()}
            | self.again
            | {position: attempts for position, (_, attempts) in self.delayed.items()}
        )

    def restore(self, state: State) -> None:
        """Be what was written down; whatever was out is tried again."""
        pending, special = state
        self.is_dirty = False
        if special is None:
            self.waiting = [*pending]
            return
        attempts = special.attempts
        self.waiting = [position for position in pending if position not in attempts]
        self.again = {position: attempts[position] for position in pending if position in attempts}
        self._again_order = list(self.again)
        heapify(self._again_order)
        self.dropped = [*special.dropped]
        self.cursor, self.since = special.cursor, special.since

    def state_of(self, position: int) -> str:
        """What became of the delivery of a position that matched."""
        if position in self.out:
            return "delivered"
        if position in self.again or position in self.delayed or position in self.waiting:
            return "waiting"
        if any(
            self.dropped[i] <= position <= self.dropped[i + 1]
            for i in range(0, len(self.dropped), 2)
        ):
            return "dropped"
        if self.cursor is not None and position > self.cursor:
            return "waiting"
        return "acknowledged"
