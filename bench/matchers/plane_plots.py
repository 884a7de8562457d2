"""The figure of the plane: a heat map for each skew, the time per event written in each cell."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from bench.matchers.alerts import ZIPF, Skew
from bench.matchers.plane import PlaneReport
from bench.measuring.figures import HEAD_HEIGHT, headed_figure, save_figures, short

CELL_HEIGHT: Final = 0.42  # inches
PANEL_ROOM: Final = 0.85  # for title and axis of a panel
COLOURS: Final = "YlGnBu"
DARK: Final = 0.6  # part of the scale from which on numbers are white
TITLE: Final = "Time to match one event of a batch, µs, by subscriptions and categories"
NAMES: Final = {
    Skew.UNIFORM: "Categories drawn evenly",
    Skew.ZIPF: f"Categories drawn by Zipf's law ({ZIPF})",
}


def write_plane(report: PlaneReport, folder: Path, *, suffixes: Sequence[str]) -> list[Path]:
    """The figure, once per suffix; returns what was written."""
    return save_figures([("plane", partial(draw_plane, report))], folder, suffixes=suffixes)


def draw_plane(report: PlaneReport) -> Figure:
    """One panel below the other, with one scale of colours."""
    panel = CELL_HEIGHT * len(report.categories) + PANEL_ROOM
    height = panel * len(Skew) + HEAD_HEIGHT
    figure = headed_figure(TITLE, height)
    times = [cell.us_per_event for cell in report.cells]
    norm = LogNorm(min(times), max(*times, 2 * min(times)))
    for place, skew in enumerate(Skew):
        bottom = (panel * (len(Skew) - 1 - place) + 0.5) / height
        axes = figure.add_axes((0.1, bottom, 0.88, CELL_HEIGHT * len(report.categories) / height))
        _draw_panel(axes, report, skew, norm)
    return figure


def _draw_panel(axes: Axes, report: PlaneReport, skew: Skew, norm: LogNorm) -> None:
    rows, columns = report.categories, report.subscriptions
    times = np.array([[report.cell(skew, c, n).us_per_event for n in columns] for c in rows])
    axes.set_title(NAMES[skew])
    axes.pcolormesh(times, norm=norm, cmap=COLOURS, edgecolors="white", linewidth=1)
    for row, column in np.ndindex(*times.shape):
        time = float(times[row, column])
        axes.text(
            column + 0.5, row + 0.5, f"{time:.2f}" if time < 10 else f"{time:.0f}",
            ha="center", va="center", fontsize=8.5,
            color="white" if norm(time) > DARK else "#222222",
        )  # fmt: skip
    axes.set_xticks(np.arange(len(columns)) + 0.5, [short(n, 0) for n in columns])
    axes.set_yticks(np.arange(len(rows)) + 0.5, [short(n, 0) for n in rows])
    axes.tick_params(length=0)
    axes.set_xlabel("subscriptions")
    axes.set_ylabel("categories")
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
