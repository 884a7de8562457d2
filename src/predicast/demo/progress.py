"""How far the demo is: one bar for all of it, one for the stage at hand. Nothing off a terminal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Advance: TypeAlias = Callable[[float], None]
"""Say what part of the stage is done, from 0 to 1."""

_POLL_S: Final = 0.2


class Stages:
    """The bars. A stage weighs what it takes of the whole, in any unit."""

    def __init__(self, console: Console, weight: float) -> None:
        shown = console.is_terminal and not console.is_dumb_terminal
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not shown,
        )
        self._overall = self._progress.add_task("Demo", total=weight)
        self._done = 0.0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    @contextmanager
    def stage(self, title: str, weight: float) -> Iterator[Advance]:
        """Show a stage while the block runs."""
        task = self._progress.add_task(f"  {title}", total=None)

        def advance(part: float) -> None:
            self._progress.update(task, total=1, completed=part)
            self._progress.update(self._overall, completed=self._done + weight * part)

        yield advance
        self._done += weight
        self._progress.update(self._overall, completed=self._done)
        self._progress.remove_task(task)


@contextmanager
def following_tasks(session: SparkSession, advance: Advance) -> Iterator[None]:
    """Advance with the tasks of the Spark job that the block runs, where Spark tells."""
    tracker = _tracker(session)
    if tracker is None:
        yield
        return
    finished = threading.Event()

    def follow() -> None:
        while not finished.wait(_POLL_S):
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if info is not None and info.numTasks:
                    advance(info.numCompletedTasks / info.numTasks)

    thread = threading.Thread(target=follow, name="predicast-demo-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join()


def _tracker(session: SparkSession) -> Any:
    """Spark's status tracker; Spark Connect has none."""
    from pyspark.sql.utils import is_remote

    return None if is_remote() else session.sparkContext.statusTracker()
