"""The figure of ``python -m bench real``: events a second by the size of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from bench.measuring.figures import (
    HEAD_HEIGHT,
    PANEL_HEIGHT,
    Look,
    draw_line,
    headed_figure,
    name_lines,
    save_figures,
    short,
)
from bench.real.detecting import OURS
from bench.real.results import RealReport, SigmaResult
from bench.real.rsigma import NAME as RSIGMA

LOOKS: Final = {OURS: Look("#0060a0", "o"), RSIGMA: Look("#cf4b00", "s")}


def write_real(report: RealReport, folder: Path, *, suffixes: Sequence[str]) -> list[Path]:
    """The figure, once per suffix; returns what was written."""
    return save_figures([("real", partial(draw_sigma, report.sigma))], folder, suffixes=suffixes)


def draw_sigma(result: SigmaResult | None) -> Figure | None:
    """A line for ours, and a level one for whoever takes events one by one."""
    if result is None:
        return None
    height = PANEL_HEIGHT + HEAD_HEIGHT
    title = f"{result.rules:,} Sigma rules: events a second on one thread, by events at a time"
    figure = headed_figure(title, height)
    axes = figure.add_axes((0.075, 0.5 / height, 0.7, 1 - (HEAD_HEIGHT + 0.6) / height))
    sizes = sorted({each.batch for each in result.rates})
    lines = {
        name: sorted((each.batch, each.events_per_s) for each in result.rates if each.rival == name)
        for name in LOOKS
    }
    theirs = lines[RSIGMA]
    lines[RSIGMA] = [(size, theirs[0][1]) for size in sizes] if theirs else []
    lines = {name: line for name, line in lines.items() if line}
    axes.set_xscale("log")
    axes.set_yscale("log")
    for name, line in lines.items():
        draw_line(axes, line, LOOKS[name], stands_out=name == OURS)
    axes.set_xticks(sizes)
    axes.xaxis.set_minor_locator(NullLocator())
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(short))
    axes.set_xlabel("events at a time")
    name_lines(axes, lines, LOOKS.__getitem__, stands_out=OURS)
    return figure
