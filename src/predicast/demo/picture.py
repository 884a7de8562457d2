"""The picture at the end of the demo: one panel for each world, in one look.

Drawn without ``pyplot``, so that nothing outside this module changes and no display is needed. The
same deliveries give the same bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from predicast.demo import panel_auction, panel_flights, panel_moving_objects
from predicast.demo.palette import GLOW, INK, LABEL_PT, MUTED, NIGHT, Corner
from predicast.demo.world import Outcome

# 16 inches wide, so that the smallest type is 13 pixels high when the picture is shown 1,600 wide.
_SIZE_IN: Final = (16.0, 9.8)
_DPI: Final = 150
_LEFT, _MIDDLE = 0.03, 0.615  # where the two columns begin
_SETTINGS: Final[dict[Any, Any]] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same picture everywhere
    "svg.hashsalt": "predicast",
}


def draw(
    folder: Path, flights: Outcome, auction: Outcome, moving_objects: Outcome, *, scale: float
) -> list[Path]:
    """Write ``demo.png`` and ``demo.svg`` and return their paths."""
    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=_SIZE_IN, dpi=_DPI, facecolor=NIGHT)
        FigureCanvasAgg(figure)
        _header(figure, [flights, auction, moving_objects])
        panel_flights.draw(
            figure.add_axes((_LEFT, 0.255, 0.555, 0.538)),
            figure.add_axes((_LEFT, 0.05, 0.555, 0.145)),
            flights,
            Corner(_LEFT, 0.858, width=108),
        )
        panel_auction.draw(
            figure.add_axes((0.685, 0.53, 0.25, 0.255)), auction, Corner(_MIDDLE, 0.858, width=74)
        )
        panel_moving_objects.draw(
            figure.add_axes((_MIDDLE, 0.024, 0.36, 0.343)),
            moving_objects,
            scale,
            Corner(_MIDDLE, 0.436, width=74),
        )
        paths = [folder / "demo.png", folder / "demo.svg"]
        figure.savefig(paths[0], metadata={"Software": None})
        figure.savefig(paths[1], metadata={"Date": None})
    return paths


def _header(figure: Figure, outcomes: list[Outcome]) -> None:
    events = sum(outcome.world.events.num_rows for outcome in outcomes)
    subscriptions = sum(len(outcome.world.subscriptions) for outcome in outcomes)
    matches = sum(outcome.matches for outcome in outcomes)
    figure.text(
        0.03,
        0.945,
        f"{events:,} events, {subscriptions:,} standing subscriptions, {matches:,} deliveries",
        fontsize=22,
        weight="bold",
        color=INK,
    )
    figure.text(
        0.03,
        0.915,
        "Three small worlds on one Spark pipeline. "
        "Each event went to everyone whose predicate it satisfied.",
        fontsize=12,
        color=MUTED,
    )
    key = figure.add_axes((0.845, 0.953, 0.09, 0.012))
    key.imshow(np.linspace(0, 1, 256)[None, :], aspect="auto", cmap=GLOW)
    key.set_axis_off()
    for x, words, side in ((0.84, "fewer", "right"), (0.94, "more", "left")):
        figure.text(x, 0.959, words, ha=side, va="center", fontsize=LABEL_PT, color=MUTED)
    figure.text(0.89, 0.932, "deliveries", ha="center", fontsize=LABEL_PT, color=MUTED)
