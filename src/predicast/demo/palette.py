"""The picture's colours and the few marks that all panels share.

One colour map serves the whole picture and means the same in every panel: the brighter, the more
deliveries. Everything else is kept back: a night sky, and three shades of grey for what is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patheffects import AbstractPathEffect, withStroke
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from predicast.demo.world import Outcome

NIGHT: Final = "#0d1422"
WATER: Final = "#0a101c"
LAND: Final = "#1b2638"
FAINT: Final = "#3f5170"
MUTED: Final = "#93a3bb"
INK: Final = "#eef2f8"
TRACK: Final = "#6f9dbb"
GLOW: Final = LinearSegmentedColormap.from_list(
    "glow", ["#22405f", "#2a6f86", "#3fa39b", "#e0a33e", "#ffdf8f", "#fff8e3"]
)
HOT: Final = "#f0b54f"
CODE: Final = "#6fb7b0"

TITLE_PT: Final = 14.0
NOTE_PT: Final = 10.5
LABEL_PT: Final = 9.5


def outline(width: float = 2.5, colour: str = NIGHT) -> list[AbstractPathEffect]:
    """A dark rim that keeps a label readable on whatever lies below it."""
    return [withStroke(linewidth=width, foreground=colour)]


@dataclass(frozen=True, slots=True)
class Corner:
    """Where a panel's head stands in the figure, and how many characters of code fit there.

    Heads are placed in the figure and not in their axes, so that they line up.
    """

    left: float
    top: float
    width: int


def head(axes: Axes, corner: Corner, title: str, note: str, outcome: Outcome) -> None:
    """A panel's finding, below it how to read the panel, and a subscription as an example."""
    code = {"color": CODE, "family": "DejaVu Sans Mono"}
    lines: list[tuple[str, float, float, dict[str, Any]]] = [
        (title, 0.0, TITLE_PT, {"color": INK, "weight": "bold"}),
        (note, 0.026, NOTE_PT, {"color": MUTED}),
        (_example(outcome, corner.width), 0.051, LABEL_PT, code),
    ]
    for text, down, size, look in lines:
        axes.annotate(
            text,
            (corner.left, corner.top - down),
            xycoords="figure fraction",
            fontsize=size,
            **look,
        )


def _example(outcome: Outcome, fitting: int) -> str:
    """The most matched subscription that fits on the line."""
    texts = (outcome.world.subscriptions[id] for id in outcome.by_subscription())
    return next((f"e.g. {text}" for text in texts if len(text) + 5 <= fitting), "")


def bare(axes: Axes) -> None:
    """No frame, no ticks."""
    axes.set_facecolor("none")
    axes.tick_params(length=0, colors=MUTED, labelsize=LABEL_PT)
    for spine in axes.spines.values():
        spine.set_visible(False)


def place_labels(axes: Axes, spots: list[tuple[float, float, str]], gap_pt: float = 9) -> None:
    """Label spots, the most important first, beside them where there is room; else not at all."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    taken: list[Bbox] = []
    limits = axes.get_window_extent(renderer)
    for x, y, words in spots:
        for dx, dy, across, up in _SIDES:
            label: Text = axes.annotate(
                words,
                (x, y),
                (dx * gap_pt, dy * gap_pt),
                textcoords="offset points",
                ha=across,
                va=up,
                fontsize=LABEL_PT,
                color=INK,
                path_effects=outline(),
                zorder=9,
            )
            box = label.get_window_extent(renderer).padded(4)
            inside = limits.x0 <= box.x0 and box.x1 <= limits.x1 and limits.y0 <= box.y0
            if inside and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            label.remove()


# Offsets of a label from its spot, and the alignments that go with them.
_SIDES: Final = (
    (1, 0, "left", "center"),
    (-1, 0, "right", "center"),
    (0, 1, "center", "bottom"),
    (0, -1, "center", "top"),
)
