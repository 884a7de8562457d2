"""The papers whose experiments can be run again, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bench.measuring.sizes import Size
from bench.papers.workloads.ceem import ceem_experiments
from bench.papers.workloads.experiment import Experiment
from bench.papers.workloads.redundant_attributes import redundant_attribute_experiments
from bench.papers.workloads.vector_subscriptions import (
    ChangeExperiment,
    vector_subscription_experiments,
)


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper and its experiments."""

    name: str
    title: str  # as figures and tables call it
    experiments: Callable[[Size, int], Sequence[Experiment | ChangeExperiment]]


PAPERS: Final = {
    paper.name: paper
    for paper in (
        Paper("ceem", "CEEM", ceem_experiments),
        Paper("redundant-attributes", "Redundant attributes", redundant_attribute_experiments),
        Paper("vector-subscriptions", "Vector subscriptions", vector_subscription_experiments),
    )
}
