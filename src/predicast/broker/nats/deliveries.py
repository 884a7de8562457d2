"""``Deliveries``: what waits for a tenant's subscriptions, and which process delivers it.

Every process follows all events and keeps the queue of every durable subscription, as positions:
so any of them can go on where another one ended. One at a time delivers a subscription: the one
whose name stands in its progress. Readers elsewhere wait until that process lets go of it, or is
heard of no more.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from predicast.bounded_cache import BoundedCache
from predicast.broker.clock import Clock
from predicast.broker.nats.connection import Connection, StreamMessage
from predicast.broker.nats.delivery_queue import DeliveryQueue
from predicast.broker.nats.event_messages import MatchedEvent, event_of
from predicast.broker.nats.names import TenantNames
from predicast.broker.nats.progress import Progress, log_message_of, progress_of
from predicast.broker.nats.progress_writer import LOG, ProgressWriter, Standing
from predicast.broker.nats.registry import Registry
from predicast.broker.nats.tail import Tail, read_between
from predicast.errors import BackendError, DamagedStoreError
from predicast.protocol.records import StoredEvent

if TYPE_CHECKING:
    from predicast.broker.nats.consumer import NatsConsumer

_READING_S: Final = 600.0
_TOGETHER: Final = 100  # events that are asked for at once
_LOOK_S: Final = 0.05
_STRAYS: Final = 10_000  # ids whose window has not come here yet, though an event that they match


class _Log(NamedTuple):
    """What came of the log of another process."""

    number: int  # the last of its messages
    sequence: int  # where the last that came stands


def _cost(_: int, event: StoredEvent) -> int:
    return len(event.body) + len(event.id) + len(event.publisher) + 200


class Deliveries:
    """One tenant's, in one process."""

    def __init__(
        self,
        connection: Connection,
        names: TenantNames,
        registry: Registry,
        process: str,
        *,
        clock: Clock,
        is_alive: Callable[[str], bool],
    ) -> None:
        self.queues: dict[str, DeliveryQueue] = {}  # of durable subscriptions
        self.ephemeral: dict[str, DeliveryQueue] = {}  # of those that are read here
        self.readers: dict[str, list[NatsConsumer]] = {}
        self.clock = clock
        self.counts = {
            "deliveries_acknowledged": 0,
            "deliveries_repeated": 0,
            "deliveries_dead": 0,
            "events_damaged": 0,
        }
        self.process = process
        self.registry = registry
        self._connection = connection
        self._names = names
        self._is_alive = is_alive
        self._cache: BoundedCache[int, StoredEvent] = BoundedCache(
            connection.options.cache_bytes, _cost
        )
        self._strays: dict[str, deque[int]] = {}
        self._tail = Tail(connection, names.events, 0, self._events_came)
        self._progress_tail = Tail(connection, names.progress.stream, 0, self._progress_came)
        self._writer = ProgressWriter(
            connection,
            names.progress,
            process,
            queues=self.queues,
            seen=lambda: self._tail.position,
            followed=self._progress_followed,
            came=self._progress_came,
        )
        self._unclaimed: dict[str, Progress] = {}  # of subscriptions that were not known yet
        self._logs: dict[str, _Log] = {}  # of other processes
        self._unread: set[str] = set()  # ids that are delivered here, and that nobody reads now
        self._is_open = False

    # Following.

    async def open(self) -> None:
        """Read how far everybody is, and follow events from there."""
        stream = self._names.progress.stream
        await self._connection.make_bucket(self._names.progress)
        end = await self._connection.last_sequence(stream)
        self._progress_came(await read_between(self._connection, stream, 0, end, _READING_S))
        self._is_open = True
        self.changed(list(self.registry.held))
        last = await self._connection.last_sequence(self._names.events)
        floors = [queue.floor for queue in self.queues.values()]
        self._tail.position = min(floors, default=last)
        self._progress_tail.position = end
        self._tail.start()
        self._progress_tail.start()
        await self._tail.reached(last, _READING_S)

    async def close(self) -> None:
        """Let go of all that this process delivers."""
        mine = [queue for queue in self.queues.values() if queue.owner == self.process]
        if mine:
            # If it cannot be said, whoever comes next finds that this process is gone.
            with contextlib.suppress(BackendError, TimeoutError):
                async with asyncio.timeout(5.0):
                    await self.release(mine)
        await self._tail.stop()
        await self._progress_tail.stop()

    async def reached(self, position: int) -> None:
        """Return when events up to there have been looked at."""
        await self._tail.reached(position, self._connection.options.patience_s)

    @property
    def position(self) -> int:
        """The last event that was looked at."""
        return self._tail.position

    def changed(self, ids: Collection[str]) -> None:
        """Subscriptions came, went or changed."""
        if not self._is_open:
            return
        for id in ids:
            held, queue = self.registry.held.get(id), self.queues.get(id)
            is_durable = held is not None and held.definition.settings.durable
            if queue is not None and (held is None or not is_durable or queue.born != held.born):
                del self.queues[id]
                queue = None
            if held is None or not is_durable:
                if held is None:
                    self.ephemeral.pop(id, None)
                continue
            if queue is None:
                queue = DeliveryQueue(id, held.born, held.after, held.definition.settings)
                self.queues[id] = queue
                progress = self._unclaimed.pop(id, None)
                if progress is not None and progress.born == held.born:
                    queue.resume(progress)
                for position in self._strays.pop(id, ()):
                    queue.arrived(position)
            queue.settings = held.definition.settings
            self.wake([queue])

    def _events_came(self, messages: list[StreamMessage]) -> None:
        touched: dict[str, DeliveryQueue] = {}
        for message in messages:
            try:
                found = event_of(message)
            except DamagedStoreError:
                self.counts["events_damaged"] += 1
                continue
            self._event_came(found, touched)
        self.wake(touched.values())

    def _event_came(self, found: MatchedEvent, touched: dict[str, DeliveryQueue]) -> None:
        position = found.event.position
        self._cache.put(position, found.event)
        for id in found.durable:
            queue = self.queues.get(id)
            if queue is None:
                self._stray(id, position)
            elif queue.arrived(position):
                touched[id] = queue
        if self.ephemeral:
            for id in found.ephemeral:
                queue = self.ephemeral.get(id)
                if queue is not None and queue.arrived(position):
                    touched[id] = queue

    def _stray(self, id: str, position: int) -> None:
        if id not in self._strays and len(self._strays) >= _STRAYS:
            del self._strays[next(iter(self._strays))]
        self._strays.setdefault(id, deque(maxlen=_STRAYS)).append(position)

    def _progress_came(self, messages: list[StreamMessage]) -> None:
        for message in messages:
            if not message.data:  # what was removed
                continue
            if self._names.progress.key(message.subject).startswith(f"{LOG}."):
                self._log_came(message)
                continue
            progress = progress_of(message.data, message.subject)
            if message.sequence <= self._writer.sequence(progress.id):
                continue  # our own, or before it
            standing = Standing(message.sequence, progress.owner, progress.born)
            self._writer.stands(progress.id, standing)
            if progress.writer != self.process:
                self._resume(progress)

    def _log_came(self, message: StreamMessage) -> None:
        said = log_message_of(message.data, message.subject)
        if said.process == self.process:
            return
        number = said.number if (log := self._logs.get(said.process)) is None else log.number
        self._logs[said.process] = _Log(max(number, said.number), message.sequence)
        if said.number < number:
            return
        for record in said.progress:
            progress = progress_of(record, message.subject)
            if progress.claim == self._writer.sequence(progress.id):
                self._resume(progress)

    def _resume(self, progress: Progress) -> None:
        queue = self.queues.get(progress.id)
        if queue is None:
            self._unclaimed[progress.id] = progress
        elif queue.born == progress.born:
            queue.resume(progress)
            self.wake([queue])

    async def _hear_the_last(self) -> None:
        """Return when what other processes have said of their progress has come here."""
        stream = self._names.progress.stream
        await self._progress_followed(await self._connection.last_sequence(stream))

    async def _progress_followed(self, sequence: int) -> None:
        await self._progress_tail.reached(sequence, self._connection.options.patience_s)

    def wake(self, queues: Iterable[DeliveryQueue]) -> None:
        """Tell whoever reads these that something may wait."""
        for queue in queues:
            for reader in self.readers.get(queue.id, ()):
                reader.offer(queue)

    # Delivering.

    def queue(self, id: str) -> DeliveryQueue | None:
        """The queue that a consumer here reads."""
        return self.queues.get(id) or self.ephemeral.get(id)

    def is_mine(self, queue: DeliveryQueue) -> bool:
        """Whether this process delivers it."""
        return queue.owner == self.process or not queue.settings.durable

    async def claim(self, ids: Iterable[str]) -> None:
        """Deliver these from here, if nobody else does."""
        wanted = [
            queue
            for id in ids
            if (queue := self.queues.get(id)) is not None
            and queue.owner != self.process
            and not (queue.owner and self._is_alive(queue.owner))
        ]
        if not wanted:
            return
        if any(queue.owner for queue in wanted):
            await self._hear_the_last()
        for queue in wanted:
            queue.owner = self.process
        try:
            lost = await self._keep(wanted)
        except BackendError:
            for queue in wanted:
                queue.owner = ""  # nobody was told
            raise
        self.wake(queue for queue in wanted if queue.id not in lost)

    async def release(self, queues: Sequence[DeliveryQueue]) -> None:
        """Deliver these no longer."""
        for queue in queues:
            queue.take_back(list(queue.handed))
            queue.owner = ""
        await self._keep([queue for queue in queues if queue.settings.durable])

    async def keep(self, queues: Sequence[DeliveryQueue]) -> None:
        """Write down how far they are."""
        if lost := await self._keep(queues):
            raise BackendError(
                f"another process delivers {', '.join(map(repr, sorted(lost)))} now: this one was "
                "not heard of for too long; what was not acknowledged is delivered again"
            )

    async def _keep(self, queues: Sequence[DeliveryQueue]) -> set[str]:
        lost = await self._writer.write(queues)
        for queue in queues:
            if queue.id in lost and queue.owner == self.process:
                queue.owner = self.process if self._writer.delivers(queue) else ""
        return lost

    async def try_again(self, id: str, positions: Sequence[int]) -> int:
        """Let dead letters wait once more, whichever process delivers them; how many there were."""
        count = 0
        while (queue := self.queues.get(id)) is not None:
            if queue.owner != self.process:
                await self._hear_the_last()
            count = queue.try_again(positions)
            if not count or id not in await self._writer.write([queue]):
                self.wake([queue])
                break
            # Its process wrote at the same time; what it wrote is here soon, dead letters and all.
            await asyncio.sleep(_LOOK_S)
        return count

    async def forget(self, ids: Iterable[str]) -> None:
        """Remove the progress of subscriptions that are gone."""
        for id in ids:
            self._unclaimed.pop(id, None)
            standing = self._writer.standing.pop(id, None)
            if standing is not None:
                await self._connection.delete(self._names.progress.stream, standing.sequence)

    async def listen(self, ids: Iterable[str]) -> None:
        """Keep what ephemeral subscriptions match from now on."""
        now = await self._connection.last_sequence(self._names.events)
        for id in ids:
            held = self.registry.held.get(id)
            if held is not None and id not in self.ephemeral:
                settings = held.definition.settings
                self.ephemeral[id] = DeliveryQueue(id, held.born, now, settings)

    async def expire(self, queues: Iterable[DeliveryQueue]) -> None:
        """Try again what nobody acknowledged in time."""
        now, at = self.clock.steady(), self.clock.wall()
        died = []
        for queue in queues:
            dead = len(queue.dead)
            if queue.expire(now, at):
                self.counts["deliveries_dead"] += len(queue.dead) - dead
                died.append(queue)
            self.wake([queue])
        await self._keep(died)

    async def tick(self) -> None:
        """Take over what nobody delivers and somebody here reads; try again what is due."""
        now = self.clock.steady()
        read = [queue for id in self.readers if (queue := self.queues.get(id)) is not None]
        await self.expire([each for each in read if self.is_mine(each) and each.is_due(now)])
        await self.claim([queue.id for queue in read])
        idle = [self.queues[id] for id in self._unread if self._is_idle(id)]
        await self.release(idle)
        self._unread = {id for id in self._unread if self._is_idle(id)}

    def left(self, queues: Iterable[DeliveryQueue]) -> None:
        """Nobody reads these here now; if that stays so, another process may deliver them soon."""
        self._unread.update(queue.id for queue in queues)

    def _is_idle(self, id: str) -> bool:
        queue = self.queues.get(id)
        return queue is not None and id not in self.readers and self._writer.delivers(queue)

    async def clear_logs(self) -> None:
        """Remove the logs of processes that are gone; first, what they were the last to say is
        said in entries. One process does so at a time.
        """
        gone = {name: log for name, log in self._logs.items() if not self._is_alive(name)}
        if not gone:
            return
        await self.registry.catch_up()
        await self._hear_the_last()
        held = self.registry.held
        self._unclaimed = {id: each for id, each in self._unclaimed.items() if id in held}
        left = [queue for queue in self.queues.values() if queue.owner in gone]
        for queue in left:
            queue.owner = ""
        await self._keep(left)
        bucket = self._names.progress
        for name in gone:
            log = self._logs.pop(name)
            subjects = bucket.subject(f"{LOG}.{name}.>")
            await self._connection.purge(bucket.stream, subjects, log.sequence)

    async def events(self, positions: Sequence[int]) -> dict[int, StoredEvent]:
        """Those of the events that are kept."""
        found: dict[int, StoredEvent] = {}
        missing = []
        for position in positions:
            try:
                found[position] = self._cache[position]
            except KeyError:
                missing.append(position)
        for first in range(0, len(missing), _TOGETHER):
            messages = await asyncio.gather(
                *(
                    self._connection.get(self._names.events, position)
                    for position in missing[first : first + _TOGETHER]
                )
            )
            for message in messages:
                if message is not None:
                    event = event_of(message).event
                    found[event.position] = self._cache.put(event.position, event)
        return found
