"""``Client``: a connection to a broker that comes back when it breaks."""

from __future__ import annotations

import asyncio
import contextlib
import random
import secrets
import time
import uuid
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

import msgspec

from predicast.client.addresses import DEFAULT_URL, websocket_url
from predicast.client.backoff import delays
from predicast.client.conversation import Conversation
from predicast.client.publishing import Publishable, bodies_of
from predicast.client.stream import Stream
from predicast.client.transport import Transport, open_transport
from predicast.errors import (
    DuplicateIdError,
    NotAllowedError,
    NotConnectedError,
    PredicastError,
    UnknownIdError,
    shortened,
)
from predicast.language import attributes_to_json
from predicast.language.reading import WHERE
from predicast.protocol import frames
from predicast.protocol.records import (
    DEFAULT_SETTINGS,
    Adjust,
    BodyForm,
    Definition,
    Put,
    Receipt,
    RegistryOperation,
    Settings,
)

_BATCH: Final = 1000  # events of one frame: the costs of a frame do not count any more
_CREDIT: Final = 10_000  # deliveries that a client is ready to hold
_PATIENCE_S: Final = 60.0
_GOODBYE_S: Final = 5.0  # for what was said last, such as acknowledgements


StartingPoint: TypeAlias = int | datetime  # after a position, or at a time


