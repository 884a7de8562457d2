"""The papers' workloads: seeded generators of subscriptions and events."""

from bench.workloads.experiment import Experiment, Point, Size
from bench.workloads.papers import PAPERS, Paper
from bench.workloads.vector_subscriptions import ChangeExperiment

__all__ = ["PAPERS", "ChangeExperiment", "Experiment", "Paper", "Point", "Size"]
