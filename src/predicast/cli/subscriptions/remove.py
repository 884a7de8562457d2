"""``predicast subscriptions remove``: some subscriptions, or all of an owner's."""

from __future__ import annotations

from typing import Annotated

import typer

from predicast.cli.subscriptions.options import AsJson, Owner, TablePath, opened
from predicast.cli.subscriptions.showing import show_commit


def remove(
    table: TablePath,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Their ids.", show_default=False)
    ] = None,
    *,
    owner: Owner = None,
    as_json: AsJson = False,
) -> None:
    """Remove subscriptions from a table: all that are named, or all of an owner's, or none."""
    from predicast.engine import Unsubscribe

    if bool(ids) == (owner is not None):
        raise typer.BadParameter("give ids, or an owner", param_hint="'ID'")
    of = opened(table)
    if owner is not None:
        committed = of.unsubscribe_all(owner=owner)
    else:
        committed = of.apply(map(Unsubscribe, ids or ()))
    show_commit(committed.version, committed.counts._asdict(), as_json=as_json)
