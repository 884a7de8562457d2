"""``predicast convert``: subscriptions of one dialect in another, where their meaning survives."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from predicast.cli.options import (
    ExpressionField,
    IdField,
    OnInvalidSubscription,
    Subscriptions,
    SubscriptionsForm,
    complete_dialect,
)
from predicast.cli.terminal import notices, print_note, progress

if TYPE_CHECKING:
    from predicast.cli.files.source import Source
    from predicast.cli.files.subscriptions import Fields, Record
    from predicast.errors import InputFileError


class RecordFormat(enum.StrEnum):
    """What subscriptions are written as."""

    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"
    ARROW = "arrow"
    YAML = "yaml"


def convert(
    subscriptions: Subscriptions,
    *,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="NAME",
            help="The dialect that they are to be in.",
            autocompletion=complete_dialect,
        ),
    ],
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="NAME",
            help="The dialect of those that name none. [default: where]",
            show_default=False,
            autocompletion=complete_dialect,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write them to this file."),
    ] = None,
    format: Annotated[
        RecordFormat | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="What they are written as: jsonl, csv, tsv, parquet, arrow or yaml. [default: "
            "what the file's suffix says; without a file, jsonl]",
            show_default=False,
        ),
    ] = None,
    subscriptions_format: SubscriptionsForm = None,
    id_field: IdField = "id",
    expression: ExpressionField = "expression",
    on_invalid: Annotated[
        OnInvalidSubscription,
        typer.Option(
            "--on-invalid",
            help="Stop at a subscription that is invalid or cannot be said in the other dialect, "
            "or drop it.",
        ),
    ] = OnInvalidSubscription.RAISE,
) -> None:
    """Write subscriptions of one dialect in another, as far as their meaning survives.

    Each keeps its id and owner. One that the other dialect has no words for is refused by name, and
    nothing is written unless those are to be dropped.
    """
    from predicast.cli.files.record_output import form_of_output, write_records
    from predicast.cli.files.subscriptions import Fields, subscriptions_in
    from predicast.language import dialect_named

    dialect_named(to)  # refused before anything is read
    target = None if output == "-" else output
    chosen = form_of_output(format, target)
    source = subscriptions_in(subscriptions, subscriptions_format, from_)
    dropped: list[InputFileError] = []
    drops = on_invalid is OnInvalidSubscription.DROP
    with progress("Converting subscriptions", source.size()) as report:
        fields = Fields(id_field, expression)
        converted = list(_converted(source, fields, to, dropped if drops else None, report))
    write_records(converted, target, chosen)
    for error in dropped:
        print_note(f"dropped {error.message}")
    if target is not None and notices().is_terminal:
        notices().print(f"{len(converted):,} subscriptions, written to {target}.", soft_wrap=True)


def _converted(
    source: Source,
    fields: Fields,
    to: str,
    dropped: list[InputFileError] | None,
    report: Callable[[int], None],
) -> Iterator[dict[str, str]]:
    """Records in the other dialect; what cannot be is dropped, or refused."""
    from predicast.cli.files.subscriptions import records, refusal
    from predicast.errors import PredicastError

    for record in records(source, fields, report):
        try:
            yield _in_dialect(record, fields, to)
        except PredicastError as error:
            why = refusal(source, record, error)
            if dropped is None:
                raise why from error
            dropped.append(why)


def _in_dialect(record: Record, fields: Fields, to: str) -> dict[str, str]:
    from predicast.cli.files.subscriptions import entry_of
    from predicast.language import dialect_named
    from predicast.language.reading import WHERE

    entry = entry_of(record, fields)
    text = entry.text
    if text is None or (entry.dialect or WHERE) != to or entry.parameters is not None:
        text = dialect_named(to).to_text(entry.subscription)
    owner = {} if entry.owner is None else {"owner": entry.owner}
    return {"id": entry.id, **owner, "dialect": to, "expression": text}
