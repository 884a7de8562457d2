"""A whole run: the workloads that were asked for, one after the other, into one report."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Collection
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from bench.matchers import churn
from bench.matchers.catalogue import CHURN, FAMILIES, LOAD, SINGLE, Family
from bench.matchers.loading import measure_load
from bench.matchers.results import OURS, MatchersReport
from bench.matchers.runner import Effort, measure_family, turns
from bench.matchers.single import measure_single
from bench.matchers.yardstick import COMPILER, FLAGS
from bench.measuring.machine import this_machine
from bench.measuring.sizes import Size

PACKAGES: Final = ("numpy", "numba", "pyarrow", "duckdb")


def chosen_families(workloads: Collection[str]) -> list[Family]:
    """The families of the named workloads."""
    return [family for family in FAMILIES if family.workload in workloads]


def steps(workloads: Collection[str], size: Size) -> int:
    """How often ``run`` calls ``progress``."""
    of_churn = churn.turns(CHURN[size]) if "churn" in workloads else 0
    return (
        turns(chosen_families(workloads), size) + of_churn + len({"load", "single"} & {*workloads})
    )


def run(
    workloads: Collection[str],
    size: Size,
    effort: Effort,
    *,
    seed: int = 0,
    before: MatchersReport | None = None,
    progress: Callable[[str], None] = lambda _: None,
    keep: Callable[[MatchersReport], None] = lambda _: None,
    ours: str = OURS,
) -> MatchersReport:
    """Measure; ``keep`` is called with what there is whenever there is more.

    What was measured ``before`` stays, but for the workloads that are measured now.

    The quick ones come first: what they measure suffers most from a process that already holds
    millions of subscriptions' leftovers.
    """
    report = before or MatchersReport(this_machine(), versions(), size, seed, effort.rounds)
    names = {family.name for family in chosen_families(workloads)}
    report.families = [each for each in report.families if each.name not in names]
    if "single" in workloads:
        progress("single events")
        (subscriptions,) = SINGLE[size].subscriptions
        events = SINGLE[size].events
        report.single = measure_single(
            subscriptions, events, rounds=effort.rounds, seed=seed, ours=ours
        )
        keep(report)
    if "load" in workloads:
        progress(f"load: {LOAD[size]:,}")
        report.load = measure_load(LOAD[size], seed=seed, ours=ours)
        keep(report)
    if "churn" in workloads:
        report.churn = churn.measure_churn(CHURN[size], seed=seed, progress=progress, ours=ours)
        keep(report)
    for family in chosen_families(workloads):
        report.families.append(
            measure_family(family, size, effort, seed=seed, progress=progress, ours=ours)
        )
        keep(report)
    return report


def versions() -> dict[str, str]:
    """What the rivals are, so that somebody else can measure the same ones."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    found[COMPILER] = f"{_compiler()} {' '.join(FLAGS)}"
    return found


def _compiler() -> str:
    try:
        said = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "not installed"
    return said.stdout.partition("\n")[0]
