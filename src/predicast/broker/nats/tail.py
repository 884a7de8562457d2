"""``Tail``: follows a stream from a place in it, in order and without gaps, for as long as it runs.

It pulls, so that a process that is slow is not overrun. Each message says which one it is of those
that the server has sent; where one is missing, and where the server falls silent, the tail begins
again behind the last message that it handed on.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from predicast.broker.nats.connection import Connection, StreamMessage
from predicast.broker.nats.tasks import ended
from predicast.errors import BackendError

if TYPE_CHECKING:
    from nats.aio.msg import Msg

_BATCH: Final = 1000  # messages that one request asks for
_EXPIRES_S: Final = 10.0
_HEARTBEAT_S: Final = 1.0
_SILENCE_S: Final = 3.5  # of a server that should have sent a heartbeat
_PAUSE_S: Final = 0.2
_UNUSED_S: Final = 30.0  # then the server forgets a reader


class _LostError(Exception):
    """The server has fallen silent, has forgotten the reader, or a message is missing."""


class Tail:
    """One reader of one stream."""

    def __init__(
        self,
        connection: Connection,
        stream: str,
        after: int,
        handle: Callable[[list[StreamMessage]], None],
        *,
        subject: str | None = None,
        on_silence: Callable[[], None] = lambda: None,
        wants: Callable[[], bool] = lambda: True,
    ) -> None:
        """``on_silence`` is called when the stream could not be followed for a while; ``wants``
        says whether more can be handed on.
        """
        self.position = after  # of the last message that was handed on
        self._connection = connection
        self._stream = stream
        self._subject = subject
        self._handle = handle
        self._on_silence = on_silence
        self._wants = wants
        self._task: asyncio.Task[None] | None = None
        self._buffer: list[StreamMessage] = []
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._expected = 1  # the number of the next message among those that were sent
        self._left = 0  # messages of the current request that did not come yet
        self._news = asyncio.Event()
        self._lost = False
        self._failure: BackendError | None = None

    def start(self) -> None:
        """Begin to follow."""
        self._task = asyncio.create_task(self._run(), name=f"tail of {self._stream}")

    async def stop(self) -> None:
        """Follow no more."""
        await ended(self._task)
        for _, future in self._waiting:
            future.cancel()
        self._waiting.clear()

    async def reached(self, position: int, patience_s: float) -> None:
        """Return when all up to there has been handed on; a ``BackendError`` if that takes long."""
        if position <= self.position:
            return
        if self._failure is not None:
            raise self._failure
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((position, future))
        try:
            async with asyncio.timeout(patience_s):
                await future
        except TimeoutError:
            raise BackendError(
                f"the stream {self._stream} could not be read up to {position}, only to "
                f"{self.position}; is NATS overloaded?"
            ) from None
        finally:
            self._waiting = [each for each in self._waiting if each[1] is not future]

    def _skip_to(self, position: int) -> None:
        """Nothing is left up to there: it was removed, for its age say."""
        if position > self.position:
            self.position = position
            self._wake()

    # Following.

    async def _run(self) -> None:
        while True:
            try:
                await self._follow()
            except (_LostError, BackendError, ConnectionError, OSError):
                self._on_silence()
            await asyncio.sleep(_PAUSE_S)

    async def _follow(self) -> None:
        client = self._connection.client
        self._expected, self._left, self._lost = 1, 0, False
        end = await self._connection.last_sequence(self._stream)
        reader, ahead = await self._make_reader()
        if not ahead:
            await self._check_at_end()
            self._skip_to(end)
        inbox = client.new_inbox()
        subscription = await client.subscribe(
            inbox, cb=self._received, pending_msgs_limit=0, pending_bytes_limit=0
        )
        next_subject = f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{reader}"
        request = b'{"batch":%d,"expires":%d,"idle_heartbeat":%d}' % (
            _BATCH,
            int(_EXPIRES_S * 1e9),
            int(_HEARTBEAT_S * 1e9),
        )
        try:
            while not self._lost:
                if self._left <= 0 and self._wants():
                    self._left = _BATCH
                    await client.publish(next_subject, request, inbox)
                self._news.clear()
                try:
                    async with asyncio.timeout(_SILENCE_S):
                        await self._news.wait()
                except TimeoutError:
                    raise _LostError from None
            raise _LostError
        finally:
            with contextlib.suppress(Exception):
                await subscription.unsubscribe()

    async def _check_at_end(self) -> None:
        """Ask the stream's leader whether nothing is left.

        The reader is on any of the servers of a cluster, which counts what it has itself: one that
        was down, and has not caught up yet, has nothing to send and does not know better.
        """
        found = await self._connection.get_next(self._stream, self.position, self._subject or ">")
        if found is not None:
            raise _LostError

    async def _make_reader(self) -> tuple[str, int]:
        config = {
            "deliver_policy": "by_start_sequence",
            "opt_start_seq": self.position + 1,
            "ack_policy": "none",
            "inactive_threshold": int(_UNUSED_S * 1e9),
            "mem_storage": True,
            "num_replicas": 1,
        }
        if self._subject is not None:
            config["filter_subject"] = self._subject
        made = await self._connection.ask(
            f"CONSUMER.CREATE.{self._stream}", {"stream_name": self._stream, "config": config}
        )
        return made["name"], made["num_pending"]

    async def _received(self, message: Msg) -> None:
        self._news.set()
        if self._lost:
            return
        if not message.reply.startswith("$JS.ACK."):
            self._heard(message.headers or {})
            return
        parts = message.reply.split(".")
        sequence, number = int(parts[-4]), int(parts[-3])
        if number != self._expected:
            self._lost = True
            return
        self._expected += 1
        self._left -= 1
        if not self._buffer:
            asyncio.get_running_loop().call_soon(self._hand_on)
        self._buffer.append(
            StreamMessage(sequence, message.subject, message.headers or {}, message.data)
        )

    def _heard(self, headers: dict[str, str]) -> None:
        status = headers.get("Status")
        if status in {"404", "408"}:
            self._left = 0
        elif status != "100" or self._waiting:
            # Where there is nothing to send, what somebody waits for may have been removed: to
            # begin again tells.
            self._lost = True

    def _hand_on(self) -> None:
        messages, self._buffer = self._buffer, []
        if not messages:
            return
        try:
            self._handle(messages)
        except Exception as error:
            # Nothing that reading again would mend: whoever waits is told.
            self._failure = BackendError(f"{self._stream} cannot be followed: {error}")
            for _, future in self._waiting:
                if not future.done():
                    future.set_exception(self._failure)
            raise
        self.position = messages[-1].sequence
        self._wake()

    def _wake(self) -> None:
        for position, future in self._waiting:
            if position <= self.position and not future.done():
                future.set_result(None)


async def read_between(
    connection: Connection, stream: str, after: int, upto: int, patience_s: float
) -> list[StreamMessage]:
    """What stands in a stream after one place and up to another."""
    found: list[StreamMessage] = []
    if upto <= after:
        return found
    tail = Tail(connection, stream, after, found.extend)
    tail.start()
    try:
        await tail.reached(upto, patience_s)
    finally:
        await tail.stop()
    return [message for message in found if message.sequence <= upto]
