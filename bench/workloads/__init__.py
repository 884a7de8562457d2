"""The papers' workloads: seeded generators of subscriptions and events."""

from bench.workloads.experiment import Experiment, Point, Size
from bench.workloads.papers import PAPERS, Paper

__all__ = ["PAPERS", "Experiment", "Paper", "Point", "Size"]
