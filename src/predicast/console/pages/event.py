"""One event, from publish to acknowledgement."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from nicegui import ui

from predicast.console.event_texts import shown_body
from predicast.console.frame import every, nothing_yet
from predicast.console.pages.subscriptions import EDIT, ID_LINK
from predicast.console.place import Page, Place
from predicast.console.timelines import STATES, Step, timeline
from predicast.console.visitors import SUBSCRIBE
from predicast.protocol.records import StoredEvent

_EVERY: Final = 1.0  # seconds
_MOST: Final = 1_000  # dead letters that are searched for those of this event
_COLUMNS: Final = [
    {"name": "id", "label": "subscription", "field": "id", "align": "left"},
    {"name": "state", "label": "its delivery", "field": "state", "align": "left"},
]


async def _build(place: Place) -> None:
    event = await _asked_for(place)
    if event is None:
        nothing_yet(
            "No event is kept at this position. Events are removed when they are too old.",
            link=("Those that are kept", "/console/events"),
        )
        return
    with ui.element("div").classes("grid grid-cols-1 lg:grid-cols-2 gap-4 w-full items-start"):
        steps = ui.column().classes("w-full gap-2")
        with ui.card().classes("w-full gap-2"):
            ui.label(f"{event.id} · {event.form.value}").classes("quiet text-sm break-all")
            ui.label(shown_body(event)).classes("mono whitespace-pre-wrap break-all")
            ui.link("Who gets it, and why", f"/console/tester?position={event.position}").classes(
                "text"
            )
    with ui.column().classes("w-full"):
        recipients = ui.table(columns=_COLUMNS, rows=[], row_key="id", pagination=25)
        recipients.classes("w-full wrap").props("dense flat").add_slot("body-cell-id", ID_LINK)
    shown: list[Step] = []

    async def look() -> None:
        found = await place.tenant.recipients(event.position)
        recipients.set_visibility(bool(found))
        rows = [_row(id, state) for id, state in sorted(found.items())]
        if rows != recipients.rows:
            recipients.rows = rows
        dead = [
            each
            for each in await place.tenant.dead_letters(most=_MOST)
            if each.event.position == event.position
        ]
        now = timeline(event, found, dead)
        if now != shown:
            shown[:] = now
            steps.clear()
            with steps:
                _show(now)

    await look()
    every(_EVERY, look)


async def _asked_for(place: Place) -> StoredEvent | None:
    position = place.asked.get("position", "")
    if not position.isdecimal() or len(position) > 18:
        return None
    found = await place.tenant.events(after=int(position) - 1, most=1)
    return found[0] if found and found[0].position == int(position) else None


def _show(steps: list[Step]) -> None:
    with ui.timeline(side="right").classes("w-full"):
        for step in steps:
            ui.timeline_entry(
                step.text,
                title=step.title,
                icon="close" if step.is_failure else "check" if step.is_done else "schedule",
                color="negative" if step.is_failure else "primary" if step.is_done else "grey",
            )


def _row(id: str, state: str) -> dict[str, Any]:
    return {
        "id": id,
        "link": f"{EDIT}?id={quote(id, safe='')}",
        "state": STATES.get(state, state),
    }


EVENT = Page("/console/events/{position}", "Event", _build, scope=SUBSCRIBE)
