"""A delivery up to the ids of its subscriptions: what is the same for whoever gets the event."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import msgspec

from predicast.protocol.records import BodyForm, StoredEvent


class _Front(msgspec.Struct):
    """A ``WireDelivery`` whose last value is left open, as most are."""

    position: int
    at: float
    id: str
    publisher: str
    body: Any
    subscriptions: msgspec.Raw


class _LongFront(msgspec.Struct):
    """The same of any form and attempt."""

    position: int
    at: float
    id: str
    publisher: str
    body: Any
    form: BodyForm
    attempt: int
    subscriptions: msgspec.Raw


DeliveryFront: TypeAlias = _Front | _LongFront
_OPEN: Final = msgspec.Raw(b"")


def delivery_front(event: StoredEvent, packed: Any, attempt: int) -> DeliveryFront:
    """What is to be encoded of the event, with the body as it stands in a frame."""
    if attempt == 1 and event.form is BodyForm.JSON:
        return _Front(event.position, event.at, event.id, event.publisher, packed, _OPEN)
    return _LongFront(
        event.position, event.at, event.id, event.publisher, packed, event.form, attempt, _OPEN
    )
