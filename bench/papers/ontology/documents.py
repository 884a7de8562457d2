"""The experiment's figure and verdicts, for the terminal and for its page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator
from rich.table import Table

from bench.measuring.documents import write_figure_and_page
from bench.measuring.figures import (
    Look,
    draw_line,
    name_lines,
    panel_grid,
    plain,
    short,
)
from bench.papers.documents import judged_table, verdict_lines
from bench.papers.ontology.claims import judge_ontology
from bench.papers.ontology.run import OntologyReport
from bench.papers.results import Series

_TITLE: Final = "Ontology-based publish/subscribe"
_LOOKS: Final = {
    "joins": Look("#0060a0", "D"),
    "ops": Look("#d9822b", "o"),
    "pyoxigraph": Look("#6b6b6b", "s"),
    "rdflib": Look("#a85a8a", "X"),
}
_VARIANT_LOOKS: Final = {
    "paper": Look("#0060a0", "D"),
    "hierarchies": Look("#d9822b", "o"),
    "filters": Look("#3a8f5c", "v"),
}


def ontology_claims(report: OntologyReport) -> Table:
    """The verdicts, for the terminal."""
    return judged_table(_TITLE, judge_ontology(report))


def write_documents(report: OntologyReport, folder: Path, *, suffixes: Sequence[str]) -> list[Path]:
    """The figure and the verdicts; returns what was written."""
    return write_figure_and_page(
        "ontology",
        partial(draw, report),
        fragment(report),
        folder,
        suffixes=suffixes,
        page="verdicts-ontology",
    )


def fragment(report: OntologyReport) -> list[str]:
    """The verdicts and the figures in Markdown, to be included in a page."""
    largest = max(each.subscriptions for each in report.figures)
    provenance = (
        f"Preset *{report.size}* (up to {largest:,} subscriptions), seed {report.seed}, processor "
        f"time, medians of {report.repeats} repeats; {report.machine}. All contestants gave the "
        "same answers wherever they were asked the same. The times of pyoxigraph and rdflib are "
        "made out from few queries."
    )
    return [*verdict_lines(judge_ontology(report)), "", *_figures(report), "", provenance]


def _figures(report: OntologyReport) -> list[str]:
    lines = [
        "| workload | by | subscriptions | load, s | ms per event | match, % | MB |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for each in report.figures:
        memory = "" if each.memory_mb is None else f"{each.memory_mb:.0f}"
        lines.append(
            f"| {each.variant} | {each.contestant} | {each.subscriptions:,} | {each.load_s:.2f} | "
            f"{each.ms_per_event:,.3g} | {each.matched:.1f} | {memory} |"
        )
    return lines


def draw(report: OntologyReport) -> Figure:
    """Contestants with the paper's workload, variants by joins, nodes and memory."""
    title = f"{_TITLE}: 10 vertices and 11 arcs per subscription, 50 and 55 per event"
    figure, grid = panel_grid(title, 4)
    by_contestant = {
        name: _line(report, "paper", name, "ms_per_event") for name in _LOOKS if name != "rdflib"
    }
    _panel(grid[0], "Time per event, ms", by_contestant, _LOOKS, logarithmic=True)
    by_variant = {name: _line(report, name, "joins", "ms_per_event") for name in _VARIANT_LOOKS}
    _panel(grid[1], "Time per event of joins, ms", by_variant, _VARIANT_LOOKS, logarithmic=True)
    nodes = {name: _line(report, name, "ops", "nodes_each") for name in _VARIANT_LOOKS}
    _panel(grid[2], "Nodes of ops' trees per subscription", nodes, _VARIANT_LOOKS)
    memory = {name: _line(report, "paper", name, "memory_mb") for name in ("joins", "ops")}
    _panel(grid[3], "Memory, MB", memory, _LOOKS, logarithmic=True)
    return figure


def _line(report: OntologyReport, variant: str, contestant: str, field: str) -> Series:
    return [
        (each.subscriptions, getattr(each, field))
        for each in report.figures
        if (each.variant, each.contestant) == (variant, contestant)
        and getattr(each, field) is not None
    ]


def _panel(
    axes: Axes,
    title: str,
    lines: dict[str, Series],
    looks: dict[str, Look],
    *,
    logarithmic: bool = False,
) -> None:
    shown = {name: series for name, series in lines.items() if series}
    axes.set_title(title)
    axes.set_xlabel("subscriptions")
    counts = sorted({x for each in shown.values() for x, _ in each}) or [1]
    values = [y for each in shown.values() for _, y in each if y > 0] or [1]
    axes.set_xscale("log")
    axes.set_xlim(counts[0] / 1.1, counts[-1] * 1.1)  # before names are put beside the lines
    axes.set_xticks(counts)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(short))
    if logarithmic:
        axes.set_yscale("log")
        axes.set_ylim(min(values) / 1.5, max(values) * 1.5)
        axes.yaxis.set_major_formatter(FuncFormatter(plain))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(0, 1.2 * max(values))
    for name, series in shown.items():
        draw_line(axes, series, looks[name])
    name_lines(axes, shown, looks.__getitem__)
