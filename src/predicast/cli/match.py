"""``predicast match``: which subscriptions does each event of a file match?"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from predicast.cli.files.source import Form
from predicast.cli.graphs import (
    GraphColumn,
    GraphOptions,
    Graphs,
    Ontologies,
    RdfFormatOption,
    Validate,
    ValidateOption,
    pattern_source,
    refuse_flat_options,
)
from predicast.cli.inputs import Inputs
from predicast.cli.interrupts import stop_if_interrupted
from predicast.cli.options import (
    INVALID,
    READING,
    Absence,
    Absent,
    DialectOption,
    EventsForm,
    ExpressionField,
    Format,
    IdField,
    InvalidEvents,
    Now,
    OnInvalid,
    OnInvalidSubscription,
    SubscriptionsForm,
    arrival,
    complete_matcher,
)
from predicast.cli.runs import FlatRun, Run
from predicast.cli.terminal import notices, print_note, progress
from predicast.matching import DEFAULT

if TYPE_CHECKING:
    from predicast.cli.files.about import About
    from predicast.cli.files.csv_types import CsvType
    from predicast.cli.files.results import Results
    from predicast.cli.files.source import Source
    from predicast.cli.files.stated_values import StatedValues
    from predicast.cli.files.subscriptions import Fields

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
    ".arrow": Format.ARROW,
    ".ipc": Format.ARROW,
    ".feather": Format.ARROW,
    ".txt": Format.TABLE,
}


def match(  # noqa: PLR0913  # an option is a parameter
    subscriptions: Annotated[
        str | None,
        typer.Argument(
            metavar="SUBSCRIPTIONS",
            help="A .jsonl, .csv, .tsv, .parquet, .arrow or .yaml file with id, expression and "
            "perhaps owner, parameters and dialect, or .rq for graphs; - for standard input.",
            show_default=False,
        ),
    ] = None,
    events: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="EVENTS",
            help="A .jsonl, .csv, .tsv, .parquet or .arrow file; for graphs any number of files "
            "and folders, also of RDF; - for standard input.",
            show_default=False,
        ),
    ] = None,
    *,
    subscriptions_file: Annotated[
        str | None,
        typer.Option("--subscriptions", metavar="FILE", help="SUBSCRIPTIONS, by name."),
    ] = None,
    events_files: Annotated[
        list[str] | None,
        typer.Option("--events", metavar="FILE", help="EVENTS, by name."),
    ] = None,
    events_format: EventsForm = None,
    subscriptions_format: SubscriptionsForm = None,
    delimiter: Annotated[
        str | None,
        typer.Option(
            "--delimiter",
            metavar="CHAR",
            help="What separates the cells of a CSV file of events. [default: found in the first "
            "line: a comma, a semicolon, a tab or a vertical bar]",
            show_default=False,
            rich_help_panel=READING,
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
            metavar="FORMAT",
            help="What the matches look like: table, jsonl, csv, tsv, parquet or arrow. [default: "
            "what the file's suffix says; without a file, a table on a terminal and jsonl in a "
            "pipe]",
            show_default=False,
        ),
    ] = None,
    dialect: DialectOption = None,
    id: IdField = "id",
    expression: ExpressionField = "expression",
    absent: Absent = Absence.FAILS,
    now: Now = None,
    matcher: Annotated[
        str | None,
        typer.Option(
            "--matcher",
            metavar="NAME",
            help=f"The matching algorithm. [default: {DEFAULT}; graphs have others]",
            show_default=False,
            autocompletion=complete_matcher,
        ),
    ] = None,
    on_invalid: InvalidEvents = OnInvalid.RAISE,
    on_invalid_subscription: Annotated[
        OnInvalidSubscription,
        typer.Option(
            "--on-invalid-subscription",
            help="Stop at a subscription that is invalid, or drop it.",
            rich_help_panel=INVALID,
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
            rich_help_panel=READING,
        ),
    ] = None,
    null: Annotated[
        list[str] | None,
        typer.Option(
            "--null",
            metavar="TEXT",
            help="A string that stands for no value in events, as NA may.",
            rich_help_panel=READING,
        ),
    ] = None,
    ontology: Ontologies = None,
    graphs: Graphs = False,
    rdf_format: RdfFormatOption = None,
    column: GraphColumn = "graph",
    validate: ValidateOption = Validate.OFF,
) -> None:
    """Find the subscriptions that each event of a file matches.

    For example: predicast match subscriptions.csv events.jsonl

    Events are numbered from 0. In JSON Lines an event that matches something is {"event": 0,
    "subscriptions": ["a", "b"]}, and what subscriptions of a dialect say of themselves, such as a
    title, is under "about"; in CSV, Parquet and Arrow each match is a row of event and
    subscription.

    Events that are graphs come as RDF, with subscriptions in SPARQL: predicast match
    subscriptions.rq events.ttl --ontology shop.ttl. For other events an ontology says which
    classes IS A is about, and which attributes give a property.
    """
    from predicast.cli.files.about import About
    from predicast.cli.files.events import Reader
    from predicast.cli.files.subscriptions import Fields, subscriptions_in
    from predicast.engine import Engine

    target = None if output == "-" else output
    chosen = _format(format, target, every=every)
    inputs = Inputs.of(subscriptions, events, subscriptions_file, events_files)
    _check_paths(inputs, target)
    options = GraphOptions.of(ontology, graphs, rdf_format, validate, column)
    run: Run
    if options.are_meant(
        inputs.subscriptions, subscriptions_format, inputs.events, events_format, dialect
    ):
        refuse_flat_options(
            absent=absent is not Absence.FAILS,
            now=now is not None,
            type=bool(type),
            null=bool(null),
            delimiter=delimiter is not None,
            on_invalid=on_invalid is OnInvalid.ABSENT,
            dialect=dialect is not None,
        )
        source = pattern_source(inputs.subscriptions, subscriptions_format)
        skips = on_invalid is OnInvalid.SKIP
        run = options.run(inputs.events, events_format, matcher, skips=skips)
    else:
        source = subscriptions_in(inputs.subscriptions, subscriptions_format, dialect)
        stated = _stated(type or (), null or ())
        events_source = _flat_source(inputs.events, events_format, delimiter, dialect)
        run = FlatRun(
            Engine(
                matcher=matcher or DEFAULT,
                absent=absent.value,
                on_invalid=on_invalid.value,
                ontology=options.vocabulary(),
            ),
            Reader(
                source=events_source,
                whole=chosen is Format.TABLE,
                now=None if now is None and events_source.is_live else arrival(now),
                stated=stated,
            ),
        )
    drops = on_invalid_subscription is OnInvalidSubscription.DROP
    _load(run, source, Fields(id, expression), drop=drops)
    about = About(run.engine)
    with _results(chosen, target, about, limit=limit, every=every) as results:
        # A bar and lines on one screen would spoil each other.
        quiet = target is None and chosen is not Format.TABLE and sys.stdout.isatty()
        _match_all(run, results, quiet=quiet)
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
    of_columns = chosen in {Format.PARQUET, Format.ARROW}
    if of_columns and target is None and sys.stdout.isatty():
        raise typer.BadParameter(
            f"{chosen} is not for a terminal; say --output FILE", param_hint="'--format'"
        )
    if chosen not in {Format.TABLE, Format.JSONL} and every:
        raise typer.BadParameter(
            f"{chosen} has a row per match, none for an event without", param_hint="'--all'"
        )
    return chosen


def _check_paths(inputs: Inputs, target: str | None) -> None:
    paths = [inputs.subscriptions, *inputs.events]
    if paths.count("-") > 1:
        raise typer.BadParameter("only one of the two can be standard input", param_hint="'EVENTS'")
    if target is None or not Path(target).is_file():
        return
    for path in paths:
        if Path(path).is_file() and Path(path).samefile(target):
            raise typer.BadParameter(f"{target} is the input", param_hint="'--output'")


def _flat_source(
    events: list[str], stated: Form | None, delimiter: str | None, dialect: str | None
) -> Source:
    from predicast.cli.files.dialect_files import event_forms_with
    from predicast.cli.files.source import FORMS, Source

    if len(events) > 1:
        raise typer.BadParameter(
            f"events of attributes come from one file, and these are {len(events)}; only graphs "
            "may come from several: if they are some, say --graphs",
            param_hint="'EVENTS'",
        )
    source = Source.of(
        events[0],
        stated,
        delimiter=_delimiter(delimiter),
        known=event_forms_with(dialect, FORMS),
        dialect=dialect,
    )
    if delimiter is not None and source.form is not Form.CSV:
        raise typer.BadParameter(
            f"it is for CSV; {source.path} is read as {source.form}", param_hint="'--delimiter'"
        )
    return source


def _stated(types: Iterable[str], nulls: Iterable[str]) -> StatedValues:
    from predicast.cli.files.stated_values import StatedValues

    return StatedValues(types=dict(map(_type, types)), nulls=tuple(nulls))


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


def _load(run: Run, source: Source, fields: Fields, *, drop: bool) -> None:
    from predicast.cli.files.subscriptions import load

    with progress("Reading subscriptions", source.size()) as report:
        dropped = load(
            run.engine, source, fields, read=run.read(), drop_invalid=drop, report=report
        )
    for error in dropped[:_SHOWN_DROPPED]:
        print_note(f"dropped {error.message}")
    if len(dropped) > _SHOWN_DROPPED:
        print_note(f"dropped {len(dropped):,} subscriptions in all; {len(run.engine):,} are left")
    if not len(run.engine):
        valid = "valid " if dropped else ""
        print_note(f"{source.path} has no {valid}subscription, so nothing can match")


@contextmanager
def _results(
    chosen: Format, target: str | None, about: About, *, limit: int | None, every: bool
) -> Iterator[Results]:
    from predicast.cli.files.output import result_stream
    from predicast.cli.files.results import Cells, JsonLines, PairColumns, Table

    with result_stream(target) as stream:
        results: Results
        if chosen is Format.JSONL:
            results = JsonLines(stream, about, limit=limit, every_event=every)
        elif chosen in {Format.PARQUET, Format.ARROW}:
            is_parquet = chosen is Format.PARQUET
            results = PairColumns(stream, limit=limit, as_parquet=is_parquet)
        elif chosen is Format.TABLE:
            shown = stream if target else None
            results = Table(shown, about, limit=limit or _TABLE_EVENTS, every_event=every)
        else:
            results = Cells(stream, limit=limit, delimiter="\t" if chosen is Format.TSV else ",")
        with results:
            yield results


def _match_all(run: Run, results: Results, *, quiet: bool) -> None:
    notes: list[str] = []
    try:
        with progress("Matching events", run.size(), quiet=quiet) as report:
            for matches in run.matches(report, notes.append):
                stop_if_interrupted()
                results.add(matches)
                if results.full:
                    break
    finally:
        for note in (*notes, *run.notes()):  # not before: they would spoil the bar
            print_note(note)
