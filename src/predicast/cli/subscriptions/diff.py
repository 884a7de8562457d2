"""``predicast subscriptions diff``: what changed between two versions of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from predicast.cli.subscriptions.options import AsJson, TablePath, opened
from predicast.cli.subscriptions.showing import document_of, show, shown_expression

if TYPE_CHECKING:
    from predicast.spark.subscription_table.difference import RowChange

_MARKS: Final = {"subscribed": "+", "changed": "~", "unsubscribed": "-"}


def diff(
    table: TablePath,
    before: Annotated[int, typer.Argument(metavar="BEFORE", help="The version to begin with.")],
    after: Annotated[
        int | None,
        typer.Argument(
            metavar="AFTER",
            help="The version to compare it with. [default: the latest]",
            show_default=False,
        ),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show what changed between two versions of a table, by id: what it was, and what it is."""
    of = opened(table)
    last = of.version if after is None else after
    changes = of.row_changes(before, last)
    by_id = {change.id: change for change in changes}
    count = f"{len(changes):,} subscription" + ("" if len(changes) == 1 else "s")
    show(
        map(_document, changes),
        ("", "id", f"version {before}", f"version {last}"),
        lambda each: (
            _MARKS[each["change"]],
            each["id"],
            _shown(by_id[each["id"]], "before"),
            _shown(by_id[each["id"]], "after"),
        ),
        as_json=as_json,
        summary=f"{count} differ" + ("s" if len(changes) == 1 else "") + ".",
    )


def _document(change: RowChange) -> dict[str, Any]:
    return {
        "change": _kind(change),
        "id": change.id,
        "before": None if change.before is None else document_of(change.before),
        "after": None if change.after is None else document_of(change.after),
    }


def _kind(change: RowChange) -> str:
    if change.before is None:
        return "subscribed"
    return "unsubscribed" if change.after is None else "changed"


def _shown(change: RowChange, which: str) -> str:
    row = change.before if which == "before" else change.after
    owners = {each.owner for each in (change.before, change.after) if each is not None}
    text = shown_expression(row)
    return f"{text}  ({row.owner or 'nobody'}’s)" if row is not None and len(owners) > 1 else text
