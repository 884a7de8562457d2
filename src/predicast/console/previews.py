"""What an expression would have matched of the last events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from predicast.broker.subscriptions import Subscriptions
from predicast.console.event_texts import event_again
from predicast.protocol.records import NewEvent, StoredEvent


class Preview(NamedTuple):
    """The events that would have been delivered, the latest first, of so many."""

    matched: list[StoredEvent]
    of: int


class ReadEvents(NamedTuple):
    """Kept events that can be read, each with what engines match: read once for many previews."""

    stored: list[StoredEvent]
    again: list[NewEvent]


def readable(events: Sequence[StoredEvent]) -> ReadEvents:
    """Those that can be read: one that cannot was nobody's."""
    stored, again = [], []
    for event in events:
        read = event_again(event)
        if read is not None:
            again.append(read)
            stored.append(event)
    return ReadEvents(stored, again)


def preview(held: Subscriptions, events: ReadEvents) -> Preview:
    """Match the events against whatever is held."""
    matches = held.match(events.again)
    found = [
        event
        for event, matched in zip(events.stored, matches, strict=True)
        if matched.durable or matched.ephemeral
    ]
    return Preview(found[::-1], len(events.stored))
