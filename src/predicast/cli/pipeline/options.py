"""What the commands have in common: the file, and the packages that they need."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

REFUSED = 2

File: TypeAlias = Annotated[
    Path, typer.Argument(metavar="FILE", help="The file that describes the pipeline.")
]
DEFAULT_FILE = Path("pipeline.toml")


def check_packages() -> None:
    """Stop with the line that installs what is missing."""
    from predicast.cli.requirements import require_extras

    require_extras("a pipeline", "spark", "table")
