"""What the commands have in common: the file, and the packages that they need."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from predicast.cli.terminal import print_error

REFUSED = 2

File: TypeAlias = Annotated[
    Path, typer.Argument(metavar="FILE", help="The file that describes the pipeline.")
]
DEFAULT_FILE = Path("pipeline.toml")


def check_packages() -> None:
    """Stop with the line that installs what is missing."""
    from predicast.cli.requirements import install_line, unmet

    missing = [*unmet("spark"), *unmet("table")]
    if missing:
        line = install_line(*missing)
        print_error(f"a pipeline needs {', '.join(missing)}; this installs them:\n  {line}")
        raise typer.Exit(REFUSED)
