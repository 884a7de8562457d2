"""What the benchmarks' commands share: options, names to choose from, how they fail."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated

import typer

Out = Annotated[Path, typer.Option(help="Where results are written.")]
Docs = Annotated[
    Path | None, typer.Option(help="The pages' folder; figures and verdicts go to measured/.")
]


def chosen_of(what: str, names: Sequence[str] | None, known: Collection[str]) -> list[str]:
    """What was named, each once, or all there is."""
    chosen = list(dict.fromkeys(names or known))
    for unknown in [name for name in chosen if name not in known]:
        listed = ", ".join(known)
        raise typer.BadParameter(f"there is no {what} {unknown!r}; known: {listed}")
    return chosen


def fail_on(what: str, found: Sequence[str]) -> None:
    """Say what must not be, and end with an error if there is any of it."""
    for each in found:
        print(f"{what}: {each}")
    if found:
        raise typer.Exit(1)
