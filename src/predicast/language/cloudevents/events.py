"""CloudEvents 1.0 as events: in structured, binary and batched form.

The attributes of the context stand under their names, as they were sent: a time is the text that it
was, which is how filters and CESQL compare it. The data stands under ``data``, so that the fields
of an object are ``data.order.total`` and so on to ``where`` text, which looks into them.

What is sent by HTTP is told apart by its content type (``from_http``)::

    application/cloudevents+json            one event, in the body
    application/cloudevents-batch+json      a list of events, in the body
    anything else                           the body is the data, headers ``ce-...`` the attributes
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from predicast.derived.cesql.evaluation import REQUIRED
from predicast.derived.cesql.tree import INT_MAX, INT_MIN
from predicast.errors import InvalidEventError, shortened
from predicast.language.not_json import why_not_json

_VERSION: Final = "1.0"
_DATA: Final = "data"
_BYTES: Final = "data_base64"
_TYPE: Final = "datacontenttype"
_HEADER: Final = "ce-"
_STRUCTURED: Final = "application/cloudevents"
_BATCHED: Final = "application/cloudevents-batch"
_NAME: Final = re.compile(r"[a-z0-9]+", re.ASCII)
_NOT_EMPTY: Final = frozenset({*REQUIRED, "subject", "dataschema", _TYPE})
_TIME: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})", re.ASCII
)


def from_structured(document: Any) -> dict[str, Any]:
    """The attributes of an event in JSON, as text or as what was read from it.

    >>> from_structured({"specversion": "1.0", "id": "1", "source": "/shop", "type": "sold",
    ...                  "data": {"price": 5}})["data"]
    {'price': 5}
    """
    if isinstance(document, str | bytes | bytearray):
        document = _decoded(document, "an event")
    if not isinstance(document, Mapping):
        raise InvalidEventError(f"a CloudEvent is an object, not {shortened(document)}")
    given = {name: value for name, value in document.items() if value is not None}
    data = given.pop(_DATA, None)
    encoded = given.pop(_BYTES, None)
    event = _checked(given)
    if encoded is not None:
        if data is not None:
            raise _refused(_BYTES, encoded, "stands beside data; an event has one of them")
        data = _of_bytes(_unpacked(encoded), event.get(_TYPE))
    if data is not None:
        event[_DATA] = data
    return event


def documents_of(content: str | bytes) -> list[Any]:
    """What a file in JSON holds, an event or a batch of them, each yet to be read."""
    document = _decoded(content, "the file")
    return document if isinstance(document, list) else [document]


def from_batch(document: Any) -> list[dict[str, Any]]:
    """The events of a list in JSON."""
    if isinstance(document, str | bytes | bytearray):
        document = _decoded(document, "a batch of events")
    if not isinstance(document, list):
        raise InvalidEventError(f"a batch is a list of CloudEvents, not {shortened(document)}")
    events = []
    for position, each in enumerate(document):
        try:
            events.append(from_structured(each))
        except InvalidEventError as error:
            error.add_note(f"in the event at position {position} of the batch")
            raise
    return events


def from_binary(
    headers: Mapping[str, str] | Iterable[tuple[str, str]], body: bytes
) -> dict[str, Any]:
    """The event of a message whose headers hold the attributes, and whose body is the data.

    >>> event = from_binary(
    ...     {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "/shop", "ce-type": "sold",
    ...      "content-type": "application/json"}, b'{"price": 5}')
    >>> event["type"], event["data"]
    ('sold', {'price': 5})
    """
    given: dict[str, Any] = {}
    content_type = None
    for header, value in _listed(headers):
        if header == "content-type":
            content_type = value
        elif header.startswith(_HEADER):
            name = header.removeprefix(_HEADER)
            if name in given:
                raise _refused(name, value, "is given twice")
            given[name] = _unescaped(name, value)
    if content_type is not None:
        given[_TYPE] = content_type
    event = _checked(given)
    if body:
        event[_DATA] = _of_bytes(body, content_type)
    return event


def from_http(
    headers: Mapping[str, str] | Iterable[tuple[str, str]], body: bytes
) -> list[dict[str, Any]]:
    """The events of a message, in whichever form it has them."""
    listed = _listed(headers)
    content_type = next((value for header, value in listed if header == "content-type"), "")
    media = content_type.partition(";")[0].strip().lower()
    if media.startswith(_STRUCTURED) and media not in {
        f"{_STRUCTURED}+json",
        f"{_BATCHED}+json",
    }:
        raise InvalidEventError(f"CloudEvents are read in JSON, not as {shortened(content_type)}")
    if media.startswith(_BATCHED):
        return from_batch(body)
    return [from_structured(body) if media.startswith(_STRUCTURED) else from_binary(listed, body)]


def _listed(headers: Mapping[str, str] | Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return [(name.lower(), value) for name, value in pairs]


def _decoded(text: str | bytes | bytearray, what: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidEventError(f"{what} is not JSON: {why_not_json(text, error)}") from error


def _checked(given: Mapping[Any, Any]) -> dict[str, Any]:
    """The attributes of the context, if they are those of a CloudEvent."""
    event: dict[str, Any] = {}
    for name, value in given.items():
        if not isinstance(name, str) or _NAME.fullmatch(name) is None or name == _DATA:
            raise _refused(name, value, "is named by more than lower-case letters and digits")
        event[name] = _value(name, value)
    for name in sorted(REQUIRED):
        if name not in event:
            raise InvalidEventError(
                f"a CloudEvent has the attributes {', '.join(sorted(REQUIRED))}; "
                f"this one has no {name}",
                attribute=name,
            )
    for name in _NOT_EMPTY.intersection(event):
        if not isinstance(event[name], str) or not event[name]:
            raise _refused(name, event[name], "is a string, and not empty")
    if event["specversion"] != _VERSION:
        raise _refused("specversion", event["specversion"], f"is {_VERSION!r}")
    time = event.get("time")
    if time is not None and (not isinstance(time, str) or _TIME.fullmatch(time) is None):
        raise _refused("time", time, "is an instant such as '2026-11-16T12:00:00Z'")
    return event


def _value(name: str, value: Any) -> Any:
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int) and INT_MIN <= value <= INT_MAX:
        return value
    raise _refused(name, value, "is a string, an integer of 32 bits, or true or false")


def _of_bytes(body: bytes, content_type: str | None) -> Any:
    """Data by its content type: JSON is read, text is decoded, the rest stays encoded."""
    media = "application/json" if content_type is None else content_type.lower()
    media = media.partition(";")[0].strip()
    if media.endswith(("/json", "+json")):
        return _decoded(body, "the data of the event")
    if media.startswith("text/"):
        return body.decode(errors="replace")
    return base64.b64encode(body).decode("ascii")


def _unpacked(encoded: Any) -> bytes:
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise _refused(_BYTES, encoded, "is a string in Base64") from error


def _unescaped(name: str, value: str) -> str:
    """A header's value: characters beyond ASCII are percent-encoded, and quotes may be around."""
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = re.sub(r"\\(.)", r"\1", value[1:-1])
    try:
        return unquote(value, errors="strict")
    except UnicodeDecodeError as error:
        raise _refused(name, value, "is not UTF-8 when its percent signs are decoded") from error


def _refused(name: Any, value: Any, why: str) -> InvalidEventError:
    return InvalidEventError(
        f"attribute {shortened(name)} of a CloudEvent {why}, and this is {shortened(value)}",
        attribute=str(name),
    )
