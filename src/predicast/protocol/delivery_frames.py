"""``DeliveryFrames``: frames of deliveries, in which an event is encoded once for all who get it.

What connections are sent of an event differs by the ids of their subscriptions only, and those
stand last. So everything before them is kept as bytes for a while, and a frame is put together
from such pieces, without an object for each delivery. The result is what ``Deliveries`` of
``WireDelivery`` would be encoded as, but for the order of fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from predicast.protocol.frames import Framing
from predicast.protocol.records import Delivery, StoredEvent

_MOST: Final = 8 << 20  # bytes of events that are kept: some tens of thousands, of usual size


class _Known(msgspec.Struct, frozen=True, gc=False):
    """An event, and what all who get it are sent first; garbage is not looked for in it."""

    event: StoredEvent
    front: bytes


class DeliveryFrames:
    """Made once for all connections of a tenant that speak alike; for one thread.

    Whoever reads at the same time is sent the same events, one connection after the other: so all
    is forgotten when there is too much of it, rather than the oldest in turn.
    """

    def __init__(self, framing: Framing) -> None:
        self._framing = framing
        self._fronts: dict[int, _Known] = {}
        self._bytes = 0

    def encoded(self, deliveries: Sequence[Delivery], most_bytes: int) -> Iterator[bytes]:
        """As few frames as have at most so many bytes of bodies each, or one delivery."""
        framing, fronts = self._framing, self._fronts
        encode, joined = framing.encode_value, framing.joined_deliveries
        parts: list[bytes] = []
        size = 0
        for event, ids, attempt in deliveries:
            if parts and size + len(event.body) > most_bytes:
                yield joined(parts)
                parts, size = [], 0
            size += len(event.body)
            known = fronts.get(event.position)
            if known is not None and known.event is event and attempt == 1:
                parts.append(known.front)
            else:
                front = framing.delivery_front(event, attempt)
                parts.append(front)
                if attempt == 1:
                    self._keep(event, front)
            parts.append(encode(ids))
        if parts:
            yield joined(parts)

    def _keep(self, event: StoredEvent, front: bytes) -> None:
        self._bytes += len(front)
        if self._bytes > _MOST:
            self._fronts.clear()
            self._bytes = len(front)
        self._fronts[event.position] = _Known(event, front)
