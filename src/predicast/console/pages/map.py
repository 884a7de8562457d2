"""Regions that subscriptions wait in, and objects that move through them."""

from __future__ import annotations

import asyncio
from typing import Final

from nicegui import ui

from predicast.console.frame import every, nothing_yet
from predicast.console.maps import REGIONS, drawing, objects, plane_of, regions
from predicast.console.place import Page, Place
from predicast.console.previews import readable
from predicast.console.visitors import SUBSCRIBE

_EVENTS: Final = 2_000  # the last, from which places are read
_EVERY: Final = 1.0  # seconds


async def _build(place: Place) -> None:
    x, y = plane_of(place.held)
    with ui.row().classes("items-center gap-3"):
        across = ui.input("Across", value=place.asked.get("x", x)).props(
            "outlined dense debounce=400"
        )
        up = ui.input("Up", value=place.asked.get("y", y)).props("outlined dense debounce=400")
        status = ui.label().classes("quiet").props("role=status")
    picture = ui.html("", sanitize=False).classes("w-full")
    empty = ui.column().classes("w-full")
    with empty:
        nothing_yet(
            "Nothing here has a place. A subscription is a region if it bounds both attributes, "
            "such as",
            line="x BETWEEN 10 AND 20 AND y BETWEEN 5 AND 9",
            link=("Write one", "/console/subscriptions/edit"),
        )
    drawn: list[object] = [None]

    async def look() -> None:
        latest = await place.tenant.latest(1)
        last = latest[-1].position if latest else 0
        now = (last, len(place.tenant), across.value, up.value)
        if now == drawn[0]:
            return
        drawn[0] = now
        events = await place.tenant.latest(_EVENTS)
        shown = await asyncio.to_thread(regions, place.held, across.value, up.value)
        moving = objects((await asyncio.to_thread(readable, events)).again, across.value, up.value)
        text = drawing(shown, moving, across.value, up.value)
        picture.set_content(text)
        empty.set_visibility(not text)
        first = "the first " if len(shown) == REGIONS else ""
        status.set_text(f"{first}{len(shown):,} regions, {len(moving):,} objects" if text else "")

    across.on_value_change(look)
    up.on_value_change(look)
    await look()
    every(_EVERY, look)


MAP = Page("/console/map", "Map", _build, "map", SUBSCRIBE)
