"""Paste an event: who gets it, why, and who just missed it."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from nicegui import ui

from predicast.broker.near_misses import NearMisses
from predicast.broker.tenant import Recipients
from predicast.console.checking import mistake_of
from predicast.console.event_texts import event_from_text, shown_body
from predicast.console.explanations import show_explanation
from predicast.console.frame import nothing_yet, section, show_mistake
from predicast.console.pages.subscriptions import EDIT
from predicast.console.place import Page, Place
from predicast.console.visitors import PUBLISH, SUBSCRIBE
from predicast.errors import PredicastError

PATH: Final = "/console/tester"
_EXAMPLE: Final = '{"price": 9.5, "symbol": "IBM"}'
_MOST: Final = 50


async def _build(place: Place) -> None:
    tester = _Tester(place, await _first(place))
    if place.asked.get("position"):
        await tester.ask()


async def _first(place: Place) -> str:
    """The event that the address names, or else the last one, or an example."""
    position = place.asked.get("position", "")
    if position.isdecimal() and len(position) < 19:
        found = await place.tenant.events(after=int(position) - 1, most=1)
    else:
        found = await place.tenant.latest(1)
    return shown_body(found[0]) if found else _EXAMPLE


class _Tester:
    def __init__(self, place: Place, text: str) -> None:
        self._place = place
        ui.label("An event, as JSON, as a CloudEvent or as a graph in Turtle").classes("quiet")
        self._text = ui.codemirror(
            value=text,
            language="JSON",
            line_wrapping=True,
            theme="githubLight",
            keymap={"Mod-Enter": self.ask},
        ).classes("w-full")
        self._text.props('aria-label="An event"')
        with ui.row().classes("gap-3 items-center"):
            ui.button("Who gets it?", icon="search", on_click=self.ask).props("no-caps")
            publish = ui.button("Publish", icon="send", on_click=self.publish)
            publish.props("outline no-caps").set_enabled(place.visitor.may(PUBLISH))
            ui.label("Ctrl+Enter asks").classes("quiet text-xs")
        self._answer = ui.column().classes("w-full gap-3").props("aria-live=polite")

    async def ask(self) -> None:
        """Show who would get the event; nothing is published."""
        try:
            event = event_from_text(self._text.value)
            [recipients] = self._place.tenant.dry_run([event], _MOST)
            near = await self._place.tenant.near_misses(event)
        except PredicastError as error:
            self._refused(error)
            return
        self._answer.clear()
        with self._answer:
            _show_recipients(recipients)
            _show_near(near)

    async def publish(self) -> None:
        """Publish it, and lead to what became of it."""
        try:
            self._place.visitor.require(PUBLISH)
            [receipt] = await self._place.tenant.publish([event_from_text(self._text.value)])
        except PredicastError as error:
            self._refused(error)
            return
        self._answer.clear()
        with self._answer, ui.row().props("role=status"):
            ui.label(f"Published at position {receipt.position}.")
            ui.link("See what became of it", f"/console/events/{receipt.position}").classes("text")

    def _refused(self, error: PredicastError) -> None:
        self._answer.clear()
        with self._answer:
            show_mistake(mistake_of(error))


def _show_recipients(recipients: Recipients) -> None:
    shown = len(recipients.first)
    some = f", of which these are the first {shown}" if shown < recipients.total else ""
    section(f"Gets it: {recipients.total:,}{some}")
    if not recipients.total:
        nothing_yet(
            "No subscription matches this event. Near misses, if any, are below.",
            link=("Write a subscription", EDIT),
        )
    for each in recipients.first:
        kind = "durable" if each.is_durable else "ephemeral"
        _card(each.id, kind, each.explanation)


def _show_near(near: NearMisses) -> None:
    section(f"Missed it by one test: {len(near.found)}")
    for each in near.found:
        _card(each.id, f"failed by {each.failed.brief}", each.explanation)
    if near.looked_at < near.of:
        ui.label(
            f"{near.looked_at:,} of {near.of:,} subscriptions were looked at one by one; among the "
            "others only those that fail by a number were found."
        ).classes("quiet")


def _card(id: str, said: str, explanation: object) -> None:
    with ui.card().classes("w-full gap-1 p-3"):
        with ui.row().classes("items-baseline gap-3"):
            ui.link(id, f"{EDIT}?id={quote(id, safe='')}").classes("text font-semibold")
            ui.label(said).classes("quiet text-sm")
        show_explanation(explanation)


TESTER = Page(PATH, "Tester", _build, "science", SUBSCRIBE)
