"""All subscriptions, with a search."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from nicegui import ui

from predicast.console.frame import nothing_yet
from predicast.console.place import Page, Place
from predicast.console.visitors import SUBSCRIBE
from predicast.protocol.records import Definition

PATH: Final = "/console/subscriptions"
EDIT: Final = f"{PATH}/edit"
_MOST: Final = 100  # that are listed at once; the search finds the others
_COLUMNS: Final = [
    {"name": "id", "label": "id", "field": "id", "align": "left"},
    {
        "name": "expression",
        "label": "expression",
        "field": "expression",
        "align": "left",
        "classes": "mono long",
    },
    {"name": "owner", "label": "owner", "field": "owner", "align": "left"},
    {"name": "kind", "label": "kept", "field": "kind", "align": "left"},
    {"name": "pending", "label": "waiting", "field": "pending", "align": "right"},
]
ID_LINK: Final = (
    '<q-td :props="props"><a class="text" :href="props.row.link">{{ props.value }}</a></q-td>'
)


async def _build(place: Place) -> None:
    with ui.row().classes("w-full items-center gap-3"):
        search = ui.input("Search ids and expressions").props(
            "outlined dense clearable debounce=250"
        )
        search.classes("grow")
        owner = ui.input("Owner").props("outlined dense clearable debounce=250")
        new = ui.button("New subscription", icon="add", on_click=lambda: ui.navigate.to(EDIT))
        new.props("no-caps")
    found = ui.element("div").classes("w-full")

    async def show() -> None:
        rows = await _rows(place, search.value or None, owner.value or None)
        found.clear()
        with found:
            _show(place, rows, is_searched=bool(search.value or owner.value))

    search.on_value_change(show)
    owner.on_value_change(show)
    await show()


async def _rows(place: Place, text: str | None, owner: str | None) -> list[dict[str, Any]]:
    definitions = await place.tenant.definitions(text=text, owner=owner, most=_MOST + 1)
    pending = await place.tenant.pending([each.id for each in definitions])
    return [_row(each, pending.get(each.id, 0)) for each in definitions]


def _row(definition: Definition, pending: int) -> dict[str, Any]:
    settings = definition.settings
    words = [
        "durable" if settings.durable else "ephemeral",
        *(["pushed"] if settings.sink else []),
        *(["paused"] if settings.paused else []),
    ]
    dialect = "" if definition.dialect == "where" else f"[{definition.dialect}] "
    return {
        "id": definition.id,
        "link": f"{EDIT}?id={quote(definition.id, safe='')}",
        "expression": dialect + definition.expression,
        "owner": definition.owner or "–",
        "kind": ", ".join(words),
        "pending": f"{pending:,}",
    }


def _show(place: Place, rows: list[dict[str, Any]], *, is_searched: bool) -> None:
    if not rows and is_searched:
        nothing_yet("No subscription has this in its id or expression. Search for less of it.")
        return
    if not rows:
        nothing_yet(
            "There are no subscriptions yet. One says in an expression what it wants, such as",
            line="price < 10 AND symbol = 'IBM'",
            link=("Write the first one", EDIT),
        )
        return
    table = ui.table(columns=_COLUMNS, rows=rows[:_MOST], row_key="id").classes("w-full wrap")
    table.props("dense flat").add_slot("body-cell-id", ID_LINK)
    if len(rows) > _MOST:
        ui.label(
            f"The first {_MOST} of {len(place.tenant):,}; the search looks through all of them."
        ).classes("quiet pt-2")


SUBSCRIPTIONS = Page(PATH, "Subscriptions", _build, "rule", SUBSCRIBE)
