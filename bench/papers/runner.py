"""The runner: every matcher through every experiment, in one process, taking turns.

At each point each matcher in turn inserts the point's subscriptions, then each in turn matches the
point's events; who goes first changes from point to point and from repeat to repeat, so that
neither a warm cache nor a slow minute of the machine always falls to the same one. All of them
must find the same matches.

A matcher that refuses a subscription, as the matching tree does at its limit of nodes, or that
takes longer at one point than the budget allows, is left out from there on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import process_time
from typing import Final, Literal

from bench.measuring.machine import this_machine
from bench.measuring.sizes import Size
from bench.measuring.timing import collector_off, in_turn, timed
from bench.papers.changing import run_changes
from bench.papers.quantities import STEPS
from bench.papers.results import ExperimentResult, MatcherResult, PapersReport, PointResult, Stop
from bench.papers.workloads import PAPERS, ChangeExperiment, Experiment, Point
from predicast.errors import UnsupportedByMatcherError
from predicast.matching import Matcher, make_matcher
from predicast.model import Event

# Of the statistics, those that matching raises; the others say what is held.
COUNTERS: Final = frozenset({*STEPS, "attributes", "events"})
# Subscriptions inserted between two looks at the clock.
_LOOK_EVERY: Final = 100


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure."""

    repeats: int
    # A matcher that needs more for one insertion or one matching is left out from there on.
    point_budget_s: float
    # Once matching at a point has taken a matcher this long, it is not repeated again.
    repeat_budget_s: float


EFFORT: Final = {
    Size.SMALL: Effort(repeats=3, point_budget_s=10, repeat_budget_s=2),
    Size.FULL: Effort(repeats=3, point_budget_s=90, repeat_budget_s=4),
}


class MatchersDisagreeError(Exception):
    """Two matchers found different subscriptions for the same event."""


class _OverBudgetError(Exception):
    """An insertion took longer than a point may."""


def run(
    experiments: Sequence[Experiment | ChangeExperiment],
    matchers: Sequence[str] = (),
    *,
    size: Size,
    seed: int = 0,
    effort: Effort | None = None,
    progress: Callable[[str], None] = lambda _: None,
    make: Callable[[str], Matcher] = make_matcher,
) -> PapersReport:
    """Measure the matchers, or else those that each paper is about.

    ``progress`` is called with a title before each of the turns.
    """
    effort = effort or EFFORT[size]

    def contestants(experiment: Experiment) -> Sequence[str]:
        return matchers or PAPERS[experiment.paper].matchers

    results = [
        run_changes(each, effort.repeats, progress)
        if isinstance(each, ChangeExperiment)
        else _Run(each, contestants(each), effort, progress, make).result()
        for each in experiments
    ]
    named = dict.fromkeys(
        name for result in results for point in result.points for name in point.matchers
    )
    return PapersReport(this_machine(), size, seed, effort.repeats, list(named), results)


def turns(experiments: Sequence[Experiment | ChangeExperiment], effort: Effort) -> int:
    """How often ``run`` calls ``progress``."""
    return sum(len(each.values) for each in experiments) * effort.repeats


def match_all(matcher: Matcher, events: Sequence[Event]) -> list[list[int]]:
    """The matches of each event.

    Brute force is the papers' baseline: one event after the other. Its batches run in NumPy, which
    would compare languages and not algorithms.
    """
    if matcher.name == "brute-force":
        return [matcher.match(event) for event in events]
    return matcher.match_batch(events)


@dataclass(slots=True)
class _Samples:
    insert_s: list[float] = field(default_factory=list)
    match_s: list[float] = field(default_factory=list)
    held: dict[str, int] = field(default_factory=dict)
    work: dict[str, int] = field(default_factory=dict)

    def measured(self) -> MatcherResult:
        return MatcherResult(
            insert_median_s=median(self.insert_s),
            match_median_s=median(self.match_s),
            insert_s=self.insert_s,
            match_s=self.match_s,
            held=self.held,
            work=self.work,
        )


