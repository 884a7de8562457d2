"""Region joins by size: time over the number of regions, in one to three dimensions.

As in the literature on data distribution management, half of the regions are publications and half
subscriptions, uniform, and so wide that each meets about one other. The rivals are every pair
compared in NumPy, as far as that is bearable, and ``numpy``, the way that answers until loops are
compiled. All find the same number of pairs. Processor time, one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator
from rich.table import Table

from bench.measuring.documents import write_figure_and_page
from bench.measuring.figures import (
    Line,
    Look,
    draw_line,
    name_lines,
    panel_grid,
    plain,
    short,
)
from bench.measuring.machine import Machine, this_machine
from bench.measuring.result_files import ResultFile
from bench.measuring.sizes import Size
from bench.measuring.timing import in_turn, timed
from predicast import join_regions
from predicast.arrays import Array
from predicast.matching.region_join import loops, warming_up

REGIONS: Final = {
    Size.SMALL: (10_000, 100_000),
    Size.FULL: (10_000, 30_000, 100_000, 300_000, 1_000_000),
}
DIMENSIONS: Final = (1, 2, 3)
# Seconds for a million regions, by dimensions; others have published 1.5 s and 139 s for interval
# trees, 0.18 s for a forward scan and 0.23 s for a join by cells.
GOALS: Final = {1: 0.5, 2: 1.0}
_GOAL_AT: Final = 1_000_000
_EVERY_PAIR_UP_TO: Final = 30_000
_ROWS: Final = 500  # of publications compared with all subscriptions at once

OURS: Final = "join_regions"
NUMPY: Final = "numpy"
EVERY_PAIR: Final = "every pair"
_LOOKS: Final = {
    OURS: Look("#0060a0", "o"),
    NUMPY: Look("#3b9fd9", "v"),
    EVERY_PAIR: Look("#6b6b6b", "s"),
}

Regions = Mapping[str, tuple[Array, Array]]


class JoinFigures(ResultFile, kw_only=True):
    """One contestant at one point."""

    dimensions: int
    regions: int
    contestant: str
    pairs: int
    median_s: float
    seconds: list[float]


class RegionJoinReport(ResultFile, kw_only=True):
    """What was measured."""

    machine: Machine
    size: Size
    seed: int
    figures: list[JoinFigures]

    def line(self, dimensions: int, contestant: str) -> Line:
        """What one contestant took, by the number of regions."""
        return [
            (each.regions, each.median_s)
            for each in self.figures
            if (each.dimensions, each.contestant) == (dimensions, contestant)
        ]


class JoinsDisagreeError(Exception):
    """Two contestants found different numbers of pairs."""


def regions(count: int, dimensions: int, chance: np.random.Generator) -> Regions:
    """So many boxes in a unit cube, of which each meets about one of as many others."""
    widest = 1 / count ** (1 / dimensions)
    found = {}
    for name in "xyz"[:dimensions]:
        lo = chance.random(count)
        found[name] = lo, lo + widest * chance.random(count)
    return found


def every_pair(publications: Regions, subscriptions: Regions) -> int:
    """How many pairs meet, each compared."""
    count = len(publications["x"][0])
    found = 0
    for begin in range(0, count, _ROWS):
        rows = slice(begin, begin + _ROWS)
        met = np.ones((len(publications["x"][0][rows]), len(subscriptions["x"][0])), bool)
        for name, (lo, hi) in publications.items():
            other_lo, other_hi = subscriptions[name]
            met &= lo[rows, None] <= other_hi
            met &= other_lo <= hi[rows, None]
        found += int(np.count_nonzero(met))
    return found


def joined(publications: Regions, subscriptions: Regions) -> int:
    """How many pairs our join gives."""
    return len(join_regions(publications, subscriptions).publications)


def joined_by_numpy(publications: Regions, subscriptions: Regions) -> int:
    """The same before loops are compiled."""
    compiled, loops.now = loops.now, loops.PLAIN
    try:
        return joined(publications, subscriptions)
    finally:
        loops.now = compiled


_CONTESTANTS: Final[dict[str, Callable[[Regions, Regions], int]]] = {
    OURS: joined,
    NUMPY: joined_by_numpy,
    EVERY_PAIR: every_pair,
}


def points(size: Size) -> int:
    """How often ``run_region_joins`` calls ``progress``."""
    return len(REGIONS[size]) * len(DIMENSIONS)


def run_region_joins(
    *,
    size: Size,
    seed: int,
    repeats: int,
    counts: Sequence[int] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> RegionJoinReport:
    """Measure all contestants at all points."""
    warming_up.wait()
    figures: list[JoinFigures] = []
    for dimensions, count in product(DIMENSIONS, counts or REGIONS[size]):
        progress(f"region joins, {dimensions}-D, {count:,}")
        figures += _point(dimensions, count, np.random.default_rng(seed), repeats)
    return RegionJoinReport(machine=this_machine(), size=size, seed=seed, figures=figures)


def _point(
    dimensions: int, count: int, chance: np.random.Generator, repeats: int
) -> list[JoinFigures]:
    sides = [regions(count // 2, dimensions, chance) for _ in range(2)]
    names = [OURS]
    names += [NUMPY] if dimensions > 1 else []  # one attribute is joined in NumPy anyway
    names += [EVERY_PAIR] if count <= _EVERY_PAIR_UP_TO else []
    seconds: dict[str, list[float]] = {name: [] for name in names}
    pairs: dict[str, int] = {}
    for repeat in range(repeats):
        for name in in_turn(names, repeat):
            taken, pairs[name] = timed(partial(_CONTESTANTS[name], *sides))
            seconds[name].append(taken)
    if len(set(pairs.values())) > 1:
        raise JoinsDisagreeError(f"{dimensions}-D, {count:,}: {pairs}")
    return [
        JoinFigures(
            dimensions=dimensions,
            regions=count,
            contestant=name,
            pairs=pairs[name],
            median_s=median(each),
            seconds=each,
        )
        for name, each in seconds.items()
    ]


# Documents.


def region_join_table(report: RegionJoinReport) -> Table:
    """What was measured, for the terminal."""
    table = Table(title="Region joins: seconds of processor time")
    for heading in ("dimensions", "regions", "pairs", *_CONTESTANTS, "goal"):
        table.add_column(heading, justify="right")
    for row in _rows(report):
        table.add_row(*row)
    return table


def write_region_joins(
    report: RegionJoinReport, folder: Path, *, suffixes: Sequence[str]
) -> list[Path]:
    """The figure, once per suffix, and the table as a page to be included."""
    lines = [
        "% Written by `python -m bench papers filter-index --docs`; changes will be lost.",
        "",
        f"| dimensions | regions | pairs | {' | '.join(_CONTESTANTS)} | goal |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(f"| {' | '.join(row)} |" for row in _rows(report)),
        "",
        f"Seconds of processor time, medians; seed {report.seed}; {report.machine}.",
    ]
    draw = partial(draw_region_joins, report)
    return write_figure_and_page("region-joins", draw, lines, folder, suffixes=suffixes)


def _rows(report: RegionJoinReport) -> list[list[str]]:
    rows = []
    for dimensions in DIMENSIONS:
        lines = {name: dict(report.line(dimensions, name)) for name in _CONTESTANTS}
        for count, mine in lines[OURS].items():
            pairs = next(
                each.pairs
                for each in report.figures
                if (each.dimensions, each.regions) == (dimensions, count)
            )
            goal = GOALS.get(dimensions) if count == _GOAL_AT else None
            judged = "" if goal is None else f"{goal:g}: {'met' if mine < goal else 'missed'}"
            taken = (lines[name].get(count) for name in _CONTESTANTS)
            shown = ("" if each is None else f"{each:.3g}" for each in taken)
            rows.append([str(dimensions), f"{count:,.0f}", f"{pairs:,}", *shown, judged])
    return rows


def draw_region_joins(report: RegionJoinReport) -> Figure:
    """Time over the number of regions, a panel for each number of dimensions."""
    figure, panels = panel_grid("Region joins: seconds over regions", len(DIMENSIONS))
    for axes, dimensions in zip(panels, DIMENSIONS, strict=True):
        _draw(axes, report, dimensions)
    return figure


def _draw(axes: Axes, report: RegionJoinReport, dimensions: int) -> None:
    lines = {name: report.line(dimensions, name) for name in _CONTESTANTS}
    lines = {name: line for name, line in lines.items() if line}
    counts = [x for x, _ in lines[OURS]]
    axes.set_title(f"{dimensions} dimension{'s' if dimensions > 1 else ''}, s")
    axes.set_xlabel("regions")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(counts)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(short))
    axes.yaxis.set_major_formatter(FuncFormatter(plain))
    for name, line in lines.items():
        draw_line(axes, line, _LOOKS[name], stands_out=name == OURS)
    axes.autoscale_view()  # names go by where lines end
    early = [name for name, line in lines.items() if line[-1][0] < counts[-1]]
    name_lines(axes, lines, _LOOKS.__getitem__, early=early, stands_out=OURS)
