"""The commands of ``predicast subscriptions``, one per file."""

from __future__ import annotations

import typer

from predicast.cli.subscriptions.add import add
from predicast.cli.subscriptions.change import change
from predicast.cli.subscriptions.diff import diff
from predicast.cli.subscriptions.history import history
from predicast.cli.subscriptions.listing import list_
from predicast.cli.subscriptions.remove import remove

subscriptions = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Keep subscriptions in a Delta Lake table: change it, and look at its versions.",
)
subscriptions.command()(add)
subscriptions.command()(change)
subscriptions.command()(remove)
subscriptions.command("list")(list_)
subscriptions.command()(history)
subscriptions.command()(diff)
