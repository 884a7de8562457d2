"""A progress bar on standard error, so that standard output holds results only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class Bar:
    """One task of a progress bar."""

    def __init__(self, progress: Progress, title: str, total: int) -> None:
        self._progress = progress
        self._task = progress.add_task(title, total=total)
        self._started = 0

    def advance(self, steps: int = 1) -> None:
        """So many steps are done."""
        self._progress.advance(self._task, steps)

    def step(self, title: str) -> None:
        """Another step begins, and this is what it does."""
        self._progress.update(self._task, description=title, advance=self._started)
        self._started = 1


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Bar]:
    """A bar while the block runs; it hides itself when standard error is not a terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield Bar(progress, title, total)
