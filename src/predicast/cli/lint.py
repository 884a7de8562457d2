"""``predicast lint``: what looks wrong with the subscriptions of a file."""

from __future__ import annotations

import enum
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from predicast.cli.files.source import Form
from predicast.cli.graphs import GraphOptions, Ontologies, Validate
from predicast.cli.options import (
    EVENT_FORMS,
    READING,
    Absence,
    Absent,
    DialectOption,
    ExpressionField,
    IdField,
    Subscriptions,
    SubscriptionsForm,
)
from predicast.cli.terminal import output, print_note, progress, visible

if TYPE_CHECKING:
    from predicast.cli.files.source import Source
    from predicast.cli.files.subscriptions import Record
    from predicast.engine import Engine
    from predicast.engine.lint import Finding
    from predicast.errors import InputFileError

FOUND: Final = 1
_COLOURS: Final = {"error": "bold red", "warning": "yellow", "note": "cyan"}


class FailOn(enum.StrEnum):
    """From which severity on findings make the exit code 1."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    NEVER = "never"


class Placed(NamedTuple):
    """A finding, and the file and line that it is about."""

    finding: Finding
    path: str
    line: int


def lint(  # noqa: PLR0913  # an option is a parameter
    subscriptions: Subscriptions,
    *,
    events: Annotated[
        str | None,
        typer.Option(
            "--events",
            metavar="FILE",
            help="A sample of events, .jsonl, .csv, .tsv, .parquet or .arrow: attributes that it "
            "lacks and values of another kind are found by it.",
            show_default=False,
        ),
    ] = None,
    events_format: Annotated[
        Form | None,
        typer.Option(
            "--events-format",
            metavar="FORMAT",
            help=f"What the sample holds, if its suffix does not say: {EVENT_FORMS}.",
            show_default=False,
            rich_help_panel=READING,
        ),
    ] = None,
    sample: Annotated[
        int,
        typer.Option("--sample", min=1, metavar="N", help="Look at the first N events only."),
    ] = 10_000,
    check: Annotated[
        list[str] | None,
        typer.Option(
            "--check",
            metavar="NAME",
            help="Make this check only: never-true, dead-part, always-true, duplicate, covered, "
            "unknown-attribute, other-kind or costly; may be given several times.",
        ),
    ] = None,
    across_owners: Annotated[
        bool,
        typer.Option(
            "--across-owners", help="Compare subscriptions with those of other owners, too."
        ),
    ] = False,
    fail_on: Annotated[
        FailOn,
        typer.Option("--fail-on", help="From which severity on the exit code is 1."),
    ] = FailOn.WARNING,
    subscriptions_format: SubscriptionsForm = None,
    dialect: DialectOption = None,
    id: IdField = "id",
    expression: ExpressionField = "expression",
    absent: Absent = Absence.FAILS,
    ontology: Ontologies = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of a table.")
    ] = False,
) -> None:
    """Say what looks wrong with subscriptions, and what would be right.

    What is never true or always; what says the same as another or less; names and kinds of values
    that do not go with a sample of events; what has to be tested with every event. All that cannot
    be read is listed, too.
    """
    from predicast.cli.files.events import events_in
    from predicast.cli.files.subscriptions import Fields, load, subscriptions_in
    from predicast.engine import Engine
    from predicast.engine.lint.linting import checked_checks

    if subscriptions == events == "-":
        raise typer.BadParameter(
            "only one of the two can be standard input", param_hint="'--events'"
        )
    asked = sorted(checked_checks(check or None))
    vocabulary = GraphOptions.of(ontology, False, None, Validate.OFF).vocabulary()
    source = subscriptions_in(subscriptions, subscriptions_format, dialect)
    engine = Engine(absent=absent.value, ontology=vocabulary)
    records: dict[str, Record] = {}
    with progress("Reading subscriptions", source.size()) as report:
        invalid = load(
            engine,
            source,
            Fields(id, expression),
            drop_invalid=True,
            report=report,
            seen=records,
        )
    history = None if events is None else events_in(events, events_format, dialect)
    seen = None if history is None else _sample(engine, history, sample)
    with progress("Checking subscriptions", None):
        found = engine.lint(seen, checks=asked, across_owners=across_owners)
    places = _Places(source, records)
    placed = [*map(places.invalid, invalid), *map(places.placed, found)]
    placed.sort(key=lambda each: (each.path, each.line))
    count = len(engine) + len(invalid)
    if as_json:
        typer.echo(_json(engine, placed, count))
    else:
        _print_table(source, placed, count)
    if not count:
        print_note(f"{source.path} has no subscription")
    failing = list(_COLOURS)[: list(FailOn).index(fail_on) + 1] if fail_on != "never" else []
    if any(each.finding.severity in failing for each in placed):
        raise typer.Exit(FOUND)


def _sample(engine: Engine, source: Source, most: int) -> list[dict[str, object]]:
    from predicast.cli.files.events import Reader

    with progress("Reading events", None):
        found = Reader(source=source).sample(engine, most)
    if not found:
        raise source.refuse("has no events to compare with")
    return found


class _Places:
    """Where subscriptions stand, by their ids, and which one stands where."""

    def __init__(self, source: Source, records: dict[str, Record]) -> None:
        self._source = source
        self._of = {id: ((each.file or source).path, each.line) for id, each in records.items()}
        self._sorted = sorted((place, id) for id, place in self._of.items())

    def placed(self, finding: Finding) -> Placed:
        return Placed(finding, *self._of[finding.id])

    def invalid(self, error: InputFileError) -> Placed:
        """A subscription that cannot be read, as a finding."""
        from predicast.engine.lint import Check, Finding

        path, line = error.path or self._source.path, error.line or 0
        # The line of a text may be some lines below that of its id.
        after = bisect_right(self._sorted, (path, line), key=lambda each: each[0])
        (before, _), id = self._sorted[after - 1] if after else (("", 0), "")
        id = id if before == path else ""
        message = error.message.removeprefix(f"{path}, {self._source.counted} {line}: ")
        message = message.removeprefix(f"subscription {id!r}: ")
        return Placed(Finding(id, Check.INVALID, message, ""), path, line)


def _print_table(source: Source, placed: Sequence[Placed], count: int) -> None:
    from rich import box
    from rich.table import Column, Table
    from rich.text import Text

    console = output()
    if placed:
        several = {each.path for each in placed} != {source.path}
        table = Table(
            *([Column("file", overflow="fold")] if several else []),
            Column(source.counted, justify="right"),
            Column("subscription", overflow="fold"),
            Column("finding", no_wrap=True),
            Column("what, and what would be right", overflow="fold", ratio=1),
            box=box.SIMPLE_HEAD,
            expand=True,
        )
        for finding, path, line in placed:
            said = "\n".join(map(visible, finding.message.split("\n")))
            said += f"; {visible(finding.advice)}" if finding.advice else ""
            table.add_row(
                *([visible(path)] if several else []),
                str(line),
                visible(finding.id),
                Text(finding.check, _COLOURS[finding.severity]),
                said,
            )
        console.print(table)
    console.print(f"{_summary(placed, count)}.", soft_wrap=True)


def _summary(placed: Sequence[Placed], count: int) -> str:
    severities = Counter(each.finding.severity.value for each in placed)
    found = [
        f"{severities[each]:,} {each}{'' if severities[each] == 1 else 's'}"
        for each in _COLOURS
        if severities[each]
    ]
    subscriptions = "1 subscription" if count == 1 else f"{count:,} subscriptions"
    return f"{subscriptions}: {', '.join(found) or 'nothing found'}"


def _json(engine: Engine, placed: Sequence[Placed], count: int) -> str:
    import msgspec

    from predicast.engine.lint.costs import cost_of

    costs = {
        entry.id: cost_of(entry.subscription, engine.absent).cost
        for entry in engine.subscriptions()
    }
    findings = [
        {
            "file": path,
            "line": line,
            "id": finding.id,
            "check": finding.check,
            "severity": finding.severity,
            "message": finding.message,
            "advice": finding.advice,
            "other": finding.other,
            "attribute": finding.attribute,
        }
        for finding, path, line in placed
    ]
    document = {"subscriptions": count, "findings": findings, "costs": costs}
    return msgspec.json.encode(document).decode()
