"""One subscription: written with the parser's errors beside it, and what it would have matched."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any, Final

import msgspec
from nicegui import ui

from predicast.console.checking import (
    Mistake,
    checked,
    dialects,
    mistake_of,
    parameters_from_text,
)
from predicast.console.event_texts import brief_body
from predicast.console.frame import nothing_yet, section, show_mistake, tell
from predicast.console.pages.subscriptions import EDIT, PATH
from predicast.console.place import Page, Place
from predicast.console.previews import Preview, ReadEvents, preview, readable
from predicast.console.times import shown_clock
from predicast.console.visitors import SUBSCRIBE
from predicast.errors import PredicastError, UnknownIdError
from predicast.protocol.records import Definition, Settings

LATEST: Final = 1_000  # events that a preview looks at
_SHOWN: Final = 20
_PAUSE: Final = 0.25  # seconds without a key, before the preview is made


async def _build(place: Place) -> None:
    id = place.asked.get("id")
    definition = None
    if id is not None:
        try:
            definition = await place.tenant.definition(id)
        except UnknownIdError as error:
            show_mistake(mistake_of(error))
            nothing_yet("It may have been removed.", link=("All subscriptions", PATH))
            return
    events = await asyncio.to_thread(readable, await place.tenant.latest(LATEST))
    editor = _Editor(place, definition, events)
    await editor.check()


class _Editor:
    def __init__(self, place: Place, definition: Definition | None, events: ReadEvents) -> None:
        self._place = place
        self._before = definition
        self._events = events
        self._checks = 0
        with ui.element("div").classes("grid grid-cols-1 lg:grid-cols-2 gap-4 w-full"):
            with ui.column().classes("w-full gap-3"):
                self._fields(definition)
            with ui.column().classes("w-full gap-2"):
                section("What it would have matched")
                self._preview = ui.column().classes("w-full gap-2")

    def _fields(self, given: Definition | None) -> None:
        settings = given.settings if given else Settings()
        with ui.row().classes("w-full gap-3"):
            self.id = ui.input("Id", value=given.id if given else f"s-{secrets.token_hex(3)}")
            self.id.props("outlined dense").classes("grow").set_enabled(given is None)
            self.owner = ui.input("Owner", value=(given.owner or "") if given else "")
            self.owner.props("outlined dense").classes("grow")
            self.dialect = ui.select(
                dialects(), label="Dialect", value=given.dialect if given else "where"
            )
            self.dialect.props("outlined dense").classes("w-36").on_value_change(self.check)
        ui.label("Expression").classes("quiet text-sm").props("aria-hidden=true")
        self.expression = (
            ui.codemirror(
                value=given.expression if given else "",
                language="SQL",
                line_wrapping=True,
                theme="githubLight",
                on_change=self.check,
                keymap={"Mod-Enter": self.save},
            )
            .classes("w-full")
            .props("aria-label=Expression")
        )
        self._errors = ui.column().classes("w-full gap-1").props("aria-live=polite")
        self.parameters = ui.input(
            'Parameters, if it has any, such as {"limit": 10}', value=_parameters(given)
        )
        self.parameters.props("outlined dense debounce=250 input-class=mono").classes("w-full")
        self.parameters.on_value_change(self.check)
        with ui.row().classes("gap-6"):
            self.durable = ui.switch("Durable", value=settings.durable)
            self.durable.tooltip("What it matches is kept until it is acknowledged")
            self.paused = ui.switch("Paused", value=settings.paused)
        with ui.row().classes("gap-3 items-center"):
            self.save_button = ui.button("Save", icon="check", on_click=self.save).props("no-caps")
            ui.button("Back", on_click=lambda: ui.navigate.to(PATH)).props("flat no-caps")
            if given is not None:
                ui.button("Delete", icon="delete", on_click=self.remove).props(
                    "flat no-caps color=negative"
                )
            ui.label("Ctrl+Enter saves").classes("quiet text-xs")

    # While somebody types.

    async def check(self) -> None:
        """Show what is wrong at once, and the preview when the keys are quiet."""
        self._checks += 1
        check = self._checks
        text = self.expression.value
        mistake: Mistake | None = None
        try:
            parameters = parameters_from_text(self.parameters.value or "")
            held = checked(text, self.dialect.value, parameters) if text.strip() else None
        except PredicastError as error:
            mistake, held = mistake_of(error), None
        self._show_mistake(mistake)
        self.save_button.set_enabled(held is not None)
        if held is None:
            self._show_preview(None)
            return
        await asyncio.sleep(_PAUSE)
        if check == self._checks:
            self._show_preview(await asyncio.to_thread(preview, held, self._events))

    def _show_mistake(self, mistake: Mistake | None) -> None:
        # Beside the editor and not in it: what is sent to the editor while somebody types comes too
        # late, and takes back their last letters.
        self._errors.clear()
        if mistake is not None:
            with self._errors:
                show_mistake(mistake)

    def _show_preview(self, found: Preview | None) -> None:
        self._preview.clear()
        with self._preview:
            if found is None:
                ui.label("Nothing, until it can be read.").classes("quiet")
            elif not found.of:
                nothing_yet(
                    "No event has been published yet.",
                    link=("Publish one with the tester", "/console/tester"),
                )
            else:
                ui.label(f"{len(found.matched):,} of the last {found.of:,} events").props(
                    "role=status"
                )
                for event in found.matched[:_SHOWN]:
                    with ui.row().classes("w-full no-wrap gap-3 items-baseline"):
                        ui.link(shown_clock(event.at), f"/console/events/{event.position}").classes(
                            "text"
                        )
                        ui.label(brief_body(event)).classes("mono break-all")

    # When it is done.

    async def save(self) -> None:
        """Subscribe, or change what is there."""
        try:
            self._place.visitor.require(SUBSCRIBE)
            parameters = parameters_from_text(self.parameters.value or "")
            checked(self.expression.value, self.dialect.value, parameters)
            await self._save(parameters)
        except PredicastError as error:
            self._show_mistake(mistake_of(error))
            return
        ui.navigate.to(f"{PATH}?saved=1")

    async def _save(self, parameters: dict[str, Any] | None) -> None:
        def fields(before: Settings) -> dict[str, Any]:
            return {
                "expression": self.expression.value,
                "dialect": self.dialect.value,
                "parameters": parameters,
                "owner": self.owner.value or None,
                "settings": msgspec.structs.replace(
                    before, durable=self.durable.value, paused=self.paused.value
                ),
            }

        tenant = self._place.tenant
        if self._before is None:
            await tenant.subscribe(Definition(self.id.value.strip(), **fields(Settings())))
        else:
            await tenant.change(self._before.id, lambda before: fields(before.settings))

    async def remove(self) -> None:
        """Ask, then end the subscription."""
        assert self._before is not None
        with ui.dialog() as dialog, ui.card():
            ui.label(f"Delete {self._before.id}, and all that waits for it?")
            with ui.row():
                ui.button("Delete", on_click=lambda: dialog.submit(True)).props(
                    "no-caps color=negative"
                )
                ui.button("Keep", on_click=lambda: dialog.submit(False)).props("flat no-caps")
        if not await dialog:
            return
        try:
            self._place.visitor.require(SUBSCRIBE)
            await self._place.tenant.unsubscribe(self._before.id)
        except PredicastError as error:
            tell(error)
            return
        ui.navigate.to(PATH)


def _parameters(given: Definition | None) -> str:
    if given is None or given.parameters is None:
        return ""
    return msgspec.json.encode(given.parameters).decode()


EDITOR = Page(EDIT, "Subscription", _build, scope=SUBSCRIBE)
