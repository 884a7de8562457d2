"""``python -m bench papers routing``: what the tree carries and holds, over the slack.

One network is simulated at each slack, without faults, with the same clients, subscriptions and
events; nothing changes meanwhile. Beside it stand two networks that nobody has to run, because they
can be counted: *flooding*, where each event goes to every broker, and *no merging*, where each
broker holds each subscription of all the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from math import inf
from time import process_time
from typing import Final

from bench.measuring.machine import Machine, this_machine
from bench.measuring.result_files import ResultFile
from bench.measuring.sizes import Size
from bench.measuring.verdict import Finding, Verdict
from predicast.model import Constraint, Operator, Subscription
from predicast.routing.interface import Role
from predicast.routing.simulation import (
    Simulation,
    SimulationOptions,
    SimulationReport,
    WorkloadName,
)
from predicast.routing.simulation.broker import Broker

SLACKS: Final = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, inf)
WORLDS: Final = (WorkloadName.DVE, WorkloadName.MARKET)
RANGES: Final = frozenset({Operator.LT, Operator.LE, Operator.GT, Operator.GE, Operator.BETWEEN})
SIZES: Final = {
    # brokers, clients, subscriptions, events
    Size.SMALL: (31, 60, 300, 400),
    Size.FULL: (31, 200, 5_000, 2_000),
}


class RoutingPoint(ResultFile, kw_only=True):
    """One world at one slack."""

    world: str
    slack: float | None  # none is infinite
    brokers: int
    subscriptions: int
    events: int
    delivered: int
    carried: int  # events from broker to broker
    unwanted: int  # of those, by nobody where they went
    held: int  # subscriptions in the tables of all brokers
    apart: int  # how many would be held if slack were to draw out every range without end
    announced: int  # messages that told of subscriptions
    seconds: float  # of processor time, all brokers and clients together

    @property
    def false_rate(self) -> float:
        """The share of events that went where nobody wanted them."""
        return self.unwanted / self.carried if self.carried else 0.0

    @property
    def flooded(self) -> int:
        """What flooding would carry: each event to every other broker."""
        return self.events * (self.brokers - 1)

    @property
    def one_by_one(self) -> int:
        """What tables would hold without merging: each subscription, at every other broker."""
        return self.subscriptions * (self.brokers - 1)


class RoutingReport(ResultFile, kw_only=True):
    """What was measured."""

    machine: Machine
    size: Size
    seed: int
    points: list[RoutingPoint]

    def of(self, world: str) -> list[RoutingPoint]:
        """One world's points, from exact to coarse."""
        return [point for point in self.points if point.world == world]


class PromiseBrokenError(Exception):
    """A simulation that was to measure has shown a mistake instead."""


def run_routing(
    *,
    size: Size,
    seed: int,
    counts: tuple[int, int, int, int] | None = None,
    slacks: Sequence[float] = SLACKS,
    progress: Callable[[str], None] = lambda _: None,
) -> RoutingReport:
    """Simulate each world at each slack."""
    points = []
    for world in WORLDS:
        for slack in slacks:
            progress(f"{world}, slack {slack:g}")
            points.append(_point(world, slack, seed, counts or SIZES[size]))
    return RoutingReport(machine=this_machine(), size=size, seed=seed, points=points)


def points(slacks: Sequence[float] = SLACKS) -> int:
    """How often ``run_routing`` tells its progress."""
    return len(WORLDS) * len(slacks)


def _point(
    world: WorkloadName, slack: float, seed: int, counts: tuple[int, int, int, int]
) -> RoutingPoint:
    brokers, clients, subscriptions, events = counts
    options = SimulationOptions(
        seed=seed,
        brokers=brokers,
        clients=clients,
        subscriptions=subscriptions,
        events=events,
        workload=world,
        slack=slack,
        changes=0.0,
        rounds=1,
    )
    start = process_time()
    run = Simulation(options)
    report = run.run(lambda _: None)
    seconds = process_time() - start
    if report.failed:
        raise PromiseBrokenError(f"{options}: {report.violations[0]}")
    return _measured(report, seconds, _apart(run.brokers))


