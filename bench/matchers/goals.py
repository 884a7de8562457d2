"""The goals that the production matcher was built to, judged by what was measured.

A goal names its size; a run that does not reach it (as the small preset does not) leaves the goal
"not measured", and never judges it by another size.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bench.matchers.results import OURS, MatchersReport, SizeResult
from bench.measuring.verdict import Finding, Verdict

MILLION: Final = 1_000_000
FROM: Final = 50_000  # growth is judged from here to a million
CEEM: Final = {"exp. 1": "ceem-exp1", "exp. 2": "ceem-exp2"}
SHARE_OF_YARDSTICK: Final = 0.7
SINGLE_US: Final = 30
LOAD_S: Final = 10
CLAUSE_BYTES: Final = 64
CHANGES_PER_S: Final = 10_000
# A rate counts as kept up with from this share of it on.
KEPT_UP: Final = 0.95
CHURN_COST: Final = 0.2
PAUSE_MS: Final = 10
SPARSE: Final = 100_000
SPARSE_TIMES: Final = 20
SPARSE_RIVAL: Final = "improved-counting"


def verdicts(report: MatchersReport) -> list[Verdict]:
    """One verdict per goal, in the order of the goals."""
    return [
        _goal(
            "CEEM at 1,000,000 takes at most 0.7 of the yardstick's time",
            "medians of alternating rounds, both experiments",
            (_yardstick(report, label, name) for label, name in CEEM.items()),
        ),
        _goal(
            "From 50,000 to 1,000,000, time grows no faster than the matches do",
            "growth of the time per event and of the matches per event, both experiments",
            (_growth(report, label, name) for label, name in CEEM.items()),
        ),
        _goal(
            "A single match of a dict at 50,000 takes at most 30 µs",
            "the median call, Python edge included",
            [_single(report)],
        ),
        _goal(
            "1,000,000 clauses of 8 constraints are loaded in at most 10 s",
            "from an Arrow table, the first match included",
            [_load(report)],
        ),
        _goal(
            "Memory is at most 64 bytes per clause beyond the ids",
            "the matcher's arrays, and the growth of the process less that by a dict of the ids",
            [_memory(report)],
            memory=True,
        ),
        _goal(
            "10,000 changes a second cost at most 20% of the match throughput at 1,000,000",
            "events a second against those without changes; the changes keep up",
            [_churn(report)],
        ),
        _goal(
            "No pause is longer than 10 ms at 1,000,000",
            "the longest time between two results of small batches, at any rate of changes",
            [_pause(report)],
        ),
        _goal(
            "Wide and sparse at 100,000, it is at least 20 times as fast as improved counting",
            "time per event",
            [_sparse(report)],
        ),
    ]


def _goal(
    claim: str, rule: str, findings: Iterable[Finding | None], *, memory: bool = False
) -> Verdict:
    """All parts must have been measured; a goal that is half measured is not."""
    found = list(findings)
    known = [each for each in found if each is not None]
    whole = Finding.joined(known) if len(known) == len(found) else None
    return Verdict(claim, rule, whole, None, unit="memory" if memory else "time")


def _point(report: MatchersReport, family: str, subscriptions: int) -> SizeResult | None:
    found = report.family(family)
    return found.at(subscriptions) if found else None


def _yardstick(report: MatchersReport, label: str, family: str) -> Finding | None:
    point = _point(report, family, MILLION)
    share = point.ratio("yardstick") if point else None
    if point is None or share is None:
        return None
    ours, yardstick = (point.rivals[name].us_per_event for name in (OURS, "yardstick"))
    evidence = f"{label}: {share:.2f} ({ours:.1f} µs against {yardstick:.1f} µs per event)"
    return Finding(share <= SHARE_OF_YARDSTICK, evidence)


def _growth(report: MatchersReport, label: str, family: str) -> Finding | None:
    small, large = (_point(report, family, size) for size in (FROM, MILLION))
    if small is None or large is None:
        return None
    time = large.rivals[OURS].us_per_event / small.rivals[OURS].us_per_event
    matches = large.matches_per_event / small.matches_per_event
    evidence = f"{label}: time × {time:.1f}, matches × {matches:.1f}"
    return Finding(time <= matches, evidence)


def _single(report: MatchersReport) -> Finding | None:
    single = report.single
    if single is None or single.subscriptions != FROM:
        return None
    evidence = f"{single.median_us:.1f} µs, 99th percentile {single.p99_us:.1f} µs"
    return Finding(single.median_us <= SINGLE_US, evidence)


def _load(report: MatchersReport) -> Finding | None:
    load = report.load
    if load is None or load.subscriptions != MILLION:
        return None
    return Finding(load.load_s <= LOAD_S, f"{load.load_s:.1f} s")


def _memory(report: MatchersReport) -> Finding | None:
    load = report.load
    if load is None or load.subscriptions != MILLION or load.array_bytes is None:
        return None
    arrays, beyond = load.each(load.array_bytes), load.each(load.beyond_ids)
    evidence = (
        f"arrays {arrays:.0f} bytes; the process grows by {load.each(load.growth_bytes):.0f} "
        f"bytes, a dict of the ids by {load.each(load.id_bytes):.0f}, which leaves {beyond:.0f}"
    )
    return Finding(max(arrays, beyond) <= CLAUSE_BYTES, evidence)


def _churn(report: MatchersReport) -> Finding | None:
    churn = report.churn
    if churn is None or churn.subscriptions != MILLION:
        return None
    still, busy = churn.at(0), churn.at(CHANGES_PER_S)
    if still is None or busy is None:
        return None
    cost = busy.cost(still)
    kept_up = busy.achieved_per_s >= KEPT_UP * CHANGES_PER_S
    evidence = (
        f"{cost:.0%} ({busy.events_per_s:,.0f} events a second against {still.events_per_s:,.0f}), "
        f"with {busy.achieved_per_s:,.0f} changes a second"
    )
    return Finding(kept_up and cost <= CHURN_COST, evidence)


def _pause(report: MatchersReport) -> Finding | None:
    churn = report.churn
    if churn is None or churn.subscriptions != MILLION:
        return None
    longest = max(point.longest_ms for point in churn.points)
    evidence = ", ".join(
        f"{point.longest_ms:.1f} ms at {point.changes_per_s:,}" for point in churn.points
    )
    return Finding(longest <= PAUSE_MS, f"{evidence} changes a second")


def _sparse(report: MatchersReport) -> Finding | None:
    point = _point(report, "redundant", SPARSE)
    share = point.ratio(SPARSE_RIVAL) if point else None
    if point is None or share is None:
        return None
    ours, rival = (point.rivals[name].us_per_event for name in (OURS, SPARSE_RIVAL))
    evidence = f"{1 / share:.1f} times ({ours:,.0f} µs against {rival:,.0f} µs per event)"
    return Finding(1 / share >= SPARSE_TIMES, evidence)
