"""``Experiment``: one of a paper's experiments, as a sequence of points to measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from predicast.model import Event, Subscription


@dataclass(frozen=True, slots=True)
class Point:
    """One place on an experiment's horizontal axis."""

    x: int
    subscriptions: Sequence[Subscription]  # to insert here
    events: Sequence[Event]


@dataclass(frozen=True, slots=True)
class Experiment:
    """What is varied, over which values, and the workload at each of them."""

    paper: str
    name: str
    title: str
    x_label: str
    values: tuple[int, ...]
    point: Callable[[int], Point]
    # Whether the subscriptions of each point join those of the points before; otherwise each
    # point begins with empty matchers.
    grows: bool
