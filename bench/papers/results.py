"""What the papers' experiments measured, as it is written to JSON and read back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from bench.measuring.machine import Machine
from bench.measuring.result_files import ResultFile
from bench.measuring.sizes import Size


class MatcherResult(msgspec.Struct):
    """One matcher at one point."""

    insert_median_s: float
    match_median_s: float
    insert_s: list[float]
    match_s: list[float]
    held: dict[str, int]  # its statistics: what it holds
    work: dict[str, int]  # and by how much matching all the events once raised the counters


class PointResult(msgspec.Struct):
    """One point: the workload's own figures, and every matcher that got this far."""

    x: int
    subscriptions: int  # held in all
    inserted: int  # at this point
    events: int
    matches: int
    attributes: int
    distinct_attributes: int
    matchers: dict[str, MatcherResult]


class Stop(msgspec.Struct, frozen=True):
    """Why a matcher is left out from a point on."""

    x: int
    reason: Literal["limit", "time"]
    message: str
    measured: bool  # whether the point itself was still measured


Series: TypeAlias = list[tuple[int, float]]


class ExperimentResult(msgspec.Struct):
    """One experiment: its points from left to right."""

    paper: str
    name: str
    title: str
    x_label: str
    points: list[PointResult]
    stopped: dict[str, Stop]

    @property
    def label(self) -> str:
        """The experiment's number, or its figure's, as a document says it."""
        if self.name.startswith("fig"):
            return f"fig. {self.name.removeprefix('fig')}"
        return f"exp. {self.name.removeprefix('exp')}"

    def series(
        self, matcher: str, value: Callable[[PointResult, MatcherResult], float | None]
    ) -> Series:
        """What one matcher was measured at, from left to right."""
        found = (
            (point.x, value(point, point.matchers[matcher]))
            for point in self.points
            if matcher in point.matchers
        )
        return [(x, y) for x, y in found if y is not None]


class PapersReport(ResultFile):
    """A whole run."""

    machine: Machine
    preset: Size
    seed: int
    repeats: int
    matchers: list[str]
    experiments: list[ExperimentResult]

    def of(self, paper: str) -> list[ExperimentResult]:
        """The experiments of one paper."""
        return [each for each in self.experiments if each.paper == paper]
