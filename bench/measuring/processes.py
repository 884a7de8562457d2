"""Processor time of a process and of all that it has started, such as Spark's Java and workers.

The clock says little about a job that shares the machine with others; what processors did for it
says more. It is read from ``/proc``: elsewhere there is only the clock.
"""

from __future__ import annotations

import os
from pathlib import Path


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


def _read(entry: Path, ticks: dict[int, int], children: dict[int, list[int]]) -> None:
    try:
        # The name in brackets may hold anything: what counts comes after the last bracket.
        fields = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:  # it has ended meanwhile
        return
    process = int(entry.name)
    ticks[process] = sum(map(int, fields[11:15]))  # user and system, its own and those waited for
    children.setdefault(int(fields[1]), []).append(process)
