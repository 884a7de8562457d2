"""``predicast backtest``: what subscriptions would have matched in the events of the past.

A history is a file, which is read here; or a *Spark path*, which Spark reads: a folder, a pattern
such as ``history/2026-*/*.parquet``, or a place with a scheme, such as ``s3a://bucket/history``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from predicast.cli.files.source import Form
from predicast.cli.inputs import Inputs
from predicast.cli.interrupts import stop_if_interrupted
from predicast.cli.options import (
    EVENT_FORMS,
    READING,
    Absence,
    Absent,
    DialectOption,
    ExpressionField,
    IdField,
    InvalidEvents,
    Now,
    OnInvalid,
    SubscriptionsForm,
    arrival,
)
from predicast.cli.terminal import output, print_note, progress, visible

if TYPE_CHECKING:
    from datetime import datetime

    from predicast.cli.files.source import Source
    from predicast.cli.files.subscriptions import Fields
    from predicast.engine import Engine
    from predicast.engine.backtest import Backtest, Fired, Versions

_REFUSED: Final = 2
_READ_BY_SPARK: Final[dict[Form, tuple[str, dict[str, str]]]] = {
    Form.PARQUET: ("parquet", {}),
    Form.JSON_LINES: ("json", {}),
    Form.CSV: ("csv", {"header": "true", "inferSchema": "true"}),
    Form.TSV: ("csv", {"header": "true", "inferSchema": "true", "sep": "\t"}),
}


def backtest(  # noqa: PLR0913  # an option is a parameter
    subscriptions: Annotated[
        str | None,
        typer.Argument(
            metavar="SUBSCRIPTIONS",
            help="The subscriptions to try: a .jsonl, .csv, .tsv, .parquet, .arrow or .yaml file "
            "with id, expression and perhaps owner and parameters; - for standard input.",
            show_default=False,
        ),
    ] = None,
    events: Annotated[
        str | None,
        typer.Argument(
            metavar="EVENTS",
            help="The history: a .jsonl, .csv, .tsv, .parquet or .arrow file, or - for standard "
            "input; or a folder, a pattern or a place such as s3a://…, which Spark reads.",
            show_default=False,
        ),
    ] = None,
    *,
    subscriptions_file: Annotated[
        str | None,
        typer.Option("--subscriptions", metavar="FILE", help="SUBSCRIPTIONS, by name."),
    ] = None,
    events_path: Annotated[
        str | None, typer.Option("--events", metavar="PATH", help="EVENTS, by name.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="FILE",
            help="The version before, to say what is gained and lost.",
            show_default=False,
        ),
    ] = None,
    samples: Annotated[
        int,
        typer.Option("--samples", min=0, metavar="N", help="Show N events of each sort."),
    ] = 3,
    changed: Annotated[
        bool, typer.Option("--changed", help="List only what fires otherwise than before.")
    ] = False,
    events_format: Annotated[
        Form | None,
        typer.Option(
            "--events-format",
            metavar="FORMAT",
            help=f"What the history holds, if its suffix does not say: {EVENT_FORMS}. "
            "[default for -: jsonl; for Spark: parquet]",
            show_default=False,
            rich_help_panel=READING,
        ),
    ] = None,
    subscriptions_format: SubscriptionsForm = None,
    dialect: DialectOption = None,
    id: IdField = "id",
    expression: ExpressionField = "expression",
    absent: Absent = Absence.FAILS,
    now: Now = None,
    on_invalid: InvalidEvents = OnInvalid.RAISE,
    spark: Annotated[
        bool, typer.Option("--spark", help="Have Spark read the history, although it is a file.")
    ] = False,
    master: Annotated[
        str, typer.Option("--master", metavar="URL", help="The Spark that is started.")
    ] = "local[*]",
    remote: Annotated[
        str | None,
        typer.Option(
            "--remote",
            metavar="URL",
            help="A Spark Connect to use instead, such as sc://host.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of a table.")
    ] = False,
) -> None:
    """Say how often subscriptions would have fired in the past, and show some of the events.

    With --against and an older version of the subscriptions, say which events each of them gains
    and loses.
    """
    from predicast.cli.files.events import events_in
    from predicast.cli.files.subscriptions import Fields
    from predicast.engine.backtest import Versions

    inputs = Inputs.of(
        subscriptions,
        None if events is None else [events],
        subscriptions_file,
        None if events_path is None else [events_path],
    )
    if len(inputs.events) > 1:
        raise typer.BadParameter("one history at a time", param_hint="'EVENTS'")
    [history] = inputs.events
    if [inputs.subscriptions, against, history].count("-") > 1:
        raise typer.BadParameter("only one can be standard input", param_hint="'EVENTS'")
    fields = (subscriptions_format, dialect, Fields(id, expression), absent)
    new = _engine(inputs.subscriptions, *fields)
    old = None if against is None else _engine(against, *fields)
    at = arrival(now)
    if spark or remote is not None or is_spark_path(history):
        found = _on_spark(
            new, old, history, events_format, samples, on_invalid, at, master=master, remote=remote
        )
    else:
        versions = Versions(new, old, on_invalid.value)
        found = _from_file(versions, events_in(history, events_format, dialect), samples, at)
    listed = [each for each in found.fired if not changed or each.gained or each.lost]
    if as_json:
        typer.echo(_json(found, listed))
    else:
        _print(found, listed, has_old=old is not None)


def is_spark_path(path: str) -> bool:
    """Whether a history is for Spark to read: more than one file, or not on this machine."""
    if path == "-" or Path(path).is_file():
        return False
    return "://" in path or any(each in path for each in "*?[{") or Path(path).is_dir()


def _engine(
    path: str, form: Form | None, dialect: str | None, fields: Fields, absent: Absence
) -> Engine:
    from predicast.cli.files.subscriptions import load, subscriptions_in
    from predicast.engine import Engine

    engine = Engine(absent=absent.value)
    source = subscriptions_in(path, form, dialect)
    with progress(f"Reading {source.path}", source.size()) as report:
        load(engine, source, fields, report=report)
    return engine


def _from_file(versions: Versions, source: Source, samples: int, now: datetime) -> Backtest:
    from predicast.cli.files.events import Reader
    from predicast.cli.runs import FlatRun
    from predicast.engine.backtest import Tally

    tally = Tally(versions, samples)
    run = FlatRun(versions.engine, Reader(source=source, whole=True, now=now))
    notes: list[str] = []
    try:
        with progress("Matching events", run.size()) as report:
            for matches in run.matches(report, notes.append):
                stop_if_interrupted()
                tally.add(matches.pairs(), matches.count, matches.event)
    finally:
        for note in (*notes, *run.notes()):
            print_note(note)
    return tally.backtest()


def _on_spark(
    new: Engine,
    old: Engine | None,
    path: str,
    form: Form | None,
    samples: int,
    on_invalid: OnInvalid,
    now: datetime,
    *,
    master: str,
    remote: str | None,
) -> Backtest:
    from predicast.cli.files.source import form_of
    from predicast.cli.requirements import require_extras

    require_extras("Spark", "spark")
    from predicast.spark.backtest import backtest_path
    from predicast.spark.sessions import session_of

    chosen = form or form_of(path)[0] or Form.PARQUET
    if chosen not in _READ_BY_SPARK:
        raise typer.BadParameter(f"Spark does not read {chosen}", param_hint="'--events-format'")
    with (
        progress("Matching events on Spark", None),
        session_of("predicast backtest", master, remote) as session,
    ):
        return backtest_path(
            session,
            path,
            *_READ_BY_SPARK[chosen],
            new,
            old,
            samples=samples,
            on_invalid=on_invalid.value,
            now=now,
        )


def _print(found: Backtest, listed: list[Fired], *, has_old: bool) -> None:
    from rich import box
    from rich.table import Column, Table

    console = output()
    compared = ("before", "gained", "lost") if has_old else ()
    table = Table(
        Column("subscription", overflow="fold"),
        *([Column("")] if has_old else []),
        Column("fired", justify="right"),
        *(Column(name, justify="right") for name in compared),
        Column("events", overflow="fold", ratio=1),
        box=box.SIMPLE_HEAD,
        expand=True,
    )
    for each in listed:
        counts = [f"{getattr(each, name):,}" for name in ("fired", *compared)]
        state = [each.state.value] if has_old else []
        table.add_row(visible(each.id), *state, *counts, "\n".join(_shown(each, has_old=has_old)))
    if listed:
        console.print(table)
    console.print(f"{_summary(found, has_old=has_old)}.", soft_wrap=True)


def _shown(each: Fired, *, has_old: bool) -> list[str]:
    from predicast.cli.files.matches import brief

    if not has_old:
        return [visible(brief(event)) for event in each.samples]
    return [
        *(f"+ {visible(brief(event))}" for event in each.gained_samples),
        *(f"- {visible(brief(event))}" for event in each.lost_samples),
    ]


def _summary(found: Backtest, *, has_old: bool) -> str:
    never = len(found.never())
    silent = "1 subscription" if never == 1 else f"{never:,} subscriptions"
    fired = sum(each.fired for each in found.fired)
    said = f"{found.events:,} events, {fired:,} matches"
    if has_old:
        gained = sum(each.gained for each in found.fired)
        lost = sum(each.lost for each in found.fired)
        said += f", {gained:,} gained and {lost:,} lost"
    return f"{said}; {silent} never fired" if never else said


def _json(found: Backtest, listed: list[Fired]) -> str:
    import msgspec

    document = {"events": found.events, "never": found.never(), "subscriptions": listed}
    return msgspec.json.encode(document, enc_hook=str).decode()