def _apart(brokers: Sequence[Broker]) -> int:
    """How many subscriptions that neighbours are told differ in more than their ranges."""
    found = 0
    for broker in brokers:
        assert broker.router is not None
        for name, (role, _) in broker.router.interfaces().items():
            if role is not Role.HOST:
                found += len({_without_ranges(each) for each in broker.router.announced(name)})
    return found


def _without_ranges(stated: object) -> frozenset[frozenset[Constraint]]:
    assert isinstance(stated, Subscription)
    return frozenset(
        frozenset(each for each in clause.constraints if each.operator not in RANGES)
        for clause in stated.clauses
    )


def _measured(report: SimulationReport, seconds: float, apart: int) -> RoutingPoint:
    options = report.options
    return RoutingPoint(
        world=str(options.workload),
        slack=None if options.slack == inf else options.slack,
        brokers=options.brokers,
        subscriptions=options.subscriptions,
        events=options.events,
        delivered=report.delivered,
        carried=report.carried,
        unwanted=report.false_forwards,
        held=report.tables.total,
        apart=apart,
        announced=report.messages.get("announce", 0),
        seconds=seconds,
    )


def routing_verdicts(report: RoutingReport) -> list[Verdict]:
    """What is said of the tree, judged by what was counted."""
    worlds = {world: report.of(world) for world in WORLDS if report.of(world)}
    return [
        Verdict(
            claim="An event goes only where somebody wants it",
            rule="at slack 0, no event reaches a broker behind which nobody wants it",
            measured=None,
            counted=Finding.joined(
                Finding(
                    line[0].unwanted == 0, f"{world} {line[0].unwanted:,} of {line[0].carried:,}"
                )
                for world, line in worlds.items()
            ),
        ),
        Verdict(
            claim="The tree carries far less than flooding",
            rule="at slack 0, at most half",
            measured=None,
            counted=Finding.joined(
                Finding(
                    2 * line[0].carried <= line[0].flooded,
                    f"{world} {line[0].carried:,} against {line[0].flooded:,}",
                )
                for world, line in worlds.items()
            ),
            why_not="What has subscribers all over the tree is carried all over the tree.",
        ),
        Verdict(
            claim="Covering alone makes tables smaller than no merging",
            rule="at slack 0, at most nine tenths",
            measured=None,
            counted=Finding.joined(
                Finding(
                    10 * line[0].held <= 9 * line[0].one_by_one,
                    f"{world} {line[0].held:,} against {line[0].one_by_one:,}",
                )
                for world, line in worlds.items()
            ),
            why_not="Boxes of one size hardly ever lie within each other.",
        ),
        Verdict(
            claim="Slack trades table size for unwanted traffic",
            rule="from slack to slack tables do not grow by more than a twentieth, and unwanted "
            "events do not become fewer by more than a twentieth of what is carried",
            measured=None,
            counted=Finding.joined(
                Finding(_trades(line), f"{world} {_trade(line)}") for world, line in worlds.items()
            ),
            why_not=_why_tables_stay(worlds.values()),
        ),
    ]


def _why_tables_stay(lines: Iterable[Sequence[RoutingPoint]]) -> str:
    """What was counted of the coarsest tables that are not told everything."""
    coarse = [line[-2] if line[-1].slack is None else line[-1] for line in lines if len(line) > 1]
    return "Slack draws out ranges and leaves values alone: " + "; ".join(
        f"in {point.world}, of {point.held:,} held at a slack of {point.slack:g}, "
        f"{point.apart:,} differ in their values"
        for point in coarse
    )


def _trades(line: Sequence[RoutingPoint]) -> bool:
    return all(
        after.held <= 1.05 * before.held
        and after.unwanted >= before.unwanted - 0.05 * before.carried
        for before, after in pairwise(line)
    )


def _trade(line: Sequence[RoutingPoint]) -> str:
    first, last = line[0], line[-1]
    return (
        f"{first.held:,} to {last.held:,} held, "
        f"{100 * first.false_rate:.1f} to {100 * last.false_rate:.1f} % unwanted"
    )
