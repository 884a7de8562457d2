"""Following a stream: nothing is passed over that is there."""

from __future__ import annotations

import asyncio

from predicast.broker.nats import NatsOptions
from predicast.broker.nats.connection import Connection, Message, StreamMessage
from predicast.broker.nats.tail import Tail
from tests.nats_servers import NatsServer
from tests.unit.broker.nats.test_processes import LONG_S


class OnServerBehind(Tail):
    """Its first reader is on a server that has nothing of the stream yet."""

    readers = 0

    async def _make_reader(self) -> tuple[str, int]:
        name, ahead = await super()._make_reader()
        self.readers += 1
        return name, 0 if self.readers == 1 else ahead


def test_what_a_server_does_not_have_yet_is_waited_for(
    server: NatsServer, options: NatsOptions
) -> None:
    async def run() -> None:
        connection = Connection(server.url, options, "test")
        await connection.open()
        stream = f"{options.prefix}_tail"
        await connection.make_event_stream(stream, [f"{stream}.>"])
        await connection.write([Message(f"{stream}.a", b"%d" % each, {}) for each in range(3)])
        came: list[StreamMessage] = []
        tail = OnServerBehind(connection, stream, 0, came.extend)
        tail.start()
        await tail.reached(3, LONG_S)
        assert [each.data for each in came] == [b"0", b"1", b"2"]
        await tail.stop()
        await connection.close()

    asyncio.run(run())


def test_what_was_removed_is_passed_over(server: NatsServer, options: NatsOptions) -> None:
    async def run() -> None:
        connection = Connection(server.url, options, "test")
        await connection.open()
        stream = f"{options.prefix}_tail"
        await connection.make_event_stream(stream, [f"{stream}.>"])
        await connection.write([Message(f"{stream}.a", b"x", {}) for _ in range(3)])
        await connection.purge(stream, f"{stream}.a", 3)
        tail = Tail(connection, stream, 0, lambda _: None)
        tail.start()
        await tail.reached(3, LONG_S)
        await tail.stop()
        await connection.close()

    asyncio.run(run())
