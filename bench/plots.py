"""Figures like the papers': one per experiment, one panel per quantity, one line per matcher.

The colours are those of Okabe and Ito, which the colour-blind can tell apart; each matcher also
has a mark of its own, and its name stands at the end of its line. An axis is logarithmic only
where the lines would otherwise lie on the floor.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from bench.quantities import (
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
from bench.results import ExperimentResult, PapersReport, Series
from bench.workloads import PAPERS

# From this ratio of the largest to the smallest value on, an axis is logarithmic.
LOG_FROM: Final = 40
WIDTH: Final = 10.0  # inches
PANEL_HEIGHT: Final = 2.9
HEAD_HEIGHT: Final = 0.35
LABEL_SIZE: Final = 8.5  # points


class Look(NamedTuple):
    """How a matcher's line is drawn."""

    colour: str
    marker: str


LOOKS: Final = {
    "brute-force": Look("#6b6b6b", "s"),
    "counting": Look("#c77c00", "^"),
    "improved-counting": Look("#3b9fd9", "v"),
    "redundant-attributes": Look("#0060a0", "D"),
    "ceem": Look("#cf4b00", "o"),
    "matching-tree": Look("#00825f", "p"),
}
# The ways of changing subscriptions, which are compared with each other and not with the above.
WAY_LOOKS: Final = {
    "unsub/sub": Look("#6b6b6b", "s"),
    "VS": Look("#3b9fd9", "v"),
    "VSS": Look("#0060a0", "D"),
}
OTHER: Final = Look("#a85a8a", "X")

STYLE: Final = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#8a8a8a",
    "axes.labelcolor": "#444444",
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#e4e4e4",
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "svg.hashsalt": "predicast",  # the same numbers give the same file
    "svg.fonttype": "none",  # text stays text: small, and can be searched
}


class Panel(NamedTuple):
    """One panel of a figure."""

    title: str
    quantity: Quantity
    linear: bool = False  # whatever its values


def panels(result: ExperimentResult) -> list[Panel]:
    """What an experiment's figure shows."""
    if result.paper == "vector-subscriptions":
        return _change_panels(result)
    point = result.points[0]
    matching = Panel("Time to match one event, ms", MATCH_PER_EVENT)
    if result.paper == "ceem":
        matching = Panel(f"Time to match {point.events:,} events, s", MATCH)
    work = Panel("Steps to match one event", STEPS_PER_EVENT)
    if result.x_label != "subscriptions":
        return [matching, work]
    inserted = f"{point.inserted:,} more" if result.paper == "ceem" else "them"
    return [
        Panel(f"Time to insert {inserted}, s", INSERT),
        matching,
        Panel("Memory, MiB", MEMORY),
        work,
    ]


def _change_panels(result: ExperimentResult) -> list[Panel]:
    work = Panel("Covering tests, nodes and edges per change", CHANGE_WORK_EACH)
    if result.x_label == "changes per subscriber":
        return [Panel("Time to change them, s", CHANGE, linear=True), work]
    return [
        Panel("Events filtered per second", THROUGHPUT, linear=True),
        Panel("Delay of a change: time for its window, ms", CHANGE_DELAY, linear=True),
        work,
        Panel("Time to match one event, ms", MATCH_PER_EVENT),
    ]


