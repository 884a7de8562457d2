"""What was measured of brokers, and whether Predicast's goals are reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec
from rich.table import Table

from bench.broker.changing import ChangesSeen
from bench.broker.contestants import PREDICAST, RELAY
from bench.measuring.machine import Machine
from bench.measuring.result_files import ResultFile
from bench.measuring.verdict import Finding, Verdict

HEADINGS: Final = (
    "broker",
    "subscriptions × fan-out",
    "events/s",
    "deliveries/s",
    "processor, µs per event",
    "at events/s",
    "p50, ms",
    "p99, ms",
    "p99.9, ms",
    "MiB",
)
_P99_MS: Final = 20.0
_FLAT: Final = 0.05  # of the memory, by which it may differ
_SETTLED: Final = 0.1  # of the time, after which caches are full


class BrokerRow(msgspec.Struct, frozen=True):
    """One broker with one load: as quick as it goes, then at a rate."""

    broker: str
    subscriptions: int
    fan_out: int  # and as many connections that receive
    events: int
    published_per_s: int
    delivered_per_s: int
    processor_us: float  # of the broker's process, per event
    broker_busy: float  # the share of a processor that it had
    generator_busy: float
    rate: int  # events a second, for what follows
    p50_ms: float  # from when an event was due until it was delivered
    p99_ms: float
    p99_9_ms: float
    subscribed_s: float  # until all connections were there, and had subscribed
    resident_mib: float

    def label(self) -> str:
        """The load, as people call it."""
        return f"{self.subscriptions:,} × {self.fan_out}"

    def line(self) -> str:
        """What was measured, for somebody who waits."""
        return (
            f"{self.broker}, {self.label()}: {self.published_per_s:,} events/s, "
            f"{self.delivered_per_s:,} deliveries/s, p99 {self.p99_ms:,} ms at {self.rate:,}/s"
        )

    def cells(self) -> list[str]:
        """As a row of a table."""
        return [
            self.broker,
            self.label(),
            f"{self.published_per_s:,}",
            f"{self.delivered_per_s:,}",
            f"{self.processor_us:,.0f}",
            f"{self.rate:,}",
            *(f"{each:,.1f}" for each in (self.p50_ms, self.p99_ms, self.p99_9_ms)),
            f"{self.resident_mib:,.0f}",
        ]


class MemoryPoint(msgspec.Struct, frozen=True):
    """The broker's process at one moment of a long run."""

    second: int
    resident_mib: float
    p99_ms: float  # of what was delivered since the last one


class BrokerReport(ResultFile):
    """All that was measured."""

    machine: Machine
    rows: list[BrokerRow] = msgspec.field(default_factory=list)
    changes: list[ChangesSeen] = msgspec.field(default_factory=list)
    memory: list[MemoryPoint] = msgspec.field(default_factory=list)
    durable_per_s: int | None = None  # single events with a receipt each, on disk before it
    skipped: dict[str, str] = msgspec.field(default_factory=dict)  # brokers, and why

    def row(self, broker: str, subscriptions: int, fan_out: int) -> BrokerRow | None:
        """One of the rows, if it was measured."""
        wanted = (broker, subscriptions, fan_out)
        found = (r for r in self.rows if (r.broker, r.subscriptions, r.fan_out) == wanted)
        return next(found, None)


def verdicts(report: BrokerReport) -> Iterator[Verdict]:
    """Predicast's goals."""
    for subscriptions, fan_out, least_in, least_out in (
        (10_000, 1, 20_000, 0),
        (10_000, 10, 0, 100_000),
        (1_000_000, 1, 10_000, 0),
    ):
        row = report.row(PREDICAST, subscriptions, fan_out)
        goal = f"{least_in:,} events" if least_in else f"{least_out:,} deliveries"
        yield _verdict(
            f"At least {goal} a second: {subscriptions:,} subscriptions, fan-out {fan_out}",
            None
            if row is None
            else Finding(
                row.published_per_s >= least_in and row.delivered_per_s >= least_out,
                f"{row.published_per_s:,} events, {row.delivered_per_s:,} deliveries",
            ),
        )
        yield _verdict(
            f"There, p99 is under {_P99_MS:.0f} ms at half of that load",
            None if row is None else _latency(report, row),
        )
    kept = report.durable_per_s
    yield _verdict(
        "At least 5,000 single events a second, on disk before their receipts",
        None if kept is None else Finding(kept >= 5_000, f"{kept:,}"),
    )
    yield _verdict("A change holds for the next event", _seen(report.changes))
    yield _verdict("Memory is flat over ten minutes", _flat(report.memory))


def _verdict(claim: str, finding: Finding | None) -> Verdict:
    return Verdict(claim, "as measured", finding, None)


def _latency(report: BrokerReport, row: BrokerRow) -> Finding:
    relay = report.row(RELAY, row.subscriptions, row.fan_out)
    alone = "" if relay is None else f"; a relay that does nothing: {relay.p99_ms:,.1f} ms"
    return Finding(row.p99_ms < _P99_MS, f"{row.p99_ms:,.1f} ms at {row.rate:,} events/s{alone}")


def _seen(changes: Sequence[ChangesSeen]) -> Finding | None:
    return Finding.joined(
        Finding(
            each.seen == each.changes,
            f"{each.subscriptions:,}: {each.seen} of {each.changes}, {each.change_ms:.1f} ms each",
        )
        for each in changes
    )


def _flat(memory: Sequence[MemoryPoint]) -> Finding | None:
    if not memory:
        return None
    settled = [each for each in memory if each.second >= _SETTLED * memory[-1].second]
    held = [each.resident_mib for each in settled]
    return Finding(
        memory[-1].second >= 600 and max(held) - min(held) <= _FLAT * min(held),
        f"{min(held):,.0f} to {max(held):,.0f} MiB from {settled[0].second} s "
        f"to {settled[-1].second} s",
    )


def goal_rows(report: BrokerReport) -> list[tuple[str, str, str]]:
    """The verdicts, for a page."""
    return [
        (each.claim, each.outcome, each.measured.evidence if each.measured else "")
        for each in verdicts(report)
    ]


def goals_table(report: BrokerReport) -> Table:
    """The verdicts, for a terminal."""
    return _table("Goals", ("goal", "verdict", "measured"), goal_rows(report))


def broker_table(report: BrokerReport) -> Table:
    """The rows, for a terminal."""
    return _table(str(report.machine), HEADINGS, [each.cells() for each in report.rows])


def _table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(*headings, title=title, box=None)
    for row in rows:
        table.add_row(*row)
    return table
