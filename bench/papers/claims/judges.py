"""Who judges the claims of which paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from bench.measuring.verdict import Verdict
from bench.papers.claims.ceem import judge_ceem
from bench.papers.claims.filter_index import judge_filter_index
from bench.papers.claims.redundant_attributes import judge_redundant_attributes
from bench.papers.claims.vector_subscriptions import judge_vector_subscriptions
from bench.papers.results import ExperimentResult, PapersReport

_JUDGES: Final[dict[str, Callable[[Sequence[ExperimentResult]], list[Verdict]]]] = {
    "ceem": judge_ceem,
    "filter-index": judge_filter_index,
    "redundant-attributes": judge_redundant_attributes,
    "vector-subscriptions": judge_vector_subscriptions,
}


def verdicts(report: PapersReport, paper: str) -> list[Verdict]:
    """Every claim of a paper, judged by what was measured."""
    return _JUDGES[paper](report.of(paper))
