"""What is plotted and judged: time, memory, work, each computed in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bench.results import Measured, PointResult

# The counters of ``statistics()`` that count steps of matching: tests of constraints (or steps of
# a search for them), and clauses, subscriptions, bucket entries, tree nodes or rows looked at.
STEPS: Final = ("constraints_tested", "candidates", "rows_walked")


@dataclass(frozen=True, slots=True)
class Quantity:
    """Something measured of one matcher at one point."""

    label: str
    of: Callable[[PointResult, Measured], float | None]


def _steps_per_event(point: PointResult, measured: Measured) -> float | None:
    steps = _steps(point, measured)
    return None if steps is None else steps / point.events


def _steps(_: PointResult, measured: Measured) -> float | None:
    counts = [measured.work[name] for name in STEPS if name in measured.work]
    return float(sum(counts)) if counts else None


def _mebibytes(_: PointResult, measured: Measured) -> float | None:
    return measured.held["bytes"] / 2**20 if "bytes" in measured.held else None


INSERT: Final = Quantity("s to insert", lambda _, measured: measured.insert_median_s)
MATCH: Final = Quantity("s to match", lambda _, measured: measured.match_median_s)
MATCH_PER_EVENT: Final = Quantity(
    "ms per event", lambda point, measured: measured.match_median_s / point.events * 1e3
)
MEMORY: Final = Quantity("MiB", _mebibytes)
STEPS_PER_BATCH: Final = Quantity("steps", _steps)
STEPS_PER_EVENT: Final = Quantity("steps per event", _steps_per_event)
