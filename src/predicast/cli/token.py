"""``predicast token``: who may use a broker that others can reach."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from predicast.cli.serve import DATA, TOKENS
from predicast.cli.terminal import notices, output, visible

if TYPE_CHECKING:
    from predicast.broker.access import TokenFile

token = typer.Typer(no_args_is_help=True, help="Make, list and remove the tokens of a broker.")

DataOption: TypeAlias = Annotated[
    Path, typer.Option("--data", metavar="FOLDER", help="The data folder of the broker.")
]
TokensOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--tokens",
        metavar="FILE",
        help="The file of tokens. [default: tokens.json in the data folder]",
        show_default=False,
    ),
]


def _file(data: Path, tokens: Path | None) -> TokenFile:
    from predicast.broker.access import TokenFile

    return TokenFile(tokens or data / TOKENS)


@token.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")],
    *,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            help="What it may do: publish, subscribe, link, or admin, which is all and more. "
            "May be given several times. [default: publish and subscribe]",
            show_default=False,
        ),
    ] = None,
    tenant: Annotated[
        str,
        typer.Option("--tenant", help="For whom; * is for all, for those who run the broker."),
    ] = "default",
    data: DataOption = DATA,
    tokens: TokensOption = None,
) -> None:
    """Make a token, and print it: it is kept nowhere, and cannot be shown again.

    A broker that runs knows it from the next request on; one that was started without any token
    has to be started anew.
    """
    made = _file(data, tokens).add(name, tenant, scope or ["publish", "subscribe"], time.time())
    if notices().is_terminal:
        notices().print("Keep it: it is not shown again.")
    typer.echo(made)


@token.command("list")
def list_tokens(*, data: DataOption = DATA, tokens: TokensOption = None) -> None:
    """Show who has a token, and for what."""
    from rich.table import Table

    table = Table("name", "tenant", "scopes", "made")
    for each in _file(data, tokens).tokens():
        made = datetime.fromtimestamp(each.created, UTC)
        table.add_row(
            visible(each.name), each.tenant, ", ".join(each.scopes), f"{made:%Y-%m-%d %H:%M}"
        )
    output().print(table)


@token.command()
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")],
    *,
    data: DataOption = DATA,
    tokens: TokensOption = None,
) -> None:
    """End a token: the next request with it is refused."""
    _file(data, tokens).remove(name)
