"""The last events that are kept."""

from __future__ import annotations

from typing import Final

from nicegui import ui

from predicast.console.event_texts import brief_body
from predicast.console.frame import nothing_yet
from predicast.console.pages.tail import TIME_LINK
from predicast.console.place import Page, Place
from predicast.console.times import shown_time
from predicast.console.visitors import SUBSCRIBE

_MOST: Final = 100
_COLUMNS: Final = [
    {"name": "at", "label": "taken", "field": "at", "align": "left"},
    {"name": "position", "label": "position", "field": "position", "align": "right"},
    {"name": "publisher", "label": "publisher", "field": "publisher", "align": "left"},
    {"name": "body", "label": "event", "field": "body", "align": "left", "classes": "mono long"},
]


async def _build(place: Place) -> None:
    events = await place.tenant.latest(_MOST)
    if not events:
        nothing_yet(
            "No event is kept. Publish one, and its way to each subscriber is shown here.",
            link=("Publish one with the tester", "/console/tester"),
        )
        return
    ui.label(f"The last {len(events):,}, the latest first; each leads to its timeline.").classes(
        "quiet"
    )
    rows = [
        {
            "at": shown_time(each.at),
            "link": f"/console/events/{each.position}",
            "position": each.position,
            "publisher": each.publisher,
            "body": brief_body(each),
        }
        for each in reversed(events)
    ]
    table = ui.table(columns=_COLUMNS, rows=rows, row_key="position", pagination=25)
    table.classes("w-full wrap").props("dense flat").add_slot("body-cell-at", TIME_LINK)


EVENTS = Page("/console/events", "Events", _build, "history", SUBSCRIBE)
