"""The papers whose experiments can be run again, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bench.measuring.sizes import Size
from bench.papers.workloads.ceem import ceem_experiments
from bench.papers.workloads.experiment import Experiment
from bench.papers.workloads.filter_index import filter_index_experiments
from bench.papers.workloads.redundant_attributes import redundant_attribute_experiments
from bench.papers.workloads.vector_subscriptions import (
    ChangeExperiment,
    vector_subscription_experiments,
)

# In the order in which the papers that compare them build on each other.
COMPARED: Final = (
    "brute-force",
    "counting",
    "improved-counting",
    "redundant-attributes",
    "ceem",
    "matching-tree",
)


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper, its experiments, and the matchers that go through them."""

    name: str
    title: str  # as figures and tables call it
    experiments: Callable[[Size, int], Sequence[Experiment | ChangeExperiment]]
    matchers: tuple[str, ...] = COMPARED


PAPERS: Final = {
    paper.name: paper
    for paper in (
        Paper("ceem", "CEEM", ceem_experiments),
        Paper("redundant-attributes", "Redundant attributes", redundant_attribute_experiments),
        Paper("vector-subscriptions", "Vector subscriptions", vector_subscription_experiments),
        Paper(
            "filter-index",
            "Filter Index",
            filter_index_experiments,
            ("brute-force", "filter-index", "columnar"),
        ),
    )
}
