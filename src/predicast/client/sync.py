"""``SyncClient``: the client for programs without asyncio.

It is the other one, run in a thread of its own: whatever holds there holds here.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self, TypeVar

from predicast.client.addresses import DEFAULT_URL
from predicast.client.client import Client, StartingPoint, connect
from predicast.client.publishing import Publishable
from predicast.client.received import ReceivedDelivery
from predicast.client.stream import Stream
from predicast.language.reading import WHERE
from predicast.protocol import frames
from predicast.protocol.records import (
    DEFAULT_SETTINGS,
    BodyForm,
    Definition,
    Receipt,
    RegistryOperation,
    Settings,
)

T = TypeVar("T")


class _Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="predicast-client", daemon=True
        )
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the work comes to; if the waiting is interrupted, so is the work."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def call(self, what: Callable[[T], None], argument: T) -> None:
        """Have it called in the thread."""
        self._loop.call_soon_threadsafe(what, argument)

    def stop(self) -> None:
        """End it, and its thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class SyncStream:
    """The deliveries of subscriptions, as an iterator; see ``Stream``.

    What the loop's body has dealt with is acknowledged when the next one is asked for.
    """

    def __init__(self, stream: Stream, loop: _Loop, *, acknowledge: bool) -> None:
        self._stream = stream
        self._loop = loop
        self._acknowledges = acknowledge
        self._waiting: list[ReceivedDelivery] = []
        self._last: ReceivedDelivery | None = None

    @property
    def ids(self) -> frozenset[str]:
        """Of the subscriptions."""
        return self._stream.ids

    @property
    def id(self) -> str:
        """The subscription's, if there is one."""
        return self._stream.id

    @property
    def dropped(self) -> Mapping[str, int]:
        """How many deliveries the broker dropped, by subscription: it was too slow."""
        return self._stream.dropped

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> ReceivedDelivery:
        if (delivery := self.next()) is None:
            raise StopIteration
        return delivery

    def next(self, wait: float | None = None) -> ReceivedDelivery | None:
        """The next one; none when the wait is over, or the stream is closed."""
        if self._last is not None and self._acknowledges:
            self._last.acknowledge()
        self._last = None
        if not self._waiting:
            self._waiting = self._loop.run(self._stream.take(wait))[::-1]
            for each in self._waiting:
                each.say_through(self._loop.call)
        if self._waiting:
            self._last = self._waiting.pop()
        return self._last

    def close(self) -> None:
        """Receive no more; an ephemeral subscription ends."""
        self._loop.run(self._stream.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class SyncClient:
    """What a program says to a broker, and hears from it. ``connect_sync`` makes one."""

    def __init__(self, client: Client, loop: _Loop) -> None:
        self._client = client
        self._loop = loop

    def subscribe(
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
    ) -> SyncStream:
        """Subscribe, and receive what matches; see ``Client.subscribe``."""
        work = self._client.subscribe(
            expression,
            id=id,
            durable=durable,
            dialect=dialect,
            parameters=parameters,
            owner=owner,
            settings=settings,
            start=start,
            acknowledge=False,
        )
        return SyncStream(self._loop.run(work), self._loop, acknowledge=acknowledge)

    def subscribe_many(
        self, definitions: Iterable[Definition], *, acknowledge: bool = True
    ) -> SyncStream:
        """Subscribe in one window, and receive what matches any of them."""
        work = self._client.subscribe_many(definitions, acknowledge=False)
        return SyncStream(self._loop.run(work), self._loop, acknowledge=acknowledge)

    def consume(
        self,
        ids: Collection[str],
        *,
        start: StartingPoint | None = None,
        acknowledge: bool = True,
    ) -> SyncStream:
        """Receive what durable subscriptions match that are there already."""
        work = self._client.consume(ids, start=start, acknowledge=False)
        return SyncStream(self._loop.run(work), self._loop, acknowledge=acknowledge)

    def apply(self, window: Iterable[RegistryOperation]) -> frames.WindowReport:
        """Run a window of operations, all or nothing."""
        return self._loop.run(self._client.apply(window))

    def change(
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
        work = self._client.change(
            id,
            expression,
            dialect=dialect,
            parameters=parameters,
            owner=owner,
            settings=settings,
        )
        return self._loop.run(work)

    def unsubscribe(self, id: str) -> None:
        """End a subscription, and what waits for it."""
        self._loop.run(self._client.unsubscribe(id))

    def definition(self, id: str) -> Definition:
        """The subscription, or an ``UnknownIdError``."""
        return self._loop.run(self._client.definition(id))

    def definitions(
        self,
        *,
        owner: str | None = None,
        text: str | None = None,
        after: str | None = None,
        most: int = 100,
    ) -> list[Definition]:
        """Those of the owner whose id or expression has the text in it, by id, after that one."""
        work = self._client.definitions(owner=owner, text=text, after=after, most=most)
        return self._loop.run(work)

    def publish(
        self,
        events: Publishable | Sequence[Publishable],
        *,
        ids: Sequence[str] | None = None,
        form: BodyForm = BodyForm.JSON,
    ) -> list[Receipt]:
        """Publish one event or many; they are kept when the receipts are there."""
        return self._loop.run(self._client.publish(events, ids=ids, form=form))

    def explain(
        self, id: str, event: Publishable, *, form: BodyForm = BodyForm.JSON
    ) -> frames.WireExplanation:
        """Why the subscription matches the event, or why not."""
        return self._loop.run(self._client.explain(id, event, form=form))

    def dry_run(
        self,
        events: Publishable | Sequence[Publishable],
        *,
        form: BodyForm = BodyForm.JSON,
        most: int = 100,
    ) -> list[list[frames.WireExplanation]]:
        """Who would get each event, and why; nothing is kept or delivered."""
        return self._loop.run(self._client.dry_run(events, form=form, most=most))

    def statistics(self) -> frames.Statistics:
        """Counts and sizes of the tenant, and what waits by subscription."""
        return self._loop.run(self._client.statistics())


@contextmanager
def connect_sync(
    url: str = DEFAULT_URL,
    *,
    token: str | None = None,
    publisher: str | None = None,
    patience: float = 60.0,
) -> Iterator[SyncClient]:
    """A client of the broker at a URL, connected while the block runs; see ``connect``."""
    loop = _Loop()
    try:
        connection = connect(url, token=token, publisher=publisher, patience=patience)
        client = loop.run(connection.__aenter__())
        try:
            yield SyncClient(client, loop)
        finally:
            loop.run(connection.__aexit__(None, None, None))
    finally:
        loop.stop()
