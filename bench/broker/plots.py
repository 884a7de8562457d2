"""The figure and the tables of ``python -m bench broker`` that the documentation shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from matplotlib.figure import Figure

from bench.broker.contestants import PREDICAST, RELAY
from bench.broker.results import HEADINGS, BrokerReport, BrokerRow, goal_rows
from bench.measuring.documents import write_figure_and_page
from bench.measuring.figures import (
    Line,
    Look,
    draw_named_lines,
    panel_grid,
    short,
)
from bench.measuring.page_tables import page_table

LOOKS: Final = {
    PREDICAST: Look("#0060a0", "o"),
    "jetstream": Look("#7a4fb5", "h"),
    "nats": Look("#00825f", "p"),
    "mosquitto": Look("#c77c00", "^"),
    "redis": Look("#cf4b00", "D"),
    RELAY: Look("#6b6b6b", "s"),
}
_USUAL: Final = 10_000  # subscriptions, where fan-out is what varies


def write_broker(report: BrokerReport, folder: Path, *, suffixes: Sequence[str]) -> list[Path]:
    """The figure, once per suffix, and the tables as a page to be included."""
    draw = partial(draw_broker, report)
    return write_figure_and_page("broker", draw, _page(report), folder, suffixes=suffixes)


def draw_broker(report: BrokerReport) -> Figure | None:
    """Throughput and latencies over subscriptions and over fan-out, and memory over time."""
    panels: list[tuple[str, str, dict[str, Line]]] = []
    for over, rows in (
        ("subscriptions", [row for row in report.rows if row.fan_out == 1]),
        ("fan-out", [row for row in report.rows if row.subscriptions == _USUAL]),
    ):
        at: Callable[[BrokerRow], int] = partial(_at, over)
        where = "fan-out 1" if over == "subscriptions" else f"{short(_USUAL, 0)} subscriptions"
        panels += [
            (f"deliveries/s, {where}", over, _lines(rows, at, lambda r: r.delivered_per_s)),
            (f"p99 in ms, {where}", over, _lines(rows, at, lambda r: r.p99_ms)),
        ]
    panels = [panel for panel in panels if panel[2]]
    if not panels and not report.memory:
        return None
    figure, grid = panel_grid(f"Brokers on {report.machine}", len(panels) + bool(report.memory))
    for axes, (title, label, lines) in zip(grid, panels, strict=False):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(title)
        draw_named_lines(axes, lines, LOOKS, label, stands_out=PREDICAST)
    if report.memory:
        axes = grid[-1]
        axes.set_title("MiB of the broker's process under load")
        axes.set_ylim(0, 1.2 * max(each.resident_mib for each in report.memory))
        axes.set_xlabel("seconds")
        axes.plot(
            [each.second for each in report.memory],
            [each.resident_mib for each in report.memory],
            color=LOOKS[PREDICAST].colour,
        )
    return figure


def _at(over: str, row: BrokerRow) -> int:
    return row.subscriptions if over == "subscriptions" else row.fan_out


def _lines(
    rows: Iterable[BrokerRow], at: Callable[[BrokerRow], int], value: Callable[[BrokerRow], float]
) -> dict[str, Line]:
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        found.setdefault(row.broker, []).append((at(row), value(row)))
    return {name: sorted(line) for name, line in found.items()}


def _page(report: BrokerReport) -> Iterable[str]:
    yield "% Written by `python -m bench broker --docs`; changes will be lost."
    yield ""
    yield f"On {report.machine}."
    yield ""
    yield from page_table(("goal", "verdict", "measured"), goal_rows(report))
    yield ""
    yield from page_table(HEADINGS, [row.cells() for row in report.rows])
    for name, why in report.skipped.items():
        yield ""
        yield f"{name} is left out: {why}."
