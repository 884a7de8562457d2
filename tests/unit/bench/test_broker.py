"""``python -m bench broker``: its clients against the real programs, and what it says."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.__main__ import app
from bench.broker.changing import ChangesSeen, changes_seen
from bench.broker.contestants import CONTESTANTS, PREDICAST, RELAY
from bench.broker.load import Held, Load, LoadGenerator, Measured
from bench.broker.processes import free_port, running
from bench.broker.results import BrokerReport, BrokerRow, MemoryPoint, goal_rows
from bench.broker.run import SETTINGS, half_aim, loads, steps
from bench.measuring.machine import this_machine
from bench.measuring.sizes import Size


async def measured(name: str, port: int, held: Held) -> list[Measured]:
    generator = LoadGenerator(CONTESTANTS[name].client, port, held)
    await generator.start()
    try:
        return [
            await generator.run(load) for load in (Load(3_000, 50), Load(200, 20, rate=100_000.0))
        ]
    finally:
        generator.stop()


@pytest.mark.parametrize("name", CONTESTANTS)
def test_every_subscriber_gets_every_event_once(name: str, tmp_path: Path) -> None:
    port = free_port()
    try:
        command = CONTESTANTS[name].command(port, tmp_path)
    except LookupError as error:
        pytest.skip(str(error))
    with running(command, port) as server:
        quick, calm = asyncio.run(measured(name, port, Held(20, 2)))
        assert server.resident_mib() > 0
        seen = asyncio.run(changes_seen(port, 20, 3)) if name == PREDICAST else None
    # The generator itself refuses to go on when an event is missing, or has come twice.
    assert (quick.deliveries, calm.deliveries) == (6_000, 400)
    assert 0 < quick.quantile(0.5) <= quick.quantile(0.99) <= quick.clock_s
    assert seen is None or seen.seen == seen.changes == 3


def test_loads_are_those_that_can_be() -> None:
    settings = SETTINGS[Size.FULL]
    full = [*loads(settings)]
    assert all(held.fan_out <= held.subscriptions for held in full)
    assert {held.subscriptions for held in full} == {1, 100, 10_000, 100_000, 1_000_000}
    assert steps(settings, [PREDICAST, RELAY]) == 2 * len(full) + 1


def test_latencies_are_measured_at_half_of_what_is_aimed_at() -> None:
    assert half_aim(Held(10_000, 1)) == 10_000
    assert half_aim(Held(10_000, 10)) == 5_000
    assert half_aim(Held(1_000_000, 1)) == 5_000


def row(broker: str, subscriptions: int, fan_out: int, per_s: int, p99_ms: float) -> BrokerRow:
    return BrokerRow(
        broker=broker,
        subscriptions=subscriptions,
        fan_out=fan_out,
        events=1_000,
        published_per_s=per_s,
        delivered_per_s=per_s * fan_out,
        processor_us=20.0,
        broker_busy=0.9,
        generator_busy=0.1,
        rate=10_000,
        p50_ms=1.0,
        p99_ms=p99_ms,
        p99_9_ms=2 * p99_ms,
        subscribed_s=0.1,
        resident_mib=300.0,
    )


def report(*, p99_ms: float = 9.0, seen: int = 5, last_mib: float = 301.0) -> BrokerReport:
    return BrokerReport(
        this_machine(),
        rows=[
            row(PREDICAST, 10_000, 1, 30_000, p99_ms),
            row(RELAY, 10_000, 1, 200_000, 0.5),
            row(PREDICAST, 10_000, 10, 9_000, p99_ms),
        ],
        changes=[ChangesSeen(10_000, 5, seen, 1.0, 2.0)],
        memory=[MemoryPoint(s, 100.0 if s < 60 else 300.0, 5.0) for s in range(5, 600, 5)]
        + [MemoryPoint(600, last_mib, 5.0)],
        durable_per_s=6_000,
        skipped={"redis": "there is no redis-server on this machine"},
    )


def outcomes(given: BrokerReport) -> list[str]:
    return [outcome for _, outcome, _ in goal_rows(given)]


def test_goals_are_judged() -> None:
    missing = ["not measured"] * 2
    assert outcomes(report()) == [
        *["holds", "holds", "does not hold", "holds"],
        *missing,
        *["holds", "holds", "holds"],
    ]
    slow = outcomes(report(p99_ms=20.0, seen=4, last_mib=330.0))
    assert slow == [
        *["holds", "does not hold", "does not hold", "does not hold"],
        *missing,
        *["holds", "does not hold", "does not hold"],
    ]


def test_what_was_measured_before_is_drawn_again(tmp_path: Path) -> None:
    report().write(tmp_path / "broker.json")
    command = ["broker", "--again", "--out", str(tmp_path), "--docs", str(tmp_path / "docs")]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "docs" / "measured" / "broker.svg").exists()
    page = (tmp_path / "docs" / "measured" / "broker.md").read_text(encoding="utf-8")
    assert "a relay that does nothing: 0.5 ms" in page
    assert "redis is left out: there is no redis-server" in page
