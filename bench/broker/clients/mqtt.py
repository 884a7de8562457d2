"""MQTT 3.1.1 at quality of service 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bench.broker.clients.connection import Batch, Client, Message
from predicast.protocol.records import Definition

_AT_ONCE: Final = 1000  # topics of one request
_PING: Final = b"\xc0\x00"
_PINGED: Final = b"\xd0\x00"


class MqttClient(Client):
    """Events that nobody keeps. A batch is taken when the ping behind it is answered."""

    def __init__(self) -> None:
        super().__init__()
        self._listens = False

    async def start(self) -> None:
        await self.write(_packet(0x10, b"\x00\x04MQTT\x04\x02\x00\x00" + _text(b"")) + _PING)
        await self.until(lambda: self.receipts > 0)
        self.receipts = 0

    async def subscribe(self, groups: int, definitions: Sequence[Definition]) -> None:
        for number, first in enumerate(range(0, groups, _AT_ONCE), 1):
            some = range(first, min(first + _AT_ONCE, groups))
            names = b"".join(_text(b"run.%d" % group) + b"\x00" for group in some)
            await self.write(_packet(0x82, number.to_bytes(2, "big") + names))
        await self.write(_PING)
        await self.until(lambda: self.receipts > 0)
        self._listens = True

    def batch(self, messages: Sequence[Message]) -> Batch:
        parts = [_packet(0x30, _text(b"run.%d" % group) + payload) for group, payload in messages]
        return Batch(b"".join([*parts, _PING]), 1)

    def taken(self, data: bytes) -> int:
        if self._listens:
            return self.listened(data)
        # What else is said to those who do not listen is about subscribing, and of no interest.
        answers = data.count(_PINGED)
        self.receipts += answers
        return data.rfind(_PINGED) + len(_PINGED) if answers else 0


def _text(text: bytes) -> bytes:
    return len(text).to_bytes(2, "big") + text


def _packet(kind: int, content: bytes) -> bytes:
    size, digits = len(content), bytearray()
    while True:
        size, digit = divmod(size, 128)
        digits.append(digit | (0x80 if size else 0))
        if not size:
            return bytes([kind]) + bytes(digits) + content
