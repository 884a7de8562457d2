"""The papers' workloads: seeded generators of subscriptions and events."""

from bench.papers.workloads.experiment import Experiment, Point
from bench.papers.workloads.papers import PAPERS, Paper
from bench.papers.workloads.vector_subscriptions import ChangeExperiment

__all__ = ["PAPERS", "ChangeExperiment", "Experiment", "Paper", "Point"]
