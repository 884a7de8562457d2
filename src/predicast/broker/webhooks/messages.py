"""What a webhook is sent: an event as a CloudEvent, or a batch of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import msgspec

from predicast.broker.webhooks.signing import sign
from predicast.protocol.records import BodyForm, Delivery, StoredEvent, Webhook

ONE: Final = "application/cloudevents+json"
BATCH: Final = "application/cloudevents-batch+json"
_TYPE: Final = "predicast.event"  # of what was published without one


class Message(NamedTuple):
    """The headers and the body of a request."""

    headers: dict[str, str]
    body: bytes


def wants_batches(sink: Webhook) -> bool:
    """Whether a sink asks for lists of events, by the content type among its headers."""
    given = [value for name, value in sink.headers.items() if name.lower() == "content-type"]
    return any(value.partition(";")[0].strip().lower() == BATCH for value in given)


def message(sink: Webhook, subscription: str, taken: Sequence[Delivery], now: float) -> Message:
    """The request for one delivery, or for all of a batch."""
    events = [cloudevent(each.event) for each in taken]
    if wants_batches(sink):
        media, body = BATCH, b"[" + b",".join(events) + b"]"
    else:
        [body] = events
        media = ONE
    headers = {
        name: value for name, value in sink.headers.items() if name.lower() != "content-type"
    }
    headers["content-type"] = f"{media}; charset=utf-8"
    # The same for every attempt: whoever has seen it drops the repeat.
    id = f"{quote(subscription, safe='')}.{taken[0].event.position}"
    signed = {} if sink.secret is None else sign(sink.secret, id, now, body)
    return Message(headers | {"webhook-id": id} | signed, body)


def cloudevent(event: StoredEvent) -> bytes:
    """An event as a CloudEvent in JSON: as it came if it is one, else with one around it."""
    if event.form is BodyForm.CLOUDEVENT:
        return event.body
    is_text = event.form is BodyForm.TURTLE
    data: Any = event.body.decode() if is_text else msgspec.Raw(event.body)
    at = datetime.fromtimestamp(event.at, UTC)
    return msgspec.json.encode(
        {
            "specversion": "1.0",
            "id": event.id,
            "source": quote(event.publisher, safe="/:@") or "anonymous",
            "type": _TYPE,
            "time": at.isoformat().replace("+00:00", "Z"),
            "datacontenttype": event.form.value,
            "data": data,
        }
    )