class Client:
    """What a program says to a broker, and hears from it. ``connect`` makes one."""

    def __init__(
        self,
        url: str,
        open: Callable[[], Awaitable[Transport]],
        framing: frames.Framing,
        *,
        publisher: str | None = None,
        credit: int = _CREDIT,
        patience: float = _PATIENCE_S,
        jitter: Callable[[], float] = random.random,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = url
        self._open = open
        self._patience = patience
        self._jitter = jitter
        self._sleep = sleep
        self._steady = steady
        self._more = asyncio.Event()
        self._run: asyncio.Task[None] | None = None
        self._lot = secrets.token_hex(8)  # this client's, in the ids of its events
        self._published = 0
        name = publisher or self._lot
        self._talk = Conversation(framing, name, credit, self._more.set)

    async def start(self) -> None:
        """Connect for the first time; raises at once if that cannot be done."""
        transport = await self._open()
        self._talk.connected()
        self._run = asyncio.create_task(self._stay_connected(transport))

    async def close(self) -> None:
        """Say goodbye: what was said goes out first."""
        if self._run is not None:
            self._run.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._run
        self._talk.fail(NotConnectedError("the client was closed", url=self._url))

    # Subscriptions.

    async def subscribe(
        self,
        expression: str,
        *,
        id: str | None = None,
        durable: bool = False,
        dialect: str = WHERE,
        parameters: Mapping[str, Any] | None = None,
        owner: str | None = None,
        settings: Settings = DEFAULT_SETTINGS,
        start: StartingPoint | None = None,
        acknowledge: bool = True,
    ) -> Stream:
        """Subscribe, and receive what matches.

        A durable subscription that is there already, and says the same, goes on where it was left;
        one that says something else is a ``DuplicateIdError``: ``change`` changes it. A ``start``,
        after a position or at a time, delivers once more what is kept from there.
        """
        definition = Definition(
            id or uuid.uuid4().hex,
            expression,
            dialect,
            _sent(parameters),
            owner,
            msgspec.structs.replace(settings, durable=durable),
        )
        if durable:
            await self._put_unless_there(definition)
            return await self.consume([definition.id], start=start, acknowledge=acknowledge)
        return await self.subscribe_many([definition], acknowledge=acknowledge)

    async def subscribe_many(
        self, definitions: Iterable[Definition], *, acknowledge: bool = True
    ) -> Stream:
        """Subscribe in one window, all or nothing, and receive what matches any of them.

        An event comes once, with the ids of those that it matches.
        """
        made = list(definitions)
        ids = [each.id for each in made]
        durable = [each.id for each in made if each.settings.durable]
        stream = self._stream(ids, durable=bool(durable), acknowledge=acknowledge)
        self._talk.open_stream(stream)
        try:
            await self.apply([Put(each) for each in made])
            if durable:
                await self._talk.ask(frames.Consume(ids=durable))
        except PredicastError:
            self._talk.close_stream(stream)
            raise
        self._talk.keep_consumed(durable)
        for each in made:
            if not each.settings.durable:
                self._talk.keep_ephemeral(each)
        return stream

    async def _put_unless_there(self, definition: Definition) -> None:
        try:
            await self.apply([Put(definition)])
        except DuplicateIdError:
            held = await self.definition(definition.id)
            if _states(held) != _states(definition):
                raise DuplicateIdError(
                    f"the subscription {definition.id!r} is there already, and says something "
                    f"else: {shortened(held.expression)}; change it, or take another id",
                    id=definition.id,
                ) from None

    async def consume(
        self,
        ids: Collection[str],
        *,
        start: StartingPoint | None = None,
        acknowledge: bool = True,
    ) -> Stream:
        """Receive what durable subscriptions match that are there already."""
        stream = self._stream(ids, durable=True, acknowledge=acknowledge)
        self._talk.open_stream(stream)
        try:
            await self._talk.ask(frames.Consume(ids=list(ids), start=_started(start)))
        except PredicastError:
            self._talk.close_stream(stream)
            raise
        self._talk.keep_consumed(ids)
        return stream

    def _stream(self, ids: Collection[str], *, durable: bool, acknowledge: bool) -> Stream:
        return Stream(
            ids,
            durable=durable,
            acknowledge=acknowledge,
            taken=self._talk.taken,
            close=self._close_stream,
        )

    async def _close_stream(self, stream: Stream) -> None:
        ended = self._talk.close_stream(stream)
        removed: list[frames.WireOperation] = [frames.WireRemove(id) for id in ended]
        if removed:
            await self._talk.ask(frames.Window(operations=removed))
        kept = [id for id in stream.ids if id not in ended]
        if kept:
            await self._talk.ask(frames.Release(ids=kept))

    async def apply(self, window: Iterable[RegistryOperation]) -> frames.WindowReport:
        """Run a window of operations, all or nothing."""
        operations = [_wire(step) for step in window]
        report: frames.WindowReport = await self._talk.ask(frames.Window(operations=operations))
        return report

    async def change(
        self,
        id: str,
        expression: str | None = None,
        *,
        dialect: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        owner: str | None = None,
        settings: Settings | None = None,
    ) -> Definition:
        """Change what is given of a subscription; parameters alone are changed in place."""
        frame = frames.ChangeDefinition(
            id=id,
            expression=expression,
            dialect=dialect,
            parameters=_sent(parameters),
            owner=owner,
            settings=settings,
        )
        [definition] = (await self._talk.ask(frame)).definitions
        return definition  # type: ignore[no-any-return]

    async def unsubscribe(self, id: str) -> None:
        """End a subscription, and what waits for it."""
        await self._talk.ask(frames.Window(operations=[frames.WireRemove(id)]))

    async def definition(self, id: str) -> Definition:
        """The subscription, or an ``UnknownIdError``."""
        found = (await self._talk.ask(frames.Find(id=id))).definitions
        if not found:
            raise UnknownIdError(f"there is no subscription {id!r}", id=id)
        return found[0]  # type: ignore[no-any-return]

    async def definitions(
        self,
        *,
        owner: str | None = None,
        text: str | None = None,
        after: str | None = None,
        most: int = 100,
    ) -> list[Definition]:
        """Those of the owner whose id or expression has the text in it, by id, after that one."""
        frame = frames.Find(owner=owner, text=text, after=after, most=most)
        return (await self._talk.ask(frame)).definitions  # type: ignore[no-any-return]

    # Events.

    async def publish(
        self,
        events: Publishable | Sequence[Publishable],
        *,
        ids: Sequence[str] | None = None,
        form: BodyForm = BodyForm.JSON,
    ) -> list[Receipt]:
        """Publish one event or many, in this order; they are kept when the receipts are there.

        Events are named by ``ids``, or by the client; what is sent twice because a connection broke
        is taken once.
        """
        wired = self._wired(bodies_of(events), ids, form)
        asked = [
            self._talk.ask(frames.Publish(events=wired[first : first + _BATCH]))
            for first in range(0, len(wired), _BATCH)
        ]
        answers = await asyncio.gather(*asked)
        return [receipt for answer in answers for receipt in answer.receipts]

    def _wired(
        self, bodies: list[bytes], ids: Sequence[str] | None, form: BodyForm
    ) -> list[frames.WireEvent]:
        if ids is None:
            first = self._published
            self._published += len(bodies)
            ids = [f"{self._lot}-{number}" for number in range(first, self._published)]
        packed = self._talk.framing.packed
        return [
            frames.WireEvent(packed(body, form), id, form=form)
            for body, id in zip(bodies, ids, strict=True)
        ]

    async def explain(
        self, id: str, event: Publishable, *, form: BodyForm = BodyForm.JSON
    ) -> frames.WireExplanation:
        """Why the subscription matches the event, or why not."""
        [wired] = self._wired(bodies_of(event), [""], form)
        answer = await self._talk.ask(frames.Explain(id=id, event=wired))
        return answer.explanation  # type: ignore[no-any-return]

    async def dry_run(
        self,
        events: Publishable | Sequence[Publishable],
        *,
        form: BodyForm = BodyForm.JSON,
        most: int = 100,
    ) -> list[list[frames.WireExplanation]]:
        """Who would get each event, and why; nothing is kept or delivered."""
        bodies = bodies_of(events)
        wired = self._wired(bodies, [""] * len(bodies), form)
        answer = await self._talk.ask(frames.DryRun(events=wired, most=most))
        return answer.events  # type: ignore[no-any-return]

    async def statistics(self) -> frames.Statistics:
        """Counts and sizes of the tenant, and what waits by subscription."""
        found: frames.Statistics = await self._talk.ask(frames.Watch())
        return found

    # Connections.

    async def _stay_connected(self, transport: Transport) -> None:
        while True:
            try:
                await self._converse(transport)
            except PredicastError as error:
                self._talk.fail(error)
                return
            finally:
                await transport.close()
            self._talk.disconnected(self._url)
            again = await self._come_back()
            if again is None:
                return
            transport = again
            self._talk.connected()

    async def _converse(self, transport: Transport) -> None:
        """Until the connection breaks."""
        sending = asyncio.create_task(self._send(transport))
        try:
            while (data := await transport.receive()) is not None:
                self._talk.receive(data)
        finally:
            sending.cancel()
            await asyncio.wait([sending])

    async def _send(self, transport: Transport) -> None:
        with contextlib.suppress(OSError, TimeoutError):
            try:
                while True:
                    self._more.clear()
                    await self._send_all(transport)
                    await self._more.wait()
            finally:
                async with asyncio.timeout(_GOODBYE_S):
                    await self._send_all(transport)

    async def _send_all(self, transport: Transport) -> None:
        for message in self._talk.messages():
            await transport.send(message)

    async def _come_back(self) -> Transport | None:
        """A new connection; none if it is refused, or patience is at its end."""
        began = self._steady()
        for delay in delays(self._jitter):
            await self._sleep(delay)
            try:
                return await self._open()
            except NotAllowedError as error:
                self._talk.fail(error)
                return None
            except NotConnectedError as error:
                if self._steady() - began > self._patience:
                    self._talk.fail(error)
                    return None
        return None


@asynccontextmanager
async def connect(
    url: str = DEFAULT_URL,
    *,
    token: str | None = None,
    publisher: str | None = None,
    framing: frames.Framing = frames.MSGPACK,
    patience: float = _PATIENCE_S,
) -> AsyncIterator[Client]:
    """A client of the broker at a URL, connected while the block runs.

    ``publisher`` names whoever publishes, for repeats to be known after a restart of the program.
    When the connection breaks it is made again and everything goes on; after ``patience`` seconds
    without one, whatever waits for the broker gets a ``NotConnectedError``.
    """

    async def open() -> Transport:
        return await open_transport(websocket_url(url), token, framing)

    client = Client(url, open, framing, publisher=publisher, patience=patience)
    await client.start()
    try:
        yield client
    finally:
        await client.close()


def _wire(step: RegistryOperation) -> frames.WireOperation:
    if isinstance(step, Put):
        return frames.WirePut(step.definition, step.replace)
    if isinstance(step, Adjust):
        return frames.WireAdjust(step.id, _sent(step.parameters) or {})
    return frames.WireRemove(step.id)


def _states(definition: Definition) -> tuple[Any, ...]:
    return definition.expression, definition.dialect, definition.parameters


def _sent(parameters: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Values as they travel: timestamps and intervals as JSON says them."""
    if parameters is None:
        return None
    return msgspec.json.decode(attributes_to_json(parameters), type=dict[str, Any])


def _started(start: StartingPoint | None) -> frames.WireStart | None:
    if start is None:
        return None
    if isinstance(start, datetime):
        if start.tzinfo is None:
            start = start.replace(tzinfo=UTC)
        return frames.WireStart(since=start.timestamp())
    return frames.WireStart(after=start)
