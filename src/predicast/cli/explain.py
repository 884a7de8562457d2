"""``predicast explain``: why a subscription matches an event, or why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from predicast.cli.options import (
    Absence,
    Absent,
    ExpressionField,
    IdField,
    Subscriptions,
    SubscriptionsForm,
)
from predicast.cli.terminal import output, visible

if TYPE_CHECKING:
    from predicast import Event
    from predicast.engine.explanation import Explanation
    from predicast.model import Held

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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Say why a subscription matches an event, or why not, constraint by constraint.

    The exit code is 0 if it matches and 1 if it does not.
    """
    from predicast.cli.files.source import Source
    from predicast.cli.files.subscriptions import Fields, find
    from predicast.engine.explanation import explain as explain_match

    if subscriptions == event == "-":
        raise typer.BadParameter("only one of the two can be standard input", param_hint="'EVENT'")
    read = _event(event)
    source = Source.of(subscriptions, subscriptions_format)
    subscription = find(source, Fields(id_field, expression), id)
    explanation = explain_match(id, subscription, read, absent.value)
    if as_json:
        typer.echo(_json(explanation, read))
    else:
        _print_table(explanation)
    if not explanation.matched:
        raise typer.Exit(NOT_MATCHED)


def _event(argument: str) -> Event:
    from predicast.cli.files.source import Form, Source
    from predicast.errors import InputFileError, PredicastError
    from predicast.language import event_from_json

    text: str | bytes = argument
    where = "the event"
    if argument == "-" or argument.startswith("@"):
        source = Source.of("-") if argument == "-" else Source(argument[1:], Form.JSON_LINES)
        where = source.path
        with source.opened() as opened:
            text = opened.stream.read()
    try:
        return event_from_json(text)
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
    verdict = "matches" if explanation.matched else "does not match"
    console.print(f"{visible(explanation.id)} {verdict} the event.", soft_wrap=True)


def _seen(value: Held | None) -> str:
    from predicast.model.values import show

    if value is None:
        return "absent"
    return visible(show(value))
