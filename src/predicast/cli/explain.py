"""``predicast explain``: why a subscription matches an event, or why not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from predicast.cli.options import (
    Absence,
    Absent,
    ExpressionField,
    IdField,
    Now,
    Subscriptions,
    SubscriptionsForm,
    arrival,
)
from predicast.cli.terminal import output, visible

if TYPE_CHECKING:
    from predicast import Event
    from predicast.engine.explanation import Explanation
    from predicast.model import Interval, Value

NOT_MATCHED: Final = 1


def explain(
    subscriptions: Subscriptions,
    id: Annotated[str, typer.Argument(metavar="ID", help="The subscription's id.")],
    event: Annotated[
        str,
        typer.Argument(
            metavar="EVENT", help="The event as JSON; @FILE, or - for standard input, to read it."
        ),
    ],
    subscriptions_format: SubscriptionsForm = None,
    id_field: IdField = "id",
    expression: ExpressionField = "expression",
    absent: Absent = Absence.FAILS,
    now: Now = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Say why a subscription matches an event, or why not, constraint by constraint.

    The exit code is 0 if it matches and 1 if it does not.
    """
    from predicast.cli.files.source import Source
    from predicast.cli.files.subscriptions import Fields, find
    from predicast.engine.asking import reader_for
    from predicast.engine.explanation import explain as explain_match
    from predicast.language import attributes_from_json

    if subscriptions == event == "-":
        raise typer.BadParameter("only one of the two can be standard input", param_hint="'EVENT'")
    where, text = _given(event)
    with _named(where):
        attributes = attributes_from_json(text)
    source = Source.of(subscriptions, subscriptions_format)
    subscription = find(source, Fields(id_field, expression), id)
    with _named(where):
        read = reader_for(subscription).event(attributes)
    explanation = explain_match(id, subscription, read, absent.value, arrival(now))
    if as_json:
        typer.echo(_json(explanation, read))
    else:
        _print_table(explanation)
    if not explanation.matched:
        raise typer.Exit(NOT_MATCHED)


def _given(argument: str) -> tuple[str, str | bytes]:
    """Where the event comes from, and its text."""
    from predicast.cli.files.source import Form, Source

    if argument != "-" and not argument.startswith("@"):
        return "the event", argument
    source = Source.of("-") if argument == "-" else Source(argument[1:], Form.JSON_LINES)
    with source.opened() as opened:
        return source.path, opened.stream.read()


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Errors say what is wrong, and this where."""
    from predicast.errors import InputFileError, PredicastError

    try:
        yield
    except PredicastError as error:
        raise InputFileError(f"{where}: {error.message}", path=where) from error


def _json(explanation: Explanation, event: Event) -> str:
    import msgspec

    from predicast.language import event_to_json

    # The JSON form of values, timestamps and intervals included.
    values: dict[str, Any] = msgspec.json.decode(event_to_json(event))
    document = {
        "id": explanation.id,
        "matched": explanation.matched,
        "clauses": [
            {
                "matched": clause.matched,
                "constraints": [
                    {
                        "constraint": outcome.text,
                        "attribute": outcome.constraint.attribute,
                        "value": values.get(outcome.constraint.attribute),
                        "held": outcome.held,
                        "reason": outcome.reason,
                    }
                    for outcome in clause.constraints
                ],
            }
            for clause in explanation.clauses
        ],
    }
    return msgspec.json.encode(document).decode()


def _print_table(explanation: Explanation) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    console = output()
    several = len(explanation.clauses) > 1
    table = Table(box=box.SIMPLE_HEAD)
    for title in (*(["clause"] if several else []), "constraint", "value seen", "held", "reason"):
        table.add_column(title, overflow="fold")
    for number, clause in enumerate(explanation.clauses, 1):
        if number > 1:
            table.add_section()
        rows = [
            (visible(o.text), _seen(o.value), o.held, visible(o.reason or ""))
            for o in clause.constraints
        ]
        for constraint, seen, held, reason in rows or [("TRUE", "", True, "")]:
            mark = Text("✓", "green") if held else Text("✗", "red")
            table.add_row(*([str(number)] if several else []), constraint, seen, mark, reason)
    if explanation.clauses:
        console.print(table)
    else:
        console.print("The subscription states nothing that an event could satisfy.")
    if explanation.now is not None:
        from predicast.model.values import show

        console.print(f"now() was {show(explanation.now)}", soft_wrap=True)
    verdict = "matches" if explanation.matched else "does not match"
    console.print(f"{visible(explanation.id)} {verdict} the event.", soft_wrap=True)


def _seen(value: Value | Interval | None) -> str:
    from predicast.model.values import show

    if value is None:
        return "absent"
    return visible(show(value))
