"""The rules by which claims are judged, and how their evidence is put into words.

Each gives ``None`` where the matchers it speaks of were not measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from bench.measuring.verdict import Finding
from bench.papers.quantities import Quantity
from bench.papers.results import ExperimentResult, Series
from bench.papers.trends import growth, rank_correlation, slope

# A series grows linearly if the power of x that fits it best lies between these.
LINEAR: Final = (0.8, 1.2)
# "Far below" means at most one part in two.
FAR: Final = 2.0
# A series rises if its rank correlation with x is at least this, and it ends at least so much
# higher than it began. Of five points, two neighbours may have changed places.
RISING: Final = 0.9
RISEN: Final = 1.1

IS_LINEAR: Final = f"the power of x that fits best is between {LINEAR[0]} and {LINEAR[1]}"
IS_FAR: Final = f"by a factor of at least {FAR:g}"
RISES: Final = (
    f"rank correlation at least {RISING}, and last value at least {RISEN} times the first"
)
FALLS: Final = (
    f"rank correlation at most -{RISING}, and first value at least {RISEN} times the last"
)
EXPLODES: Final = (
    f"it hits its limit, or the power of x that fits its memory best is above {LINEAR[1]}"
)
IS_LOWEST: Final = "lowest at the last point that it reached and at most of its points"

Results: TypeAlias = Iterable[ExperimentResult]


def linear(results: Results, matchers: Sequence[str], quantity: Quantity) -> Finding | None:
    """Whether a quantity grows linearly for every one of the matchers."""

    def judge(name: str, series: Series) -> Finding:
        power = growth(series)
        return Finding(LINEAR[0] <= power <= LINEAR[1], f"{name} x^{power:.2f}")

    return _each_series(results, matchers, quantity, judge)


def rises(results: Results, matchers: Sequence[str], quantity: Quantity) -> Finding | None:
    """Whether a quantity rises with what the experiment varies, for all of the matchers."""

    def judge(name: str, series: Series) -> Finding:
        ratio = series[-1][1] / series[0][1]
        clear = ratio >= RISEN and rank_correlation(series) >= RISING
        return Finding(clear, f"{name} ×{ratio:.2f}")

    return _each_series(results, matchers, quantity, judge)


def falls(results: Results, matchers: Sequence[str], quantity: Quantity) -> Finding | None:
    """Whether a quantity falls as what the experiment varies grows, for all of the matchers."""

    def judge(name: str, series: Series) -> Finding:
        ratio = series[-1][1] / series[0][1]
        clear = ratio <= 1 / RISEN and rank_correlation(series) <= -RISING
        return Finding(clear, f"{name} ×{ratio:.2f}")

    return _each_series(results, matchers, quantity, judge)


def slope_far_below(results: Results, lower: str, upper: str, quantity: Quantity) -> Finding | None:
    """Whether one matcher's slope is far below the other's."""

    def judge(low: Series, high: Series) -> Finding | None:
        if len(low) < 2:
            return None
        ratio = slope(high) / slope(low)
        return Finding(ratio >= FAR, f"{upper} is {ratio:.1f} times as steep as {lower}")

    return _each_pair(results, lower, upper, quantity, judge)


def far_below_everywhere(
    results: Results, lower: str, upper: str, quantity: Quantity
) -> Finding | None:
    """Whether one matcher is far below the other wherever both were measured."""

    def judge(low: Series, high: Series) -> Finding:
        ratios = [y / x for (_, x), (_, y) in zip(low, high, strict=True)]
        text = f"{upper} takes {min(ratios):.1f} to {max(ratios):.1f} times as much as {lower}"
        return Finding(min(ratios) >= FAR, text)

    return _each_pair(results, lower, upper, quantity, judge)


def order_at_last(results: Results, lower: str, upper: str, quantity: Quantity) -> Finding | None:
    """Whether one matcher is below the other at the last point that both reached."""

    def judge(low: Series, high: Series) -> Finding:
        (x, one), (_, other) = low[-1], high[-1]
        text = f"{_amount(one)} against {_amount(other)} {quantity.label} at {x:,}"
        return Finding(one < other, text)

    return _each_pair(results, lower, upper, quantity, judge)


def lower_slope_in_second(results: Results, matcher: str, quantity: Quantity) -> Finding | None:
    """Whether a matcher's slope is lower in the second of two experiments than in the first."""
    series = [result.series(matcher, quantity.of) for result in results]
    slopes = [slope(each) for each in series if len(each) > 1]
    if len(slopes) != 2:
        return None
    ratio = slopes[1] / slopes[0]
    return Finding(ratio < 1, f"exp. 2 is {ratio:.2f} times as steep as exp. 1")


def explodes(results: Results, matcher: str, quantity: Quantity) -> Finding | None:
    """Whether a matcher ran into its limit or takes more and more for each subscription."""

    def judge(result: ExperimentResult) -> Finding | None:
        stop = result.stopped.get(matcher)
        if stop is not None and stop.reason == "limit":
            return Finding(True, f"{result.label}: hits its limit at {stop.x:,}")
        series = result.series(matcher, quantity.of)
        if len(series) < 3:
            return None
        power = growth(series)
        x, last = series[-1]
        text = f"{result.label}: x^{power:.2f}, {_amount(last)} {quantity.label} at {x:,}"
        return Finding(power > LINEAR[1], text)

    return Finding.joined(found for result in results if (found := judge(result)))


def lowest(results: Results, matcher: str, quantity: Quantity) -> Finding | None:
    """Whether a matcher is below all the others at its last point and at most of its points."""

    def judge(result: ExperimentResult) -> Finding | None:
        mine = result.series(matcher, quantity.of)
        others = {name for point in result.points for name in point.matchers} - {matcher}
        if not mine or not others:
            return None
        lines = {name: dict(result.series(name, quantity.of)) for name in sorted(others)}
        lower = {
            x: [name for name, line in lines.items() if line.get(x, math.inf) <= y] for x, y in mine
        }
        first = sum(not names for names in lower.values())
        text = f"{result.label}: lowest at {first} of {len(mine)} points"
        if any(lower.values()):
            text += (
                f", elsewhere {' or '.join(sorted({n for names in lower.values() for n in names}))}"
            )
        return Finding(not lower[mine[-1][0]] and first > len(mine) / 2, text)

    return Finding.joined(found for result in results if (found := judge(result)))


def _each_series(
    results: Results,
    matchers: Sequence[str],
    quantity: Quantity,
    judge: Callable[[str, Series], Finding],
) -> Finding | None:
    """One finding from every matcher that got far enough to have a trend, in each experiment."""

    def judge_all(result: ExperimentResult) -> Finding | None:
        series = {name: result.series(name, quantity.of) for name in matchers}
        found = [judge(name, each) for name, each in series.items() if len(each) > 2]
        return Finding.joined(found, label=result.label, separator=", ")

    return Finding.joined(found for result in results if (found := judge_all(result)))


def _each_pair(
    results: Results,
    lower: str,
    upper: str,
    quantity: Quantity,
    judge: Callable[[Series, Series], Finding | None],
) -> Finding | None:
    """One finding from the points that both matchers reached, in each experiment."""

    def judge_both(result: ExperimentResult) -> Finding | None:
        low, high = (dict(result.series(name, quantity.of)) for name in (lower, upper))
        shared = [x for x in low if x in high]
        if not shared:
            return None
        found = judge([(x, low[x]) for x in shared], [(x, high[x]) for x in shared])
        return found and Finding(found.holds, f"{result.label}: {found.evidence}")

    return Finding.joined(found for result in results if (found := judge_both(result)))


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
