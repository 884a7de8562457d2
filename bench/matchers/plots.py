"""Figures of the matchers side by side, in the look of the papers' figures.

Four of them: time per event over subscriptions, a panel per workload; regions over hits per event;
how many times as long as ours each rival takes; and what changes cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from bench.matchers.goals import PAUSE_MS
from bench.matchers.results import OURS, ChurnResult, FamilyResult, MatchersReport
from bench.measuring.figures import (
    HEAD_HEIGHT,
    LABEL_SIZE,
    LOOKS,
    PANEL_HEIGHT,
    Look,
    apart,
    draw_line,
    headed_figure,
    in_panel,
    name_lines,
    panel_grid,
    plain,
    save_figures,
    short,
)

BAR_HEIGHT: Final = 0.17  # inches
# Rivals that are no matchers of ours take the looks of papers' matchers that do not take part.
RIVAL_LOOKS: Final = {
    OURS: Look("#111111", "*"),
    "yardstick": LOOKS["matching-tree"],
    "duckdb": LOOKS["counting"],
    "numpy": LOOKS["brute-force"],
    "improved-counting": LOOKS["improved-counting"],
    "redundant-attributes": LOOKS["redundant-attributes"],
    "ceem": LOOKS["ceem"],
}
TITLES: Final = {
    "time": "Time to match one event of a batch, µs, over subscriptions",
    "regions": "Regions: time to match one event of a batch, µs, over hits per event",
    "ratio": f"How many times as long as {OURS} a rival takes",
    "churn": "Matching small batches while subscriptions change",
}


@dataclass(frozen=True, slots=True)
class LinesPanel:
    """Lines over a logarithmic axis, by rival."""

    title: str
    x_label: str
    lines: dict[str, list[tuple[float, float]]]


def write_figures(report: MatchersReport, folder: Path, *, suffixes: Sequence[str]) -> list[Path]:
    """Every figure for which there is something to draw; returns what was written."""
    figures = ((f"matchers-{name}", partial(draw, report)) for name, draw in _FIGURES.items())
    return save_figures(figures, folder, suffixes=suffixes)


def draw_times(report: MatchersReport) -> Figure | None:
    """A panel per workload; regions have a figure of their own."""
    shown = [
        LinesPanel(family.title, "subscriptions", _over_subscriptions(family))
        for family in report.families
        if not family.workload.startswith("regions")
    ]
    return _panels(TITLES["time"], shown)


def draw_regions(report: MatchersReport) -> Figure | None:
    """A panel per number of dimensions and size."""
    shown = []
    for workload in dict.fromkeys(family.workload for family in report.families):
        families = [each for each in report.families if each.workload == workload]
        if not workload.startswith("regions"):
            continue
        for subscriptions in [point.subscriptions for point in families[0].points]:
            title = f"{workload.removeprefix('regions-')[0]} dimensions, {subscriptions:,} boxes"
            shown.append(LinesPanel(title, "hits per event", _over_hits(families, subscriptions)))
    return _panels(TITLES["regions"], shown)


def _over_subscriptions(family: FamilyResult) -> dict[str, list[tuple[float, float]]]:
    lines: dict[str, list[tuple[float, float]]] = {}
    for point in family.points:
        for rival, measured in point.rivals.items():
            lines.setdefault(rival, []).append((point.subscriptions, measured.us_per_event))
    return lines


def _over_hits(
    families: Sequence[FamilyResult], subscriptions: int
) -> dict[str, list[tuple[float, float]]]:
    lines: dict[str, list[tuple[float, float]]] = {}
    for family in families:
        point = family.at(subscriptions)
        if point is None:
            continue
        for rival, measured in point.rivals.items():
            lines.setdefault(rival, []).append((point.matches_per_event, measured.us_per_event))
    return lines


def _panels(title: str, shown: Sequence[LinesPanel]) -> Figure | None:
    if not shown:
        return None
    figure, grid = panel_grid(title, len(shown))
    for axes, panel in zip(grid, shown, strict=True):
        _draw_lines(axes, panel)
    return figure


def _draw_lines(axes: Axes, panel: LinesPanel) -> None:
    axes.set_title(panel.title, fontsize=9)
    axes.set_xlabel(panel.x_label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for rival, line in panel.lines.items():
        draw_line(axes, line, RIVAL_LOOKS[rival], stands_out=rival == OURS)
    xs = sorted({x for line in panel.lines.values() for x, _ in line})
    axes.set_xlim(xs[0] / 1.3, xs[-1] * 1.3)
    axes.xaxis.set_major_locator(FixedLocator(_readable(xs)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(numticks=8))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(short))
    axes.yaxis.set_major_formatter(FuncFormatter(plain))
    early = {rival for rival, line in panel.lines.items() if line[-1][0] < xs[-1] / 1.2}
    name_lines(axes, panel.lines, RIVAL_LOOKS.__getitem__, early=early, stands_out=OURS)


def _readable(xs: Sequence[float]) -> list[float]:
    """The values to write under the axis: not two that would run into each other."""
    written: list[float] = []
    for x in reversed(xs):
        if not written or written[-1] / x > 1.9 * (xs[-1] / xs[0]) ** 0.04:
            written.append(x)
    return written


def draw_ratios(report: MatchersReport) -> Figure | None:
    """A group of bars per workload, each rival at the largest size that it reached."""
    groups = [(family, ratios(family)) for family in report.families]
    groups = [(family, bars) for family, bars in groups if bars]
    if not groups:
        return None
    lines = sum(len(bars) + 1.7 for _, bars in groups)
    height = lines * BAR_HEIGHT + HEAD_HEIGHT + 0.6
    figure = headed_figure(TITLES["ratio"], height)
    axes = figure.add_axes((0.2, 0.45 / height, 0.72, 1 - (HEAD_HEIGHT + 0.55) / height))
    place = 0.0
    for family, bars in groups:
        axes.text(
            0, place, family.title, transform=axes.get_yaxis_transform(), fontsize=9,
            fontweight="bold", va="center", color="#222222",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1}, zorder=5,
        )  # fmt: skip
        place += 1
        for bar in bars:
            _draw_bar(axes, bar, place)
            place += 1
        place += 0.7
    axes.set_ylim(place - 0.7, -0.9)
    _ratio_axis(axes, [bar.times for _, bars in groups for bar in bars])
    return figure


@dataclass(frozen=True, slots=True)
class Bar:
    """A rival, how many times as long as ours it takes, and at which size."""

    rival: str
    times: float
    subscriptions: int


def ratios(family: FamilyResult) -> list[Bar]:
    """Every rival of a workload, at the largest size that it and we have in common."""
    found: dict[str, Bar] = {}
    for point in family.points:
        for rival in point.rivals:
            share = point.ratio(rival)
            if rival != OURS and share:
                found[rival] = Bar(rival, 1 / share, point.subscriptions)
    return sorted(found.values(), key=lambda bar: list(RIVAL_LOOKS).index(bar.rival))


def _draw_bar(axes: Axes, bar: Bar, place: float) -> None:
    colour = RIVAL_LOOKS[bar.rival].colour
    axes.barh(place, bar.times - 1, left=1, height=0.8, color=colour)
    axes.text(
        -0.012, place, f"{bar.rival}, {short(bar.subscriptions, 0)}", ha="right", va="center",
        transform=axes.get_yaxis_transform(), fontsize=LABEL_SIZE, color=colour,
    )  # fmt: skip
    digits = 0 if bar.times >= 10 else 1 if bar.times >= 1 else 2
    axes.annotate(
        f"{bar.times:,.{digits}f} ×",
        (max(bar.times, 1), place),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize=LABEL_SIZE,
        color="#444444",
    )


def _ratio_axis(axes: Axes, times: Sequence[float]) -> None:
    axes.set_xscale("log")
    axes.set_xlim(min(0.8, *(each / 1.3 for each in times)), max(2.0, *times) * 2.2)
    axes.axvline(1, color="#111111", linewidth=1.2)
    axes.xaxis.set_major_locator(LogLocator(numticks=10))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(plain))
    axes.set_xlabel("times our time per event, logarithmic; left of 1 the rival is faster")
    axes.yaxis.set_major_locator(NullLocator())
    axes.spines["left"].set_visible(False)
    axes.grid(visible=True, axis="x")
    axes.set_axisbelow(True)


def draw_churn(report: MatchersReport) -> Figure | None:
    """Throughput and pauses over the rate of changes."""
    if report.churn is None:
        return None
    height = PANEL_HEIGHT + HEAD_HEIGHT + 0.2
    title = f"{TITLES['churn']} ({report.churn.subscriptions:,} subscriptions)"
    figure = headed_figure(title, height)
    figure.subplots_adjust(
        left=0.06, right=0.9, wspace=0.25, bottom=0.55 / height, top=1 - 0.8 / height
    )
    throughput, pauses = figure.subplots(1, 2)
    _draw_throughput(throughput, report.churn)
    _draw_pauses(pauses, report.churn)
    for axes in (throughput, pauses):
        rates = [f"{point.changes_per_s:,}" for point in report.churn.points]
        axes.set_xticks(range(len(rates)), rates)
        axes.set_xlabel("changes a second")
    return figure


def _draw_throughput(axes: Axes, churn: ChurnResult) -> None:
    axes.set_title("Events matched a second")
    speeds = [point.events_per_s for point in churn.points]
    axes.bar(range(len(speeds)), speeds, width=0.6, color=LOOKS["redundant-attributes"].colour)
    for place, (point, speed) in enumerate(zip(churn.points, speeds, strict=True)):
        late = point.achieved_per_s < 0.95 * point.changes_per_s
        note = f"\nonly {point.achieved_per_s:,.0f}\ndone" if late else ""
        axes.annotate(
            f"{speed / speeds[0]:.0%}{note}", (place, speed), xytext=(0, 3), ha="center",
            textcoords="offset points", fontsize=LABEL_SIZE, color="#444444",
        )  # fmt: skip
    axes.set_ylim(0, max(speeds) * 1.25)
    axes.yaxis.set_major_formatter(FuncFormatter(plain))
    axes.set_axisbelow(True)


def _draw_pauses(axes: Axes, churn: ChurnResult) -> None:
    axes.set_title("Time between two results, ms")
    kinds: dict[str, tuple[Callable[[int], float], Look]] = {
        "longest": (lambda at: churn.points[at].longest_ms, LOOKS["ceem"]),
        "99th percentile": (lambda at: churn.points[at].p99_ms, LOOKS["counting"]),
        "median": (lambda at: churn.points[at].p50_ms, LOOKS["redundant-attributes"]),
    }
    places = range(len(churn.points))
    axes.set_yscale("log")
    for of, look in kinds.values():
        axes.plot(places, [of(place) for place in places], color=look.colour, marker=look.marker)
    axes.axhline(PAUSE_MS, color="#8a8a8a", linewidth=1, linestyle="--")
    axes.annotate(
        f"the goal: at most {PAUSE_MS} ms", (1, PAUSE_MS), xytext=(8, 3), fontsize=LABEL_SIZE,
        textcoords="offset points", color="#6b6b6b",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )  # fmt: skip
    axes.yaxis.set_major_formatter(FuncFormatter(plain))
    axes.yaxis.set_minor_locator(NullLocator())
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, PAUSE_MS / 2), max(high, PAUSE_MS * 2))
    ends = {label: in_panel(axes, (0, of(-1)))[1] for label, (of, _) in kinds.items()}
    for label, height in apart(ends, 0.07).items():
        axes.text(
            1.01, height, label, transform=axes.transAxes, va="center",
            fontsize=LABEL_SIZE, color=kinds[label][1].colour,
        )  # fmt: skip


_FIGURES: Final[dict[str, Callable[[MatchersReport], Figure | None]]] = {
    "time": draw_times,
    "regions": draw_regions,
    "ratio": draw_ratios,
    "churn": draw_churn,
}
