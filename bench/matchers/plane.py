"""``python -m bench plane``: every size of a set of alerts, and every number of categories.

A matcher that lays subscriptions out in one of several ways must choose well everywhere, and not
just at the sizes of other benchmarks. So this one walks the whole plane, subscriptions by
categories, drawn evenly and by Zipf's law, and looks for *cliffs*: neighbouring cells of which one
takes far longer than its matches explain, or gets slower when subscriptions are taken away.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

import msgspec
from rich.table import Table

from bench.matchers.alerts import Skew, alerts_workload
from bench.matchers.engine_rival import EngineRival
from bench.matchers.results import OURS
from bench.measuring.machine import Machine, this_machine
from bench.measuring.result_files import ResultFile
from bench.measuring.sizes import Size

STEEP: Final = 2.0  # times as slow as a neighbour is a cliff
WARM: Final = 20  # rounds before the clock runs: what waits uncompiled is compiled when it has paid


@dataclass(frozen=True, slots=True)
class PlaneSettings:
    """Which cells, and how they are measured."""

    subscriptions: tuple[int, ...]
    categories: tuple[int, ...]
    events: int = 2_000
    rounds: int = 9


SETTINGS: Final = {
    Size.SMALL: PlaneSettings((100, 300, 1_000, 3_000, 10_000), (10, 100, 1_000, 10_000)),
    Size.FULL: PlaneSettings(
        (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000),
        (10, 100, 1_000, 10_000, 100_000),
    ),
}


class Cell(msgspec.Struct, frozen=True):
    """One set of alerts."""

    skew: Skew
    categories: int
    subscriptions: int
    us_per_event: float  # of the median round
    matches_per_event: float
    bytes_each: float  # that the matcher's arrays take for a subscription

    def __str__(self) -> str:
        return f"{self.subscriptions:,} on {self.categories:,} categories ({self.skew})"


class Cliff(msgspec.Struct, frozen=True):
    """A cell that is slower than it should be, judged by a neighbour."""

    cell: Cell
    neighbour: Cell
    times: float  # as long as its matches explain

    def __str__(self) -> str:
        return f"{self.cell} takes {self.times:.1f} times as long as by {self.neighbour}"


class PlaneReport(ResultFile):
    """The whole plane."""

    machine: Machine
    seed: int
    events: int
    rounds: int
    cells: list[Cell]

    def cell(self, skew: Skew, categories: int, subscriptions: int) -> Cell:
        wanted = (skew, categories, subscriptions)
        return next(
            each
            for each in self.cells
            if (each.skew, each.categories, each.subscriptions) == wanted
        )

    @property
    def categories(self) -> list[int]:
        return sorted({cell.categories for cell in self.cells})

    @property
    def subscriptions(self) -> list[int]:
        return sorted({cell.subscriptions for cell in self.cells})

    def cliffs(self) -> list[Cliff]:
        """Every pair of neighbours of which one is too slow, the steepest first."""
        found = [
            Cliff(cell, neighbour, times)
            for a, b in self._neighbours()
            for cell, neighbour in ((a, b), (b, a))
            if (times := slower(cell, neighbour)) > STEEP
        ]
        return sorted(found, key=lambda cliff: -cliff.times)

    def _neighbours(self) -> Iterator[tuple[Cell, Cell]]:
        for skew in Skew:
            for categories in self.categories:
                for pair in pairwise(self.subscriptions):
                    yield tuple(self.cell(skew, categories, n) for n in pair)  # type: ignore[misc]
            for subscriptions in self.subscriptions:
                for pair in pairwise(self.categories):
                    yield tuple(self.cell(skew, n, subscriptions) for n in pair)  # type: ignore[misc]


def slower(cell: Cell, neighbour: Cell) -> float:
    """How many times as long as its matches explain a cell takes.

    An event that matches ten times as much may take ten times as long; one that matches less has
    no excuse to take longer.
    """
    explained = max((1 + cell.matches_per_event) / (1 + neighbour.matches_per_event), 1)
    return cell.us_per_event / neighbour.us_per_event / explained


def measure_plane(
    settings: PlaneSettings,
    *,
    seed: int = 0,
    progress: Callable[[str], None] = lambda _: None,
    ours: str = OURS,
) -> PlaneReport:
    """Every cell; ``progress`` is called with a title before each."""
    report = PlaneReport(this_machine(), seed, settings.events, settings.rounds, [])
    for skew in Skew:
        for categories in settings.categories:
            for subscriptions in settings.subscriptions:
                progress(f"{skew}: {subscriptions:,} on {categories:,}")
                report.cells.append(
                    _measured(skew, categories, subscriptions, settings, seed, ours)
                )
                gc.collect()
    return report


def cells(settings: PlaneSettings) -> int:
    """How often ``measure_plane`` calls ``progress``."""
    return len(Skew) * len(settings.categories) * len(settings.subscriptions)


def _measured(
    skew: Skew, categories: int, subscriptions: int, settings: PlaneSettings, seed: int, ours: str
) -> Cell:
    rival = EngineRival(ours)
    rival.load(alerts_workload(skew, categories, subscriptions, settings.events, seed))
    for _ in range(WARM):
        rival.match(settings.events)
    rounds = [rival.match(settings.events) for _ in range(settings.rounds)]
    return Cell(
        skew,
        categories,
        subscriptions,
        us_per_event=median(each.seconds for each in rounds) / settings.events * 1e6,
        matches_per_event=rounds[0].matches / settings.events,
        bytes_each=(rival.bytes_held() or 0) / subscriptions,
    )


def plane_table(report: PlaneReport) -> Table:
    """Microseconds per event, for the terminal; cells below a cliff stand out."""
    table = Table(title="Time to match one event of a batch, µs", caption=str(report.machine))
    table.add_column("categories", justify="right")
    for subscriptions in report.subscriptions:
        table.add_column(f"{subscriptions:,}", justify="right")
    steep = {cliff.cell for cliff in report.cliffs()}
    for skew in Skew:
        for categories in report.categories:
            row = [report.cell(skew, categories, n) for n in report.subscriptions]
            shown = [f"{'[red]' if cell in steep else ''}{cell.us_per_event:.2f}" for cell in row]
            table.add_row(f"{categories:,} {skew}", *shown)
        table.add_section()
    return table
