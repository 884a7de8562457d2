"""Processor time of a process and of all that it has started, such as Spark's Java and workers.

The clock says little about a job that shares the machine with others; what processors did for it
says more. It is read from ``/proc``: elsewhere there is only the clock.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import NamedTuple, TypeVar

Result = TypeVar("Result")


def tree_seconds(root: int | None = None) -> float | None:
    """What processors have spent on a process and its descendants; ``None`` if nobody counts.

    Descendants that have ended count with whoever has waited for them.
    """
    proc = Path("/proc")
    if not (proc / "self" / "stat").exists():
        return None
    ticks: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for entry in proc.iterdir():
        if entry.name.isdigit():
            _read(entry, ticks, children)
    total, waiting = 0, [os.getpid() if root is None else root]
    while waiting:
        process = waiting.pop()
        total += ticks.get(process, 0)
        waiting += children.get(process, [])
    return total / os.sysconf("SC_CLK_TCK")


class Spent(NamedTuple):
    """What some work took."""

    processor_s: float  # of all processes together; the clock's where nobody counts them
    clock_s: float


def spent_on(work: Callable[[], Result]) -> tuple[Spent, Result]:
    """What some work took this process and its descendants, and what came of it."""
    before, start = tree_seconds(), perf_counter()
    result = work()
    clock, after = perf_counter() - start, tree_seconds()
    processor = clock if before is None or after is None else after - before
    return Spent(processor, clock), result


def _read(entry: Path, ticks: dict[int, int], children: dict[int, list[int]]) -> None:
    try:
        # The name in brackets may hold anything: what counts comes after the last bracket.
        fields = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:  # it has ended meanwhile
        return
    process = int(entry.name)
    ticks[process] = sum(map(int, fields[11:15]))  # user and system, its own and those waited for
    children.setdefault(int(fields[1]), []).append(process)
