"""What is plotted and judged: time, memory, work, each computed in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bench.papers.results import MatcherResult, PointResult
from bench.papers.workloads.vector_subscriptions import WINDOWS_PER_SECOND

# The counters of ``statistics()`` that count steps of matching: tests of constraints (or steps of
# a search for them), and clauses, subscriptions, bucket entries, tree nodes or rows looked at.
STEPS: Final = ("constraints_tested", "candidates", "rows_walked")
# Those that count the work of changing a structure of subscriptions.
STRUCTURE: Final = (
    "covering_tests",
    "nodes_created",
    "nodes_removed",
    "edges_added",
    "edges_removed",
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """Something measured of one matcher at one point."""

    label: str
    of: Callable[[PointResult, MatcherResult], float | None]


def _steps_per_event(point: PointResult, measured: MatcherResult) -> float | None:
    steps = _steps(point, measured)
    return None if steps is None else steps / point.events


def _steps(_: PointResult, measured: MatcherResult) -> float | None:
    counts = [measured.work[name] for name in STEPS if name in measured.work]
    return float(sum(counts)) if counts else None


def _structure(_: PointResult, measured: MatcherResult) -> float | None:
    counts = [measured.work[name] for name in STRUCTURE if name in measured.work]
    return float(sum(counts)) if counts else None


def _structure_per_change(point: PointResult, measured: MatcherResult) -> float | None:
    counted = _structure(point, measured)
    return None if counted is None else counted / point.inserted


def _events_per_second(point: PointResult, measured: MatcherResult) -> float:
    """Of each second the changes of that second take their part; events get what is left."""
    left = max(0.0, 1 - measured.insert_median_s)
    return left * point.events / measured.match_median_s


def _mebibytes(_: PointResult, measured: MatcherResult) -> float | None:
    return measured.held["bytes"] / 2**20 if "bytes" in measured.held else None


INSERT: Final = Quantity("s to insert", lambda _, measured: measured.insert_median_s)
MATCH: Final = Quantity("s to match", lambda _, measured: measured.match_median_s)
MATCH_PER_EVENT: Final = Quantity(
    "ms per event", lambda point, measured: measured.match_median_s / point.events * 1e3
)
MEMORY: Final = Quantity("MiB", _mebibytes)
STEPS_PER_BATCH: Final = Quantity("steps", _steps)
STEPS_PER_EVENT: Final = Quantity("steps per event", _steps_per_event)
CHANGE: Final = Quantity("s to change", lambda _, measured: measured.insert_median_s)
CHANGE_DELAY: Final = Quantity(
    "ms per window", lambda _, measured: measured.insert_median_s / WINDOWS_PER_SECOND * 1e3
)
THROUGHPUT: Final = Quantity("events per second", _events_per_second)
CHANGE_WORK: Final = Quantity("steps to change", _structure)
CHANGE_WORK_EACH: Final = Quantity("steps per change", _structure_per_change)
