"""The claims of the CEEM paper, section 4.2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bench.measuring.verdict import Verdict
from bench.papers.claims.comparisons import (
    EXPLODES,
    IS_FAR,
    IS_LINEAR,
    IS_LOWEST,
    explodes,
    far_below_everywhere,
    linear,
    lower_slope_in_second,
    lowest,
    slope_far_below,
)
from bench.papers.quantities import INSERT, MATCH, MEMORY, STEPS_PER_EVENT
from bench.papers.results import ExperimentResult

_LINEAR: Final = ("counting", "ceem")


def judge_ceem(results: Sequence[ExperimentResult]) -> list[Verdict]:
    """Each claim about inserting, matching and memory."""
    return [
        Verdict(
            claim="Insertion time grows linearly, for counting and CEEM",
            rule=f"time to insert as many again, over those already held: {IS_LINEAR}",
            measured=linear(results, _LINEAR, INSERT),
            counted=None,
            why_not="Of the work of inserting, only the search for a predicate's place in its "
            "sorted row and the shift of those behind it depend on how many are held. CEEM shows "
            "it, but at these sizes it is only a part of the whole. Counting has no sorted rows, "
            "only a hash table, and does not slow down at all.",
        ),
        Verdict(
            claim="Matching time grows linearly, for counting and CEEM",
            rule=f"over the subscriptions held: {IS_LINEAR}",
            measured=linear(results, _LINEAR, MATCH),
            counted=linear(results, _LINEAR, STEPS_PER_EVENT),
            why_not="The steps say how the work grows. Time that grows faster than they do "
            "most likely goes to memory that no longer fits into the processor's caches; time that "
            "grows more slowly still holds a fixed cost per event.",
        ),
        Verdict(
            claim="CEEM's matching slope is far below counting's",
            rule=f"slopes by least squares: apart {IS_FAR}",
            measured=slope_far_below(results, "ceem", "counting", MATCH),
            counted=slope_far_below(results, "ceem", "counting", STEPS_PER_EVENT),
        ),
        Verdict(
            claim="CEEM is faster on experiment 2 than on experiment 1 (earlier exits)",
            rule="the slope over the subscriptions held is lower",
            measured=lower_slope_in_second(results, "ceem", MATCH),
            counted=lower_slope_in_second(results, "ceem", STEPS_PER_EVENT),
            why_not="Its third equality leaves experiment 2 fewer predicates to visit, but not by "
            "much: both experiments spend most of their steps in the first row's share of the "
            "clauses, one in six. The twelfth that is saved is within what times vary by.",
        ),
        Verdict(
            claim="The matching tree matches fastest",
            rule=IS_LOWEST,
            measured=lowest(results, "matching-tree", MATCH),
            counted=lowest(results, "matching-tree", STEPS_PER_EVENT),
            why_not="By equalities both come to the subscriptions that share the event's values; "
            "the tree by following an edge, CEEM by taking an entry of a hashed row. Behind them "
            "every range of the tree is an edge of its own, since no two are alike, and is tested "
            "in turn, while CEEM goes through whole buckets: more steps, but shorter ones.",
        ),
        Verdict(
            claim="The matching tree's memory explodes (it failed past 20,000 subscriptions)",
            rule=EXPLODES,
            measured=explodes(results, "matching-tree", MEMORY),
            counted=None,
            why_not="With the subscriptions named in its leaves one tree serves them all, and "
            "each adds at most one path: much memory, but linear. The paper's authors say that "
            "they built a tree for each subscription, to tell which of them match.",
            unit="memory",
        ),
        Verdict(
            claim="CEEM's memory stays far below the tree's",
            rule=f"at every point that both reached: {IS_FAR}",
            measured=far_below_everywhere(results, "ceem", "matching-tree", MEMORY),
            counted=None,
            unit="memory",
        ),
    ]
