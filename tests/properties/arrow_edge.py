"""What must hold of any Arrow table: the same as of its rows, one by one; or a typed refusal."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from predicast import Engine
from predicast.errors import PredicastError
from predicast.matching.batches.event_batch import EventBatch
from predicast.model import Constraint, Event, Interval, Operator, Subscription
from predicast.model.values import kind_of
from predicast.testing.strategies import NAMES, subscriptions
from tests.properties.arrow_tables import REFUSED, Example, tables


class Stream:
    """Offers a table as a stream, and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


class Array:
    """Offers a table in one piece, and nothing else."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self._batch.__arrow_c_array__(requested_schema)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Example, Any, list[Subscription]]:
    """A table, the same in some other form, and subscriptions that look at what it says."""
    example = draw(tables())
    table = example.table
    forms: list[Any] = [table, table.to_reader()]
    if _can_export(table):
        forms.append(Stream(table))
    if _can_export(table) and table.num_rows and len(table.to_batches()) == 1:
        [batch] = table.to_batches()
        forms += [batch, Array(batch)]
    given = draw(st.sampled_from(forms))
    held = draw(st.lists(subscriptions(), max_size=3))
    values = [
        (name, value)
        for row in example.rows
        for name, value in row.items()
        if name in NAMES and value is not None and value is not REFUSED
    ]
    for _ in range(draw(st.integers(1, 8))):
        name = draw(st.sampled_from(NAMES))
        if not values or draw(st.integers(0, 3)) == 0:
            presence = draw(st.sampled_from([Operator.EXISTS, Operator.ABSENT]))
            held.append(Subscription.of([[Constraint(name, presence)]]))
            continue
        name, value = draw(st.sampled_from(values))
        if isinstance(value, Interval):
            value = value.lo if value.hi is None else value.hi
        operators = [Operator.EQ, Operator.NE, Operator.LT, Operator.GE]
        usable = [each for each in operators if kind_of(value) in each.kinds]
        held.append(Subscription.of([[Constraint(name, draw(st.sampled_from(usable)), value)]]))
    return example, given, held


def _can_export(table: pa.Table) -> bool:
    """PyArrow cannot hand over some of the layouts that it has, such as runs of extensions."""
    try:
        pa.table(Stream(table))
    except pa.ArrowNotImplementedError:
        return False
    return True


def check(case: tuple[Example, Any, list[Subscription]], counts: Counter[str]) -> None:
    """Compare what the table is found to say, and what it matches, with its rows one by one."""
    example, given, held = case
    engines = [Engine(), Engine(matcher="brute-force")]
    for engine in engines:
        engine.subscribe_many((f"s{number}", each) for number, each in enumerate(held))
    looked_at = engines[0].attributes()
    counts["tables"] += 1
    counts["rows"] += len(example.rows)
    wrong = _wrong(example, looked_at)
    refusal: PredicastError | None = None
    try:
        columns = EventBatch.from_arrow(example.table, looked_at, example.intervals)
        found = engines[0].match_arrow(given, intervals=example.intervals)
    except PredicastError as error:
        refusal = error
    if refusal is not None:
        row = getattr(refusal, "row", None)
        assert row in wrong, f"row {row} refused, wrong are {wrong}: {refusal}"
        counts["refused"] += 1
        return
    assert not wrong, f"wrong in {wrong}, and not refused"
    rows = [
        Event({name: row[name] for name in looked_at & row.keys() if row[name] is not None})
        for row in example.rows
    ]
    assert columns.events() == rows
    right = [engines[1].match(row) for row in rows]
    assert _by_event(found, len(rows)) == right
    by_columns = engines[1].match_arrow(example.table, intervals=example.intervals)
    assert _by_event(by_columns, len(rows)) == right
    counted = engines[0].count_arrow(example.table, intervals=example.intervals)
    assert counted.to_pylist() == [len(ids) for ids in right]
    counts["decisions"] += len(rows) * len(held)


def _wrong(example: Example, looked_at: frozenset[str]) -> set[int | None]:
    """The rows that may be named: the first wrong one of an attribute; None is a whole column."""
    wrong: set[int | None] = set()
    for attribute in looked_at:
        ends = example.intervals.get(attribute, ())
        for name in (attribute, *ends):
            rows = (number for number, row in enumerate(example.rows) if row.get(name) is REFUSED)
            first = next(rows, None)
            if first is not None:
                wrong.add(first)
            if name in example.unlike_any and (name != attribute or not ends):
                wrong.add(None)
    return wrong


def _by_event(found: pa.Table, rows: int) -> list[list[str]]:
    ids: list[list[str]] = [[] for _ in range(rows)]
    pairs = zip(found["event"].to_pylist(), found["subscription"].to_pylist(), strict=True)
    for event, id in pairs:
        ids[event].append(id)
    return [sorted(each) for each in ids]
