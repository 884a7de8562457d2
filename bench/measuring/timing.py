"""One way of taking a time, for every benchmark, and of taking turns.

Times are processor time of this process: everything measured runs in one thread and waits for
nothing, and so the result is that of an idle machine even while the machine does other things. The
garbage collector is off while the clock runs, as in ``timeit``: a pass over everything that other
matchers hold would be charged to whoever happens to be running.

What waits, as for a file or a background thread, is measured in time on the clock.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter, process_time
from typing import TypeVar

Result = TypeVar("Result")
Contestant = TypeVar("Contestant")


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


def timed_on_the_clock(work: Callable[[], Result]) -> tuple[float, Result]:
    """The same in time on the clock, with the garbage collector as it is."""
    start = perf_counter()
    result = work()
    return perf_counter() - start, result


def in_turn(contestants: Sequence[Contestant], number: int) -> list[Contestant]:
    """All of them, each time another one first.

    So neither a warm cache nor a slow minute of the machine always falls to the same one.
    """
    first = number % len(contestants) if contestants else 0
    return [*contestants[first:], *contestants[:first]]
