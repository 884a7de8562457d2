"""The panel of the auction: every listing by category and price, as bright as it has watchers."""

from __future__ import annotations

from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm

from predicast.demo.palette import (
    FAINT,
    GLOW,
    INK,
    LABEL_PT,
    MUTED,
    Corner,
    bare,
    head,
    outline,
)
from predicast.demo.world import Outcome

_PRICES: Final = {1: "1", 10: "10", 100: "100", 1_000: "1,000", 10_000: "10,000 €"}


def draw(axes: Axes, outcome: Outcome, corner: Corner) -> None:
    """Draw a band of dots for each category, the most watched at the top."""
    items = outcome.world.events["item"].combine_chunks()
    category = np.array(items.field("category").to_pylist())
    price = items.field("price").to_numpy(zero_copy_only=False)
    watchers = outcome.by_event()
    names, band = np.unique(category, return_inverse=True)
    means = np.bincount(band, watchers) / np.bincount(band)
    rank = np.empty(len(names), int)
    rank[np.argsort(means)] = np.arange(len(names))

    cheap, dear = _ends(price, band, watchers)
    head(
        axes,
        corner,
        f"Bargains reach {_few(cheap)} watchers, dear listings {_few(dear)}",
        f"{len(price):,} listings; the cheapest and the dearest tenth of each category",
        outcome,
    )
    bare(axes)
    jitter = np.random.default_rng(0).uniform(-0.46, 0.46, len(price)) * _density(price, band)
    order = np.argsort(watchers, kind="stable")
    axes.scatter(
        price[order],
        (rank[band] + jitter)[order],
        c=watchers[order],
        cmap=GLOW,
        norm=PowerNorm(0.55, 0, np.percentile(watchers, 99.5)),
        s=3.2,
        alpha=0.8,
        linewidths=0,
        rasterized=True,
    )
    axes.set_xscale("log")
    axes.set(xlim=(price.min() * 0.8, price.max() * 1.2), ylim=(-0.6, len(names) - 0.4))
    axes.set_xticks([*_PRICES], [*_PRICES.values()])
    axes.minorticks_off()
    axes.set_yticks(rank, names)
    axes.tick_params(axis="y", labelcolor=INK, pad=6)
    axes.grid(axis="x", color=FAINT, linewidth=0.5, alpha=0.5)
    axes.set_axisbelow(True)
    for row, mean in zip(rank, means, strict=True):
        axes.annotate(
            _few(mean),
            (1, row),
            (6, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=LABEL_PT,
            color=MUTED,
            path_effects=outline(),
            annotation_clip=False,
        )
    axes.annotate(
        "watchers",
        (1, len(names) - 0.5),
        (6, 4),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="bottom",
        fontsize=LABEL_PT,
        color=MUTED,
        annotation_clip=False,
    )


def _density(price: np.ndarray, band: np.ndarray) -> np.ndarray:
    """How crowded the prices around each listing are within its category, from 0 to 1."""
    density = np.empty(len(price))
    for number in range(band.max() + 1):
        chosen = band == number
        logs = np.log(price[chosen])
        counts, edges = np.histogram(logs, bins=60)
        smooth = np.convolve(counts, np.hanning(9) / np.hanning(9).sum(), mode="same")
        density[chosen] = np.interp(logs, (edges[:-1] + edges[1:]) / 2, smooth / smooth.max())
    return density


def _ends(price: np.ndarray, band: np.ndarray, watchers: np.ndarray) -> tuple[float, float]:
    """Watchers of a listing in the cheapest and in the dearest tenth of its category."""
    cheap = np.zeros(len(price), bool)
    dear = np.zeros(len(price), bool)
    for number in range(band.max() + 1):
        low, high = np.percentile(price[band == number], (10, 90))
        cheap |= (band == number) & (price <= low)
        dear |= (band == number) & (price >= high)
    return float(watchers[cheap].mean()), float(watchers[dear].mean())


def _few(number: float) -> str:
    return f"{number:.0f}" if number >= 1.5 else f"{number:.1f}"
