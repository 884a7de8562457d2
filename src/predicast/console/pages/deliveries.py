"""Who does not keep up, and what was given up: with a button that tries it again."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final
from urllib.parse import quote

from nicegui import ui

from predicast.console.event_texts import brief_body
from predicast.console.frame import every, nothing_yet, section, tell
from predicast.console.pages.subscriptions import EDIT, ID_LINK
from predicast.console.pages.tail import TIME_LINK
from predicast.console.place import Page, Place
from predicast.console.times import shown_time
from predicast.console.visitors import SUBSCRIBE
from predicast.errors import PredicastError, UnknownIdError
from predicast.protocol.records import DeadLetter

_EVERY: Final = 2.0  # seconds
_SLOWEST: Final = 50
_MOST: Final = 200
_SLOW: Final = [
    {"name": "id", "label": "subscription", "field": "id", "align": "left"},
    {"name": "pending", "label": "waiting", "field": "pending", "align": "right"},
    {"name": "full", "label": "of its queue", "field": "full", "align": "right"},
    {"name": "policy", "label": "when that is full", "field": "policy", "align": "left"},
]
_DEAD: Final = [
    {"name": "at", "label": "given up", "field": "at", "align": "left"},
    {"name": "id", "label": "subscription", "field": "id", "align": "left"},
    {"name": "attempts", "label": "attempts", "field": "attempts", "align": "right"},
    {
        "name": "reason",
        "label": "what was said last",
        "field": "reason",
        "align": "left",
        "classes": "long",
    },
    {"name": "body", "label": "event", "field": "body", "align": "left", "classes": "mono long"},
]
_CHOOSE: Final = '<q-checkbox dense v-model="props.selected" aria-label="{}" />'
_SUBSCRIPTION: Final = ID_LINK.replace("props.row.link", "props.row.subscription_link")


async def _build(place: Place) -> None:
    page = _Deliveries(place)
    await page.look()
    every(_EVERY, page.look)


class _Deliveries:
    def __init__(self, place: Place) -> None:
        self._place = place
        self._counts = ui.label().classes("quiet").props("role=status")
        section("Slow consumers")
        self._keeping_up = ui.column().classes("w-full")
        with self._keeping_up:
            nothing_yet("Nothing waits: every durable subscription has been served.")
        self._slow = ui.table(columns=_SLOW, rows=[], row_key="id", pagination=10).classes(
            "w-full wrap"
        )
        self._slow.props("dense flat").add_slot("body-cell-id", ID_LINK)
        with ui.row().classes("w-full items-center gap-3"):
            section("Dead letters")
            ui.space()
            self._again = ui.button("Try again", icon="replay", on_click=self.try_again)
            self._again.props("no-caps")
        self._all_well = ui.column().classes("w-full")
        with self._all_well:
            nothing_yet(
                "No delivery was given up. One is after as many attempts as its subscription says."
            )
        self._dead = ui.table(
            columns=_DEAD, rows=[], row_key="key", selection="multiple", on_select=self._selected
        ).classes("w-full wrap")
        self._dead.props("dense flat").add_slot("body-cell-at", TIME_LINK)
        self._dead.add_slot("body-cell-id", _SUBSCRIPTION)
        self._dead.add_slot("header-selection", _CHOOSE.format("All dead letters"))
        self._dead.add_slot("body-selection", _CHOOSE.format("This dead letter"))
        self._again.set_enabled(False)

    async def look(self) -> None:
        """Show what waits and what was given up, as it is now."""
        counts = self._place.tenant.statistics()
        named = ("acknowledged", "repeated", "dropped", "dead")
        self._counts.set_text(
            ", ".join(f"{counts.get(f'deliveries_{name}', 0):,.0f} {name}" for name in named)
            + " since the start"
        )
        slowest = (await self._place.tenant.longest(_SLOWEST)).waiting
        slow = [await self._slow_row(id, count) for id, count in slowest.items()]
        _fill(self._slow, slow, self._keeping_up)
        letters = await self._place.tenant.dead_letters(most=_MOST)
        _fill(self._dead, [_dead_row(each) for each in letters], self._all_well)

    async def _slow_row(self, id: str, count: int) -> dict[str, Any]:
        row = {"id": id, "link": f"{EDIT}?id={quote(id, safe='')}", "pending": f"{count:,}"}
        try:
            settings = (await self._place.tenant.definition(id)).settings
        except UnknownIdError:  # it ended in the meantime
            return {**row, "full": "", "policy": ""}
        words = settings.when_full.value.replace("-", " the ")
        return {**row, "full": f"{count / settings.max_pending:.1%}", "policy": words}

    def _selected(self) -> None:
        self._again.set_enabled(bool(self._dead.selected))

    async def try_again(self) -> None:
        """Deliver the chosen ones once more."""
        chosen: dict[str, list[int]] = defaultdict(list)
        for row in self._dead.selected:
            chosen[row["id"]].append(row["position"])
        done = 0
        try:
            self._place.visitor.require(SUBSCRIBE)
            for id, positions in chosen.items():
                done += await self._place.tenant.try_again(id, positions)
        except PredicastError as error:
            tell(error)
        self._dead.selected = []
        self._selected()
        await self.look()
        ui.notify(f"{done} will be delivered again", type="positive")


def _fill(table: ui.table, rows: list[dict[str, Any]], empty: ui.column) -> None:
    empty.set_visibility(not rows)
    table.set_visibility(bool(rows))
    if rows != table.rows:
        table.rows = rows


def _dead_row(letter: DeadLetter) -> dict[str, Any]:
    event = letter.event
    return {
        "key": f"{letter.subscription} {event.position}",
        "at": shown_time(letter.at),
        "link": f"/console/events/{event.position}",
        "id": letter.subscription,
        "subscription_link": f"{EDIT}?id={quote(letter.subscription, safe='')}",
        "position": event.position,
        "attempts": letter.attempts,
        "reason": letter.reason,
        "body": brief_body(event, 80),
    }


DELIVERIES = Page("/console/deliveries", "Deliveries", _build, "local_shipping", SUBSCRIBE)
