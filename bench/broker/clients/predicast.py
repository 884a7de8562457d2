"""Predicast: MessagePack in a WebSocket."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bench.broker.clients.connection import Batch, Client, Message
from predicast.protocol import frames
from predicast.protocol.records import BodyForm, Definition

_AT_ONCE: Final = 20_000  # subscriptions of a window: some megabytes
_CREDIT: Final = 1_000_000  # deliveries: as many as a connection may grant
_BYTES, _CLOSE, _PING, _PONG = 2, 8, 9, 10  # the WebSocket's opcodes


class PredicastClient(Client):
    """Events that are on disk before their receipts."""

    def __init__(self) -> None:
        super().__init__()
        self._is_open = False
        self._asked = 0
        self._answered = 0
        self._needed = 0  # bytes without which there is no whole frame
        self._parts: list[bytes] = []
        self._size = 0
        self._used = 0  # credit

    async def start(self) -> None:
        await self.write(
            b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            b"Sec-WebSocket-Protocol: predicast.v1.msgpack\r\n\r\n"
        )
        await self.until(lambda: self._is_open)
        await self._ask(frames.Credit(deliveries=_CREDIT))

    async def subscribe(self, groups: int, definitions: Sequence[Definition]) -> None:
        for first in range(0, len(definitions), _AT_ONCE):
            some = definitions[first : first + _AT_ONCE]
            await self._ask(frames.Window(operations=[frames.WirePut(each) for each in some]))

    async def _ask(self, frame: frames.ClientFrame) -> None:
        self._asked += 1
        frame.request = self._asked
        await self.write(_framed(_BYTES, frames.MSGPACK.encode(frame)))
        await self.until(lambda: self._answered == self._asked)

    def batch(self, messages: Sequence[Message]) -> Batch:
        packed = frames.MSGPACK.packed
        form = BodyForm.JSON
        events = [frames.WireEvent(packed(each.payload, form)) for each in messages]
        frame = frames.Publish(request=1, events=events)
        return Batch(_framed(_BYTES, frames.MSGPACK.encode(frame)), 1)

    def data_received(self, data: bytes) -> None:
        self._parts.append(data)
        self._size += len(data)
        if self._size >= self._needed:
            super().data_received(b"".join(self._parts))
            self._parts, self._size = [self._rest], len(self._rest)
            self._rest = b""

    def taken(self, data: bytes) -> int:
        at = 0
        if not self._is_open:
            at = data.find(b"\r\n\r\n") + 4
            if at < 4:
                return 0
            self._is_open = data.startswith(b"HTTP/1.1 101 ")
            if not self._is_open:
                self.failure = data[:at].decode()
        while True:
            begin = at + 2
            if len(data) < begin:
                self._needed = begin - at
                return at
            size = data[at + 1]
            if size >= 126:
                wide = 2 if size == 126 else 8
                size = int.from_bytes(data[begin : begin + wide], "big")
                begin += wide
            if len(data) < begin + size:
                self._needed = begin + size - at
                return at
            self._message(data[at] & 15, data[begin : begin + size])
            at = begin + size

    def _message(self, kind: int, content: bytes) -> None:
        if kind == _PING:
            self._transport.write(_framed(_PONG, content))
        elif kind == _CLOSE:
            self.failure = f"the broker ended the connection: {content!r}"
        elif b"deliveries" in content[:20]:
            self._spend(self.found(content))
        elif b"published" in content[:20]:
            self.receipts += 1
        else:
            frame = frames.MSGPACK.broker_frame(content)
            if isinstance(frame, frames.Refused | frames.Dropped):
                self.failure = str(frame)
            self._answered = max(self._answered, frame.request)

    def _spend(self, events: int) -> None:
        """So many were received: as many more may come."""
        self._used += events
        if 2 * self._used > _CREDIT:
            frame = frames.MSGPACK.encode(frames.Credit(deliveries=self._used))
            self._transport.write(_framed(_BYTES, frame))
            self._used = 0


def _framed(kind: int, content: bytes) -> bytes:
    """A frame of a client's: it has to have a mask, and this one changes nothing."""
    size = len(content)
    if size < 126:
        head = bytes([0x80 | kind, 0x80 | size])
    elif size < 1 << 16:
        head = bytes([0x80 | kind, 0x80 | 126]) + size.to_bytes(2, "big")
    else:
        head = bytes([0x80 | kind, 0x80 | 127]) + size.to_bytes(8, "big")
    return head + bytes(4) + content
