"""Events as they come, filtered by the broker: an ephemeral subscription of this page's own."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from typing import Any, Final

from nicegui import background_tasks, ui

from predicast.broker import Consumer
from predicast.console.checking import mistake_of
from predicast.console.event_texts import brief_body
from predicast.console.frame import nothing_yet, show_mistake
from predicast.console.place import Page, Place
from predicast.console.times import shown_clock
from predicast.console.visitors import SUBSCRIBE
from predicast.errors import PredicastError
from predicast.protocol.records import Definition, Delivery, Settings

_SHOWN: Final = 200  # the latest; a browser with more of them gets slow
_QUEUE: Final = 1_000  # that wait for the page, which drops the oldest beyond
_EVERYTHING: Final = "TRUE"
_COLUMNS: Final = [
    {"name": "at", "label": "time (UTC)", "field": "at", "align": "left"},
    {"name": "publisher", "label": "publisher", "field": "publisher", "align": "left"},
    {"name": "body", "label": "event", "field": "body", "align": "left", "classes": "mono long"},
]
TIME_LINK: Final = (
    '<q-td :props="props"><a class="text" :href="props.row.link">{{ props.value }}</a></q-td>'
)


async def _build(place: Place) -> None:
    tail = _Tail(place)
    ui.context.client.on_delete(tail.stop)


class _Tail:
    def __init__(self, place: Place) -> None:
        self._place = place
        self._consumer: Consumer | None = None
        self._reading: asyncio.Task[None] | None = None
        self._rows: deque[dict[str, Any]] = deque(maxlen=_SHOWN)
        self._seen = self._dropped = 0
        with ui.row().classes("w-full items-center gap-3"):
            self._filter = ui.input("Filter, such as price < 10; empty for all events")
            self._filter.props("outlined dense clearable input-class=mono").classes("grow")
            self._filter.on("keydown.enter", self.start)
            self._start = ui.button("Start", icon="play_arrow", on_click=self.start)
            self._start.props("no-caps")
            self._pause = ui.button("Stop", icon="stop", on_click=self.stop)
            self._pause.props("outline no-caps").set_enabled(False)
        self._errors = ui.column().classes("w-full").props("aria-live=polite")
        self._status = ui.label("").classes("quiet").props("role=status")
        self._empty = ui.column().classes("w-full")
        with self._empty:
            nothing_yet("Press Start: events that are published from then on appear here.")
        self._table = ui.table(columns=_COLUMNS, rows=[], row_key="key").classes("w-full wrap")
        self._table.props("dense flat").add_slot("body-cell-at", TIME_LINK)
        self._table.set_visibility(False)

    async def start(self) -> None:
        """Follow what the filter says, from now on."""
        await self.stop()
        self._errors.clear()
        try:
            await self._follow((self._filter.value or "").strip() or _EVERYTHING)
        except PredicastError as error:
            with self._errors:
                show_mistake(mistake_of(error))
            return
        self._rows.clear()
        self._seen = self._dropped = 0
        self._show()
        self._pause.set_enabled(True)
        self._reading = background_tasks.create(self._read(), name="console tail")

    async def _follow(self, expression: str) -> None:
        self._place.visitor.require(SUBSCRIBE)
        id = f"console-{secrets.token_hex(8)}"
        settings = Settings(durable=False, max_pending=_QUEUE)
        await self._place.tenant.subscribe(Definition(id, expression, settings=settings))
        self._consumer = await self._place.tenant.consumer()
        await self._consumer.add([id])

    async def stop(self) -> None:
        """Follow no longer; the subscription ends with its consumer."""
        consumer, self._consumer = self._consumer, None
        reading, self._reading = self._reading, None
        if reading is not None:
            reading.cancel()
        if consumer is not None:
            await consumer.close()
        if not self._pause.is_deleted:
            self._pause.set_enabled(False)
            self._status.set_text(f"Stopped after {self._seen:,} events." if self._seen else "")

    async def _read(self) -> None:
        while self._consumer is not None:
            deliveries = await self._consumer.take(_SHOWN, wait=1.0)
            if self._place.asks() is None:  # the page is about to end
                return
            self._dropped += sum(self._consumer.take_drops().values())
            self._seen += len(deliveries)
            self._rows.extendleft(map(_row, deliveries))
            self._show()

    def _show(self) -> None:
        dropped = f", {self._dropped:,} dropped: this page was too slow" if self._dropped else ""
        self._status.set_text(f"Following: {self._seen:,} events{dropped}.")
        self._empty.set_visibility(False)
        self._table.set_visibility(True)
        if len(self._table.rows) != len(self._rows) or (
            self._rows and self._table.rows[0] != self._rows[0]
        ):
            self._table.rows = list(self._rows)


def _row(delivery: Delivery) -> dict[str, Any]:
    event = delivery.event
    return {
        "key": event.position,
        "link": f"/console/events/{event.position}",
        "at": shown_clock(event.at),
        "publisher": event.publisher,
        "body": brief_body(event, 400),
    }


TAIL = Page("/console/tail", "Live tail", _build, "stream", SUBSCRIBE)
