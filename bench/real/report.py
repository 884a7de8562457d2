"""Tables of what ``python -m bench real`` measured, beside the goals."""

from __future__ import annotations

from typing import Final

from rich.table import Table

from bench.real.detecting import OURS
from bench.real.results import DialectResult, LoadingResult, RealReport, SigmaResult
from bench.real.rsigma import NAME as RSIGMA

GOAL_RATE: Final = 60_000  # events a second in batches of 2,000
GOAL_BATCH: Final = 2_000
GOAL_TIMES: Final = 3.0  # rsigma in the same run
GOAL_SINGLE_RATE: Final = 8_000
GOAL_FLAT: Final = 1.5  # between the best and the worst size of a batch
GOALS_BATCH_US: Final = {100_000: 1.0, 1_000_000: 2.0}
GOAL_SINGLE_US: Final = 12.0
GOAL_CORPUS_S: Final = 3.0
GOAL_MANY_S: Final = 60.0
MANY: Final = 100_000
GOAL_DIALECT_LOAD_S: Final = 2.0  # for as many subscriptions as this:
DIALECT_LOADED: Final = 10_000
GOAL_DIALECT_TIMES: Final = 2.0  # what where takes in the same run
MIB: Final = 1 << 20


def report_tables(report: RealReport) -> list[Table]:
    """For people."""
    tables = [sigma_table(report.sigma)] if report.sigma else []
    tables += [selective_table(report)] if report.selective else []
    tables += [loading_table(report.loading)] if report.loading else []
    return tables + ([dialects_table(report.dialects)] if report.dialects else [])


def sigma_table(result: SigmaResult) -> Table:
    """Events a second."""
    title = f"{result.rules:,} Sigma rules, {result.events:,} events"
    table = Table(title=title, caption="; ".join(_sigma_notes(result)))
    for heading in ("engine", "events at a time", "events a second"):
        table.add_column(heading, justify="left" if heading == "engine" else "right")
    for rate in sorted(result.rates, key=lambda each: (each.rival, each.batch)):
        table.add_row(rate.rival, f"{rate.batch:,}", f"{rate.events_per_s:,.0f}")
    for name, why in result.left_out.items():
        table.add_row(name, "", f"left out: {why}")
    return table


def _sigma_notes(result: SigmaResult) -> list[str]:
    notes = [f"{result.fields:.0f} fields an event", f"{result.matches:,} pairs match"]
    ours, theirs = result.rate(OURS, GOAL_BATCH), result.rate(RSIGMA, 1)
    if ours is not None:
        notes.append(_judged(f"{ours:,.0f} in batches of {GOAL_BATCH:,}", ours >= GOAL_RATE))
    if ours is not None and theirs is not None:
        times = ours / theirs
        notes.append(_judged(f"{times:.1f} times {RSIGMA}", times >= GOAL_TIMES))
    rates = [each.events_per_s for each in result.rates if each.rival == OURS and each.batch > 1]
    if len(rates) > 1:
        flat = max(rates) / min(rates)
        notes.append(_judged(f"{flat:.1f} times from size to size", flat <= GOAL_FLAT))
    single = result.rate(OURS, 1)
    if single is not None:
        notes.append(_judged(f"{single:,.0f} one by one", single >= GOAL_SINGLE_RATE))
    return notes


def _judged(what: str, reached: bool) -> str:
    return f"{what}: {'goal reached' if reached else 'goal missed'}"


def selective_table(report: RealReport) -> Table:
    """Microseconds per event; what misses its goal is marked."""
    table = Table(title="Selective rules, µs per event")
    for heading in ("rules of", "rules", "matches", f"batches of {report.batch:,}", "one by one"):
        table.add_column(heading, justify="left" if heading == "rules of" else "right")
    for each in report.selective:
        goal = GOALS_BATCH_US.get(each.rules)
        table.add_row(
            each.made_of,
            f"{each.rules:,}",
            f"{each.matches}",
            _marked(each.batch_us, goal),
            _marked(each.single_us, GOAL_SINGLE_US),
        )
    return table


def _marked(us: float, goal: float | None) -> str:
    text = f"{us:.2f}" if us < 10 else f"{us:.0f}"
    return text if goal is None or us <= goal else f"[yellow]{text} > {goal:g}[/]"


def loading_table(results: list[LoadingResult]) -> Table:
    """Seconds and memory."""
    table = Table(title="Loading Sigma rules: processor time and memory")
    for heading in (
        "given as",
        "subscriptions",
        "read, s",
        "loaded, s",
        "MiB",
        "peak MiB",
    ):
        table.add_column(heading, justify="left" if heading == "given as" else "right")
    for each in results:
        goal = GOAL_MANY_S if each.subscriptions >= MANY else GOAL_CORPUS_S
        loaded = f"{each.load_s:.1f}"
        table.add_row(
            each.given_as,
            f"{each.subscriptions:,}",
            f"{each.read_s:.1f}",
            loaded if each.load_s <= goal else f"[yellow]{loaded} > {goal:g}[/]",
            f"{each.growth_bytes / MIB:,.0f}",
            f"{each.peak_bytes / MIB:,.0f}",
        )
    return table


def dialects_table(results: list[DialectResult]) -> Table:
    """Seconds and microseconds, beside what ``where`` takes."""
    table = Table(title="Dialects beside where text that means the same")
    for heading in (
        "dialect",
        "subscriptions",
        "matches",
        "loaded, s",
        "where",
        "µs per event of a batch",
        "where",
        "one by one",
        "where",
    ):
        table.add_column(heading, justify="left" if heading == "dialect" else "right")
    for each in results:
        goal_s = GOAL_DIALECT_LOAD_S if each.subscriptions >= DIALECT_LOADED else None
        table.add_row(
            each.dialect,
            f"{each.subscriptions:,}",
            f"{each.matches:,}",
            _marked(each.load_s, goal_s),
            f"{each.where_load_s:.2f}",
            _marked(each.batch_us, GOAL_DIALECT_TIMES * each.where_batch_us),
            f"{each.where_batch_us:.2f}",
            _marked(each.single_us, GOAL_DIALECT_TIMES * each.where_single_us),
            f"{each.where_single_us:.2f}",
        )
    return table
