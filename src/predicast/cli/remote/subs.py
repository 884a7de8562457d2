"""``predicast subs``: the subscriptions of a running broker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer

from predicast.cli.remote.reaching import (
    ContextName,
    DialectName,
    Server,
    Token,
    reached,
    wire_parameters,
)
from predicast.cli.subscriptions.options import AsJson, Expression, Owner, Parameters
from predicast.cli.terminal import output, visible

if TYPE_CHECKING:
    from predicast.client import SyncClient
    from predicast.protocol.records import Definition

_PAGE: Final = 1000

subs = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Look at and change the subscriptions of a running broker.",
)

Id = Annotated[str, typer.Argument(metavar="ID", help="Its id.")]
Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Their ids.")]


def all_definitions(
    client: SyncClient, owner: str | None = None, text: str | None = None
) -> Iterator[Definition]:
    """Page by page, by id."""
    after = None
    while page := client.definitions(owner=owner, text=text, after=after, most=_PAGE):
        yield from page
        after = page[-1].id


@subs.command("list")
def list_(
    *,
    owner: Owner = None,
    text: Annotated[
        str | None,
        typer.Option("--text", metavar="TEXT", help="Those with it in the id or expression."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most so many.")] = 100,
    as_json: AsJson = False,
    server: Server = None,
    token: Token = None,
    context: ContextName = None,
) -> None:
    """List subscriptions by id."""
    from itertools import islice

    with reached(server, token, context) as client:
        found = list(islice(all_definitions(client, owner, text), limit))
    if as_json:
        import msgspec

        for each in found:
            typer.echo(msgspec.json.encode(each).decode())
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("id", "expression", "owner", "served"):
        table.add_column(column, overflow="fold")
    for each in found:
        table.add_row(
            visible(each.id), visible(each.expression), visible(each.owner or ""), _served(each)
        )
    output().print(table)


def _served(definition: Definition) -> str:
    settings = definition.settings
    words = ["durable" if settings.durable else "ephemeral"]
    if settings.paused:
        words.append("paused")
    if settings.sink is not None:
        words.append("webhook")
    return ", ".join(words)


@subs.command()
def add(
    id: Id,
    expression: Annotated[str, typer.Argument(metavar="EXPRESSION", help="What it states.")],
    *,
    owner: Owner = None,
    parameter: Parameters = None,
    dialect: DialectName = "where",
    server: Server = None,
    token: Token = None,
    context: ContextName = None,
) -> None:
    """Add a durable subscription: what it matches waits for whoever consumes it."""
    from predicast.protocol.records import Definition, Put

    definition = Definition(id, expression, dialect, wire_parameters(parameter), owner)
    with reached(server, token, context) as client:
        client.apply([Put(definition)])


@subs.command()
def change(
    id: Id,
    expression: Expression = None,
    *,
    owner: Owner = None,
    parameter: Parameters = None,
    server: Server = None,
    token: Token = None,
    context: ContextName = None,
) -> None:
    """Change what is given of a subscription; parameters alone are changed in place."""
    with reached(server, token, context) as client:
        client.change(id, expression, owner=owner, parameters=wire_parameters(parameter))


@subs.command()
def pause(
    ids: Ids, *, server: Server = None, token: Token = None, context: ContextName = None
) -> None:
    """Deliver nothing for now; what matches is kept."""
    _set_paused(ids, True, server, token, context)


@subs.command()
def resume(
    ids: Ids, *, server: Server = None, token: Token = None, context: ContextName = None
) -> None:
    """Deliver again, beginning with what was kept."""
    _set_paused(ids, False, server, token, context)


def _set_paused(
    ids: list[str], paused: bool, server: str | None, token: str | None, context: str | None
) -> None:
    import msgspec

    with reached(server, token, context) as client:
        for id in ids:
            settings = client.definition(id).settings
            client.change(id, settings=msgspec.structs.replace(settings, paused=paused))


@subs.command()
def remove(
    ids: Ids, *, server: Server = None, token: Token = None, context: ContextName = None
) -> None:
    """End subscriptions, all of these or none, and what waits for them."""
    from predicast.protocol.records import Remove

    with reached(server, token, context) as client:
        client.apply([Remove(id) for id in ids])
