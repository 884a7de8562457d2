"""``predicast pipeline check``: what would go wrong, before it does."""

from __future__ import annotations

from typing import Annotated

import typer

from predicast.cli.pipeline.figures import shortened
from predicast.cli.pipeline.options import DEFAULT_FILE, File, check_packages
from predicast.cli.terminal import output, print_note, visible

_SHOWN = 10


def check(
    file: File = DEFAULT_FILE,
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Look at the file and the table only, without Spark.")
    ] = False,
) -> None:
    """Check the file, the table, and that subscriptions go with the events.

    The exit code is 1 if some subscriptions do not: they look at columns that events lack, or
    compare one with what it never holds.
    """
    check_packages()
    from predicast.spark.pipeline.running import Pipeline

    pipeline = Pipeline(file)
    console = output()
    if quick:
        console.print(f"{file} is in order; the table is at version {pipeline.table.version}.")
        return
    with pipeline.session() as session:
        found = pipeline.check(session)
    console.print(f"Events have the columns {visible(', '.join(found.columns))}.", soft_wrap=True)
    console.print(
        f"{found.subscriptions:,} subscriptions of version {found.version} go with them.",
        soft_wrap=True,
    )
    if found.dearest:
        told = shortened([each.id for each in found.dearest])
        console.print(
            f"{len(found.dearest):,} of them are tested with every event: {told}; the first: "
            f"{found.dearest[0].why}.",
            soft_wrap=True,
        )
    if not found.unfit:
        return
    for each in found.unfit[:_SHOWN]:
        print_note(f"subscription {each.id!r}: {each.error}")
    policy = pipeline.file.settings.stream.on_invalid_subscription
    fate = (
        "are left out"
        if policy == "quarantine"
        else "stop the stream (columns that events lack) or match nothing"
    )
    print_note(f"{len(found.unfit):,} subscriptions do not go with the events, and {fate}")
    raise typer.Exit(1)
