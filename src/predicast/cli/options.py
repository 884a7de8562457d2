"""The arguments and options that several commands take."""

from __future__ import annotations

import enum
from typing import Annotated, TypeAlias

import typer


class Absence(enum.StrEnum):
    """What becomes of a constraint on an attribute that the event lacks."""

    FAILS = "fails"
    PASSES = "passes"


class OnInvalid(enum.StrEnum):
    """What becomes of a subscription that cannot be read."""

    RAISE = "raise"
    DROP = "drop"


class Format(enum.StrEnum):
    """What matches look like."""

    TABLE = "table"
    JSONL = "jsonl"
    PARQUET = "parquet"


Subscriptions: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="SUBSCRIPTIONS",
        help="A .jsonl, .csv or .parquet file with id, expression and perhaps owner; - for JSON "
        "Lines on standard input.",
    ),
]
IdField: TypeAlias = Annotated[
    str, typer.Option("--id", metavar="COL", help="The field with the subscriptions' ids.")
]
ExpressionField: TypeAlias = Annotated[
    str,
    typer.Option(
        "--expression", metavar="COL", help="The field with what the subscriptions state."
    ),
]
Absent: TypeAlias = Annotated[
    Absence,
    typer.Option("--absent", help="What a constraint does if the event lacks its attribute."),
]
