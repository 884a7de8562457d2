"""Conditions on the elements of lists: what an event of ten tags or ten items costs.

Every subscription asks for one tag, ``array_contains(tags, 'tag 7')``, or for one and the same item
that is cheap and of a kind, ``exists(items, i -> i.price < 30 AND i.kind = 'k12')``. The default
matcher looks the elements up; brute force, which tries every subscription on all elements of a
batch, answers a part of the events beside it, and alike.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Final

import numpy as np
import pyarrow as pa
from rich.table import Table

from bench.measuring.machine import Machine, this_machine
from bench.measuring.result_files import ResultFile
from predicast import Engine

TAGS: Final = 10  # of an event, and as many items
_KINDS: Final = 1_000
_BRUTE: Final = 1_000  # subscriptions that brute force is given: its time grows with them


class ListFigures(ResultFile, kw_only=True):
    """One kind of condition: processor time per event, and of brute force per event as well."""

    condition: str
    load_us: float  # per subscription
    us_per_event: float
    single_us_per_event: float
    brute_us_per_event: float  # made out for as many subscriptions
    matches_per_event: float


class ListsReport(ResultFile, kw_only=True):
    """What was measured."""

    machine: Machine
    subscriptions: int
    events: int
    figures: list[ListFigures]


def measure_lists(
    *,
    subscriptions: int,
    events: int,
    batches: int,
    seed: int = 0,
    advance: Callable[[], None] = lambda: None,
) -> ListsReport:
    """Subscribe, match batches and single events, and compare with brute force."""
    chance = np.random.default_rng(seed)
    table = _table(chance, subscriptions, events)
    texts = {
        "array_contains": [f"array_contains(tags, 'tag {n}')" for n in range(subscriptions)],
        "exists": [
            f"exists(items, i -> i.price < {price} AND i.kind = 'k{kind}')"
            for price, kind in zip(
                chance.integers(1, 100, subscriptions),
                chance.integers(0, _KINDS, subscriptions),
                strict=True,
            )
        ],
    }
    figures = [_measured(name, each, table, batches, advance) for name, each in texts.items()]
    return ListsReport(
        machine=this_machine(), subscriptions=subscriptions, events=events, figures=figures
    )


def _table(chance: np.random.Generator, tags: int, events: int) -> pa.Table:
    count = events * TAGS
    first = pa.array(np.arange(0, count + 1, TAGS), pa.int32())
    items = pa.StructArray.from_arrays(
        [
            pa.array(chance.integers(0, 1_000, count)),
            pa.array([f"k{kind}" for kind in chance.integers(0, _KINDS, count)]),
        ],
        ["price", "kind"],
    )
    words = pa.array([f"tag {tag}" for tag in chance.integers(0, tags, count)])
    return pa.table(
        {
            "tags": pa.ListArray.from_arrays(first, words),
            "items": pa.ListArray.from_arrays(first, items),
        }
    )


def _measured(
    name: str, texts: list[str], table: pa.Table, batches: int, advance: Callable[[], None]
) -> ListFigures:
    engine = Engine()
    load_s = _timed(lambda: engine.subscribe_many((f"s{n}", t) for n, t in enumerate(texts)))
    engine.warm_up()
    engine._store.matcher.settle()  # merging in the background would disturb the first batches
    matches = engine.match_arrow(table)
    few = table.slice(0, max(table.num_rows // 10, 1))
    asked = min(len(texts), _BRUTE)
    brute = Engine(matcher="brute-force")
    brute.subscribe_many((f"s{n}", text) for n, text in enumerate(texts[:asked]))
    assert _few_of(matches, few.num_rows, asked) == _pairs(brute.match_arrow(few)), "they differ"
    events = few.to_pylist()
    gc.collect()
    seconds: list[float] = []
    single: list[float] = []
    for _ in range(batches):
        seconds.append(_timed(lambda: engine.match_arrow(table)))
        single.append(_timed(lambda: [engine.match(event) for event in events]))
        advance()
    brute_s = _timed(lambda: brute.match_arrow(few))
    return ListFigures(
        condition=name,
        load_us=1e6 * load_s / len(texts),
        us_per_event=1e6 * median(seconds) / table.num_rows,
        single_us_per_event=1e6 * median(single) / len(events),
        brute_us_per_event=1e6 * brute_s / few.num_rows * len(texts) / asked,
        matches_per_event=matches.num_rows / table.num_rows,
    )


def _timed(run: Callable[[], object]) -> float:
    start = process_time()
    run()
    return process_time() - start


def _pairs(matches: pa.Table) -> set[tuple[int, str]]:
    return set(zip(matches["event"].to_pylist(), matches["subscription"].to_pylist(), strict=True))


def _few_of(matches: pa.Table, events: int, subscriptions: int) -> set[tuple[int, str]]:
    asked = {f"s{number}" for number in range(subscriptions)}
    return {(event, id) for event, id in _pairs(matches) if event < events and id in asked}


def lists_table(report: ListsReport) -> Table:
    """For people."""
    table = Table(
        title=f"{report.subscriptions:,} subscriptions, events with lists of {TAGS}",
        caption=f"processor time in µs; batches of {report.events:,}",
    )
    table.add_column("condition")
    for column in ("load", "in batches", "one by one", "brute force", "matches per event"):
        table.add_column(column, justify="right")
    for each in report.figures:
        table.add_row(
            each.condition,
            f"{each.load_us:.1f}",
            f"{each.us_per_event:.2f}",
            f"{each.single_us_per_event:.1f}",
            f"{each.brute_us_per_event:,.0f}",
            f"{each.matches_per_event:.1f}",
        )
    return table
