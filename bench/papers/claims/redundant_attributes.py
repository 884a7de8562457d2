"""The claims of the redundant-attribute paper, section 4.2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bench.measuring.verdict import Verdict
from bench.papers.claims.comparisons import FALLS, RISES, falls, order_at_last, rises
from bench.papers.quantities import MATCH, MATCH_PER_EVENT, STEPS_PER_BATCH, STEPS_PER_EVENT
from bench.papers.results import ExperimentResult

_INDEXED: Final = ("improved-counting", "redundant-attributes")
_COMPARED: Final = ("brute-force", "counting", *_INDEXED)
_EARLY_STOP: Final = (
    "Brute force stops at the first constraint that fails, mostly because the event lacks its "
    "attribute, and never sees how many more there are."
)
_GROWS: Final = {
    "exp1": "attributes per event",
    "exp2": "the number of events",
    "exp4": "constraints per subscription",
    "exp5": "the number of subscriptions",
}


def judge_redundant_attributes(results: Sequence[ExperimentResult]) -> list[Verdict]:
    """The order of the four algorithms, and what each parameter does to them."""
    by_name = {result.name: [result] for result in results}
    large = [*by_name.get("exp2", []), *by_name.get("exp5", [])]
    return [
        _order(large, "redundant-attributes", "improved-counting", _few_repeats(large)),
        _order(
            large,
            "improved-counting",
            "counting",
            "Few constraints have the name and the type of an attribute; to test them all is no "
            "slower than to search a list for each operator.",
        ),
        _order(
            large,
            "counting",
            "brute-force",
            "Brute force stops at the first constraint that fails, mostly the very first.",
        ),
        *(
            Verdict(
                claim=f"All four grow with {what}",
                rule=f"over the whole batch: {RISES}",
                measured=rises(by_name.get(name, []), _COMPARED, MATCH),
                counted=rises(by_name.get(name, []), _COMPARED, STEPS_PER_BATCH),
                why_not=_EARLY_STOP if name in {"exp1", "exp4"} else "",
            )
            for name, what in _GROWS.items()
        ),
        Verdict(
            claim="The two that use the index fall as attribute names grow in number",
            rule=f"over the whole batch: {FALLS}",
            measured=falls(by_name.get("exp3", []), _INDEXED, MATCH),
            counted=falls(by_name.get("exp3", []), _INDEXED, STEPS_PER_BATCH),
            why_not="Fewer constraints share a name, so that there are fewer steps. What stays is "
            "the cost of looking each attribute up at all, which is most of the time as long as "
            "subscriptions are few.",
        ),
    ]


def _order(large: Sequence[ExperimentResult], lower: str, upper: str, why_not: str) -> Verdict:
    return Verdict(
        claim=f"With many events and subscriptions, {lower} is ahead of {upper}",
        rule="at the last points of experiments 2 and 5",
        measured=order_at_last(large, lower, upper, MATCH_PER_EVENT),
        counted=order_at_last(large, lower, upper, STEPS_PER_EVENT),
        why_not=why_not,
    )


def _few_repeats(large: Sequence[ExperimentResult]) -> str:
    points = [result.points[-1] for result in large]
    shares = (1 - point.distinct_attributes / point.attributes for point in points)
    repeats = " and ".join(f"{share:.0%}" for share in shares)
    return (
        f"The workload has little redundancy to remove: at these points {repeats or 'few'} of the "
        "attributes repeat an earlier one, because random floats never do and names times values "
        "are many. Both matchers count the same pairs of constraint and event; a batch saves "
        "searches and pays for its lists."
    )
