"""The papers whose experiments can be run again, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bench.workloads.ceem import ceem_experiments
from bench.workloads.experiment import Experiment, Size
from bench.workloads.redundant_attributes import redundant_attribute_experiments


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper and its experiments."""

    name: str
    title: str  # as figures and tables call it
    experiments: Callable[[Size, int], list[Experiment]]


PAPERS: Final = {
    paper.name: paper
    for paper in (
        Paper("ceem", "CEEM", ceem_experiments),
        Paper("redundant-attributes", "Redundant attributes", redundant_attribute_experiments),
    )
}
