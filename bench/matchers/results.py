"""What ``python -m bench matchers`` measured, as it is written to JSON and read back."""

from __future__ import annotations

from statistics import median
from typing import Final, Self

import msgspec

from bench.measuring.machine import Machine
from bench.measuring.result_files import ResultFile
from bench.measuring.sizes import Size

OURS: Final = "columnar"


class RivalResult(msgspec.Struct, frozen=True):
    """One rival at one point."""

    events: int  # of the batch; slow rivals match fewer of them
    matches: int
    load_s: float
    match_s: list[float]  # processor time of every round
    us_per_event: float  # of the median round
    bytes: int | None = None

    @classmethod
    def of(
        cls, *, events: int, matches: int, load_s: float, match_s: list[float], bytes: int | None
    ) -> Self:
        us_per_event = median(match_s) / events * 1e6
        return cls(events, matches, load_s, match_s, us_per_event, bytes)

    @property
    def matches_per_event(self) -> float:
        return self.matches / self.events

    @property
    def ns_per_match(self) -> float | None:
        return self.us_per_event * self.events / self.matches * 1e3 if self.matches else None


class SizeResult(msgspec.Struct):
    """One size of a workload: everyone who took part, who did not and why, who was wrong."""

    subscriptions: int
    clauses: int
    events: int
    matches: int  # of all the events, as we found them
    rivals: dict[str, RivalResult] = msgspec.field(default_factory=dict)
    left_out: dict[str, str] = msgspec.field(default_factory=dict)
    wrong: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def matches_per_event(self) -> float:
        return self.matches / self.events

    def ratio(self, rival: str) -> float | None:
        """Our time as a share of the rival's; below one, we are faster."""
        if rival not in self.rivals or OURS not in self.rivals:
            return None
        return self.rivals[OURS].us_per_event / self.rivals[rival].us_per_event


class FamilyResult(msgspec.Struct):
    """One workload at its sizes, from small to large."""

    name: str
    workload: str
    title: str
    points: list[SizeResult]

    def at(self, subscriptions: int) -> SizeResult | None:
        return next((each for each in self.points if each.subscriptions == subscriptions), None)


class ChurnPoint(msgspec.Struct, frozen=True):
    """Matching while changes come in at some rate; times are wall-clock times."""

    changes_per_s: int  # wanted
    achieved_per_s: float
    events_per_s: float
    p50_ms: float  # between two results of small batches
    p99_ms: float
    longest_ms: float

    def cost(self, undisturbed: ChurnPoint) -> float:
        """The share of the match throughput that the changes take."""
        return 1 - self.events_per_s / undisturbed.events_per_s


class ChurnResult(msgspec.Struct):
    """Matching under changes."""

    subscriptions: int
    batch: int
    slices: int
    slice_s: float
    points: list[ChurnPoint]
    wrong: str = ""  # how its matches afterwards differ from brute force's, if they do

    def at(self, changes_per_s: int) -> ChurnPoint | None:
        return next((each for each in self.points if each.changes_per_s == changes_per_s), None)


class LoadResult(msgspec.Struct, frozen=True):
    """Bulk loading in a process of its own."""

    subscriptions: int
    constraints: int
    load_s: float  # subscribe_arrow and the first match
    growth_bytes: int  # of the process's resident memory, when the table is gone
    id_bytes: int  # by which a dict of the same ids makes the process grow
    array_bytes: int | None  # by the engine's statistics
    peak_bytes: int
    save_s: float
    open_s: float  # Engine.load and the first match
    file_bytes: int

    def each(self, bytes: float) -> float:
        return bytes / self.subscriptions

    @property
    def beyond_ids(self) -> int:
        return self.growth_bytes - self.id_bytes


class SingleResult(msgspec.Struct, frozen=True):
    """One event at a time, as a dict, Python edge included."""

    subscriptions: int
    events: int
    median_us: float
    p99_us: float
    wrong: str = ""


class MatchersReport(ResultFile):
    """A whole run."""

    machine: Machine
    versions: dict[str, str]
    preset: Size
    seed: int
    rounds: int
    families: list[FamilyResult] = msgspec.field(default_factory=list)
    churn: ChurnResult | None = None
    load: LoadResult | None = None
    single: SingleResult | None = None

    def family(self, name: str) -> FamilyResult | None:
        return next((each for each in self.families if each.name == name), None)

    def wrong(self) -> list[str]:
        """Every wrong answer, for people."""
        found = [
            f"{family.name}, {point.subscriptions:,}: {rival} {how}"
            for family in self.families
            for point in family.points
            for rival, how in point.wrong.items()
        ]
        found += [f"churn: {self.churn.wrong}"] if self.churn and self.churn.wrong else []
        found += [f"single: {self.single.wrong}"] if self.single and self.single.wrong else []
        return found
