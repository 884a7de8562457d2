"""Events out of the bodies of requests, by their content type.

=============================================  ====================================================
``application/json``                           an event, or a list of them
``application/x-ndjson``, ``…/jsonl``          an event per line
``application/vnd.apache.arrow.stream``,       an event per row; what is null is absent
``application/vnd.apache.arrow.file``
``application/cloudevents+json``               a CloudEvent
``application/cloudevents-batch+json``         a list of them
anything with a header ``ce-specversion``      a CloudEvent in binary form
``text/turtle``, ``application/ld+json``       a graph
=============================================  ====================================================

What came in JSON is kept byte for byte. An event without an id of its own is given one: of the
header ``Predicast-Event-Id``, so that a request that is sent again is known for a repeat, or else
a random one.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from predicast.broker.server.arrow_rows import bodies_of_arrow, too_many
from predicast.broker.server.call import check_depth, count_listed
from predicast.errors import (
    InvalidEventError,
    ModelError,
    PredicastError,
    ProtocolError,
    shortened,
    suggest,
)
from predicast.language.cloudevents import from_binary
from predicast.protocol.bodies import attributes_of
from predicast.protocol.records import BodyForm, NewEvent

ID_HEADER: Final = "predicast-event-id"
PUBLISHER_HEADER: Final = "predicast-publisher"
_BINARY: Final = "ce-specversion"
_MAX_NAME: Final = 1024  # characters of an id or a publisher
_COMMAS: Final = 64  # per event that a body may have, before its events are counted first
_LINE_ENDS: Final = 16  # per event: lines may be empty
_RAW_LIST: Final = msgspec.json.Decoder(list[msgspec.Raw])


class Limit(NamedTuple):
    """What a body may hold."""

    batch: int
    depth: int


def read_events(
    headers: Mapping[str, str], body: bytes, publisher: str, limit: Limit
) -> list[NewEvent]:
    """The events of a request, in their order; the publisher is for those that name none."""
    media = headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    named = _name(headers.get(PUBLISHER_HEADER), PUBLISHER_HEADER) or publisher
    if _BINARY in headers:
        events = [_binary_cloudevent(headers, body)]
    else:
        form, split = _FORMS.get(media) or _unknown(media)
        if split in {_object_or_list, _listed}:
            check_depth(body, limit.depth + 1)  # a list around events is not theirs
        parts = split(body, limit.batch)
        if len(parts) > limit.batch:
            raise too_many(limit.batch)
        events = _events(parts, form, limit.depth)
    return _named(events, _name(headers.get(ID_HEADER), ID_HEADER), named)


def _events(parts: Sequence[bytes], form: BodyForm, depth: int) -> list[NewEvent]:
    made: list[NewEvent] = []
    try:
        for part in parts:
            if form is not BodyForm.TURTLE:
                check_depth(part, depth)
            attributes = attributes_of(form, part)
            if isinstance(attributes, str):
                _check_graph(attributes)
            made.append(NewEvent(part, attributes, "", "", form))
    except PredicastError as error:
        if len(parts) > 1:
            if isinstance(error, ModelError):
                error.event = len(made)
            error.message = f"event {len(made)}: {error.message}"
        raise
    return made


def _named(events: list[NewEvent], id: str | None, publisher: str) -> list[NewEvent]:
    """With an id and a publisher each."""
    named = []
    for place, event in enumerate(events):
        if event.form is BodyForm.CLOUDEVENT:
            assert not isinstance(event.attributes, str)
            named.append(
                event._replace(id=event.attributes["id"], publisher=event.attributes["source"])
            )
        elif id is None:
            named.append(event._replace(id=secrets.token_hex(16), publisher=publisher))
        else:
            own = id if len(events) == 1 else f"{id}/{place}"
            named.append(event._replace(id=own, publisher=publisher))
    return named


def _name(given: str | None, header: str) -> str | None:
    if given is not None and not 0 < len(given) <= _MAX_NAME:
        raise ProtocolError(f"{header} has from 1 to {_MAX_NAME:,} characters", field=header)
    return given


def _one(body: bytes, most: int) -> list[bytes]:
    return [body]


def _object_or_list(body: bytes, most: int) -> list[bytes]:
    stripped = body.strip()
    if not stripped.startswith(b"["):
        return [stripped]
    return _listed(stripped, most)


def _listed(body: bytes, most: int) -> list[bytes]:
    # To count is slower than to decode, and only worth it where decoding might need a lot of room.
    if body.count(b",") > _COMMAS * most and count_listed(body, most) > most:
        raise too_many(most)
    try:
        return [bytes(each) for each in _RAW_LIST.decode(body)]
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise InvalidEventError(f"the body is not a list in JSON: {error}") from None


def _lines(body: bytes, most: int) -> list[bytes]:
    if body.count(b"\n") + body.count(b"\r") > _LINE_ENDS * most:
        raise too_many(most)
    return [line.strip() for line in body.splitlines() if line.strip()]


_FORMS: Final[dict[str, tuple[BodyForm, Callable[[bytes, int], list[bytes]]]]] = {
    "application/json": (BodyForm.JSON, _object_or_list),
    # What curl says of --data if it is told nothing else: a newcomer's first event.
    "application/x-www-form-urlencoded": (BodyForm.JSON, _object_or_list),
    "application/x-ndjson": (BodyForm.JSON, _lines),
    "application/jsonl": (BodyForm.JSON, _lines),
    "application/vnd.apache.arrow.stream": (BodyForm.JSON, bodies_of_arrow),
    "application/vnd.apache.arrow.file": (BodyForm.JSON, bodies_of_arrow),
    "application/cloudevents+json": (BodyForm.CLOUDEVENT, _one),
    "application/cloudevents-batch+json": (BodyForm.CLOUDEVENT, _listed),
    "text/turtle": (BodyForm.TURTLE, _one),
    "application/ld+json": (BodyForm.JSON_LD, _one),
}
MEDIA_TYPES: Final[Iterable[str]] = tuple(_FORMS)


def _unknown(media: str) -> tuple[BodyForm, Callable[[bytes, int], list[bytes]]]:
    close = suggest(media, _FORMS)
    hint = f"did you mean {close!r}?" if close else f"there are {', '.join(_FORMS)}"
    raise ProtocolError(f"no events are read from {shortened(media)}; {hint}", field="content-type")


def _check_graph(text: str) -> None:
    """Refuse what is no graph, where its publisher hears of it."""
    try:
        from predicast.graph import EventGraph
    except ModuleNotFoundError as error:
        raise ProtocolError(
            f"graphs need {error.name}, which is not installed here", field="content-type"
        ) from None
    EventGraph.parse(text)


def _binary_cloudevent(headers: Mapping[str, str], body: bytes) -> NewEvent:
    """A CloudEvent whose attributes are headers, kept in structured form."""
    attributes = from_binary(headers.items(), body)
    document: dict[str, Any] = {name: value for name, value in attributes.items() if name != "data"}
    media = attributes.get("datacontenttype", "application/json").partition(";")[0].strip().lower()
    if body and media.endswith(("/json", "+json")):
        document["data"] = msgspec.Raw(body)
    elif body and media.startswith("text/"):
        document["data"] = attributes["data"]
    elif body:
        document["data_base64"] = base64.b64encode(body).decode("ascii")
    return NewEvent(msgspec.json.encode(document), attributes, "", "", BodyForm.CLOUDEVENT)