class _Run:
    """One experiment under way."""

    def __init__(
        self,
        experiment: Experiment,
        matchers: Sequence[str],
        effort: Effort,
        progress: Callable[[str], None],
        make: Callable[[str], Matcher],
    ) -> None:
        self._experiment = experiment
        self._names = list(matchers)
        self._effort = effort
        self._progress = progress
        self._make = make
        self._samples: dict[tuple[int, str], _Samples] = {}
        self._stopped: dict[str, Stop] = {}
        self._counters: dict[str, dict[str, int]] = {}
        self._expected: dict[int, tuple[str, list[list[int]]]] = {}
        self._points: list[PointResult] = []

    def result(self) -> ExperimentResult:
        experiment = self._experiment
        if experiment.grows:
            for repeat in range(self._effort.repeats):
                matchers = self._new_matchers()
                held = 0
                for value in experiment.values:
                    point = experiment.point(value)
                    self._turn(point, matchers, repeat, first_key=held)
                    held += len(point.subscriptions)
        else:
            for value in experiment.values:
                point = experiment.point(value)
                for repeat in range(self._effort.repeats):
                    self._turn(point, self._new_matchers(), repeat, first_key=0)
        for point_result in self._points:
            point_result.matchers = {
                name: self._samples[point_result.x, name].measured()
                for name in self._names
                if (point_result.x, name) in self._samples
            }
        return ExperimentResult(
            paper=experiment.paper,
            name=experiment.name,
            title=experiment.title,
            x_label=experiment.x_label,
            points=self._points,
            stopped=self._stopped,
        )

    def _new_matchers(self) -> dict[str, Matcher]:
        return {name: self._make(name) for name in self._names}

    def _turn(
        self, point: Point, matchers: dict[str, Matcher], repeat: int, *, first_key: int
    ) -> None:
        """Every matcher, once, at one point."""
        self._progress(f"{self._experiment.paper} {self._experiment.name}: {point.x:,}")
        number = repeat + self._experiment.values.index(point.x)
        inserted: dict[str, float] = {}
        for name in in_turn(self._names, number):
            if name in matchers and self._gets_to(point.x, name):
                try:
                    inserted[name] = self._insert(matchers[name], point, first_key)
                except (UnsupportedByMatcherError, _OverBudgetError) as error:
                    del matchers[name]  # no use any more, and it may hold a lot
                    if repeat == 0:
                        self._stop(name, point, error)
        for name, insert_s in inserted.items():
            samples = self._samples.setdefault((point.x, name), _Samples())
            samples.insert_s.append(insert_s)
            if not samples.match_s:
                self._match_and_check(name, matchers[name], point, samples)
            elif sum(samples.match_s) < self._effort.repeat_budget_s:
                seconds, _ = _timed_match(matchers[name], point)
                samples.match_s.append(seconds)
        if repeat == 0:
            self._points.append(self._described(point, first_key))

    def _gets_to(self, x: int, name: str) -> bool:
        stop = self._stopped.get(name)
        return stop is None or x < stop.x or (x == stop.x and stop.measured)

    def _stop(self, name: str, point: Point, error: Exception) -> None:
        reason: Literal["limit", "time"] = (
            "time" if isinstance(error, _OverBudgetError) else "limit"
        )
        self._stopped[name] = Stop(point.x, reason, str(error), measured=False)

    def _insert(self, matcher: Matcher, point: Point, first_key: int) -> float:
        budget = self._effort.point_budget_s
        with collector_off():
            start = process_time()
            for number, subscription in enumerate(point.subscriptions):
                matcher.subscribe(first_key + number, subscription)
                if number % _LOOK_EVERY == 0 and process_time() - start > budget:
                    raise _OverBudgetError(f"inserting takes longer than {budget:g} s")
            matcher.settle()  # otherwise what it puts off is charged to matching
            return process_time() - start

    def _match_and_check(
        self, name: str, matcher: Matcher, point: Point, samples: _Samples
    ) -> None:
        """The first matching at a point, which is also the one that is looked into."""
        seconds, found = _timed_match(matcher, point)
        samples.match_s.append(seconds)
        self._check(name, point, found)
        # Counting bytes takes a matcher seconds, so its statistics are asked for once.
        statistics = matcher.statistics()
        samples.work = self._raised(name, statistics)
        samples.held = {key: value for key, value in statistics.items() if key not in COUNTERS}
        if seconds > self._effort.point_budget_s:
            message = f"matching took {seconds:.0f} s"
            self._stopped[name] = Stop(point.x, "time", message, measured=True)

    def _raised(self, name: str, statistics: dict[str, int]) -> dict[str, int]:
        """By how much the counters have risen since the matcher was last asked."""
        counters = {key: value for key, value in statistics.items() if key in COUNTERS}
        before = self._counters.get(name, {}) if self._experiment.grows else {}
        self._counters[name] = counters
        return {key: value - before.get(key, 0) for key, value in counters.items()}

    def _check(self, name: str, point: Point, found: list[list[int]]) -> None:
        ordered = [sorted(keys) for keys in found]
        other, expected = self._expected.setdefault(point.x, (name, ordered))
        if ordered == expected:
            return
        where = f"{self._experiment.paper} {self._experiment.name}, {point.x:,}"
        for number, (one, two) in enumerate(zip(expected, ordered, strict=True)):
            if one != two:
                raise MatchersDisagreeError(
                    f"{where}: for event {number}, {point.events[number]!r}, {other} found "
                    f"{_count(one)} and {name} {_count(two)}; "
                    f"only {other}: {sorted(set(one) - set(two))[:5]}, "
                    f"only {name}: {sorted(set(two) - set(one))[:5]}"
                )

    def _described(self, point: Point, first_key: int) -> PointResult:
        attributes = [
            (name, type(value), value) for event in point.events for name, value in event.items()
        ]
        _, expected = self._expected.get(point.x, ("", []))
        return PointResult(
            x=point.x,
            subscriptions=first_key + len(point.subscriptions),
            inserted=len(point.subscriptions),
            events=len(point.events),
            matches=sum(map(len, expected)),
            attributes=len(attributes),
            distinct_attributes=len(set(attributes)),
            matchers={},
        )


def _timed_match(matcher: Matcher, point: Point) -> tuple[float, list[list[int]]]:
    return timed(lambda: match_all(matcher, point.events))


def _count(keys: list[int]) -> str:
    return f"{len(keys)} subscription{'' if len(keys) == 1 else 's'}"
