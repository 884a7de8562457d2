"""The matchers' results for people: tables for the terminal, a Markdown part for the pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.table import Table

from bench.matchers.goals import verdicts
from bench.matchers.plots import write_figures
from bench.matchers.results import OURS, FamilyResult, MatchersReport, RivalResult, SizeResult
from bench.measuring.documents import write_page
from bench.measuring.verdict import Verdict, verdict_table


def write_documents(report: MatchersReport, folder: Path, *, suffixes: Sequence[str]) -> list[Path]:
    """The figures and the Markdown part; returns what was written."""
    written = write_figures(report, folder, suffixes=suffixes)
    return [*written, write_page("matchers", fragment(report), folder)]


def measured_table(report: MatchersReport) -> Table:
    """Every rival at every point, for the terminal."""
    table = Table(title="Matchers side by side", caption=str(report.machine))
    table.add_column("workload", no_wrap=True)
    for heading in ("subscriptions", "matches/event"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("matcher", no_wrap=True)
    for heading in ("µs/event", "ns/match", "× yardstick", "× ours", "MB", "events"):
        table.add_column(heading, justify="right", no_wrap=True)
    for family in report.families:
        for point in family.points:
            _add_point(table, family, point)
    return table


def _add_point(table: Table, family: FamilyResult, point: SizeResult) -> None:
    where = (family.name, f"{point.subscriptions:,}", f"{point.matches_per_event:,.1f}")
    for rival, measured in point.rivals.items():
        table.add_row(
            *where,
            rival,
            _number(measured.us_per_event),
            _number(measured.ns_per_match),
            _number(_times(measured, point.rivals.get("yardstick"))),
            _number(_times(measured, point.rivals.get(OURS))),
            _number(measured.bytes / 1e6 if measured.bytes else None),
            f"{measured.events:,}",
            style="bold" if rival == OURS else "red" if rival in point.wrong else "",
        )
        where = ("", "", "")
    for rival, why in point.left_out.items():
        table.add_row(*where, rival, f"[dim]{why}[/]", style="dim")
        where = ("", "", "")
    table.add_section()


def goals_table(report: MatchersReport) -> Table:
    """The goals, for the terminal."""
    rows = ((verdict, _met(verdict), _evidence(verdict)) for verdict in verdicts(report))
    return verdict_table("Goals", rows)


def others_table(report: MatchersReport) -> Table | None:
    """What has no rivals, for the terminal; none if none of it was measured."""
    rows = list(_others(report))
    if not rows:
        return None
    table = Table(title="Loading, single events, changes")
    table.add_column("what")
    table.add_column("measured")
    for what, measured in rows:
        table.add_row(what, measured)
    return table


def fragment(report: MatchersReport) -> list[str]:
    """Everything in Markdown, to be included in a page."""
    lines = [
        "% Written by `python -m bench matchers --docs`; changes will be lost.",
        "",
        "| | goal | verdict | measured |",
        "| --- | --- | --- | --- |",
    ]
    for number, verdict in enumerate(verdicts(report), 1):
        outcome = _met(verdict) if verdict.outcome == "holds" else f"**{_met(verdict)}**"
        lines.append(f"| {number} | {verdict.claim} | {outcome} | {_evidence(verdict)} |")
    lines.append("")
    for family in report.families:
        lines += _family_lines(family)
    others = list(_others(report))
    if others:
        lines += ["| what | measured |", "| --- | --- |"]
        lines += [f"| {what} | {measured} |" for what, measured in others] + [""]
    return [*lines, *_wrong_lines(report), *_left_out_lines(report), _provenance(report)]


def _met(verdict: Verdict) -> str:
    return {"holds": "met", "does not hold": "missed"}.get(verdict.outcome, verdict.outcome)


def _evidence(verdict: Verdict) -> str:
    return verdict.measured.evidence if verdict.measured else ""


def _family_lines(family: FamilyResult) -> list[str]:
    """One table: a row per size, a column per rival."""
    rivals = list(dict.fromkeys(rival for point in family.points for rival in point.rivals))
    headings = ["subscriptions", "matches per event", *(f"{name}, µs" for name in rivals)]
    headings += ["ns per match", "our MB", "growth: time, matches"]
    lines = [f"**{family.title}**", "", f"| {' | '.join(headings)} |"]
    lines.append("| " + " | ".join("---:" for _ in headings) + " |")
    before: SizeResult | None = None
    for point in family.points:
        ours = point.rivals[OURS]
        cells = [f"{point.subscriptions:,}", _number(point.matches_per_event)]
        cells += [_cell(point, rival) for rival in rivals]
        cells += [_number(ours.ns_per_match), _number(ours.bytes / 1e6 if ours.bytes else None)]
        cells.append(_growth(before, point))
        lines.append(f"| {' | '.join(cells)} |")
        before = point
    return [*lines, ""]


def _cell(point: SizeResult, rival: str) -> str:
    if rival not in point.rivals:
        return "–"
    shown = _number(point.rivals[rival].us_per_event)
    if rival in point.wrong:
        return f"{shown} (**wrong**)"
    return f"**{shown}**" if rival == OURS else shown


def _growth(before: SizeResult | None, point: SizeResult) -> str:
    """How much time and matches have grown since the size before."""
    if before is None or not before.matches:
        return ""
    time = point.rivals[OURS].us_per_event / before.rivals[OURS].us_per_event
    matches = point.matches_per_event / before.matches_per_event
    return f"× {_number(time)}, × {_number(matches)}"


def _times(measured: RivalResult, other: RivalResult | None) -> float | None:
    return measured.us_per_event / other.us_per_event if other else None


def _others(report: MatchersReport) -> Iterable[tuple[str, str]]:
    if (single := report.single) is not None:
        yield (
            f"`match` of one dict at {single.subscriptions:,}",
            f"{single.median_us:.1f} µs, 99th percentile {single.p99_us:.1f} µs",
        )
    if (load := report.load) is not None:
        arrays = load.each(load.array_bytes) if load.array_bytes else None
        yield (
            (
                f"loading {load.subscriptions:,} subscriptions of "
                f"{load.constraints // load.subscriptions} constraints from Arrow"
            ),
            f"{load.load_s:.1f} s; at most {load.peak_bytes / 1e6:,.0f} MB in use, table included",
        )
        yield (
            "memory per subscription",
            (
                f"{_number(arrays)} bytes of arrays; the process grows by "
                f"{load.each(load.growth_bytes):.0f} bytes, a dict of the ids alone by "
                f"{load.each(load.id_bytes):.0f}"
            ),
        )
        yield (
            "`save` and `Engine.load`",
            (
                f"{load.save_s:.2f} s and {load.open_s:.2f} s (with the first match); "
                f"{load.file_bytes / 1e6:,.0f} MB"
            ),
        )
    if (churn := report.churn) is not None:
        still = churn.points[0]
        for point in churn.points:
            yield (
                f"{point.changes_per_s:,} changes a second at {churn.subscriptions:,}",
                (
                    f"{point.events_per_s:,.0f} events a second ({point.cost(still):.0%} fewer); "
                    f"{point.achieved_per_s:,.0f} changes a second done; between results of "
                    f"{churn.batch} events {point.p50_ms:.1f} ms, 99th percentile "
                    f"{point.p99_ms:.1f} ms, longest {point.longest_ms:.1f} ms"
                ),
            )


def _wrong_lines(report: MatchersReport) -> list[str]:
    wrong = report.wrong()
    return [*(f"- **Wrong answer**: {each}." for each in wrong), ""] if wrong else []


def _left_out_lines(report: MatchersReport) -> list[str]:
    """Who was left out where; one line for all the points with the same reason."""
    places: dict[tuple[str, str], list[str]] = {}
    for family in report.families:
        for point in family.points:
            for rival, why in point.left_out.items():
                where = f"{family.name} at {point.subscriptions:,}"
                places.setdefault((rival, why), []).append(where)
    lines = [f"- {rival}: {why} ({', '.join(where)})." for (rival, why), where in places.items()]
    return ["Left out:", "", *lines, ""] if lines else []


def _provenance(report: MatchersReport) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    checked = sum(
        measured.matches
        for family in report.families
        for point in family.points
        for rival, measured in point.rivals.items()
        if rival != OURS
    )
    return (
        f"Preset *{report.preset}*, seed {report.seed}, processor time on one thread, medians of "
        f"up to {report.rounds} alternating rounds (changes, loading and single events: time on "
        f"the clock); {report.machine}; {versions}. In each round rivals found as many matches as "
        f"we did on the same events, {checked:,} in all."
    )


def _number(value: float | None) -> str:
    """Three digits that matter: 0.31, 4.5, 27.1, 1,060."""
    if value is None:
        return "–"
    for limit, digits in ((1, 2), (100, 1)):
        if abs(value) < limit:
            return f"{value:.{digits}f}"
    return f"{value:,.0f}"
