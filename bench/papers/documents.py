"""Verdicts for people: a table for the terminal, a Markdown fragment for the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.table import Table

from bench.measuring.documents import write_page
from bench.measuring.verdict import Finding, Verdict, verdict_table
from bench.papers.claims import verdicts
from bench.papers.plots import write_figures
from bench.papers.results import ExperimentResult, PapersReport
from bench.papers.workloads import PAPERS


def write_documents(report: PapersReport, folder: Path, *, suffixes: Sequence[str]) -> list[Path]:
    """The figures and, for each paper, its verdicts; returns what was written."""
    written = write_figures(report, folder, suffixes=suffixes)
    for paper in papers_in(report):
        written.append(write_page(f"verdicts-{paper}", fragment(report, paper), folder))
    return written


def papers_in(report: PapersReport) -> list[str]:
    """The papers that the report speaks of."""
    return [paper for paper in PAPERS if report.of(paper)]


def claims_table(report: PapersReport, paper: str) -> Table:
    """The verdicts on one paper, for the terminal."""
    return judged_table(PAPERS[paper].title, verdicts(report, paper))


def judged_table(title: str, judged: Iterable[Verdict]) -> Table:
    """Verdicts under a paper's title, for the terminal."""
    rows = ((each, each.outcome, "\n".join(_findings(each))) for each in judged)
    return verdict_table(f"{title}: claims", rows)


def fragment(report: PapersReport, paper: str) -> list[str]:
    """The verdicts on one paper in Markdown, to be included in a page."""
    lines = [*verdict_lines(verdicts(report, paper)), ""]
    return [*lines, *_stops(report.of(paper)), _provenance(report, paper)]


def verdict_lines(judged: Sequence[Verdict]) -> list[str]:
    """Verdicts in Markdown: all of them in a table, and the evidence for each."""
    lines = [
        "% Written by `python -m bench papers --docs` (or `report --docs`); changes will be lost.",
        "",
        "| | claim | verdict |",
        "| --- | --- | --- |",
    ]
    lines += [
        f"| {number} | {verdict.claim} | {_shown(verdict.outcome)} |"
        for number, verdict in enumerate(judged, 1)
    ]
    lines.append("")
    for number, verdict in enumerate(judged, 1):
        lines += _details(number, verdict)
    return lines


def _shown(outcome: str) -> str:
    return outcome if outcome == "holds" else f"**{outcome}**"


def _details(number: int, verdict: Verdict) -> list[str]:
    indent = " " * (len(str(number)) + 2)
    lines = [f"{number}. {verdict.claim}. Rule: {verdict.rule}."]
    lines += [f"{indent}- {found}" for found in _findings(verdict)]
    if verdict.outcome not in {"holds", "not measured"} and verdict.why_not:
        lines.append(f"{indent}- *Why not?* {verdict.why_not}")
    return lines


def _findings(verdict: Verdict) -> Iterable[str]:
    kinds: tuple[tuple[str, Finding | None], ...] = (
        (verdict.unit, verdict.measured),
        ("steps", verdict.counted),
    )
    for kind, finding in kinds:
        if finding is not None:
            holds = "it holds" if finding.holds else "it does not hold"
            yield f"By {kind} {holds}: {finding.evidence}."


def _stops(results: Iterable[ExperimentResult]) -> list[str]:
    lines = [
        f"- In {result.label}, {name} is left out from {stop.x:,} {result.x_label} on"
        f"{' (this one still measured)' if stop.measured else ''}: {stop.message}."
        for result in results
        for name, stop in result.stopped.items()
    ]
    return [*lines, ""] if lines else []


def _provenance(report: PapersReport, paper: str) -> str:
    points = [point for result in report.of(paper) for point in result.points]
    subscriptions = max(point.subscriptions for point in points)
    matches = sum(point.matches for point in points)
    return (
        f"Preset *{report.preset}* (up to {subscriptions:,} subscriptions), seed {report.seed}, "
        f"processor time, medians of up to {report.repeats} repeats; {report.machine}. "
        f"All matchers found the same {matches:,} matches."
    )
