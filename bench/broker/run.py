"""Every load on every broker, one after the other."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

from bench.broker.changing import changes_seen
from bench.broker.contestants import CONTESTANTS, PREDICAST
from bench.broker.load import Held, Load, LoadGenerator
from bench.broker.processes import ServerProcess, free_port, running
from bench.broker.results import BrokerReport, BrokerRow, MemoryPoint
from bench.measuring.loops import quick_loop
from bench.measuring.sizes import Size
from predicast.client import connect

_CLIENTS: Final = 8  # that publish one event after the other, together
_EACH: Final = 48  # publishes of each that wait for their receipts
_FEW: Final = 20  # events of a batch when there is a rate
_AIM_IN: Final = 20_000  # events a second, and deliveries: latencies are measured at half of that
_AIM_OUT: Final = 100_000
_LARGE: Final = 1_000_000  # subscriptions, at which half as many events are aimed at
_WARM_S: Final = 2.0  # before anything counts
_LAP_S: Final = 5.0  # between looks at the memory


@dataclass(frozen=True)
class BrokerSettings:
    """The loads."""

    subscriptions: tuple[int, ...]
    fan_outs: tuple[int, ...]
    events: int  # at most
    seconds: float  # that each measurement is to take, at most
    batch: int
    most_topics: int  # that others are given: subscribing to many takes them long
    durable_events: int
    changes: int


SETTINGS: Final = {
    Size.SMALL: BrokerSettings((1, 100, 10_000), (1, 10), 20_000, 2.0, 200, 10_000, 4_000, 20),
    Size.FULL: BrokerSettings(
        (1, 100, 10_000, 100_000, 1_000_000),
        (1, 10, 100),
        200_000,
        6.0,
        200,
        100_000,
        50_000,
        100,
    ),
}


def loads(settings: BrokerSettings) -> Iterator[Held]:
    """Those that make sense: an event cannot match more subscriptions than there are."""
    for subscriptions, fan_out in product(settings.subscriptions, settings.fan_outs):
        if fan_out <= subscriptions:
            yield Held(subscriptions, fan_out)


def steps(settings: BrokerSettings, brokers: Collection[str]) -> int:
    """What ``measure_brokers`` reports on."""
    return len([*loads(settings)]) * len(brokers) + (PREDICAST in brokers)


def half_aim(held: Held) -> float:
    """The events a second at which latencies are to be measured."""
    aim = min(_AIM_IN, _AIM_OUT / held.fan_out)
    return aim / (4 if held.subscriptions >= _LARGE else 2)


def measure_brokers(
    report: BrokerReport,
    settings: BrokerSettings,
    brokers: Collection[str],
    *,
    keep: Callable[[BrokerReport], None],
    tell: Callable[[str], None],
    progress: Callable[[str], None] = lambda _: None,
) -> None:
    """Measure; what there is so far is kept after every row."""
    for held, name in product(loads(settings), brokers):
        progress(f"{name}: {held.subscriptions:,} × {held.fan_out}")
        if CONTESTANTS[name].has_topics and held.groups > settings.most_topics:
            continue
        try:
            with _started(name) as server, asyncio.Runner(loop_factory=quick_loop) as runner:
                row = runner.run(_row(report, name, server, held, settings))
        except LookupError as error:
            if name not in report.skipped:
                report.skipped[name] = str(error)
                tell(f"{name} is left out: {error}")
            continue
        report.rows.append(row)
        tell(row.line())
        keep(report)
    if PREDICAST in brokers:
        progress("single events")
        with _started(PREDICAST) as server:
            clock_s = asyncio.run(_publish_singly(server.port, settings.durable_events))
        report.durable_per_s = round(settings.durable_events / clock_s)
        keep(report)


@contextmanager
def _started(name: str) -> Iterator[ServerProcess]:
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        with running(CONTESTANTS[name].command(port, Path(folder)), port) as server:
            yield server


async def _row(
    report: BrokerReport, name: str, server: ServerProcess, held: Held, settings: BrokerSettings
) -> BrokerRow:
    spent: list[float] = []
    generator = LoadGenerator(CONTESTANTS[name].client, server.port, held)
    began = time.perf_counter()
    await generator.start()
    subscribed_s = time.perf_counter() - began
    try:
        events = _fitting(await _warmed_up(generator, settings), settings)
        quick = await generator.run(
            Load(events, settings.batch), lambda: spent.append(server.processor_s())
        )
        per_s = events / quick.clock_s
        rate = min(half_aim(held), per_s / 2)
        calm = await generator.run(Load(_fitting(rate, settings), _FEW, rate))
    finally:
        generator.stop()
    if name == PREDICAST and held.fan_out == 1:
        report.changes.append(await changes_seen(server.port, held.subscriptions, settings.changes))
    return BrokerRow(
        broker=name,
        subscriptions=held.subscriptions,
        fan_out=held.fan_out,
        events=events,
        published_per_s=round(per_s),
        delivered_per_s=round(quick.deliveries / quick.clock_s),
        processor_us=round(1e6 * (spent[1] - spent[0]) / events, 1),
        broker_busy=round((spent[1] - spent[0]) / quick.clock_s, 2),
        generator_busy=round(quick.busy, 2),
        rate=round(rate),
        p50_ms=round(1000 * calm.quantile(0.5), 2),
        p99_ms=round(1000 * calm.quantile(0.99), 2),
        p99_9_ms=round(1000 * calm.quantile(0.999), 2),
        subscribed_s=round(subscribed_s, 2),
        resident_mib=round(server.resident_mib(), 1),
    )


async def _warmed_up(generator: LoadGenerator, settings: BrokerSettings) -> float:
    """Events a second, when whatever begins with the first ones has ended."""
    load = Load(10 * settings.batch, settings.batch)
    end = time.perf_counter() + _WARM_S
    while True:
        per_s = load.events / (await generator.run(load)).clock_s
        if time.perf_counter() >= end:
            return per_s


def _fitting(per_s: float, settings: BrokerSettings) -> int:
    """As many events as take so long, in whole batches."""
    events = min(settings.events, int(per_s * settings.seconds))
    return max(10 * _FEW, events // settings.batch * settings.batch)


def measure_memory(
    report: BrokerReport,
    held: Held,
    seconds: float,
    *,
    keep: Callable[[BrokerReport], None],
    tell: Callable[[str], None],
) -> None:
    """What the broker's process holds over time, at half of the load that is aimed at."""
    report.memory = []
    with _started(PREDICAST) as server, asyncio.Runner(loop_factory=quick_loop) as runner:
        generator = LoadGenerator(CONTESTANTS[PREDICAST].client, server.port, held)
        runner.run(generator.start())
        load = Load(int(_LAP_S * half_aim(held)), _FEW, half_aim(held))
        began = time.perf_counter()
        while (now := time.perf_counter() - began) < seconds:
            lap = runner.run(generator.run(load))
            point = MemoryPoint(
                round(now + _LAP_S),
                round(server.resident_mib(), 1),
                round(1000 * lap.quantile(0.99), 2),
            )
            report.memory.append(point)
            tell(f"{point.second} s: {point.resident_mib:,} MiB, p99 {point.p99_ms} ms")
            keep(report)
        generator.stop()


async def _publish_singly(port: int, events: int) -> float:
    """How long many take together who publish single events, each waiting for its receipt."""
    async with AsyncExitStack() as stack:
        url = f"http://127.0.0.1:{port}"
        clients = [await stack.enter_async_context(connect(url)) for _ in range(_CLIENTS)]
        left = iter(range(events))

        async def publish(place: int) -> None:
            for number in left:
                await clients[place % _CLIENTS].publish({"number": number, "price": 9.5})

        began = time.perf_counter()
        await asyncio.gather(*(publish(place) for place in range(_CLIENTS * _EACH)))
        return time.perf_counter() - began
