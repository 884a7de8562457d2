"""The claims of the Filter Index paper, section 4, and what we want beyond them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bench.measuring.verdict import Finding, Verdict
from bench.papers.claims.comparisons import IS_FAR, RISES, Results, far_below_everywhere, rises
from bench.papers.quantities import INSERT, MATCH, MATCH_PER_EVENT, STEPS_PER_EVENT, Quantity
from bench.papers.results import ExperimentResult

_INDEX: Final = "filter-index"
_ONE_BY_ONE: Final = "brute-force"
_TIMES: Final = 5.0  # below one by one, at the last point
_MOST_GROWTH: Final = 2.0  # of the time to insert, from the first point to the last


def judge_filter_index(results: Sequence[ExperimentResult]) -> list[Verdict]:
    """Each claim about matching and subscribing."""
    return [
        Verdict(
            claim="Matching is far quicker with the index than one by one",
            rule=f"at every point: {IS_FAR}",
            measured=far_below_everywhere(results, _INDEX, _ONE_BY_ONE, MATCH),
            counted=far_below_everywhere(results, _INDEX, _ONE_BY_ONE, STEPS_PER_EVENT),
        ),
        Verdict(
            claim="The more subscriptions, the greater the advantage",
            rule="one by one in times of the index: more at the last point than at the first",
            measured=_advantage_grows(results, MATCH_PER_EVENT),
            counted=_advantage_grows(results, STEPS_PER_EVENT),
            why_not="The regions that an event meets grow in number as the subscriptions do, and "
            "each of them has to be named. What is spared are the others, always the same share "
            "of them.",
        ),
        Verdict(
            claim="The time to match grows with the subscriptions, with the index and without",
            rule=RISES,
            measured=rises(results, (_INDEX, _ONE_BY_ONE), MATCH),
            counted=rises(results, (_INDEX, _ONE_BY_ONE), STEPS_PER_EVENT),
        ),
        Verdict(
            claim="The time to subscribe grows greatly with the index",
            rule=f"to insert as many again takes more than {_MOST_GROWTH:g} times as long at the "
            "last point as at the first",
            measured=_inserting(results, grows=True),
            counted=None,
            why_not="The paper searches for a region's place along the links. Here neighbours are "
            "looked up by position, in blocks of 64 regions with zones, and what grows is the "
            "number of neighbours.",
        ),
        Verdict(
            claim="Our goal: matching takes at most a fifth of one by one at the last point",
            rule=f"one by one takes at least {_TIMES:g} times as long",
            measured=_times_below(results, MATCH),
            counted=_times_below(results, STEPS_PER_EVENT),
        ),
        Verdict(
            claim="Our goal: a subscription at the last point costs at most twice one at the first",
            rule=f"at most {_MOST_GROWTH:g} times as long to insert as many again",
            measured=_inserting(results, grows=False),
            counted=None,
            why_not="Sets of cells in one attribute lie around each other far more often than "
            "boxes do, by their least and greatest cell; marks of their values leave few to be "
            "tested, but have to be compared.",
        ),
    ]


def _ratios(result: ExperimentResult, quantity: Quantity) -> list[float]:
    """One by one in times of the index, at each point that both reached."""
    mine = dict(result.series(_INDEX, quantity.of))
    others = dict(result.series(_ONE_BY_ONE, quantity.of))
    return [others[x] / mine[x] for x in mine if x in others and mine[x]]


def _advantage_grows(results: Results, quantity: Quantity) -> Finding | None:
    return Finding.joined(
        Finding(
            ratios[-1] > ratios[0],
            f"{result.label}: {ratios[0]:.0f} times at first, {ratios[-1]:.0f} times at last",
        )
        for result in results
        if len(ratios := _ratios(result, quantity)) > 1
    )


def _times_below(results: Results, quantity: Quantity) -> Finding | None:
    return Finding.joined(
        Finding(ratios[-1] >= _TIMES, f"{result.label}: {ratios[-1]:.0f} times")
        for result in results
        if (ratios := _ratios(result, quantity))
    )


def _inserting(results: Results, *, grows: bool) -> Finding | None:
    """Whether the time to insert grows by more than it may, or does not."""
    found = []
    for result in results:
        series = result.series(_INDEX, INSERT.of)
        if len(series) < 2:
            continue
        each = result.points[0].inserted
        growth = series[-1][1] / series[0][1]
        first, last = (seconds / each * 1e6 for _, seconds in (series[0], series[-1]))
        found.append(
            Finding(
                (growth > _MOST_GROWTH) is grows,
                f"{result.label}: {first:.0f} µs each at first, {last:.0f} at last, "
                f"{growth:.2f} times",
            )
        )
    return Finding.joined(found)
