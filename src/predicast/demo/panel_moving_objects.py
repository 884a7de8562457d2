"""The panel of moving objects: tracks, and the regions of interest as bright as they were busy."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.colors import PowerNorm
from matplotlib.patches import Rectangle

from predicast.demo import moving_objects
from predicast.demo.moving_objects import HEIGHT_KM, PORTS, WIDTH_KM, Region
from predicast.demo.palette import (
    FAINT,
    GLOW,
    INK,
    LABEL_PT,
    LAND,
    MUTED,
    TRACK,
    WATER,
    Corner,
    bare,
    head,
    outline,
)
from predicast.demo.world import Outcome


def draw(axes: Axes, outcome: Outcome, scale: float, corner: Corner) -> None:
    """Draw shores, tracks, regions and ports, in this order."""
    hits, count = outcome.by_subscription(), len(outcome.world.subscriptions)
    half = _half(hits)
    verb = "takes" if half == 1 else "take"
    head(
        axes,
        corner,
        f"{half} of {count:,} regions {verb} half of all deliveries",
        f"{outcome.world.events.num_rows:,} reports of ships, each a box; regions of interest",
        outcome,
    )
    bare(axes)
    axes.set(xlim=(0, WIDTH_KM), ylim=(0, HEIGHT_KM), aspect="equal", xticks=[], yticks=[])
    axes.set_anchor("NW")
    axes.set_facecolor(WATER)
    for shore, edge in zip(moving_objects.shores(), (HEIGHT_KM, 0), strict=True):
        axes.fill_between(shore[:, 0], shore[:, 1], edge, color=LAND, linewidth=0, zorder=1)
        axes.plot(shore[:, 0], shore[:, 1], color=FAINT, linewidth=0.8, zorder=2)
    axes.add_collection(
        LineCollection(
            list(moving_objects.tracks(scale).values()),
            colors=TRACK,
            linewidths=0.5,
            alpha=0.4,
            zorder=3,
        )
    )
    _regions(axes, moving_objects.regions(scale), hits)
    for name, (x, y) in PORTS.items():
        axes.plot(x, y, "o", color=INK, markersize=3, zorder=7)
        north = y > HEIGHT_KM / 2
        axes.annotate(
            name,
            (x, y),
            (0, 5 if north else -5),
            textcoords="offset points",
            ha="center",
            va="bottom" if north else "top",
            fontsize=LABEL_PT,
            color=MUTED,
            path_effects=outline(2, LAND),
            zorder=8,
        )


def _regions(axes: Axes, regions: list[Region], hits: dict[str, int]) -> None:
    regions = sorted(regions, key=lambda region: hits.get(region.id, 0))
    counts = np.array([hits.get(region.id, 0) for region in regions])
    norm = PowerNorm(0.5, 0, max(1, counts.max()))
    boxes = [Rectangle((r.x[0], r.y[0]), r.x[1] - r.x[0], r.y[1] - r.y[0]) for r in regions]
    colours = GLOW(norm(counts))
    faces, edges = colours.copy(), colours.copy()
    faces[:, 3] = 0.04 + 0.16 * norm(counts)
    edges[:, 3] = 0.35 + 0.6 * norm(counts)
    axes.add_collection(
        PatchCollection(boxes, facecolors=faces, edgecolors=edges, linewidths=0.8, zorder=5)
    )
    busiest = regions[-1]
    axes.annotate(
        f"busiest: {counts[-1]:,}",
        (busiest.x[1], busiest.y[0]),
        (3, -1),
        textcoords="offset points",
        va="top",
        fontsize=LABEL_PT,
        color=INK,
        path_effects=outline(2.5, WATER),
        zorder=8,
    )


def _half(hits: dict[str, int]) -> int:
    """How few regions take half of all deliveries."""
    counts = np.cumsum(sorted(hits.values(), reverse=True))
    return int(np.searchsorted(counts, counts[-1] / 2)) + 1 if len(counts) else 0