def write_figures(report: PapersReport, folder: Path, *, suffixes: Sequence[str]) -> list[Path]:
    """One figure per experiment and suffix; returns what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for result in report.experiments:
        with mpl.rc_context(STYLE):  # type: ignore[arg-type]
            figure = draw(result)
            for suffix in suffixes:
                path = folder / f"{result.paper}-{result.name}.{suffix}"
                metadata = {"Date": None} if suffix == "svg" else {}
                figure.savefig(path, dpi=150, metadata=metadata)
                written.append(path)
    return written


def draw(result: ExperimentResult) -> Figure:
    """The figure of one experiment."""
    shown = panels(result)
    rows = (len(shown) + 1) // 2
    height = PANEL_HEIGHT * rows + HEAD_HEIGHT
    figure = Figure(figsize=(WIDTH, height), facecolor="white")
    # Names stand to the right of each panel, in the gaps.
    figure.subplots_adjust(
        left=0.05,
        right=0.84,
        wspace=0.6,
        bottom=0.5 / height,
        top=1 - (HEAD_HEIGHT + 0.3) / height,
        hspace=0.42,
    )
    label = result.label.replace("exp.", "experiment").replace("fig.", "figure")
    title = f"{PAPERS[result.paper].title}, {label}: {result.title}"
    figure.text(0.01, 1 - 0.12 / height, title, va="top", fontsize=11, color="#222222")
    grid = figure.subplots(rows, 2, squeeze=False)
    for axes, panel in zip(grid.flat, shown, strict=True):
        _draw_panel(axes, result, panel, height)
    return figure


def _draw_panel(axes: Axes, result: ExperimentResult, panel: Panel, figure_height: float) -> None:
    names = list(dict.fromkeys(name for point in result.points for name in point.matchers))
    lines = {name: result.series(name, panel.quantity.of) for name in names}
    lines = {name: series for name, series in lines.items() if series}
    axes.set_title(panel.title)
    axes.set_xlabel(result.x_label)
    _scale(axes, [y for series in lines.values() for _, y in series], linear=panel.linear)
    for name, series in lines.items():
        look = look_of(name)
        axes.plot(
            [x for x, _ in series],
            [y for _, y in series],
            color=look.colour,
            marker=look.marker,
            markeredgecolor="white",
            markeredgewidth=0.5,
        )
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(plain))
    _label(axes, result, lines, figure_height)


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


def plain(value: float, _: int) -> str:
    """A tick's number as people write it: 0.01, 1, 10,000."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.6g}"


def short(value: float, _: int) -> str:
    """5k, 1M: a number that fits under a tick."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def _label(
    axes: Axes, result: ExperimentResult, lines: dict[str, Series], figure_height: float
) -> None:
    """Write each matcher's name at the end of its line, so that no two names overlap."""
    xs = [point.x for point in result.points]
    margin = (max(xs) - min(xs) or 1) * 0.03
    axes.set_xlim(min(xs) - margin, max(xs) + margin)
    ends: dict[str, float] = {}
    for name, series in lines.items():
        if series[-1][0] == max(xs):
            ends[name] = _height_of(axes, series[-1])
        else:
            _label_stop(axes, result, name, series, look_of(name))
    points_high = axes.get_position().height * figure_height * 72
    gap = 1.25 * LABEL_SIZE / points_high
    for name, place in apart(ends, gap).items():
        axes.annotate(
            name,
            xy=(1, ends[name]),
            xycoords="axes fraction",
            xytext=(1.05, place),
            textcoords="axes fraction",
            color=look_of(name).colour,
            fontsize=LABEL_SIZE,
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": look_of(name).colour,
                "linewidth": 0.7,
                "shrinkA": 0,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
        )


def _height_of(axes: Axes, end: tuple[int, float]) -> float:
    """How far up the panel a point lies, from 0 to 1."""
    place = axes.transAxes.inverted().transform(axes.transData.transform(end))
    return float(place[1])


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


def apart(ends: dict[str, float], gap: float) -> dict[str, float]:
    """The heights moved as little as keeps them a gap apart and inside the panel."""
    ordered = sorted(ends, key=ends.__getitem__)
    places = {name: min(max(ends[name], 0.02), 0.98) for name in ordered}
    for _ in range(100):
        moved = False
        for low, high in pairwise(ordered):
            short = gap - (places[high] - places[low])
            if short > 1e-6:
                places[low] -= short / 2
                places[high] += short / 2
                moved = True
        floor = 0.02 - min(places.values(), default=1)
        if floor > 0:
            places[ordered[0]] += floor
            moved = True
        if not moved:
            break
    return places
