"""A handful of networks with every fault; ``make simulate`` runs a thousand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from predicast.engine import Operation, Subscribe
from predicast.routing import Announce, Events, Message, Router, Send
from predicast.routing.simulation import (
    Fault,
    Faults,
    Simulation,
    SimulationOptions,
    SimulationReport,
    WorkloadName,
    broker,
    simulate,
    usual_faults,
)
from tests.simulation.drawn_options import drawn_options

SMALL = SimulationOptions(
    seed=5, brokers=4, clients=6, subscriptions=24, events=40, rounds=1, workload=WorkloadName.DVE
)


@pytest.mark.parametrize("seed", range(1, 7))
def test_no_promise_is_broken(seed: int) -> None:
    report = simulate(drawn_options(seed, most_brokers=8))
    assert not report.violations
    assert report.faults["messages lost"] > 0


@pytest.mark.parametrize("workload", list(WorkloadName))
def test_without_faults_everything_arrives_and_nothing_else_travels(
    workload: WorkloadName,
) -> None:
    report = simulate(replace(SMALL, workload=workload))
    assert not report.violations
    assert report.expected > 0
    assert (report.lost, report.duplicated, report.spurious, report.disordered) == (0, 0, 0, 0)
    assert report.false_forwards == 0
    assert report.faults == {}


def test_a_seed_runs_the_same_way_again() -> None:
    one, same = (simulate(drawn_options(3, most_brokers=8)) for _ in range(2))
    assert one == same
    assert one.digest != simulate(replace(one.options, seed=4)).digest


def test_a_broker_that_loses_events_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Losing(Router):
        def receive_all(self, arrivals: Iterable[tuple[Message, str]], now: float) -> list[Send]:
            return super().receive_all([(cut(message), name) for message, name in arrivals], now)

    def cut(message: Message) -> Message:
        if isinstance(message, Events) and message.sequence % 3 == 0:
            return replace(message, events=message.events[1:], matched=None)
        return message

    assert any(each.startswith("lost: ") for each in run_with(Losing, monkeypatch).violations)


def test_a_broker_that_delivers_what_does_not_match_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Mistaken(Router):
        def receive_all(self, arrivals: Iterable[tuple[Message, str]], now: float) -> list[Send]:
            return [mistaken(send) for send in super().receive_all(arrivals, now)]

    def mistaken(send: Send) -> Send:
        if isinstance(send.message, Events) and send.message.matched is not None:
            ids = tuple(("d0", "d1", "d2") for _ in send.message.events)
            return Send(send.interface, replace(send.message, matched=ids))
        return send

    assert run_with(Mistaken, monkeypatch).spurious > 0


def test_a_broker_that_takes_one_subscription_for_another_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Deaf(Router):
        def receive_all(self, arrivals: Iterable[tuple[Message, str]], now: float) -> list[Send]:
            return super().receive_all(
                [(misread(message), name) for message, name in arrivals], now
            )

    def misread(message: Message) -> Message:
        if isinstance(message, Announce):
            return replace(message, operations=tuple(map(narrowed, message.operations)))
        return message

    def narrowed(operation: Operation) -> Operation:
        if isinstance(operation, Subscribe) and operation.id.startswith("d"):
            return replace(operation, expression="x < -1000")
        return operation

    assert run_with(Deaf, monkeypatch).lost > 0


CRASHES = replace(usual_faults([Fault.CRASH]), crash_rate=0.5)


def test_a_broker_that_changes_the_order_of_events_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where brokers fall: they come back with what they had, and nobody has moved."""

    class Reversing(Router):
        def receive_all(self, arrivals: Iterable[tuple[Message, str]], now: float) -> list[Send]:
            return [reversed_events(send) for send in super().receive_all(arrivals, now)]

    def reversed_events(send: Send) -> Send:
        message = send.message
        if not isinstance(message, Events) or message.matched is None:
            return send
        turned = replace(message, events=message.events[::-1], matched=message.matched[::-1])
        return Send(send.interface, turned)

    report = run_with(Reversing, monkeypatch, replace(SMALL, faults=CRASHES))
    assert report.moved == 0
    assert any(each.startswith("out of order: ") for each in report.violations)


def test_order_is_not_promised_once_a_broker_has_moved() -> None:
    """What was kept by the parent of before comes after what the new one has sent."""
    options = SimulationOptions(
        seed=9,
        brokers=6,
        clients=12,
        subscriptions=40,
        events=200,
        batch=1,
        faults=replace(usual_faults([Fault.PARTITION]), partition_rate=0.3),
    )
    report = simulate(options)
    assert report.moved > 0
    assert report.disordered > 0
    assert not report.violations


def test_a_disk_that_keeps_nothing_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(Router):
        def __init__(self, options: Any, state: Any = None) -> None:
            super().__init__(options)

    crashing = replace(SMALL, faults=CRASHES, patience_s=20.0)
    assert run_with(Forgetful, monkeypatch, crashing).violations


def run_with(
    router: type[Router], monkeypatch: pytest.MonkeyPatch, options: SimulationOptions = SMALL
) -> SimulationReport:
    monkeypatch.setattr(broker, "Router", router)
    return simulate(options)


def test_newcomers_join_in_the_middle_and_their_clients_are_served() -> None:
    options = replace(SMALL, brokers=9, clients=18, rounds=2, faults=Faults(join=1.0))
    run = Simulation(options)
    report = run.run(lambda _: None)
    assert not report.violations
    assert report.faults["joins"] >= 3
    late = [
        client
        for client, home in zip(run.clients, run.homes, strict=True)
        if run.tree.children()[home] == []
    ]
    assert sum(client.received for client in late) > 0
    one_by_one = [replace(options, seed=seed, rounds=3) for seed in (1, 2)]
    assert all(not simulate(each).violations for each in one_by_one)


def test_who_was_not_there_before_may_leave_again() -> None:
    faults = replace(usual_faults([Fault.LEAVE, Fault.JOIN]), join=1.0, leave_rate=0.5)
    report = simulate(replace(SMALL, brokers=9, rounds=2, faults=faults))
    assert not report.violations
    assert min(report.faults["joins"], report.faults["leaves"]) > 0
