"""Derived attributes beside plain columns that hold the same values.

Every subscription compares one of twenty expressions and a category: once as an expression over the
columns of a table, once as a plain column into which it was computed beforehand. The two answer
alike; what differs is the time to compute, against the time to read more columns. The two take
turns, batch by batch.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any, Final

import numpy as np
import pyarrow as pa
from rich.table import Table

from bench.measuring.machine import Machine, this_machine
from bench.measuring.result_files import ResultFile
from predicast import Engine
from predicast.engine.derivation import Derivation
from predicast.language.derived_names import canonical_attribute
from predicast.matching.batches.event_batch import EventBatch

GOAL: Final = 1.3  # times the plain columns
EXPRESSIONS: Final = (
    "price * qty", "price - cost", "price / qty", "qty % 7", "abs(price - cost)", "round(price, 1)",
    "floor(price)", "lower(city)", "length(name)", "upper(city)", "hour(at)", "dayofweek(at)",
    "substring(name, 1, 5)", "coalesce(bonus, 0)", "greatest(price, cost)", "price * 1.19", "-cost",
    "CAST(price AS BIGINT)", "CASE WHEN qty > 50 THEN price ELSE cost END", "concat(city, name)",
)  # fmt: skip
_CATEGORIES: Final = 1_000


class DerivedReport(ResultFile, kw_only=True):
    """What was measured: medians of batches."""

    machine: Machine
    subscriptions: int
    events: int
    derived_us_per_event: float
    plain_us_per_event: float
    matches_per_event: float

    @property
    def ratio(self) -> float:
        """The time with derived attributes, in times of that with plain columns."""
        return self.derived_us_per_event / self.plain_us_per_event


def measure_derived(
    *,
    subscriptions: int,
    events: int,
    batches: int,
    seed: int = 0,
    advance: Callable[[], None] = lambda: None,
) -> DerivedReport:
    """Subscribe to both, and match batches in turn."""
    inputs = _table(np.random.default_rng(seed), events)
    plain = _computed(inputs)
    engines = _filled(random.Random(seed), subscriptions, plain)
    tables = (inputs, plain)
    found = [engine.match_arrow(table) for engine, table in zip(engines, tables, strict=True)]
    counted = [each["event"].value_counts() for each in found]
    assert counted[0] == counted[1], "the two answer differently"
    gc.collect()
    seconds: list[list[float]] = [[], []]
    for _ in range(batches):
        for engine, table, taken in zip(engines, tables, seconds, strict=True):
            start = perf_counter()
            engine.match_arrow(table)
            taken.append(perf_counter() - start)
            advance()
    return DerivedReport(
        machine=this_machine(),
        subscriptions=subscriptions,
        events=events,
        derived_us_per_event=1e6 * median(seconds[0]) / events,
        plain_us_per_event=1e6 * median(seconds[1]) / events,
        matches_per_event=found[0].num_rows / events,
    )


def _table(chance: np.random.Generator, events: int) -> pa.Table:
    cities = np.array(["Rome", "Oslo", "Bern", "Wien", "Riga"])
    return pa.table(
        {
            "price": chance.uniform(0, 1000, events).round(2),
            "qty": chance.integers(1, 100, events),
            "cost": chance.uniform(0, 1000, events).round(2),
            "city": cities[chance.integers(0, 5, events)],
            "name": [f"item {number}" for number in chance.integers(0, 500, events)],
            "at": pa.array(chance.integers(0, 2 * 10**15, events), pa.timestamp("us")),
            "bonus": pa.array(chance.uniform(0, 10, events), mask=chance.random(events) < 0.5),
            "category": chance.integers(0, _CATEGORIES, events),
        }
    )


def _computed(inputs: pa.Table) -> pa.Table:
    """The same events, with the expressions' values in columns of their own."""
    names = [canonical_attribute(f"={text}") for text in EXPRESSIONS]
    events = Derivation(names).columns(EventBatch.from_arrow(inputs)).events()
    columns: dict[str, Any] = {
        f"c{number}": pa.array([event.get(name) for event in events])
        for number, name in enumerate(names)
    }
    return pa.table({**columns, "category": inputs["category"]})


def _filled(chance: random.Random, count: int, plain: pa.Table) -> tuple[Engine, Engine]:
    """Engines with the same subscriptions, on expressions and on columns."""
    values = [
        [value for value in plain[f"c{number}"].to_pylist() if value is not None]
        for number in range(len(EXPRESSIONS))
    ]
    derived, columns = [], []
    for number in range(count):
        which = chance.randrange(len(EXPRESSIONS))
        test = (
            f"{_test(chance.choice(values[which]))} AND category = {chance.randrange(_CATEGORIES)}"
        )
        derived.append((f"s{number}", f"{EXPRESSIONS[which]} {test}"))
        columns.append((f"s{number}", f"c{which} {test}"))
    engines = Engine(), Engine()
    for engine, pairs in zip(engines, (derived, columns), strict=True):
        engine.subscribe_many(pairs)
        engine.warm_up()
        engine._store.matcher.settle()  # merging in the background would disturb the first batches
    return engines


def _test(value: Any) -> str:
    if isinstance(value, str):
        return f"= '{value}'"
    return f"BETWEEN {value} AND {value + 100}" if isinstance(value, float) else f"= {value}"


def derived_table(report: DerivedReport) -> Table:
    """For people."""
    table = Table(title=f"{report.subscriptions:,} subscriptions, batches of {report.events:,}")
    table.add_column("compared is")
    table.add_column("µs per event", justify="right")
    table.add_row(f"one of {len(EXPRESSIONS)} expressions", f"{report.derived_us_per_event:.2f}")
    table.add_row("one of as many columns", f"{report.plain_us_per_event:.2f}")
    reached = "reached" if report.ratio <= GOAL else "missed"
    table.caption = (
        f"{report.ratio:.2f} times; the goal of at most {GOAL} is {reached}; "
        f"{report.matches_per_event:.1f} matches per event"
    )
    return table
