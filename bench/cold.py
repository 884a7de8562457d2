"""First answers: fresh processes with nothing compiled, and with everything.

Each kind of subscription and event has two processes (``cold_probe.py``): one that finds an empty
folder of compiled kernels, and one after it that finds what the first had compiled. What is timed
is what somebody waits for: the import, loading, the first answer, and the longest of the answers
until the kernels are in use and for a while after.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from rich.table import Table

from bench.cold_probe import KINDS
from bench.measuring.machine import Machine, this_machine
from bench.measuring.result_files import ResultFile

GOAL_S: Final = 1.0  # that an answer may take


class Times(msgspec.Struct, frozen=True):
    """Of one process, in seconds."""

    import_s: float
    load_s: float
    first_s: float
    longest_s: float
    fast_s: float  # since its start, until the loop that finds its answers was compiled
    ready_s: float  # and until all of them were


class ColdResult(msgspec.Struct, frozen=True):
    """One kind, without and with compiled kernels."""

    kind: str
    cold: Times
    warm: Times


class ColdReport(ResultFile):
    """What was measured."""

    machine: Machine
    results: list[ColdResult]

    def late(self) -> list[str]:
        """The answers that took longer than they may."""
        return [
            f"{each.kind}, {name}: {max(times.first_s, times.longest_s):.2f} s"
            for each in self.results
            for name, times in (("cold", each.cold), ("warm", each.warm))
            if max(times.first_s, times.longest_s) > GOAL_S
        ]


def measure_cold(
    kinds: Sequence[str] = tuple(KINDS), progress: Callable[[str], None] = lambda _: None
) -> ColdReport:
    """Two processes for each kind, one after the other."""
    results = []
    for kind in kinds:
        with tempfile.TemporaryDirectory(prefix="predicast-cold-") as cache:
            progress(f"{kind}, cold")
            cold = _times(kind, cache)
            progress(f"{kind}, warm")
            results.append(ColdResult(kind, cold, _times(kind, cache)))
    return ColdReport(this_machine(), results)


def _times(kind: str, cache: str) -> Times:
    done = subprocess.run(
        [sys.executable, "-m", "bench.cold_probe", kind],
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the measuring process failed:\n{done.stderr}")
    return msgspec.json.decode(done.stdout, type=Times)


def _shown(milliseconds: float) -> str:
    return f"{milliseconds:,.{1 if milliseconds < 1_000 else 0}f}"


def cold_table(report: ColdReport) -> Table:
    """Milliseconds, cold and warm; the last two until loops were compiled and in use."""
    table = Table(title=f"First answers in fresh processes, ms; {report.machine}")
    table.add_column("kind")
    table.add_column("kernels")
    for heading in ("import", "load", "first answer", "longest later", "its loop", "all loops"):
        table.add_column(heading, justify="right")
    for each in report.results:
        for name, times in (("none", each.cold), ("kept", each.warm)):
            seconds = msgspec.structs.astuple(times)
            table.add_row(each.kind, name, *(_shown(1e3 * value) for value in seconds))
    return table
