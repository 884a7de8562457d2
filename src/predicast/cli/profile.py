"""``predicast profile``: which subscriptions cost most, and which never match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from predicast.cli.options import (
    Absence,
    Absent,
    DialectOption,
    EventsForm,
    ExpressionField,
    IdField,
    Now,
    Subscriptions,
    SubscriptionsForm,
    arrival,
)
from predicast.cli.terminal import output, progress, visible

if TYPE_CHECKING:
    from predicast.engine.profile import Profile


def profile(  # noqa: PLR0913  # an option is a parameter
    subscriptions: Subscriptions,
    events: Annotated[
        str,
        typer.Argument(
            metavar="EVENTS",
            help="A .jsonl, .csv, .tsv, .parquet or .arrow file; - for standard input.",
        ),
    ],
    *,
    sample: Annotated[
        int,
        typer.Option("--sample", min=1, metavar="N", help="Look at the first N events only."),
    ] = 100_000,
    measured: Annotated[
        int,
        typer.Option(
            "--measured",
            min=0,
            metavar="N",
            help="Measure the time of N subscriptions, those that are tested most.",
        ),
    ] = 100,
    limit: Annotated[
        int, typer.Option("--limit", min=1, metavar="N", help="List the first N subscriptions.")
    ] = 20,
    events_format: EventsForm = None,
    subscriptions_format: SubscriptionsForm = None,
    dialect: DialectOption = None,
    id: IdField = "id",
    expression: ExpressionField = "expression",
    absent: Absent = Absence.FAILS,
    now: Now = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of a table.")
    ] = False,
) -> None:
    """Say which subscriptions cost most and which never match, by a sample of events."""
    from predicast.cli.files.events import Reader, events_in
    from predicast.cli.files.subscriptions import Fields, load, subscriptions_in
    from predicast.engine import Engine

    if subscriptions == events == "-":
        raise typer.BadParameter("only one of the two can be standard input", param_hint="'EVENTS'")
    engine = Engine(absent=absent.value, on_invalid="absent")
    source = subscriptions_in(subscriptions, subscriptions_format, dialect)
    with progress("Reading subscriptions", source.size()) as report:
        load(engine, source, Fields(id, expression), report=report)
    with progress("Reading events", None):
        reader = Reader(source=events_in(events, events_format, dialect))
        seen = reader.sample(engine, sample)
    with progress("Measuring", None):
        found = engine.profile(seen, measured=measured, now=arrival(now))
    if as_json:
        import msgspec

        typer.echo(msgspec.json.encode(found).decode())
    else:
        _print(found, limit)


def _print(found: Profile, limit: int) -> None:
    from rich import box
    from rich.table import Column, Table

    table = Table(
        Column("subscription", overflow="fold"),
        Column("matched", justify="right"),
        Column("cost"),
        Column("µs per event", justify="right"),
        Column("why", overflow="fold", ratio=1),
        box=box.SIMPLE_HEAD,
        expand=True,
    )
    for each in found.subscriptions[:limit]:
        took = "" if each.time_us is None else f"{each.time_us:.2f}"
        table.add_row(visible(each.id), f"{each.matched:,}", each.cost, took, visible(each.why))
    console = output()
    if found.subscriptions:
        console.print(table)
    more = len(found.subscriptions) - limit
    shown = f"; the first {limit:,} of {len(found.subscriptions):,} are shown" if more > 0 else ""
    never = found.never()
    silent = f"; never matched: {', '.join(map(visible, never[:10]))}" if never else ""
    silent += ", …" if len(never) > 10 else ""
    console.print(f"{found.events:,} events{shown}{silent}.", soft_wrap=True)
