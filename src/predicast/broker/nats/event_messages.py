"""Events as messages of a stream: the body as it came, all else in headers.

The process that takes an event matches it, and writes down with it the ids of what it matched: so
an event and who gets it are one message, kept or not kept together.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from predicast.broker.nats.connection import MESSAGE_ID, Message, StreamMessage
from predicast.broker.nats.names import header_text, text_of_header
from predicast.broker.subscriptions import Matched
from predicast.errors import DamagedStoreError
from predicast.protocol.records import BodyForm, NewEvent, StoredEvent

CONTENT_TYPE: Final = "Content-Type"
AT: Final = "Predicast-At"
DURABLE: Final = "Predicast-Durable"
EPHEMERAL: Final = "Predicast-Ephemeral"
PUBLISHER: Final = "Predicast-Publisher"
POSITION: Final = "Predicast-Position"

_FORMS: Final = {form.value: form for form in BodyForm}


class MatchedEvent(NamedTuple):
    """An event and the ids of the subscriptions that it matched when it was taken."""

    event: StoredEvent
    durable: list[str]
    ephemeral: list[str]


def form_of(content_type: str) -> BodyForm | None:
    """What a body is said to be, without what follows a semicolon."""
    return _FORMS.get(content_type.partition(";")[0].strip().lower())


def event_message(subject: str, event: NewEvent, at: float, matched: Matched) -> Message:
    """The message that keeps an event and who gets it."""
    headers = {
        MESSAGE_ID: f"{header_text(event.publisher)} {header_text(event.id)}",
        CONTENT_TYPE: event.form.value,
        AT: repr(at),
    }
    if matched.durable:
        headers[DURABLE] = _ids_text(matched.durable)
    if matched.ephemeral:
        headers[EPHEMERAL] = _ids_text(matched.ephemeral)
    return Message(subject, event.body, headers)


def event_of(message: StreamMessage) -> MatchedEvent:
    """What such a message keeps; a ``DamagedStoreError`` if it is none."""
    headers = message.headers
    try:
        publisher, _, id = headers[MESSAGE_ID].partition(" ")
        at = float(headers[AT])
        form = _FORMS[headers[CONTENT_TYPE]]
    except (KeyError, ValueError) as error:
        raise DamagedStoreError(
            f"message {message.sequence} of {message.subject} is no event of Predicast: "
            f"{type(error).__name__} of {error}; has something else been published there?",
            where=message.subject,
        ) from error
    event = StoredEvent(
        message.sequence, at, text_of_header(id), text_of_header(publisher), form, message.data
    )
    durable, ephemeral = headers.get(DURABLE, ""), headers.get(EPHEMERAL, "")
    return MatchedEvent(event, _ids(durable), _ids(ephemeral))


def _ids_text(ids: list[str]) -> str:
    return " ".join(map(header_text, ids))


def _ids(text: str) -> list[str]:
    ids = text.split(" ") if text else []
    return [text_of_header(id) for id in ids] if "%" in text else ids
