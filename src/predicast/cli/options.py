"""The arguments and options that several commands take."""

from __future__ import annotations

import enum
from datetime import UTC, datetime
from typing import Annotated, Final, TypeAlias

import typer

from predicast.cli.files.source import Form


def complete_dialect(incomplete: str) -> list[str]:
    """The names of dialects that begin so, for shells."""
    from predicast.language import dialect_names

    return [name for name in dialect_names() if name.startswith(incomplete)]


def complete_matcher(incomplete: str) -> list[str]:
    """The names of matchers that begin so, for shells."""
    from predicast.matching import matcher_names

    return [name for name in matcher_names() if name.startswith(incomplete)]


# What --help shows apart from the rest.
READING: Final = "How files are read"
INVALID: Final = "What cannot be read"

EVENT_FORMS: Final = "jsonl, csv, tsv, parquet, arrow, rdf, or own for the dialect's form"


class Absence(enum.StrEnum):
    """What becomes of a constraint on an attribute that the event lacks."""

    FAILS = "fails"
    PASSES = "passes"


class OnInvalidSubscription(enum.StrEnum):
    """What becomes of a subscription that cannot be read."""

    RAISE = "raise"
    DROP = "drop"


class OnInvalid(enum.StrEnum):
    """What becomes of an event with something that cannot be compared."""

    RAISE = "raise"
    ABSENT = "absent"
    SKIP = "skip"


class Format(enum.StrEnum):
    """What matches look like."""

    TABLE = "table"
    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"
    ARROW = "arrow"


InvalidEvents: TypeAlias = Annotated[
    OnInvalid,
    typer.Option(
        "--on-invalid",
        help="Stop at an event that cannot be read, or that has an attribute which subscriptions "
        "look at and which cannot be compared; take the attribute for absent; or skip the event.",
        rich_help_panel=INVALID,
    ),
]
Subscriptions: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="SUBSCRIPTIONS",
        help="A .jsonl, .csv, .tsv, .parquet, .arrow or .yaml file with id, expression and perhaps "
        "owner and parameters; - for standard input.",
    ),
]
EventsForm: TypeAlias = Annotated[
    Form | None,
    typer.Option(
        "--events-format",
        metavar="FORMAT",
        help=f"What EVENTS holds, if its suffix does not say: {EVENT_FORMS}. "
        "[default for -: jsonl]",
        show_default=False,
        rich_help_panel=READING,
    ),
]
SubscriptionsForm: TypeAlias = Annotated[
    Form | None,
    typer.Option(
        "--subscriptions-format",
        metavar="FORMAT",
        help="What SUBSCRIPTIONS holds, if its suffix does not say: jsonl, csv, tsv, parquet, "
        "arrow, yaml, sparql, or own for the dialect's form. [default for -: jsonl]",
        show_default=False,
        rich_help_panel=READING,
    ),
]
DialectOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--dialect",
        metavar="NAME",
        help="The language of subscriptions that name none themselves, and what events are read "
        "by. SUBSCRIPTIONS may then also be a file of that language, or a folder of them. "
        "[default: where]",
        show_default=False,
        autocompletion=complete_dialect,
        rich_help_panel=READING,
    ),
]
IdField: TypeAlias = Annotated[
    str,
    typer.Option(
        "--id",
        metavar="COL",
        help="The field with the subscriptions' ids.",
        rich_help_panel=READING,
    ),
]
ExpressionField: TypeAlias = Annotated[
    str,
    typer.Option(
        "--expression",
        metavar="COL",
        help="The field with what the subscriptions state.",
        rich_help_panel=READING,
    ),
]
Now: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--now",
        metavar="TIME",
        help="When the events arrive, for subscriptions that ask now(): such as "
        "'2026-01-31 23:59:59', in UTC. [default: when the command begins; in a pipe, when they "
        "are read]",
        show_default=False,
    ),
]
Absent: TypeAlias = Annotated[
    Absence,
    typer.Option("--absent", help="What a constraint does if the event lacks its attribute."),
]


def arrival(now: str | None) -> datetime:
    """When events arrive: what ``--now`` says, or else this moment."""
    from predicast.errors import InvalidValueError
    from predicast.language import timestamp

    if now is None:
        return datetime.now(UTC)
    try:
        return timestamp(now)
    except InvalidValueError as error:
        raise typer.BadParameter(error.message, param_hint="'--now'") from None
