"""Events as people paste them, and as they are shown."""

from __future__ import annotations

import json
import secrets
from typing import Any, Final

from predicast.errors import JsonFormError
from predicast.language.cloudevents.events import from_structured
from predicast.language.json_form import attributes_from_json, decoded
from predicast.protocol.bodies import attributes_if_readable
from predicast.protocol.records import BodyForm, NewEvent, StoredEvent

PUBLISHER: Final = "console"
_GRAPHS: Final = frozenset({BodyForm.TURTLE, BodyForm.JSON_LD})
_TURTLE: Final = ("@prefix", "prefix ", "@base", "base ", "<", "_:", "#")


def event_from_text(text: str) -> NewEvent:
    """A JSON object, a CloudEvent or a graph in Turtle: what it is can be seen from how it begins.

    Raises what is wrong with it, line and column included where it is not JSON.
    """
    if text.lstrip().lower().startswith(_TURTLE):
        return _new(text.encode(), BodyForm.TURTLE, text)
    _check_json(text)
    document = decoded(text)
    body = text.encode()
    if isinstance(document, dict) and "specversion" in document:
        return _new(body, BodyForm.CLOUDEVENT, from_structured(document))
    if isinstance(document, dict) and "@context" in document:
        return _new(body, BodyForm.JSON_LD, text)
    return _new(body, BodyForm.JSON, attributes_from_json(text))


def event_again(event: StoredEvent) -> NewEvent | None:
    """A kept event as it was published, for whoever matches it once more, if it can be read."""
    attributes = attributes_if_readable(event.form, event.body)
    if attributes is None:
        return None
    return NewEvent(event.body, attributes, event.id, event.publisher, event.form)


def shown_body(event: StoredEvent) -> str:
    """The body for people: JSON with a line for each name."""
    text = event.body.decode(errors="replace")
    if event.form in _GRAPHS:
        return text
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def brief_body(event: StoredEvent, most: int = 160) -> str:
    """The body on one line, shortened."""
    line = " ".join(event.body[: 4 * most].decode(errors="replace").split())
    return line if len(line) <= most else f"{line[:most]} …"


def _new(body: bytes, form: BodyForm, attributes: Any) -> NewEvent:
    return NewEvent(body, attributes, secrets.token_hex(8), PUBLISHER, form)


def _check_json(text: str) -> None:
    """Refuse what is no JSON, and say where: whoever pasted it has to find the place."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        raise JsonFormError(
            f"line {error.lineno}, column {error.colno}: not JSON: {error.msg.lower()}; "
            'an event is an object such as {"price": 9.5}',
            path="$",
        ) from None
    except RecursionError:
        raise JsonFormError("not JSON: nested too deeply", path="$") from None
