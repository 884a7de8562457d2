"""The claims of the vector-subscription paper, section 7."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import geometric_mean
from typing import Final

from bench.measuring.verdict import Finding, Verdict
from bench.papers.claims.comparisons import IS_FAR, IS_LINEAR, Results, far_below_everywhere, linear
from bench.papers.quantities import CHANGE, CHANGE_DELAY, CHANGE_WORK, THROUGHPUT, Quantity
from bench.papers.results import ExperimentResult

_POSET: Final = ("unsub/sub", "VS", "VSS")
# "About three times" by the mean over the points.
_THREE: Final = 3.0
_SOME: Final = 1.1
_MEAN: Final = "geometric mean of the ratios at all points"


def judge_vector_subscriptions(results: Sequence[ExperimentResult]) -> list[Verdict]:
    """Each claim about changes in place, sharing, and both under load."""
    by_name = {result.name: [result] for result in results}
    a, b, c, d = (by_name.get(f"fig6{letter}", []) for letter in "abcd")
    loaded = [*by_name.get("fig7", []), *by_name.get("fig8", [])]
    return [
        Verdict(
            claim="The time to change grows linearly with the number of changes",
            rule=f"over changes per subscriber: {IS_LINEAR}",
            measured=linear([*a, *b, *c, *d], _POSET, CHANGE),
            counted=linear([*a, *b, *c, *d], _POSET, CHANGE_WORK),
            why_not="Changes that alter the structure cut edges faster than they are relinked, one "
            "node in so many operations; with fewer neighbours there is less to test, and the "
            "steps of each change become fewer.",
        ),
        Verdict(
            claim="VS has some advantage over unsub/sub where changes alter the structure",
            rule=f"{_MEAN} at least {_SOME}",
            measured=_ahead(a, "VS", CHANGE, _SOME),
            counted=_ahead(a, "VS", CHANGE_WORK, _SOME),
        ),
        Verdict(
            claim="VS is far ahead of unsub/sub where changes keep the structure",
            rule=f"at every point: {IS_FAR}",
            measured=far_below_everywhere(b, "VS", "unsub/sub", CHANGE),
            counted=far_below_everywhere(b, "VS", "unsub/sub", CHANGE_WORK),
        ),
        Verdict(
            claim="Sharing is of little consequence where changes keep the structure",
            rule="VSS against VS: geometric mean of the ratios within 1.5 either way",
            measured=_alike(c, CHANGE),
            counted=None,
        ),
        Verdict(
            claim="VSS has some advantage over VS where changes alter the structure",
            rule=f"{_MEAN} at least {_SOME}",
            measured=_ahead(d, "VSS", CHANGE, _SOME, "VS"),
            counted=_ahead(d, "VSS", CHANGE_WORK, _SOME, "VS"),
        ),
        Verdict(
            claim="VSS processes changes about three times as fast as unsub/sub",
            rule=f"{_MEAN} of the delays at least {_THREE:g}",
            measured=_ahead(loaded, "VSS", CHANGE_DELAY, _THREE),
            counted=_ahead(loaded, "VSS", CHANGE_WORK, _THREE),
            why_not="To bring a subscription into canonical form and to enter it into the index "
            "costs the same either way, and where hardly any filter covers another, as in "
            "experiment 2, unsub/sub has little to restructure: the index finds next to nothing "
            "to test. What VSS saves are steps, and there the steps are the smaller part.",
        ),
        Verdict(
            claim="VSS filters more events than unsub/sub while subscriptions change",
            rule="at the highest rate of changes, the highest throughput of the two",
            measured=_throughput(loaded),
            counted=None,
        ),
        Verdict(
            claim="VSS gains more in experiment 2, where more can be kept and shared",
            rule=f"{_MEAN} of the delays is higher",
            measured=_more_in_second(loaded, CHANGE_DELAY),
            counted=_more_in_second(loaded, CHANGE_WORK),
            why_not="With more predicate families in each subscription fewer filters cover each "
            "other, and there is less structure to save the work of.",
        ),
    ]


def _ratios(
    result: ExperimentResult, lower: str, quantity: Quantity, upper: str = "unsub/sub"
) -> list[float]:
    low, high = (dict(result.series(name, quantity.of)) for name in (lower, upper))
    return [high[x] / low[x] for x in low if x in high and low[x]]


def _ahead(
    results: Results, lower: str, quantity: Quantity, least: float, upper: str = "unsub/sub"
) -> Finding | None:
    """Whether one way is ahead of the other by a factor, in each experiment."""
    return Finding.joined(
        Finding(
            geometric_mean(ratios) >= least,
            f"{result.label}: {geometric_mean(ratios):.2f} times"
            f" (from {min(ratios):.2f} to {max(ratios):.2f}){_settling(result, lower, quantity)}",
        )
        for result in results
        if (ratios := _ratios(result, lower, quantity, upper))
    )


def _settling(result: ExperimentResult, name: str, quantity: Quantity) -> str:
    """What it would cost to relink everything at the last point as well."""
    point = result.points[-1]
    settle_s = point.matchers[name].work.get("settle_us", 0) / 1e6
    if quantity not in {CHANGE, CHANGE_DELAY} or not settle_s:
        return ""
    whole = point.matchers[name].insert_median_s + settle_s
    ratio = point.matchers["unsub/sub"].insert_median_s / whole
    return f"; with all that wait relinked after the last point, {ratio:.2f} times unsub/sub there"


def _alike(results: Results, quantity: Quantity) -> Finding | None:
    return Finding.joined(
        Finding(
            1 / 1.5 <= (ratio := geometric_mean(ratios)) <= 1.5,
            f"{result.label}: VSS {ratio:.2f} times as fast as VS",
        )
        for result in results
        if (ratios := _ratios(result, "VSS", quantity, "VS"))
    )


def _throughput(results: Results) -> Finding | None:
    found = []
    for result in results:
        shared, twice = (result.series(name, THROUGHPUT.of)[-1][1] for name in ("VSS", "unsub/sub"))
        found.append(
            Finding(
                shared > twice,
                f"{result.label}: {shared:,.0f} against {twice:,.0f} events per second",
            )
        )
    return Finding.joined(found)


def _more_in_second(results: Sequence[ExperimentResult], quantity: Quantity) -> Finding | None:
    if len(results) != 2:
        return None
    first, second = (geometric_mean(_ratios(result, "VSS", quantity)) for result in results)
    return Finding(second > first, f"{second:.2f} times against {first:.2f} times")
