"""``predicast demo``: three small worlds through the Spark pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from predicast.cli.terminal import output

REFUSED = 2


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where results are written.")
    ] = Path("out"),
    scale: Annotated[
        float,
        typer.Option("--scale", min=0.001, max=100.0, metavar="X", help="How much data: 1 is all."),
    ] = 1.0,
) -> None:
    """Match a year of flights, an auction and moving objects on a local Spark.

    It needs Java 17 or 21 and the packages of the extra demo; predicast doctor says what is there.
    """
    from predicast.cli.requirements import require_extras

    require_extras("the demo", "demo")
    from predicast.demo import run_demo

    run_demo(out, console=output(markup=True), scale=scale)
