"""One way of taking a time, for every benchmark.

Times are processor time of this process: everything measured runs in one thread and waits for
nothing, and so the result is that of an idle machine even while the machine does other things. The
garbage collector is off while the clock runs, as in ``timeit``: a pass over everything that other
matchers hold would be charged to whoever happens to be running.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time
from typing import TypeVar

Result = TypeVar("Result")


@contextmanager
def collector_off() -> Iterator[None]:
    """No collection of garbage inside the block, unless there was none before it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """How many seconds the work took, and what it returned."""
    with collector_off():
        start = process_time()
        result = work()
        return process_time() - start, result
