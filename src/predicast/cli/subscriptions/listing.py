"""``predicast subscriptions list``: what a version of a table holds."""

from __future__ import annotations

import sys
from itertools import islice
from typing import Annotated, Final

import typer

from predicast.cli.subscriptions.options import AsJson, Owner, TablePath, opened
from predicast.cli.subscriptions.showing import document_of, show, shown_expression

_SHOWN: Final = 20  # a screenful


def list_(
    table: TablePath,
    *,
    version: Annotated[
        int | None,
        typer.Option("--version", metavar="N", help="Of this version. [default: the latest]"),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="TIME", help="Of this time, such as '2026-01-31 23:59:59', in UTC."
        ),
    ] = None,
    owner: Owner = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            min=1,
            metavar="N",
            help="List the first N only. [default: 20 in a table, else all]",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the subscriptions of a table, in the order of ids.

    In JSON Lines they are as predicast match reads them.
    """
    from predicast.spark.subscription_table.rows import Row

    view = opened(table, create=False).at(version, timestamp=at)
    rows = [row for row in view.rows() if owner is None or row.owner == owner]
    on_screen = not as_json and sys.stdout.isatty()
    shown = islice(rows, limit or (_SHOWN if on_screen else None))
    count = f"{len(rows):,} subscription" + ("" if len(rows) == 1 else "s")
    more = f"; the first {limit or _SHOWN} are shown" if len(rows) > (limit or _SHOWN) else ""
    by_id: dict[str | None, Row] = {row.id: row for row in rows}
    show(
        map(document_of, shown),
        ("id", "owner", "expression"),
        lambda each: (
            each["id"] or "",
            each.get("owner") or "",
            shown_expression(by_id[each["id"]]),
        ),
        as_json=as_json,
        summary=f"Version {view.version}: {count}{more}.",
    )
