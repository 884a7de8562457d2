"""``predicast context``: brokers by name."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from predicast.cli.remote.contexts import (
    Context,
    contexts_path,
    load_contexts,
    save_contexts,
)
from predicast.cli.terminal import output, visible

context = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Name brokers, so that commands need neither address nor token.",
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")]


@context.command()
def add(
    name: Name,
    url: Annotated[str, typer.Argument(metavar="URL", help="The broker's address.")],
    token: Annotated[
        str | None,
        typer.Option(
            "--token", metavar="TOKEN", help="What the broker knows us by; - reads it from input."
        ),
    ] = None,
) -> None:
    """Name a broker. The first one is used by commands that name none."""
    from predicast.client.addresses import websocket_url

    websocket_url(url)  # refuses what is none
    known_by = sys.stdin.readline().strip() if token == "-" else token
    path = contexts_path()
    save_contexts(path, load_contexts(path).adding(name, Context(url, known_by)))


@context.command("list")
def list_() -> None:
    """Show the brokers that have names; tokens are not shown."""
    held = load_contexts(contexts_path())
    console = output()
    for name, each in held.contexts.items():
        mark = "*" if name == held.current else " "
        has = " (with a token)" if each.token else ""
        console.print(f"{mark} {visible(name)}  {visible(each.url)}{has}", soft_wrap=True)


@context.command()
def use(name: Name) -> None:
    """Use this broker where none is named."""
    path = contexts_path()
    save_contexts(path, load_contexts(path).using(name))


@context.command()
def remove(name: Name) -> None:
    """Forget a broker, and its token."""
    path = contexts_path()
    save_contexts(path, load_contexts(path).removing(name))
