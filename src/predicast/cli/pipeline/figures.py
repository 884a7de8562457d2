"""How a stream fares, in a table and in a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from predicast.cli.terminal import visible

if TYPE_CHECKING:
    from rich.table import Table

    from predicast.spark.delivery.running import Progress

_UNKNOWN = "–"
_SHOWN = 3  # ids in a line


def figures(progress: Progress, dearest: Sequence[str] = ()) -> Table:
    """The figures of a stream, and the subscriptions that most events match or are tested with."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_header=False)
    for name, value in (
        ("batch", _number(progress.batch)),
        ("version of the table", _version(progress)),
        ("events a second", _number(progress.events_per_s)),
        ("matches a second", _number(progress.matches_per_s)),
        ("lag", _UNKNOWN if progress.lag_s is None else f"{progress.lag_s:.2f} s"),
        ("events", _number(progress.events)),
        ("matches", _number(progress.matches)),
        ("dead letters", _number(progress.dead_letters)),
        ("subscriptions left out", _number(progress.left_out)),
        ("placement", progress.placement or _UNKNOWN),
    ):
        table.add_row(name, value)
    for id, count in progress.most_matched[:5]:
        table.add_row(f"matched by {visible(id)}", f"{count:,}")
    if dearest:
        table.add_row("tested with every event", shortened(dearest))
    return table


def shortened(ids: Sequence[str]) -> str:
    """The first of some ids, and how many others there are."""
    more = f" and {len(ids) - _SHOWN:,} more" if len(ids) > _SHOWN else ""
    return ", ".join(map(visible, ids[:_SHOWN])) + more


def summary(progress: Progress) -> str:
    """What came of it, in one line."""
    return (
        f"{progress.events:,} events in {progress.batches:,} batches: {progress.matches:,} matches "
        f"delivered, {progress.dead_letters:,} dead letters."
    )


def _version(progress: Progress) -> str:
    behind = f" ({progress.versions_behind} behind)" if progress.versions_behind else ""
    return _number(progress.version) + behind


def _number(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:,.0f}"
