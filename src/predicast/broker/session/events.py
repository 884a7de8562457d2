"""Events in frames, made into what brokers take."""

from __future__ import annotations

from collections.abc import Sequence

from predicast.errors import ModelError, PredicastError
from predicast.protocol.bodies import attributes_of
from predicast.protocol.frames import Framing, WireEvent
from predicast.protocol.records import NewEvent


def new_events(
    events: Sequence[WireEvent], framing: Framing, publisher: str, prefix: str, named: int
) -> list[NewEvent]:
    """The events of one frame; those without an id are numbered from the one that is given.

    An error says which of them it is about.
    """
    made: list[NewEvent] = []
    try:
        for event in events:
            body = framing.unpacked(event.body, event.form)
            made.append(
                NewEvent(
                    body,
                    attributes_of(event.form, body),
                    event.id or f"{prefix}{named + len(made)}",
                    event.publisher or publisher,
                    event.form,
                )
            )
    except ModelError as error:
        error.event = len(made)
        raise
    except PredicastError as error:
        error.message = f"event {len(made)}: {error.message}"
        raise
    return made
