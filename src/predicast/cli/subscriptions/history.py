"""``predicast subscriptions history``: the versions of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from predicast.cli.subscriptions.options import AsJson, TablePath, opened
from predicast.cli.subscriptions.showing import show

if TYPE_CHECKING:
    from predicast.spark.subscription_table import Commit


def history(
    table: TablePath,
    *,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, metavar="N", help="The latest N only.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the versions of a table, the latest first, with what was done in each."""
    commits = opened(table).history(limit)
    show(
        map(_document, commits),
        ("version", "at", "operation", "what changed"),
        _cells,
        as_json=as_json,
        summary=f"{len(commits):,} version" + ("" if len(commits) == 1 else "s") + ".",
    )


def _document(commit: Commit) -> dict[str, Any]:
    return {
        "version": commit.version,
        "at": commit.at,
        "operation": commit.operation,
        **commit.facts,
    }


def _cells(document: dict[str, Any]) -> tuple[str, ...]:
    counts = [
        f"{document[name]:,} {name}"
        for name in ("subscribed", "changed", "unsubscribed")
        if document.get(name)
    ]
    at = document["at"].isoformat(sep=" ", timespec="seconds")
    return str(document["version"]), at, document["operation"], ", ".join(counts)
