"""Messages as bytes: one JSON object each, with nothing lost and nothing surplus.

::

    {"type": "announce", "epoch": 1048577, "sequence": 3, "operations": [
        {"type": "subscribe", "id": "1", "expression": "price < 10"}], "through": false}

Subscriptions are text or their JSON form, events their JSON form (``predicast.language``) or, of
graphs, their text. An event
is written down once: what was read is kept beside it, and goes to the next neighbour as it came.
Whatever cannot be read is a ``MalformedMessageError``, with the place where it went wrong; more
bytes than are allowed are not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec

from predicast.engine import Change, Operation, Subscribe, Unsubscribe
from predicast.errors import MalformedMessageError, MessageTooLargeError, PredicastError
from predicast.language import (
    event_from_json,
    event_to_json,
    subscription_from_json,
    subscription_to_json,
)
from predicast.model import Event, Subscription
from predicast.routing.messages import (
    Acknowledge,
    Announce,
    Bye,
    Events,
    Hello,
    KeepAlive,
    Message,
    PeerKind,
    Published,
    Refuse,
)

MAX_BYTES: Final = 64 << 20  # of one message, unless said otherwise


_NOTHING: Final = msgspec.Raw(b"null")  # a union with None would be read as None alone


class WireSubscribe(
    msgspec.Struct, tag="subscribe", forbid_unknown_fields=True, omit_defaults=True
):
    """A Subscribe as JSON."""

    id: str
    expression: msgspec.Raw
    parameters: msgspec.Raw = _NOTHING
    replace: bool = False


class WireChange(msgspec.Struct, tag="change", forbid_unknown_fields=True, omit_defaults=True):
    """A Change as JSON."""

    id: str
    expression: msgspec.Raw = _NOTHING
    parameters: msgspec.Raw = _NOTHING


class WireUnsubscribe(msgspec.Struct, tag="unsubscribe", forbid_unknown_fields=True):
    """An Unsubscribe as JSON."""

    id: str


class _Hello(msgspec.Struct, tag="hello", forbid_unknown_fields=True, omit_defaults=True):
    sender: str
    kind: PeerKind
    epoch: int
    heard_epoch: int = 0
    received: int = 0
    whole_at: int = 0
    level: int = 0
    durable: bool = False
    leaving: bool = False
    answer: bool = False


class _Announce(msgspec.Struct, tag="announce", forbid_unknown_fields=True, omit_defaults=True):
    epoch: int
    sequence: int
    operations: list[WireSubscribe | WireChange | WireUnsubscribe]
    through: bool = False


class WirePublished(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A Published as JSON; the event stands in it as it was written down."""

    publisher: str
    sequence: int
    event: msgspec.Raw
    at: int = 0
    envelope: msgspec.Raw = _NOTHING


class _Events(msgspec.Struct, tag="events", forbid_unknown_fields=True, omit_defaults=True):
    epoch: int
    sequence: int
    events: list[WirePublished]
    matched: list[list[str]] | None = None


class _Bye(msgspec.Struct, tag="bye", forbid_unknown_fields=True):
    epoch: int
    sequence: int


class _Acknowledge(msgspec.Struct, tag="acknowledge", forbid_unknown_fields=True):
    epoch: int
    received: int
    settled: int


class _KeepAlive(msgspec.Struct, tag="keep-alive", forbid_unknown_fields=True):
    epoch: int
    received: int
    settled: int


class _Refuse(msgspec.Struct, tag="refuse", forbid_unknown_fields=True, omit_defaults=True):
    error: str
    reason: str
    sequence: int | None = None


_Wire: TypeAlias = _Hello | _Announce | _Events | _Bye | _Acknowledge | _KeepAlive | _Refuse
# Messages whose fields are those of their struct, in the same order.
_PLAIN: Final[dict[type, type[msgspec.Struct]]] = {
    Hello: _Hello,
    Bye: _Bye,
    Acknowledge: _Acknowledge,
    KeepAlive: _KeepAlive,
    Refuse: _Refuse,
}
_READ: Final[dict[type, Any]] = {struct: message for message, struct in _PLAIN.items()}
_decoder: Final = msgspec.json.Decoder(_Wire)


# Writing.


def encode(message: Message) -> bytes:
    """The message as bytes; what cannot be written is refused."""
    if isinstance(message, Announce):
        operations = [operation_out(each) for each in message.operations]
        wire: Any = _Announce(message.epoch, message.sequence, operations, message.through)
    elif isinstance(message, Events):
        matched = None if message.matched is None else [list(ids) for ids in message.matched]
        events = [published_out(each) for each in message.events]
        wire = _Events(message.epoch, message.sequence, events, matched)
    else:
        struct = _PLAIN[type(message)]
        wire = struct(*(getattr(message, name) for name in struct.__struct_fields__))
    return msgspec.json.encode(wire)


