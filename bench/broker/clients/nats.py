"""NATS: lines of text, and payloads after them; JetStream is requests and answers on top."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from bench.broker.clients.connection import Batch, Client, Message
from predicast.protocol.records import Definition


class NatsClient(Client):
    """Events that nobody keeps. A batch is taken when the ping behind it is answered."""

    def __init__(self) -> None:
        super().__init__()
        self._listens = False

    async def start(self) -> None:
        await self.write(b'CONNECT {"verbose":false,"pedantic":false}\r\nPING\r\n')
        await self.until(lambda: self.receipts > 0)
        self.receipts = 0

    async def subscribe(self, groups: int, definitions: Sequence[Definition]) -> None:
        lines = [f"SUB run.{group} {group + 1}\r\n" for group in range(groups)]
        await self.write("".join(lines).encode() + b"PING\r\n")
        await self.until(lambda: self.receipts > 0)
        self._listens = True

    def batch(self, messages: Sequence[Message]) -> Batch:
        parts = [
            b"PUB run.%d %d\r\n%b\r\n" % (each.group, len(each.payload), each.payload)
            for each in messages
        ]
        return Batch(b"".join([*parts, b"PING\r\n"]), 1)

    def taken(self, data: bytes) -> int:
        if b"\nPING\r\n" in data or data.startswith(b"PING\r\n"):
            self._transport.write(b"PONG\r\n")
        if self._listens:
            return self.listened(data)
        size = data.rfind(b"\n") + 1
        told = data[:size]
        self.receipts += told.count(b"PONG\r\n")
        if b"-ERR" in told:
            self.failure = told.decode(errors="replace")
        return size


class JetStreamClient(NatsClient):
    """Events that are kept in a stream of files, each with an answer that says so.

    Receivers are consumers that acknowledge nothing, as ephemeral subscriptions do not.
    """

    def __init__(self) -> None:
        super().__init__()
        self._answers = 0

    async def start(self) -> None:
        await super().start()
        await self.write(b"SUB answers.%d 1\r\nSUB kept.%d 2\r\n" % (id(self), id(self)))
        stream = {"name": "bench", "subjects": ["run.*"], "storage": "file"}
        await self._ask("STREAM.CREATE.bench", stream)

    async def subscribe(self, groups: int, definitions: Sequence[Definition]) -> None:
        name = f"reader.{id(self)}"
        await self.write(b"SUB %b 3\r\n" % name.encode())
        config = {"deliver_subject": name, "deliver_policy": "new", "ack_policy": "none"}
        await self._ask("CONSUMER.CREATE.bench", {"stream_name": "bench", "config": config})
        self._listens = True

    async def _ask(self, what: str, content: object) -> None:
        before, text = self._answers, msgspec.json.encode(content)
        head = f"PUB $JS.API.{what} answers.{id(self)} {len(text)}\r\n"
        await self.write(b"%b%b\r\n" % (head.encode(), text))
        await self.until(lambda: self._answers > before)

    def batch(self, messages: Sequence[Message]) -> Batch:
        parts = [
            b"PUB run.%d kept.%d %d\r\n%b\r\n" % (group, id(self), len(payload), payload)
            for group, payload in messages
        ]
        return Batch(b"".join(parts), len(messages))

    def taken(self, data: bytes) -> int:
        size = super().taken(data)
        if not self._listens:
            told = data[:size]
            self._answers += told.count(b'"type":"io.nats.jetstream.api.')
            self.receipts += told.count(b'"seq":')
            if b'"error":' in told:
                self.failure = told.decode(errors="replace")
        return size
