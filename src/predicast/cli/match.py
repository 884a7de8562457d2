"""``predicast match``: which subscriptions does each event of a file match?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from predicast.cli.files.source import Form
from predicast.cli.interrupts import stop_if_interrupted
from predicast.cli.options import (
    Absence,
    Absent,
    ExpressionField,
    Format,
    IdField,
    Now,
    OnInvalid,
    OnInvalidSubscription,
    Subscriptions,
    SubscriptionsForm,
    arrival,
)
from predicast.cli.terminal import notices, print_note, progress
from predicast.matching import DEFAULT

if TYPE_CHECKING:
    from predicast.cli.files.csv_types import CsvType
    from predicast.cli.files.events import Reader
    from predicast.cli.files.results import Results
    from predicast.cli.files.source import Source
    from predicast.cli.files.subscriptions import Fields
    from predicast.engine import Engine

_SHOWN_DROPPED: Final = 5
_TABLE_EVENTS: Final = 20  # a screenful
_NAMED_DELIMITERS: Final = {"tab": "\t", "\\t": "\t"}
_NO_DELIMITERS: Final = '"\r\n\0'
_SUFFIXES: Final = {
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".json": Format.JSONL,
    ".jsonl.gz": Format.JSONL,
    ".ndjson.gz": Format.JSONL,
    ".json.gz": Format.JSONL,
    ".csv": Format.CSV,
    ".csv.gz": Format.CSV,
    ".tsv": Format.TSV,
    ".tsv.gz": Format.TSV,
    ".parquet": Format.PARQUET,
    ".txt": Format.TABLE,
}


def match(  # noqa: PLR0913  # an option is a parameter
    subscriptions: Subscriptions,
    events: Annotated[
        str,
        typer.Argument(
            metavar="EVENTS",
            help="A .jsonl, .csv, .tsv or .parquet file; - for standard input.",
        ),
    ],
    *,
    events_format: Annotated[
        Form | None,
        typer.Option(
            "--events-format",
            help="What EVENTS holds, if its suffix does not say. [default for -: jsonl]",
            show_default=False,
        ),
    ] = None,
    subscriptions_format: SubscriptionsForm = None,
    delimiter: Annotated[
        str | None,
        typer.Option(
            "--delimiter",
            metavar="CHAR",
            help="What separates the cells of a CSV file of events, if not what its first line "
            "shows: a comma, a semicolon, a tab or a vertical bar.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the matches to this file."),
    ] = None,
    format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            "-f",
            help="What the matches look like. Without it the file's suffix says; without a file, "
            "a table on a terminal and JSON Lines in a pipe.",
            show_default=False,
        ),
    ] = None,
    id: IdField = "id",
    expression: ExpressionField = "expression",
    absent: Absent = Absence.FAILS,
    now: Now = None,
    matcher: Annotated[
        str, typer.Option("--matcher", metavar="NAME", help="The matching algorithm.")
    ] = DEFAULT,
    on_invalid: Annotated[
        OnInvalid,
        typer.Option(
            "--on-invalid",
            help="Stop at an event with an attribute that subscriptions look at and that cannot be "
            "compared, take the attribute for absent, or skip the event.",
        ),
    ] = OnInvalid.RAISE,
    on_invalid_subscription: Annotated[
        OnInvalidSubscription,
        typer.Option(
            "--on-invalid-subscription",
            help="Stop at a subscription that is invalid, or drop it.",
        ),
    ] = OnInvalidSubscription.RAISE,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            min=1,
            metavar="N",
            help="List the first N events only. [default: 20 in a table, else all]",
            show_default=False,
        ),
    ] = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="List events that match nothing, too (in a table or jsonl)."),
    ] = False,
    type: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="COL=TYPE",
            help="The type of an attribute of events: boolean, integer, float, timestamp or "
            "string. A string is read as a value of it.",
        ),
    ] = None,
    null: Annotated[
        list[str] | None,
        typer.Option(
            "--null", metavar="TEXT", help="A string that stands for no value in events, as NA may."
        ),
    ] = None,
) -> None:
    """Find the subscriptions that each event of a file matches.

    Events count from 0. In JSON Lines an event that matches something is {"event": 0,
    "subscriptions": ["a", "b"]}; in CSV and Parquet a match is a row of event and subscription.
    """
    from predicast.cli.files.events import Reader
    from predicast.cli.files.source import Source
    from predicast.cli.files.stated_values import StatedValues
    from predicast.cli.files.subscriptions import Fields
    from predicast.engine import Engine

    target = None if output == "-" else output
    chosen = _format(format, target, every=every)
    _check_paths(subscriptions, events, target)
    events_source = Source.of(events, events_format, delimiter=_delimiter(delimiter))
    reader = Reader(
        source=events_source,
        whole=chosen is Format.TABLE,
        now=None if now is None and events_source.is_live else arrival(now),
        stated=StatedValues(types=dict(map(_type, type or ())), nulls=tuple(null or ())),
    )
    if delimiter is not None and reader.source.form is not Form.CSV:
        raise typer.BadParameter(
            f"it is for CSV; {reader.source.path} is read as {reader.source.form}",
            param_hint="'--delimiter'",
        )
    engine = Engine(matcher=matcher, absent=absent.value, on_invalid=on_invalid.value)
    fields = Fields(id, expression)
    source = Source.of(subscriptions, subscriptions_format)
    _load(engine, source, fields, drop=on_invalid_subscription is OnInvalidSubscription.DROP)
    with _results(chosen, target, limit=limit, every=every) as results:
        # A bar and lines on one screen would spoil each other.
        quiet = target is None and chosen is not Format.TABLE and sys.stdout.isatty()
        _match_all(engine, reader, results, quiet=quiet)
    if target is not None and notices().is_terminal:
        notices().print(f"{results.summary()}, written to {target}.", soft_wrap=True)


def _format(given: Format | None, target: str | None, *, every: bool) -> Format:
    chosen = given
    if chosen is None and target is not None:
        name = Path(target).name.lower()
        chosen = next((form for suffix, form in _SUFFIXES.items() if name.endswith(suffix)), None)
        if chosen is None:
            known = ", ".join(_SUFFIXES)
            raise typer.BadParameter(
                f"{target} ends in none of {known}; say --format", param_hint="'--output'"
            )
    if chosen is None:
        chosen = Format.TABLE if sys.stdout.isatty() else Format.JSONL
    if chosen is Format.PARQUET and target is None:
        raise typer.BadParameter("parquet needs a file: --output FILE", param_hint="'--format'")
    if chosen not in {Format.TABLE, Format.JSONL} and every:
        raise typer.BadParameter(
            f"{chosen} has a row per match, none for an event without", param_hint="'--all'"
        )
    return chosen


def _check_paths(subscriptions: str, events: str, target: str | None) -> None:
    if subscriptions == events == "-":
        raise typer.BadParameter("only one of the two can be standard input", param_hint="'EVENTS'")
    if target is None or not Path(target).is_file():
        return
    for path in (subscriptions, events):
        if Path(path).is_file() and Path(path).samefile(target):
            raise typer.BadParameter(f"{target} is the input", param_hint="'--output'")


def _type(text: str) -> tuple[str, CsvType]:
    from predicast.cli.files.csv_types import CsvType, parse_type

    parsed = parse_type(text)
    if parsed is None:
        raise typer.BadParameter(
            f"{text!r} is not of the form COL=TYPE, TYPE being one of {', '.join(CsvType)}",
            param_hint="'--type'",
        )
    return parsed


def _delimiter(text: str | None) -> str | None:
    named = _NAMED_DELIMITERS.get(text or "", text)
    if named is not None and (len(named) != 1 or not named.isascii() or named in _NO_DELIMITERS):
        raise typer.BadParameter(
            f"{text!r} is not one plain character, nor tab", param_hint="'--delimiter'"
        )
    return named


def _load(engine: Engine, source: Source, fields: Fields, *, drop: bool) -> None:
    from predicast.cli.files.subscriptions import load

    with progress("Reading subscriptions", source.size()) as report:
        dropped = load(engine, source, fields, drop_invalid=drop, report=report)
    for error in dropped[:_SHOWN_DROPPED]:
        print_note(f"dropped {error.message}")
    if len(dropped) > _SHOWN_DROPPED:
        print_note(f"dropped {len(dropped):,} subscriptions in all; {len(engine):,} are left")
    if not len(engine):
        valid = "valid " if dropped else ""
        print_note(f"{source.path} has no {valid}subscription, so nothing can match")


@contextmanager
def _results(
    chosen: Format, target: str | None, *, limit: int | None, every: bool
) -> Iterator[Results]:
    from predicast.cli.files.output import result_stream
    from predicast.cli.files.results import Cells, JsonLines, Parquet, Table

    with result_stream(target) as stream:
        results: Results
        if chosen is Format.JSONL:
            results = JsonLines(stream, limit=limit, every_event=every)
        elif chosen is Format.PARQUET:
            results = Parquet(stream, limit=limit)
        elif chosen is Format.TABLE:
            shown = stream if target else None
            results = Table(shown, limit=limit or _TABLE_EVENTS, every_event=every)
        else:
            results = Cells(stream, limit=limit, delimiter="\t" if chosen is Format.TSV else ",")
        with results:
            yield results


def _match_all(engine: Engine, reader: Reader, results: Results, *, quiet: bool) -> None:
    size = reader.source.size()
    notes: list[str] = []
    try:
        with progress("Matching events", size and size * reader.passes(), quiet=quiet) as report:
            for matches in reader.matches(engine, report, notes.append):
                stop_if_interrupted()
                results.add(matches)
                if results.full:
                    break
    finally:
        for note in (*notes, *_invalid_note(engine)):  # not before: they would spoil the bar
            print_note(note)


def _invalid_note(engine: Engine) -> Iterator[str]:
    events, values, latest = engine.invalid
    if not events:
        return
    if engine.on_invalid == "skip":
        done = "one event was skipped" if events == 1 else f"{events:,} events were skipped"
    else:
        done = "one value was" if values == 1 else f"{values:,} values of {events:,} events were"
        done += " taken for absent"
    yield f"{done}, the last for this: {latest}"
