"""What is sent to workers needs nothing of ours until it runs, so that it can say what is missing.

Spark unpickles a function before it calls it, and an object of our classes cannot be unpickled
where Predicast is not installed: the job would end in a bare ``ModuleNotFoundError`` that names
neither the Python at fault nor the remedy. That is the usual trap on one machine: no environment
is active, ``PYSPARK_PYTHON`` is not set, and workers run in whatever ``python3`` is. So the task
travels as bytes in a function that is pickled by value and refers to the standard library alone.

It is the worker that looks: the driver cannot know the workers' Python without reading the
session's settings, on Spark Connect not even then, and a cluster has many of them.
"""

from __future__ import annotations

import pickle
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from predicast.errors import WorkerPythonError

if TYPE_CHECKING:
    import pyarrow as pa

Task: TypeAlias = "Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]"


def python_remedy() -> str:
    """What to do about workers that run in another Python."""
    return (
        "Start Spark (with Spark Connect: its server) with "
        f"PYSPARK_PYTHON={shlex.quote(sys.executable)} in the environment, so that workers run in "
        "the driver's Python; on other machines, install predicast in the workers' Python."
    )


def portable(task: Task) -> Task:
    """The same task as a function for ``mapInArrow``.

    Where Predicast cannot be imported it raises an error that has the name and the message of
    ``WorkerPythonError``; the class itself is not at hand there.
    """
    packed = pickle.dumps(task)
    name, module = WorkerPythonError.__name__, WorkerPythonError.__module__
    driver = sys.executable
    remedy = python_remedy()

    # Nested, because Spark pickles only what no module holds by value.
    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            unpacked = pickle.loads(packed)  # noqa: S301  # our own, and Spark has unpickled us
        except ImportError as error:
            stand_in = type(name, (ImportError,), {"__module__": module})
            raise stand_in(
                f"predicast cannot be used in the Python of this Spark worker, {sys.executable}: "
                f"{error}. The driver runs in {driver}. {remedy}"
            ) from error
        result: Iterator[pa.RecordBatch] = unpacked(batches)
        return result

    return run
