"""``Registry``: what a tenant wants, the same in every process.

A change is a window that is written to a bucket; every process follows the bucket and applies the
windows in the order of their entries, each whole or, where it is refused, not at all. All of them
come to the same verdict, so that two processes that want the same id at once need no lock: the
second window is refused, by everybody, and its caller is told why.

**A change is visible to the next event.** ``change`` returns when its window was applied here. A
process that takes an event first asks where the bucket ends, and matches when it has applied that
much (``catch_up``): whatever was acknowledged anywhere before the event came is in it.

**What windows came to is written down** (``fold``) when they are old, an entry for each id, and
then the windows go. That is what a process reads when it starts, or when it has heard nothing for
so long that windows may have gone before it saw them.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

import msgspec

from predicast.broker.nats.connection import (
    EXPECTED,
    MESSAGE_ID,
    ConflictError,
    Connection,
    Message,
    StreamMessage,
)
from predicast.broker.nats.names import TenantNames, token
from predicast.broker.nats.registry_entries import (
    FOLDED,
    ID,
    PART,
    REFUSED,
    WINDOW,
    Entry,
    Held,
    IdEntry,
    LeaseStep,
    OrphansStep,
    RefusedEntry,
    Step,
    WindowEntry,
    encoded,
    entry_of,
    parameters_text,
    parted,
    step_of,
)
from predicast.broker.nats.registry_state import RegistryState
from predicast.broker.nats.tail import Tail, read_between
from predicast.broker.nats.tasks import ended
from predicast.broker.subscriptions import Subscriptions
from predicast.engine import Report
from predicast.errors import BackendError, InvalidSubscriptionError, PredicastError
from predicast.protocol.records import RegistryOperation

# Windows stay for this long: whoever was to apply them within its patience has done so.
_SETTLED_S: Final = 90.0
_FOLD_AT: Final = 256  # windows are worth it
_TOGETHER: Final = 1000  # entries that are written at once
_READING_S: Final = 600.0  # a million subscriptions, on a busy machine


class Registry:
    """One process's picture of a tenant's subscriptions."""

    def __init__(
        self,
        connection: Connection,
        names: TenantNames,
        process: str,
        *,
        make: Callable[[], Subscriptions],
        holds: Callable[[str], bool],
        on_change: Callable[[Collection[str]], None],
    ) -> None:
        self._connection = connection
        self._names = names
        self._bucket = names.subscriptions
        self._process = process
        self._make = make
        self._holds = holds
        self._on_change = on_change
        self.state = RegistryState(make(), holds, make)
        self._tail: Tail | None = None
        self._asked: dict[str, asyncio.Future[Report]] = {}
        self._heard_at = 0.0
        self._rereading: asyncio.Task[None] | None = None

    @property
    def subscriptions(self) -> Subscriptions:
        """As engines."""
        return self.state.subscriptions

    @property
    def held(self) -> dict[str, Held]:
        """As definitions, by id."""
        return self.state.held

    # Reading.

    async def open(self) -> None:
        """Read what is there, and follow it from now on."""
        await self._connection.make_bucket(self._bucket)
        position = await self._read_whole()
        self._heard_at = asyncio.get_running_loop().time()
        self._follow(position)

    def _follow(self, position: int) -> None:
        self._tail = Tail(
            self._connection,
            self._bucket.stream,
            position,
            self._handle,
            on_silence=self._missed,
        )
        self._tail.start()

    async def close(self) -> None:
        """Follow no more."""
        await ended(self._rereading)
        if self._tail is not None:
            await self._tail.stop()
        for future in self._asked.values():
            if not future.done():
                future.set_exception(BackendError("the backend was stopped"))

    async def _read_whole(self) -> int:
        """Make the state anew; until no entry came in the meantime, as one may have gone."""
        messages: list[StreamMessage] = []
        position = 0
        while (end := await self._connection.last_sequence(self._bucket.stream)) > position:
            messages += await read_between(
                self._connection, self._bucket.stream, position, end, _READING_S
            )
            position = end
        state = RegistryState(self._make(), self._holds, self._make)
        before = set(self.state.held)
        state.load(self._entries(messages), asyncio.get_running_loop().time())
        self.state = state
        self._on_change(before | set(state.held))
        return position

    def _entries(self, messages: Iterable[StreamMessage]) -> Iterable[tuple[int, str, Entry]]:
        for message in messages:
            key = self._bucket.key(message.subject)
            entry = entry_of(key, message.data)
            if entry is not None:
                yield message.sequence, key.partition(".")[2], entry

    def _handle(self, messages: list[StreamMessage]) -> None:
        now = self._heard_at = asyncio.get_running_loop().time()
        for sequence, name, entry in self._entries(messages):
            if isinstance(entry, WindowEntry):
                self._apply(sequence, name, entry, now)
            elif not self.state.note(sequence, name, entry):
                self._read_again()

    def _apply(self, sequence: int, name: str, entry: WindowEntry, now: float) -> None:
        asked = self._asked.pop(name, None)
        try:
            report, touched = self.state.apply(sequence, name, entry, now)
        except PredicastError as refusal:
            if asked is not None and not asked.done():
                asked.set_exception(refusal)
            return
        self._on_change(touched)
        if asked is not None and not asked.done():
            asked.set_result(report)

    def _missed(self) -> None:
        """The bucket was silent: after long enough, windows may have gone that nobody saw here."""
        if asyncio.get_running_loop().time() - self._heard_at > _SETTLED_S / 2:
            self._read_again()

    def _read_again(self) -> None:
        if self._rereading is None:
            self._rereading = asyncio.create_task(self._reread())

    async def _reread(self) -> None:
        try:
            if self._tail is not None:
                await self._tail.stop()
            while True:
                try:
                    position = await self._read_whole()
                    break
                except BackendError:
                    await asyncio.sleep(1.0)
            self._heard_at = asyncio.get_running_loop().time()
            self._follow(position)
        finally:
            self._rereading = None

    async def catch_up(self) -> int:
        """Return when all that was acknowledged anywhere, before this was called, holds here; where
        the bucket ended.
        """
        end = await self._connection.last_sequence(self._bucket.stream)
        await self.reached(end)
        return end

    async def reached(self, sequence: int) -> None:
        """Return when all that stands up to there holds here."""
        assert self._tail is not None
        await self._tail.reached(sequence, self._connection.options.patience_s)

    # Changing.

    async def change(self, window: Sequence[RegistryOperation]) -> Report:
        """Run a window everywhere."""
        return await self.run([step_of(operation) for operation in window])

    async def run(self, steps: Sequence[Step]) -> Report:
        """Write a window down, and return when it was applied here."""
        after = await self._connection.last_sequence(self._names.events)
        name = uuid.uuid4().hex
        future: asyncio.Future[Report] = asyncio.get_running_loop().create_future()
        self._asked[name] = future
        try:
            await self._connection.write(self._messages(name, after, steps))
            async with asyncio.timeout(self._connection.options.patience_s):
                return await future
        except TimeoutError:
            raise BackendError(
                "the change is written down, but NATS does not let this process follow it"
            ) from None
        except UnicodeEncodeError as error:
            raise InvalidSubscriptionError(f"what is not Unicode cannot be kept: {error}") from None
        finally:
            self._asked.pop(name, None)

    def _messages(self, name: str, after: int, steps: Sequence[Step]) -> list[Message]:
        parts = parted(steps, self._connection.largest // 2)
        if len(parts) == 1:
            entry = WindowEntry(self._process, after, list(steps))
            return [self._message(f"{WINDOW}.{name}", encoded(entry))]
        entry = WindowEntry(self._process, after, parts=len(parts))
        return [
            *(
                self._message(f"{PART}.{name}.{number}", encoded(part))
                for number, part in enumerate(parts)
            ),
            self._message(f"{WINDOW}.{name}", encoded(entry)),
        ]

    def _message(self, key: str, data: bytes) -> Message:
        return Message(self._bucket.subject(key), data, {MESSAGE_ID: key})

    async def lease(self, ids: Iterable[str]) -> None:
        """These ephemeral subscriptions are served by this process from now on."""
        elsewhere = [id for id in ids if self.held[id].process != self._process]
        if elsewhere:
            await self.run([LeaseStep(id, self._process) for id in elsewhere])

    def serving(self) -> set[str]:
        """The processes that ephemeral subscriptions end with."""
        return {held.process for held in self.held.values() if not held.definition.settings.durable}

    async def remove_orphans(self, process: str) -> None:
        """End the ephemeral subscriptions of a process that is gone."""
        if process in self.serving():
            await self.run([OrphansStep(process)])

    # Folding.

    async def fold(self, *, at: int = _FOLD_AT, settled_s: float = _SETTLED_S) -> None:
        """Write down what old windows came to, and remove them.

        Two processes that fold at once are in each other's way, and one gives up.
        """
        state = self.state
        old = state.older_than(asyncio.get_running_loop().time() - settled_s)
        if len(old) < at:
            return
        now = state.now()
        ids, folded = state.to_fold(old[-1])
        # All at once, before anything else can change.
        messages = [self._id_message(id, now) for id in ids]
        refused = encoded(RefusedEntry(state.refused()))
        try:
            await self._connection.write([self._expecting(REFUSED, refused, state.refused_at)])
            for first in range(0, len(messages), _TOGETHER):
                await self._connection.write(messages[first : first + _TOGETHER])
            marker = self._expecting(FOLDED, encoded(folded), state.folded_at)
            unneeded = state.forget(folded)
            await self._connection.write([marker])
        except ConflictError:
            self._read_again()
            return
        await self._delete(unneeded)

    async def _delete(self, sequences: Iterable[int]) -> None:
        for sequence in sequences:
            await self._connection.delete(self._bucket.stream, sequence)

    def _id_message(self, id: str, as_of: int) -> Message:
        held = self.held.get(id)
        if held is not None:
            definition = held.definition
            held = msgspec.structs.replace(
                held,
                definition=msgspec.structs.replace(definition, parameters=None),
                parameters=parameters_text(definition.parameters),
            )
        entry = encoded(IdEntry(id, as_of, held))
        return self._expecting(f"{ID}.{token(id)}", entry, self.state.key_sequences.get(id, 0))

    def _expecting(self, key: str, data: bytes, sequence: int) -> Message:
        headers = {MESSAGE_ID: uuid.uuid4().hex, EXPECTED: str(sequence)}
        return Message(self._bucket.subject(key), data, headers)