def operation_out(operation: Operation) -> WireSubscribe | WireChange | WireUnsubscribe:
    """An operation, ready to be encoded."""
    if isinstance(operation, Unsubscribe):
        return WireUnsubscribe(operation.id)
    parameters = _parameters_out(operation.parameters)
    if isinstance(operation, Change):
        expression = operation.expression
        said = _NOTHING if expression is None else expression_out(expression)
        return WireChange(operation.id, said, parameters)
    said = expression_out(operation.expression)
    return WireSubscribe(operation.id, said, parameters, operation.replace)


def expression_out(expression: object) -> msgspec.Raw:
    """Text or a subscription, ready to be encoded."""
    if isinstance(expression, str):
        return msgspec.Raw(msgspec.json.encode(expression))
    if isinstance(expression, Subscription):
        return msgspec.Raw(subscription_to_json(expression).encode())
    raise MalformedMessageError(
        f"an expression is text or a Subscription on its way, not {type(expression).__name__}",
        field="expression",
    )


def _parameters_out(parameters: Mapping[str, Any] | None) -> msgspec.Raw:
    return _NOTHING if parameters is None else _event_out(Event(parameters))


def published_out(published: Published) -> WirePublished:
    """An event, ready to be encoded."""
    if published.encoded is None:
        # Frozen for everybody else: what is kept here says the same in other words.
        object.__setattr__(published, "encoded", bytes(_event_out(published.event)))
    return WirePublished(
        published.publisher,
        published.sequence,
        msgspec.Raw(published.encoded or b"{}"),
        published.at,
        _NOTHING if published.envelope is None else msgspec.Raw(published.envelope),
    )


def _event_out(event: object) -> msgspec.Raw:
    if isinstance(event, str):
        return msgspec.Raw(msgspec.json.encode(event))
    if not isinstance(event, Event):
        raise MalformedMessageError(
            f"an event is an Event or text on its way, not {type(event).__name__}", field="event"
        )
    return msgspec.Raw(event_to_json(event).encode())


# Reading.


def decode(data: bytes, *, max_bytes: int = MAX_BYTES) -> Message:
    """The message in bytes that came from anywhere."""
    if len(data) > max_bytes:
        raise MessageTooLargeError(
            f"a message of {len(data)} bytes, and {max_bytes} are the most",
            limit=max_bytes,
            actual=len(data),
        )
    try:
        return _message(_decoder.decode(data))
    except MalformedMessageError:
        raise
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise MalformedMessageError(f"not a message: {error}") from error
    except PredicastError as error:
        raise MalformedMessageError(f"in a message: {error.message}") from error


def _message(wire: _Wire) -> Message:
    if isinstance(wire, _Announce):
        operations = tuple(operation_in(each) for each in wire.operations)
        return Announce(wire.epoch, wire.sequence, operations, wire.through)
    if isinstance(wire, _Events):
        matched = None if wire.matched is None else tuple(tuple(ids) for ids in wire.matched)
        events = tuple(published_in(each) for each in wire.events)
        return Events(wire.epoch, wire.sequence, events, matched)
    message: Message = _READ[type(wire)](*(getattr(wire, name) for name in wire.__struct_fields__))
    return message


def operation_in(wire: WireSubscribe | WireChange | WireUnsubscribe) -> Operation:
    """The operation that was encoded."""
    if isinstance(wire, WireUnsubscribe):
        return Unsubscribe(wire.id)
    parameters = None if _is_nothing(wire.parameters) else _parameters_in(wire.parameters)
    if isinstance(wire, WireChange):
        expression = None if _is_nothing(wire.expression) else expression_in(wire.expression)
        return Change(wire.id, expression, parameters)
    return Subscribe(wire.id, expression_in(wire.expression), None, parameters, wire.replace)


def _is_nothing(raw: msgspec.Raw) -> bool:
    return bytes(raw) == b"null"


def expression_in(raw: msgspec.Raw) -> str | Subscription:
    """The text or subscription that was encoded."""
    data = bytes(raw)
    if data.startswith(b'"'):
        return msgspec.json.decode(data, type=str)
    return subscription_from_json(data.decode())


def _parameters_in(raw: msgspec.Raw) -> dict[str, Any]:
    return dict(event_from_json(bytes(raw).decode()).items())


def published_in(wire: WirePublished) -> Published:
    """The event that was encoded."""
    encoded = bytes(wire.event)
    if encoded.startswith(b'"'):
        event: Event | str = msgspec.json.decode(encoded, type=str)
    else:
        event = event_from_json(encoded.decode())
    envelope = None if _is_nothing(wire.envelope) else bytes(wire.envelope)
    return Published(wire.publisher, wire.sequence, event, wire.at, encoded, envelope)
