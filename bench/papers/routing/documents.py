"""The network experiment for people: tables for the terminal, a figure, a fragment for a page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.table import Table

from bench.measuring.documents import write_figure_and_page
from bench.measuring.figures import Look, draw_line, name_lines, panel_grid
from bench.measuring.verdict import Verdict, verdict_table
from bench.papers.routing.run import RoutingPoint, RoutingReport, routing_verdicts

_LOOKS: Final = {
    "tree": Look("#0060a0", "D"),
    "flooding": Look("#6b6b6b", "s"),
    "no merging": Look("#6b6b6b", "s"),
    "unwanted": Look("#cf4b00", "o"),
}


def routing_tables(report: RoutingReport) -> list[Table]:
    """All points, and the verdicts."""
    table = Table(title="a core-based tree over the slack, beside what needs no tree")
    table.add_column("world")
    for heading in ("slack", "carried", "flooding", "unwanted %", "held", "no merging", "s"):
        table.add_column(heading, justify="right")
    for point in report.points:
        table.add_row(
            point.world,
            _slack(point),
            f"{point.carried:,}",
            f"{point.flooded:,}",
            f"{100 * point.false_rate:.1f}",
            f"{point.held:,}",
            f"{point.one_by_one:,}",
            f"{point.seconds:.1f}",
        )
    rows = ((each, each.outcome, _evidence(each)) for each in routing_verdicts(report))
    return [table, verdict_table("routing on a core-based tree: claims", rows)]


def write_routing(report: RoutingReport, folder: Path, *, suffixes: Sequence[str]) -> list[Path]:
    """The figure and the verdicts; returns what was written."""
    draw = partial(_figure, report)
    return write_figure_and_page("routing", draw, _fragment(report), folder, suffixes=suffixes)


def _figure(report: RoutingReport) -> Figure:
    worlds = list(dict.fromkeys(point.world for point in report.points))
    figure, panels = panel_grid(
        "What the tree carries and holds, over the slack (without faults)", 2 * len(worlds)
    )
    for row, world in enumerate(worlds):
        line = report.of(world)
        _traffic(panels[2 * row], world, line)
        _tables(panels[2 * row + 1], world, line)
    return figure


def _traffic(axes: Axes, world: str, line: Sequence[RoutingPoint]) -> None:
    axes.set_title(f"{world}: events from broker to broker, per event")
    _lines(
        axes,
        line,
        {
            "flooding": [point.flooded / point.events for point in line],
            "tree": [point.carried / point.events for point in line],
            "unwanted": [point.unwanted / point.events for point in line],
        },
    )


def _tables(axes: Axes, world: str, line: Sequence[RoutingPoint]) -> None:
    axes.set_title(f"{world}: subscriptions held per broker")
    _lines(
        axes,
        line,
        {
            "no merging": [point.one_by_one / point.brokers for point in line],
            "tree": [point.held / point.brokers for point in line],
        },
    )


def _lines(axes: Axes, line: Sequence[RoutingPoint], lines: dict[str, list[float]]) -> None:
    drawn = {name: list(enumerate(values)) for name, values in lines.items()}
    for name, values in drawn.items():
        draw_line(axes, values, _LOOKS[name], stands_out=name == "tree")
    axes.set_xticks(range(len(line)), [_slack(point) for point in line])
    axes.set_xlabel("slack")
    axes.set_ylim(bottom=0)
    name_lines(axes, drawn, _LOOKS.__getitem__, stands_out="tree")


def _fragment(report: RoutingReport) -> list[str]:
    lines = [
        "% Written by `python -m bench papers routing --docs`; changes will be lost.",
        "",
        "| world | slack | carried | by flooding | unwanted | held | without merging |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {point.world} | {_slack(point)} | {point.carried / point.events:.2f} "
        f"| {point.flooded / point.events:.0f} | {100 * point.false_rate:.1f} % "
        f"| {point.held / point.brokers:,.0f} | {point.one_by_one / point.brokers:,.0f} |"
        for point in report.points
    ]
    lines += ["", "| claim | verdict | evidence |", "| --- | --- | --- |"]
    lines += [
        f"| {each.claim}. Rule: {each.rule} | {_outcome(each)} | {_evidence(each)} |"
        for each in routing_verdicts(report)
    ]
    first = report.points[0]
    lines.append("")
    lines.append(
        f"{first.brokers} brokers, {first.subscriptions:,} subscriptions, {first.events:,} events; "
        f"seed {report.seed}. Carried is per event, from broker to broker; held is per broker. "
        f"{report.machine}"
    )
    return lines


def _slack(point: RoutingPoint) -> str:
    return "∞" if point.slack is None else f"{point.slack:g}"


def _outcome(verdict: Verdict) -> str:
    if verdict.outcome == "does not hold" and verdict.why_not:
        return f"**does not hold.** {verdict.why_not}"
    return verdict.outcome


def _evidence(verdict: Verdict) -> str:
    return "" if verdict.counted is None else verdict.counted.evidence
