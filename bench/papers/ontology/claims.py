"""The claims of the paper whose events are graphs, section 5, and our own goals beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from bench.measuring.verdict import Finding, Verdict
from bench.papers.claims.comparisons import IS_LINEAR, LINEAR
from bench.papers.ontology.run import OntologyFigures, OntologyReport
from bench.papers.results import Series
from bench.papers.trends import growth

_LARGEST: Final = 10_000  # subscriptions of the paper
_PAPER_MS: Final = 1_200  # per event with so many, on a Pentium 4 of 1.6 GHz
_SHARE: Final = (2, 4)  # of a hundred: "about 3"
_NODES: Final = (2.5, 10)  # "about 5"
_STEADY: Final = 1.25  # the most by which what does not depend on subscriptions varies
_MOST: Final = 50  # of a hundred
_GOALS_MS: Final = {10_000: 1.0, 100_000: 10.0}  # of joins
_TIMES: Final = 5_000  # as fast as pyoxigraph
_LOAD_S: Final = 10

Value = Callable[[OntologyFigures], float | None]


def judge_ontology(report: OntologyReport) -> list[Verdict]:
    """Each claim about time, trees and matches; then our own."""
    return [
        Verdict(
            claim="Matching time grows linearly with the subscriptions",
            rule=f"of ops, over the subscriptions held, in every variant: {IS_LINEAR}",
            measured=_each(report, "ops", lambda each: each.ms_per_event, _linear),
            counted=None,
        ),
        Verdict(
            claim="An event takes 1.2 s at 10,000 subscriptions",
            rule="of ops, with the paper's workload: no longer, on a machine of today",
            measured=_at_most(report, "ops", {_LARGEST: float(_PAPER_MS)}),
            counted=None,
        ),
        Verdict(
            claim="A matching tree has about 5 nodes",
            rule=f"averaged over all subscriptions: from {_NODES[0]} to {_NODES[1]}",
            measured=None,
            counted=_paper(report, "ops", lambda each: each.nodes_each, _about_five),
            why_not="A property of a class leads to one class here, without which nothing would "
            "ever match. So an arc with the right property has the right classes, too, and a tree "
            "grows until an arc is missing. With classes at random, as the paper seems to draw "
            "them, it ends after an arc or two; but then nothing matches.",
        ),
        Verdict(
            claim="The nodes per tree do not depend on the number of subscriptions",
            rule=f"the highest average is at most {_STEADY:g} times the lowest",
            measured=None,
            counted=_paper(report, "ops", lambda each: each.nodes_each, _steady),
        ),
        Verdict(
            claim="Partial verification rejects most of what does not match",
            rule=f"of the trees without a match, more than {_MOST} of a hundred",
            measured=None,
            counted=_each(report, "ops", lambda each: each.rejected, _most),
            why_not="What fails late fails in arcs that close a cycle, which the partial "
            "verification does not see.",
        ),
        Verdict(
            claim="About 3 % of the subscriptions match an event",
            rule=f"with the paper's workload, at every point: {_SHARE[0]} to {_SHARE[1]} %",
            measured=None,
            counted=_paper(report, "joins", lambda each: each.matched, _about_three),
        ),
        *_goals(report),
    ]


def _goals(report: OntologyReport) -> list[Verdict]:
    return [
        Verdict(
            claim="Ours: joins takes at most 1 ms per event at 10,000 subscriptions, 10 at 100,000",
            rule="with the paper's workload, in batches on one core",
            measured=_at_most(report, "joins", _GOALS_MS),
            counted=None,
        ),
        Verdict(
            claim="Ours: that is 5,000 times as fast as pyoxigraph",
            rule=f"with the paper's workload at {_LARGEST:,} subscriptions",
            measured=_ratio(report),
            counted=None,
        ),
        Verdict(
            claim="Ours: 10,000 texts of SPARQL are loaded in at most 10 s",
            rule=f"by joins, of every variant, at {_LARGEST:,} subscriptions",
            measured=_loading(report),
            counted=None,
        ),
    ]


def _series(report: OntologyReport, variant: str, contestant: str, value: Value) -> Series:
    found = (
        (each.subscriptions, value(each))
        for each in report.figures
        if (each.variant, each.contestant) == (variant, contestant)
    )
    return [(x, y) for x, y in found if y is not None]


def _each(
    report: OntologyReport, contestant: str, value: Value, judge: Callable[[Series], Finding | None]
) -> Finding | None:
    """One finding from every variant."""
    variants = dict.fromkeys(each.variant for each in report.figures)
    found = {each: judge(_series(report, each, contestant, value)) for each in variants}
    named = (Finding(f.holds, f"{variant}: {f.evidence}") for variant, f in found.items() if f)
    return Finding.joined(named)


def _paper(
    report: OntologyReport, contestant: str, value: Value, judge: Callable[[Series], Finding | None]
) -> Finding | None:
    return judge(_series(report, "paper", contestant, value))


def _linear(series: Series) -> Finding | None:
    if len(series) < 3:
        return None
    power = growth(series)
    return Finding(LINEAR[0] <= power <= LINEAR[1], f"x^{power:.2f}")


def _about_five(series: Series) -> Finding | None:
    return _within(series, _NODES, "nodes")


def _about_three(series: Series) -> Finding | None:
    return _within(series, _SHARE, "%")


def _within(series: Series, bounds: tuple[float, float], unit: str) -> Finding | None:
    values = [y for _, y in series]
    if not values:
        return None
    holds = bounds[0] <= min(values) and max(values) <= bounds[1]
    return Finding(holds, f"{min(values):.1f} to {max(values):.1f} {unit}")


def _steady(series: Series) -> Finding | None:
    values = [y for _, y in series]
    if len(values) < 2:
        return None
    ratio = max(values) / min(values)
    return Finding(ratio <= _STEADY, f"highest by lowest {ratio:.2f}")


def _most(series: Series) -> Finding | None:
    if not series:
        return None
    least = min(y for _, y in series)
    return Finding(least > _MOST, f"{least:.0f} % and more")


def _at_most(report: OntologyReport, contestant: str, most: dict[int, float]) -> Finding | None:
    times = dict(_series(report, "paper", contestant, lambda each: each.ms_per_event))
    return Finding.joined(
        Finding(times[count] <= limit, f"{times[count]:,.3g} ms at {count:,}")
        for count, limit in most.items()
        if count in times
    )


def _ratio(report: OntologyReport) -> Finding | None:
    mine = dict(_series(report, "paper", "joins", lambda each: each.ms_per_event))
    other = dict(_series(report, "paper", "pyoxigraph", lambda each: each.ms_per_event))
    if _LARGEST not in mine or _LARGEST not in other:
        return None
    ratio = other[_LARGEST] / mine[_LARGEST]
    return Finding(ratio >= _TIMES, f"{ratio:,.0f} times")


def _loading(report: OntologyReport) -> Finding | None:
    def judge(series: Series) -> Finding | None:
        seconds = dict(series).get(_LARGEST)
        return None if seconds is None else Finding(seconds <= _LOAD_S, f"{seconds:.1f} s")

    return _each(report, "joins", lambda each: each.load_s, judge)
