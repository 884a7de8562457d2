"""The arguments and options that several of these commands take, and how a table is opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from predicast.cli.files.source import Form

if TYPE_CHECKING:
    from predicast.spark.subscription_table import SubscriptionTable

REFUSED = 2

TablePath: TypeAlias = Annotated[
    str, typer.Argument(metavar="TABLE", help="The folder of the table.")
]
Expression: TypeAlias = Annotated[
    str | None,
    typer.Argument(metavar="EXPRESSION", help="What it states.", show_default=False),
]
Owner: TypeAlias = Annotated[
    str | None,
    typer.Option("--owner", metavar="NAME", help="Whose it is.", show_default=False),
]
Parameters: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter",
        "-p",
        metavar="NAME=VALUE",
        help="The value of a :NAME in the expression: a number, true, false or text. Text that "
        "looks like one of the others goes in double quotes.",
    ),
]
FromFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="Take them from a .jsonl, .csv, .tsv, .parquet, .arrow or .yaml file with id, "
        "expression and perhaps owner and parameters; - for standard input.",
        show_default=False,
    ),
]
FileForm: TypeAlias = Annotated[
    Form | None,
    typer.Option(
        "--subscriptions-format",
        metavar="FORMAT",
        help="What FILE holds, if its suffix does not say: jsonl, csv, tsv, parquet or yaml. "
        "[default for -: jsonl]",
        show_default=False,
    ),
]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print JSON Lines, also on a terminal.")
]


def opened(path: str, *, create: bool = False) -> SubscriptionTable:
    """The table in a folder; a new one only if asked."""
    from predicast.cli.requirements import require_extras

    require_extras("a subscription table", "table")
    from predicast.spark.subscription_table import SubscriptionTable

    return SubscriptionTable(path, create=create)


def parameter_values(given: Iterable[str] | None) -> dict[str, Any] | None:
    """What ``--parameter`` says, if it was given."""
    if not given:
        return None
    from predicast.errors import PredicastError
    from predicast.language import event_from_json

    values: dict[str, Any] = {}
    for name, value in named_texts(given):
        try:
            read = dict(event_from_json(f'{{"value": {value}}}').items())
        except PredicastError:  # no JSON: text as it stands
            read = {}
        values[name] = read.get("value", value)
    return values


def check_one_way(*, alone: bool, file: str | None, what: str) -> None:
    """Refuse a subscription beside a file of them, and neither."""
    if alone == (file is not None):
        raise typer.BadParameter(
            f"give {what}, or --from FILE" + (", not both" if alone else ""), param_hint="'--from'"
        )


def named_texts(given: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names that ``--parameter`` gives values to, and the texts of these."""
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise typer.BadParameter(
                f"{each!r} is not of the form NAME=VALUE", param_hint="'--parameter'"
            )
        yield name, value
