"""``predicast pipeline run``: a stream, and a table that shows how it fares."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from predicast.cli.interrupts import stop_if_interrupted
from predicast.cli.pipeline.options import DEFAULT_FILE, File, check_packages
from predicast.cli.terminal import notices, output

if TYPE_CHECKING:
    from rich.table import Table

    from predicast.spark.delivery.running import RunningDelivery
    from predicast.spark.pipeline.running import Pipeline

_LOOK_S: Final = 0.5


def run(
    file: File = DEFAULT_FILE,
    *,
    until_done: Annotated[
        bool,
        typer.Option("--until-done", help="End when all that there is now has been delivered."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no table meanwhile.")] = False,
) -> None:
    """Deliver until stopped with Ctrl-C; started again, it goes on where it was."""
    check_packages()
    from predicast.cli.pipeline.figures import summary
    from predicast.spark.pipeline.running import Pipeline

    pipeline = Pipeline(file)
    with pipeline.session() as session:
        delivery = pipeline.start(session, until_done=until_done)
        try:
            _follow(pipeline, delivery, quiet=quiet)
        finally:
            delivery.stop()
        output().print(summary(delivery.progress()), soft_wrap=True)


def _follow(pipeline: Pipeline, delivery: RunningDelivery, *, quiet: bool) -> None:
    """Wait for the end, and show the figures if somebody is looking."""
    console = notices()
    if quiet or not sys.stderr.isatty() or console.is_dumb_terminal:
        while not delivery.wait(_LOOK_S):
            stop_if_interrupted()
        return
    from rich.live import Live

    with Live(_table(pipeline, delivery), console=console, auto_refresh=False) as live:
        while not delivery.wait(_LOOK_S):
            live.update(_table(pipeline, delivery), refresh=True)
            stop_if_interrupted()
        live.update(_table(pipeline, delivery), refresh=True)


def _table(pipeline: Pipeline, delivery: RunningDelivery) -> Table:
    """How the stream fares now."""
    from predicast.cli.pipeline.figures import figures

    progress = delivery.progress()
    version = progress.version
    dearest = [] if version is None else [each.id for each in pipeline.dearest(version)]
    return figures(progress, dearest)
