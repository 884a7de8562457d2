"""What an engine may be asked: events and limits, checked before anything else happens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from predicast.errors import InvalidOptionError, ModelError
from predicast.model import Event

_MOST_MATCHES: Final = 1 << 31  # of one event: there are no more keys


def checked_event(event: Event | Mapping[str, Any]) -> Event:
    """An event of the model."""
    return event if isinstance(event, Event) else Event(event)


def checked_events(events: Iterable[Event | Mapping[str, Any]]) -> list[Event]:
    """Events of the model; an error says which one is none."""
    checked = []
    for position, event in enumerate(events):
        try:
            checked.append(checked_event(event))
        except ModelError as error:
            error.event, error.message = position, f"event {position}: {error.message}"
            raise
    return checked


def checked_limit(limit: object) -> int | None:
    """How many matches of an event are asked for, ``None`` if all are."""
    if limit is None:
        return None
    if type(limit) is not int or limit < 1:
        raise InvalidOptionError(
            f"limit is a positive integer, or None for all matches, not {limit!r}", option="limit"
        )
    return None if limit > _MOST_MATCHES else limit
