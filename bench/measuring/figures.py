"""The look of all figures: colours, grids of panels, lines with their names at their ends.

The colours are those of Okabe and Ito, which the colour-blind can tell apart; each matcher also
has a mark of its own, and its name stands at the end of its line.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

WIDTH: Final = 10.0  # inches
PANEL_HEIGHT: Final = 3.0
HEAD_HEIGHT: Final = 0.4
LABEL_SIZE: Final = 8.5  # points

Line: TypeAlias = Sequence[tuple[float, float]]
Draw: TypeAlias = Callable[[], Figure | None]


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
    "filter-index": Look("#7a4fb5", "h"),
}

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


def save_figures(
    figures: Iterable[tuple[str, Draw]], folder: Path, *, suffixes: Sequence[str]
) -> list[Path]:
    """Draw each and write it under its name, once per suffix; returns what was written.

    One for which there is nothing to draw is left out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, draw in figures:
        with mpl.rc_context(STYLE):  # type: ignore[arg-type]
            figure = draw()
            if figure is None:
                continue
            for suffix in suffixes:
                path = folder / f"{name}.{suffix}"
                figure.savefig(path, dpi=150, metadata={"Date": None} if suffix == "svg" else {})
                written.append(path)
    return written


def headed_figure(title: str, height: float) -> Figure:
    """An empty figure under its title."""
    figure = Figure(figsize=(WIDTH, height), facecolor="white")
    figure.text(0.01, 1 - 0.12 / height, title, va="top", fontsize=11, color="#222222")
    return figure


def panel_grid(title: str, count: int) -> tuple[Figure, list[Axes]]:
    """So many panels, two side by side; names stand to the right of each, in the gaps."""
    rows = (count + 1) // 2
    height = PANEL_HEIGHT * rows + HEAD_HEIGHT
    figure = headed_figure(title, height)
    figure.subplots_adjust(
        left=0.075,
        right=0.85,
        wspace=0.68,
        bottom=0.5 / height,
        top=1 - (HEAD_HEIGHT + 0.3) / height,
        hspace=0.45,
    )
    grid = list(figure.subplots(rows, 2, squeeze=False).flat)
    for axes in grid[count:]:
        axes.set_visible(False)
    return figure, grid[:count]


def draw_line(axes: Axes, line: Line, look: Look, *, stands_out: bool = False) -> None:
    """One matcher's line."""
    axes.plot(
        [x for x, _ in line],
        [y for _, y in line],
        color=look.colour,
        marker=look.marker,
        markersize=9 if stands_out else 5,
        linewidth=2.4 if stands_out else 1.6,
        markeredgecolor="white",
        markeredgewidth=0.5,
        zorder=3 if stands_out else 2,
    )


def in_panel(axes: Axes, point: tuple[float, float]) -> tuple[float, float]:
    """How far right and up the panel a point lies, from 0 to 1."""
    x, y = axes.transAxes.inverted().transform(axes.transData.transform(point))
    return float(x), float(y)


def name_lines(
    axes: Axes,
    lines: Mapping[str, Line],
    looks: Callable[[str], Look],
    *,
    early: Collection[str] = (),
    stands_out: str = "",
) -> None:
    """Names at the right, level with where the lines end, moved apart so that none overlap.

    A dotted line leads to those that end early.
    """
    ends = {name: in_panel(axes, line[-1]) for name, line in lines.items()}
    inches_high = axes.get_position().height * axes.figure.get_size_inches()[1]  # type: ignore[union-attr]
    gap = 1.25 * LABEL_SIZE / (inches_high * 72)
    for name, height in apart({name: end[1] for name, end in ends.items()}, gap).items():
        colour = looks(name).colour
        axes.annotate(
            name,
            xy=ends[name],
            xycoords="axes fraction",
            xytext=(1.04, height),
            textcoords="axes fraction",
            color=colour,
            fontsize=LABEL_SIZE,
            fontweight="bold" if name == stands_out else "normal",
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.7,
                "linestyle": ":" if name in early else "-",
                "shrinkA": 0,
                "shrinkB": 3,
                "relpos": (0, 0.5),
            },
        )


def draw_named_lines(
    axes: Axes, lines: Mapping[str, Line], looks: Mapping[str, Look], label: str, *, stands_out: str
) -> None:
    """Lines with their names beside them, over what the label says, at the places measured."""
    for name, line in lines.items():
        draw_line(axes, line, looks[name], stands_out=name == stands_out)
    axes.set_xticks(sorted({x for line in lines.values() for x, _ in line}))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(short))
    axes.set_xlabel(label)
    name_lines(axes, lines, looks.__getitem__, stands_out=stands_out)


def plain(value: float, _: int) -> str:
    """A tick's number as people write it: 0.01, 1, 10,000."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.6g}"


def short(value: float, _: int) -> str:
    """5k, 1M: a number that fits under a tick."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


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
