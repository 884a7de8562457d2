"""The tree of brokers around this one, with what went over each link."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from nicegui import ui

from predicast.console.frame import every, nothing_yet
from predicast.console.place import Page, Place
from predicast.console.trees import drawing, rows_of
from predicast.console.visitors import ADMIN

_EVERY: Final = 2.0  # seconds
_LEFT: Final = ("name", "role", "state", "problem")
_COLUMNS: Final = [
    {"name": name, "label": label, "field": name, "align": "left" if name in _LEFT else "right"}
    for name, label in {
        "name": "neighbour",
        "role": "role",
        "state": "state",
        "wanted": "wants",
        "announced": "was told",
        "in": "events in",
        "out": "events out",
        "waiting": "unacknowledged",
        "problem": "problem",
    }.items()
]


async def _build(place: Place) -> None:
    tree = place.tree
    if tree is None or not rows_of(msgspec.to_builtins(tree.status(place.visitor.tenant))):
        nothing_yet(
            "This broker is linked to no other. Brokers form a tree that carries each event only "
            "to where it is wanted. Start one, there or here, with this one as its parent:",
            line=f"predicast serve --data child --port 8643 --parent {place.address}",
        )
        return
    said = ui.label().classes("quiet").props("role=status")
    picture = ui.html("", sanitize=False).classes("w-full")
    table = ui.table(columns=_COLUMNS, rows=[], row_key="name").classes("w-full wrap")
    table.props("dense flat")

    def look() -> None:
        now: dict[str, Any] = msgspec.to_builtins(tree.status(place.visitor.tenant))
        picture.set_content(drawing(now))
        table.rows = rows_of(now)
        said.set_text(_said(now))

    look()
    every(_EVERY, look)


def _said(status: dict[str, Any]) -> str:
    if status["problem"]:
        return str(status["problem"])
    attached = "knows" if status["is_attached"] else "does not know yet"
    settled = "knows" if status["is_settled"] else "does not know yet"
    return (
        f"This broker {attached} what the rest of the tree wants; "
        f"the rest of the tree {settled} all that is wanted here."
    )


BROKERS = Page("/console/brokers", "Brokers", _build, "account_tree", ADMIN)
