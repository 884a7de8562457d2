"""What the body of an event says, for engines to match."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from predicast.errors import InvalidEventError, PredicastError
from predicast.language import attributes_from_json
from predicast.language.json_form import decoded
from predicast.protocol.records import BodyForm


def attributes_of(form: BodyForm, body: bytes) -> Mapping[str, Any] | str:
    """The attributes of a flat or region event, or the text of a graph.

    >>> attributes_of(BodyForm.JSON, b'{"price": 9.5}')
    {'price': 9.5}
    """
    if form is BodyForm.JSON:
        return attributes_from_json(body)
    if form is BodyForm.CLOUDEVENT:
        from predicast.language.cloudevents import from_structured

        return from_structured(body)
    if form is BodyForm.JSON_LD:
        decoded(body)  # it is passed on within JSON, which must not break
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise InvalidEventError(f"a graph is text in UTF-8: {error}") from None


def attributes_if_readable(form: BodyForm, body: bytes) -> Mapping[str, Any] | str | None:
    """The same; nothing of what cannot be read, for those who find it among what was kept."""
    try:
        return attributes_of(form, body)
    except PredicastError:
        return None
