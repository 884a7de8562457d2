"""The commands of ``predicast pipeline``, one per file."""

from __future__ import annotations

import typer

from predicast.cli.pipeline.check import check
from predicast.cli.pipeline.init import init
from predicast.cli.pipeline.run import run

pipeline = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Deliver a stream of events to the subscriptions of a table, as a file describes it.",
)
pipeline.command()(run)
pipeline.command()(init)
pipeline.command()(check)
