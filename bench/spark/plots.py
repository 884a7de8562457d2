"""The figure and the tables of ``python -m bench spark`` that the documentation shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.measuring.documents import write_figure_and_page
from bench.measuring.figures import (
    Line,
    Look,
    draw_named_lines,
    panel_grid,
)
from bench.measuring.page_tables import page_table
from bench.spark.contestants import ALONE, EQUI_JOIN, IDENTITY, ROWS
from bench.spark.results import GROWTH_HEADINGS, SparkReport, goal_rows, growth_rows, stream_rows

_OURS: Final = "match"
_NAMES: Final = {  # short enough to stand beside a panel
    ROWS: _OURS,
    ALONE: "match_arrow",
    IDENTITY: "identity",
    EQUI_JOIN: "equi-join",
}
LOOKS: Final = {
    _OURS: Look("#0060a0", "o"),
    "match_arrow": Look("#3b9fd9", "v"),
    "identity": Look("#6b6b6b", "s"),
    "equi-join": Look("#cf4b00", "^"),
}


def write_spark(report: SparkReport, folder: Path, *, suffixes: Sequence[str]) -> list[Path]:
    """The figure, once per suffix, and the tables as a page to be included."""
    draw = partial(draw_spark, report)
    return write_figure_and_page("spark", draw, _page(report), folder, suffixes=suffixes)


def draw_spark(report: SparkReport) -> Figure | None:
    """Time per event by subscriptions, and how it grows with events and cores."""
    distributions = list(dict.fromkeys(size.distribution for size in report.sizes))
    grown = [over for over in ("events", "cores") if any(p.over == over for p in report.curves)]
    if not distributions and not grown:
        return None
    title = f"Spark on {report.machine}"
    figure, panels = panel_grid(title, len(distributions) + len(grown))
    for axes, distribution in zip(panels, distributions, strict=False):
        _draw(axes, _by_subscriptions(report, distribution), "subscriptions")
        axes.set_title(f"{distribution}: µs of processors per event")
    for axes, over in zip(panels[len(distributions) :], grown, strict=True):
        line = [(p.at, p.events / p.clock_s) for p in report.curves if p.over == over]
        # From zero on, so that a small difference does not look like a large one.
        _draw(axes, {_OURS: sorted(line)}, over, from_zero=over == "cores")
        axes.set_title(f"events a second, by {over}")
    return figure


def _by_subscriptions(report: SparkReport, distribution: str) -> dict[str, Line]:
    found: dict[str, list[tuple[float, float]]] = {}
    for size in report.sizes:
        for job in size.jobs:
            if size.distribution == distribution and job.name in _NAMES:
                micros = 1e6 * job.processor_s / report.events
                found.setdefault(_NAMES[job.name], []).append((size.subscriptions, micros))
    return {name: sorted(line) for name, line in found.items()}


def _draw(axes: Axes, lines: dict[str, Line], label: str, *, from_zero: bool = False) -> None:
    axes.set_xscale("log")
    if from_zero:
        axes.set_ylim(0, 1.2 * max(value for line in lines.values() for _, value in line))
    else:
        axes.set_yscale("log")
    draw_named_lines(axes, lines, LOOKS, label, stands_out=_OURS)


def _page(report: SparkReport) -> Iterable[str]:
    yield "% Written by `python -m bench spark --docs`; changes will be lost."
    yield ""
    yield f"On {report.machine}."
    yield ""
    yield from page_table(("goal", "verdict", "measured"), goal_rows(report))
    growth = growth_rows(report)
    if growth:
        yield ""
        yield from page_table(GROWTH_HEADINGS, growth)
    streams = stream_rows(report)
    if streams:
        yield ""
        yield from page_table(("of streams", "figure"), streams)
