"""Figures like the papers': one per experiment, one panel per quantity, one line per matcher.

An axis is logarithmic only where the lines would otherwise lie on the floor.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from bench.measuring.figures import (
    LABEL_SIZE,
    LOOKS,
    Look,
    draw_line,
    name_lines,
    panel_grid,
    plain,
    save_figures,
)
from bench.papers.quantities import (
    CHANGE,
    CHANGE_DELAY,
    CHANGE_WORK_EACH,
    INSERT,
    MATCH,
    MATCH_PER_EVENT,
    MEMORY,
    STEPS_PER_EVENT,
    THROUGHPUT,
    Quantity,
)
from bench.papers.results import ExperimentResult, PapersReport, Series
from bench.papers.workloads import PAPERS

# From this ratio of the largest to the smallest value on, an axis is logarithmic.
LOG_FROM: Final = 40
# The ways of changing subscriptions, which are compared with each other and not with the above.
WAY_LOOKS: Final = {
    "unsub/sub": Look("#6b6b6b", "s"),
    "VS": Look("#3b9fd9", "v"),
    "VSS": Look("#0060a0", "D"),
}
OTHER: Final = Look("#a85a8a", "X")
# The papers that insert as many again at each point.
_IN_STEPS: Final = ("ceem", "filter-index")


class QuantityPanel(NamedTuple):
    """One panel of a figure."""

    title: str
    quantity: Quantity
    linear: bool = False  # whatever its values


def panels(result: ExperimentResult) -> list[QuantityPanel]:
    """What an experiment's figure shows."""
    if result.paper == "vector-subscriptions":
        return _change_panels(result)
    point = result.points[0]
    matching = QuantityPanel("Time to match one event, ms", MATCH_PER_EVENT)
    if result.paper in _IN_STEPS:
        matching = QuantityPanel(f"Time to match {point.events:,} events, s", MATCH)
    work = QuantityPanel("Steps to match one event", STEPS_PER_EVENT)
    if result.x_label != "subscriptions":
        return [matching, work]
    inserted = f"{point.inserted:,} more" if result.paper in _IN_STEPS else "them"
    return [
        QuantityPanel(f"Time to insert {inserted}, s", INSERT),
        matching,
        QuantityPanel("Memory, MiB", MEMORY),
        work,
    ]


def _change_panels(result: ExperimentResult) -> list[QuantityPanel]:
    work = QuantityPanel("Covering tests, nodes and edges per change", CHANGE_WORK_EACH)
    if result.x_label == "changes per subscriber":
        return [QuantityPanel("Time to change them, s", CHANGE, linear=True), work]
    return [
        QuantityPanel("Events filtered per second", THROUGHPUT, linear=True),
        QuantityPanel("Delay of a change: time for its window, ms", CHANGE_DELAY, linear=True),
        work,
        QuantityPanel("Time to match one event, ms", MATCH_PER_EVENT),
    ]


def write_figures(report: PapersReport, folder: Path, *, suffixes: Sequence[str]) -> list[Path]:
    """One figure per experiment and suffix; returns what was written."""
    figures = (
        (f"{result.paper}-{result.name}", partial(draw, result)) for result in report.experiments
    )
    return save_figures(figures, folder, suffixes=suffixes)


def draw(result: ExperimentResult) -> Figure:
    """The figure of one experiment."""
    shown = panels(result)
    label = result.label.replace("exp.", "experiment").replace("fig.", "figure")
    title = f"{PAPERS[result.paper].title}, {label}: {result.title}"
    figure, grid = panel_grid(title, len(shown))
    for axes, panel in zip(grid, shown, strict=True):
        _draw_panel(axes, result, panel)
    return figure


def _draw_panel(axes: Axes, result: ExperimentResult, panel: QuantityPanel) -> None:
    names = list(dict.fromkeys(name for point in result.points for name in point.matchers))
    lines = {name: result.series(name, panel.quantity.of) for name in names}
    lines = {name: series for name, series in lines.items() if series}
    axes.set_title(panel.title)
    axes.set_xlabel(result.x_label)
    _scale(axes, [y for series in lines.values() for _, y in series], linear=panel.linear)
    for name, series in lines.items():
        draw_line(axes, series, look_of(name))
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(plain))
    _label(axes, result, lines)


def look_of(name: str) -> Look:
    """A matcher's own look, or that of all the matchers that no paper knows."""
    return LOOKS.get(name) or WAY_LOOKS.get(name, OTHER)


def _scale(axes: Axes, values: Sequence[float], *, linear: bool = False) -> None:
    positive = [value for value in values if value > 0]
    if positive and not linear and max(positive) / min(positive) >= LOG_FROM:
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, max(positive, default=1) * 1.06)
    axes.yaxis.set_major_formatter(FuncFormatter(plain))


def _label(axes: Axes, result: ExperimentResult, lines: dict[str, Series]) -> None:
    """Write each matcher's name at the end of its line; one that ends early says why."""
    xs = [point.x for point in result.points]
    margin = (max(xs) - min(xs) or 1) * 0.03
    axes.set_xlim(min(xs) - margin, max(xs) + margin)
    whole = {name: series for name, series in lines.items() if series[-1][0] == max(xs)}
    for name, series in lines.items():
        if name not in whole:
            _label_stop(axes, result, name, series, look_of(name))
    name_lines(axes, whole, look_of)


def _label_stop(
    axes: Axes, result: ExperimentResult, name: str, series: Series, look: Look
) -> None:
    """Mark where a line ends early, and say why."""
    stop = result.stopped.get(name)
    why = (
        ""
        if stop is None
        else {"limit": ": hits its limit", "time": ": takes too long"}[stop.reason]
    )
    axes.plot(*series[-1], marker="x", markersize=8, markeredgewidth=1.6, color=look.colour)
    axes.annotate(
        name + why,
        xy=series[-1],
        xytext=(8, 0),
        textcoords="offset points",
        color=look.colour,
        fontsize=LABEL_SIZE,
        va="center",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )
