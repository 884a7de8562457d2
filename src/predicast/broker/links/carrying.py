"""Events as they stand in a tenant's log, and as they go from broker to broker.

Under way an event is named by the broker where it was published and its position in the log there,
which is how repeats are told, whoever passes it on. What publishers called it goes along in an
envelope, and with it the body, unless that is what routers match anyway.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from predicast.broker.links.settings import MAX_EVENT_BYTES
from predicast.errors import ModelError, PredicastError, ProtocolError
from predicast.language import event_from_json, event_to_json
from predicast.model import Event
from predicast.model.event_reader import EventReader, names_of
from predicast.protocol.bodies import attributes_if_readable
from predicast.protocol.records import BodyForm, NewEvent, StoredEvent
from predicast.routing.messages import Published


class Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What goes along with an event; without a body, that is the event as it was matched."""

    id: str
    publisher: str
    form: BodyForm = BodyForm.JSON
    body: str | None = None


_decoder = msgspec.json.Decoder(Envelope)


def is_carried(event: StoredEvent) -> bool:
    """Whether it can go over links: graphs stay where they are, and what is too large."""
    is_flat = event.form is BodyForm.JSON or event.form is BodyForm.CLOUDEVENT
    return is_flat and len(event.body) <= MAX_EVENT_BYTES


def outgoing(event: StoredEvent, source: str) -> Published | None:
    """The event, ready to go; ``None`` if it cannot be read, and so is nobody's."""
    try:
        matched, is_body = _matched(event)
        body = None if is_body else event.body.decode()
    except (PredicastError, UnicodeError):
        return None
    encoded = event.body if is_body else event_to_json(matched).encode()
    envelope = Envelope(event.id, event.publisher, event.form, body)
    at = round(event.at * 1_000_000)
    return Published(source, event.position, matched, at, encoded, msgspec.json.encode(envelope))


def arriving(published: Published) -> NewEvent:
    """The event for the tenant's own log, under the name that its publisher gave it."""
    try:
        envelope = _decoder.decode(published.envelope or b"")
    except (msgspec.DecodeError, UnicodeError) as error:
        raise ProtocolError(
            f"an event without a readable envelope: {error}", field="envelope"
        ) from error
    body = published.encoded or b"" if envelope.body is None else envelope.body.encode()
    attributes = attributes_if_readable(envelope.form, body)
    if attributes is None:
        raise ProtocolError(f"the body of the event {envelope.id!r} cannot be read", field="body")
    return NewEvent(body, attributes, envelope.id, envelope.publisher, envelope.form)


def _matched(event: StoredEvent) -> tuple[Event, bool]:
    """What routers match of an event, and whether its body says no more than that."""
    if event.form is BodyForm.JSON:
        try:
            return event_from_json(event.body), True
        except PredicastError:
            pass  # some of it is no value, which matters to nobody who does not ask for it
    attributes = attributes_if_readable(event.form, event.body)
    if not isinstance(attributes, Mapping):
        raise ProtocolError(f"the event {event.id!r} has no attributes", field="body")
    refused: list[ModelError] = []
    return EventReader(names_of(attributes)).lenient_event(attributes, refused), False
