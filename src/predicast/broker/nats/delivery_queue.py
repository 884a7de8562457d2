"""``DeliveryQueue``: what waits for one subscription, and what became of it. No network, no clock.

Positions are in one of four places: ``waiting`` to be handed out, ``handed`` out to a reader until
a deadline, ``later`` when somebody gave them back, or gone: acknowledged, dead or dropped.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import Final, NamedTuple

from predicast.broker.nats.progress import Given, Progress, positions_of, steps_between
from predicast.protocol.records import Settings, WhenFull

_DEAD: Final = 1000  # dead letters of a subscription that are kept, the latest
_DROPPED: Final = 1000  # dropped positions that are remembered, for whoever asks
_REASON: Final = 500  # characters of what was said about one


class Handed(NamedTuple):
    """A position that somebody has."""

    reader: object
    deadline: float


class DeliveryQueue:
    """The queue of one subscription, durable or not."""

    def __init__(self, id: str, born: int, after: int, settings: Settings) -> None:
        self.id = id
        self.born = born
        self.settings = settings
        self.owner = ""
        self.waiting: deque[int] = deque()
        self.handed: dict[int, Handed] = {}
        self.dead: dict[int, Given] = {}
        self.drops = 0  # since they were last told
        self.all_drops = 0
        self._later: list[tuple[float, int]] = []
        self._attempts: dict[int, int] = {}  # of what was handed out before
        self._floor = after
        self._done: set[int] = set()
        self._open: set[int] = set()  # positions up to the floor that are not done
        self._dropped: deque[int] = deque(maxlen=_DROPPED)

    def __len__(self) -> int:
        return len(self.waiting) + len(self.handed) + len(self._later)

    @property
    def floor(self) -> int:
        """Where to begin to read events, to know what waits."""
        return self._floor

    # What comes.

    def arrived(self, position: int) -> bool:
        """It matched an event; whether that waits now."""
        if position <= self._floor or position in self._done:
            return False
        if len(self) >= self.settings.max_pending:
            if self.settings.when_full is WhenFull.DROP_NEWEST or not self.waiting:
                self._drop(position)
                return False
            self._drop(self.waiting.popleft())
        self.waiting.append(position)
        return True

    def _drop(self, position: int) -> None:
        self.drops += 1
        self.all_drops += 1
        self._dropped.append(position)
        self._finish(position)

    # What goes out.

    def next_attempt(self) -> int:
        """Which attempt it would be to hand out the first that waits."""
        return self._attempts.get(self.waiting[0], 0) + 1

    def hand_out(self, position: int, reader: object, now: float) -> int:
        """Give what waits, and is the first of it, to a reader; which attempt it is."""
        first = self.waiting.popleft()
        assert first == position
        attempt = self._attempts.get(position, 0) + 1
        if not self.settings.durable:
            self._floor = position
            return attempt
        self._attempts[position] = attempt
        self.handed[position] = Handed(reader, now + self.settings.ack_wait)
        return attempt

    def acknowledge(self, positions: Iterable[int]) -> int:
        """These are done, if they were ever handed out; how many of them were not done before."""
        late = []
        count = 0
        for position in positions:
            if self.handed.pop(position, None) is not None:
                self._finish(position)
                count += 1
            elif position in self._attempts:
                late.append(position)
        if late:
            count += len(late)
            self._acknowledge_late(set(late))
        return count

    def _acknowledge_late(self, positions: set[int]) -> None:
        """They wait again, as nobody was heard of in time."""
        self.waiting = deque(each for each in self.waiting if each not in positions)
        self._later = [each for each in self._later if each[1] not in positions]
        heapq.heapify(self._later)
        for position in positions:
            self._finish(position)

    def handed_up_to(self, position: int) -> list[int]:
        """What was handed out and is not done, up to that one."""
        return [each for each in self._attempts if each <= position]

    def give_back(self, position: int, when: float, reason: str, at: float) -> bool:
        """It failed, and is for later or dead; whether anything is done with that."""
        if self.handed.pop(position, None) is None:
            return False
        if self._attempts.get(position, 1) >= self.settings.max_attempts:
            self._bury(position, reason, at)
            return True
        heapq.heappush(self._later, (when, position))
        return False

    def _bury(self, position: int, reason: str, at: float) -> None:
        attempts = self._attempts.get(position, 1)
        self.dead[position] = Given(position, attempts, reason[:_REASON], at)
        while len(self.dead) > _DEAD:
            del self.dead[next(iter(self.dead))]
        self._finish(position)

    def _finish(self, position: int) -> None:
        self._attempts.pop(position, None)
        self._open.discard(position)
        if position > self._floor:
            self._done.add(position)

    def expire(self, now: float, at: float) -> bool:
        """Take back what nobody acknowledged in time, and what was for later; whether any died."""
        late = [each for each, handed in self.handed.items() if handed.deadline <= now]
        any_died = self._fail(late, "no acknowledgement in time", at)
        back = []
        while self._later and self._later[0][0] <= now:
            back.append(heapq.heappop(self._later)[1])
        self._wait_again(back)
        return any_died

    def _fail(self, positions: Iterable[int], reason: str, at: float) -> bool:
        """Of these nothing was heard: they wait again, or it was once too often."""
        back, any_died = [], False
        for position in positions:
            del self.handed[position]
            if self._attempts.get(position, 1) >= self.settings.max_attempts:
                self._bury(position, reason, at)
                any_died = True
            else:
                back.append(position)
        self._wait_again(back)
        return any_died

    def is_due(self, now: float) -> bool:
        """Whether there is something to expire."""
        if self._later and self._later[0][0] <= now:
            return True
        # Handed out one after the other, they are due one after the other, or nearly so.
        return bool(self.handed) and next(iter(self.handed.values())).deadline <= now

    def leave(self, reader: object, at: float) -> bool:
        """What a reader has is for the next one; whether any of it died."""
        had = [each for each, handed in self.handed.items() if handed.reader is reader]
        return self._fail(had, "its reader left", at)

    def take_back(self, positions: Iterable[int], reader: object = None) -> None:
        """These were not handed out after all; of a reader's, only what it still has."""
        back = [
            each
            for each in positions
            if each in self.handed and (reader is None or self.handed[each].reader is reader)
        ]
        for position in back:
            del self.handed[position]
            self._attempts[position] -= 1
            if not self._attempts[position]:
                del self._attempts[position]
        self._wait_again(back)

    def _wait_again(self, positions: Collection[int]) -> None:
        if positions:
            self.waiting = deque(sorted({*self.waiting, *positions}))

    # What was.

    def replay(self, positions: Iterable[int], seen: int) -> None:
        """Begin anew with these, whatever waited before; events up to ``seen`` are looked at."""
        later = [position for position in self._all() if position > seen]
        wanted = sorted({*positions, *later})
        self._floor = max(self._floor, seen, *later)
        self.handed.clear()
        self._later.clear()
        self._attempts.clear()
        self._done.clear()
        most = self.settings.max_pending
        if len(wanted) > most:
            self.drops += len(wanted) - most
            self.all_drops += len(wanted) - most
            oldest = self.settings.when_full is WhenFull.DROP_OLDEST
            wanted = wanted[-most:] if oldest else wanted[:most]
        self.waiting = deque(wanted)
        self._open = set(wanted)

    def try_again(self, positions: Iterable[int]) -> int:
        """Dead letters that wait once more; how many there were."""
        again = [position for position in positions if self.dead.pop(position, None) is not None]
        for position in again:
            self._done.discard(position)
            if position <= self._floor:
                self._open.add(position)
        self._wait_again(again)
        return len(again)

    def lose(self, position: int) -> None:
        """The event is kept no more: retention was quicker."""
        if position in self.handed:
            del self.handed[position]
        elif self.waiting and self.waiting[0] == position:
            self.waiting.popleft()
        self._drop(position)

    def state_of(self, position: int) -> str:
        """What became of a delivery."""
        if position in self.dead:
            return "dead"
        if position in self.handed:
            return "delivered"
        if position in self.waiting or any(each == position for _, each in self._later):
            return "waiting"
        return "dropped" if position in self._dropped else "acknowledged"

    # What is kept of it.

    def progress(self, seen: int, writer: str = "", claim: int = 0) -> Progress:
        """What to write down, when all events up to ``seen`` have been looked at."""
        normal = (position for position in self._pending() if position > self._floor)
        lowest = min(normal, default=None)
        self._floor = max(self._floor, seen if lowest is None else lowest - 1)
        self._done = {position for position in self._done if position > self._floor}
        return Progress(
            self.id,
            self.born,
            self._floor,
            self.owner,
            writer,
            claim,
            steps_between(self._done),
            steps_between(self._open),
            list(self.dead.values()),
            {} if self.owner else dict(self._attempts),
        )

    def _pending(self) -> Iterator[int]:
        # Ascending, but for what was opened again.
        if self.waiting:
            if self._open:
                yield from self.waiting
            else:
                yield self.waiting[0]
        yield from self.handed
        yield from (position for _, position in self._later)

    def resume(self, progress: Progress) -> None:
        """Go on from what somebody wrote down."""
        self.owner = progress.owner
        self._floor = progress.floor
        self._done = set(positions_of(progress.done))
        self._open = set(positions_of(progress.open))
        self.dead = {given.position: given for given in progress.dead}
        self._attempts = dict(progress.attempts)
        if not (self.handed or self._later or self._done or self._open):
            while self.waiting and self.waiting[0] <= self._floor:
                self.waiting.popleft()
            return
        left = {each for each in self._all() if each > self._floor} - self._done
        self.handed.clear()
        self._later.clear()
        self.waiting = deque(sorted(left | self._open))

    def _all(self) -> list[int]:
        return [*self.waiting, *self.handed, *(position for _, position in self._later)]
