"""``ProgressWriter``: writes down how far subscriptions are, many in one go.

What changes while a round is on its way is in the next one, once, however often it changed. Of
those that this process delivers, a message of its log speaks of hundreds; who begins or ceases to
deliver one, or changes what another process delivers, writes its entry (see ``progress.py``).
"""

from __future__ import annotations

import asyncio
import uuid
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Raw

from predicast.broker.nats.connection import (
    EXPECTED,
    MESSAGE_ID,
    ConflictError,
    Connection,
    Message,
    StreamMessage,
    Written,
)
from predicast.broker.nats.delivery_queue import DeliveryQueue
from predicast.broker.nats.names import Bucket, token
from predicast.broker.nats.progress import LogMessage, Progress
from predicast.broker.nats.progress_log import ProgressLog
from predicast.broker.nats.registry_entries import encoded
from predicast.errors import PredicastError

LOG: Final = "log"
_BYTES: Final = 128 << 10  # of a message of the log, unless one record has more
_TOGETHER: Final = 500  # subscriptions; fewer messages than a log has slots, however long each is


class Standing(NamedTuple):
    """The entry of a subscription that holds."""

    sequence: int
    owner: str
    born: int  # which subscription of that id


class _Logged(NamedTuple):
    """A message of the log, and what it says."""

    number: int
    message: Message
    claims: dict[str, int]  # the entry that it names, by id


class ProgressWriter:
    """One tenant's."""

    def __init__(
        self,
        connection: Connection,
        bucket: Bucket,
        process: str,
        *,
        queues: Mapping[str, DeliveryQueue],
        seen: Callable[[], int],
        followed: Callable[[int], Awaitable[None]],
        came: Callable[[list[StreamMessage]], None],
    ) -> None:
        """``seen`` is the last event that was looked at; ``followed`` returns when the bucket has
        been followed up to a place, and ``came`` takes what stands in it.
        """
        self.standing: dict[str, Standing] = {}
        self._connection = connection
        self._bucket = bucket
        self._process = process
        self._queues = queues
        self._seen = seen
        self._followed = followed
        self._came = came
        self._log = ProgressLog()
        self._changed: dict[str, DeliveryQueue] = {}
        self._round: asyncio.Future[set[str]] | None = None
        self._task: asyncio.Task[None] | None = None

    async def write(self, queues: Iterable[DeliveryQueue]) -> set[str]:
        """Return when what they are now is kept; those that another process has written since."""
        loop = asyncio.get_running_loop()
        ids = set()
        for queue in queues:
            self._changed[queue.id] = queue
            ids.add(queue.id)
        if not ids:
            return ids
        if self._round is None:
            self._round = loop.create_future()
        waited = self._round
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return ids & await asyncio.shield(waited)

    async def close(self) -> None:
        """Finish what was begun."""
        if self._task is not None:
            await asyncio.wait([self._task])

    def stands(self, id: str, standing: Standing) -> None:
        """An entry is known; the latest one holds."""
        if standing.sequence > self.sequence(id):
            self.standing[id] = standing

    def sequence(self, id: str) -> int:
        """Where the entry of a subscription stands; 0 if there is none."""
        standing = self.standing.get(id)
        return 0 if standing is None else standing.sequence

    def delivers(self, queue: DeliveryQueue) -> bool:
        """Whether an entry says that this process delivers it."""
        standing = self.standing.get(queue.id)
        return standing is not None and standing[1:] == (self._process, queue.born)

    async def _run(self) -> None:
        while self._changed:
            changed, self._changed = list(self._changed.values()), {}
            waited, self._round = self._round, None
            assert waited is not None
            try:
                lost = await self._write(changed)
            except PredicastError as error:
                waited.set_exception(error)
                waited.exception()  # also if nobody waits any more
            else:
                waited.set_result(lost)

    async def _write(self, queues: list[DeliveryQueue]) -> set[str]:
        own = [queue.id for queue in queues if self._is_logged(queue)]
        lost = await self._write_entries([each for each in queues if not self._is_logged(each)])
        for first in range(0, len(own), _TOGETHER):
            lost |= await self._write_log(own[first : first + _TOGETHER])
        return lost

    # Entries.

    async def _write_entries(self, queues: list[DeliveryQueue]) -> set[str]:
        owners = [queue.owner for queue in queues]
        outcomes = await self._connection.write_each([self._entry(queue) for queue in queues])
        lost = set()
        for queue, owner, outcome in zip(queues, owners, outcomes, strict=True):
            if isinstance(outcome, ConflictError):
                lost.add(queue.id)
                await self._look(queue.id)
            else:
                self.stands(queue.id, Standing(outcome.sequence, owner, queue.born))
        return lost

    def _entry(self, queue: DeliveryQueue) -> Message:
        headers = {MESSAGE_ID: uuid.uuid4().hex, EXPECTED: str(self.sequence(queue.id))}
        data = encoded(queue.progress(self._seen(), self._process))
        return Message(self._subject(queue.id), data, headers)

    def _subject(self, id: str) -> str:
        return self._bucket.subject(token(id))

    async def _look(self, id: str) -> None:
        """Something else stands there than was thought: an entry that has not come here yet, or
        that of an earlier subscription of the same id, or none, as that one's was removed.
        """
        found = await self._connection.get_last(self._bucket.stream, self._subject(id))
        if found is None:
            self.standing.pop(id, None)
        else:
            self._came([found])

    # The log.

    def _is_logged(self, queue: DeliveryQueue) -> bool:
        """Whether this process delivers it, and does not want to cease to."""
        return queue.owner == self._process and self.delivers(queue)

    def _is_id_logged(self, id: str) -> bool:
        queue = self._queues.get(id)
        return queue is not None and self._is_logged(queue)

    async def _write_log(self, ids: Sequence[str]) -> set[str]:
        logged = list(self._logged(ids))
        outcomes = await self._connection.write_each([each.message for each in logged])
        last = 0
        for each, outcome in zip(logged, outcomes, strict=True):
            assert isinstance(outcome, Written)  # nothing was expected there
            self._log.confirmed(each.number, each.claims)
            last = max(last, outcome.sequence)
        # What stands before it has been seen then: whether somebody else delivers one of them.
        await self._followed(last)
        return {id for each in logged for id in each.claims if self.sequence(id) != each.claims[id]}

    def _logged(self, ids: Sequence[str]) -> Iterator[_Logged]:
        """Messages that speak of these, and of what would otherwise be forgotten."""
        left = deque(ids)
        while left:
            number, again = self._log.begin(self._is_id_logged)
            left.extendleft(reversed(again))
            records: dict[str, bytes] = {}
            size = 0
            while left and (not records or size < _BYTES):
                id = left.popleft()
                queue = self._queues.get(id)
                if queue is None or id in records or not self._is_logged(queue):
                    continue
                records[id] = encoded(self._record(queue))
                size += len(records[id])
            self._log.written(number, records.keys())
            yield _Logged(
                number, self._message(number, records), {id: self.sequence(id) for id in records}
            )

    def _record(self, queue: DeliveryQueue) -> Progress:
        return queue.progress(self._seen(), self._process, self.sequence(queue.id))

    def _message(self, number: int, records: Mapping[str, bytes]) -> Message:
        said = LogMessage(self._process, number, [Raw(each) for each in records.values()])
        key = f"{LOG}.{self._process}.{self._log.slot(number)}"
        headers = {MESSAGE_ID: uuid.uuid4().hex}
        return Message(self._bucket.subject(key), encoded(said), headers)
