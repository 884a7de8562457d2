"""``Workload``: subscriptions and events held as columns, from which every rival takes its form.

Subscriptions of one *shape* differ in their operands only, so that a shape is a table: a column
per operand, a row per subscription. A ``Comparison`` says which event column is compared with
which of them:

    (kind IN (k0, k1) AND price < p) OR (stock >= s)         the clauses of a shape

    k0  k1   p     s                                         its columns
     3   7   9.5   120     row 0: subscription rows[0]
     1   2   0.7     4     row 1: subscription rows[1]

The constraint table that an engine loads, the SQL of a join and a scan in NumPy are all written
from that one description: what is measured side by side cannot drift apart. Nothing here loops
over subscriptions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

OPERATORS: Final = ("=", "<", "<=", ">", ">=", "in", "prefix", "suffix", "contains", "like")
_VALUE_TYPES: Final = {
    "int_value": pa.int64(),
    "float_value": pa.float64(),
    "string_value": pa.string(),
    "bool_value": pa.bool_(),
}


class Comparison(NamedTuple):
    """An attribute compared with operands of the shape.

    One column of operands, except for ``in`` (a column per member) and ``like`` (what stands
    before and what stands behind the ``%``). For region events, ``event_column`` is the end of
    the attribute's interval that decides; otherwise it is the attribute.
    """

    attribute: str
    operator: str
    columns: tuple[str, ...]
    event_column: str = ""

    @property
    def compared(self) -> str:
        """The column of the events that this looks at."""
        return self.event_column or self.attribute


@dataclass(frozen=True, slots=True)
class Shape:
    """Subscriptions that differ in their operands only."""

    rows: np.ndarray  # which of the workload's subscriptions they are
    clauses: tuple[tuple[Comparison, ...], ...]
    columns: Mapping[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class Workload:
    """Subscriptions by shape, and a batch of events as an Arrow record batch."""

    family: str
    subscriptions: int
    shapes: tuple[Shape, ...]
    events: pa.RecordBatch
    intervals: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def clauses(self) -> int:
        return sum(len(shape.rows) * len(shape.clauses) for shape in self.shapes)

    @property
    def event_count(self) -> int:
        return int(self.events.num_rows)

    def table(self) -> pa.Table:
        """The subscriptions as ``Engine.subscribe_arrow`` takes them."""
        names = ids(self.subscriptions)
        return pa.concat_tables(
            _shape_table(shape, names, self._attributes) for shape in self.shapes
        )

    @property
    def _attributes(self) -> list[str]:
        return list(
            dict.fromkeys(
                comparison.attribute
                for shape in self.shapes
                for clause in shape.clauses
                for comparison in clause
            )
        )


def ids(count: int) -> pa.Array:
    """The ids of that many subscriptions: s0, s1, ..."""
    numbers = pa.array(np.arange(count)).cast(pa.string())
    return pc.binary_join_element_wise("s", numbers, "")


def encoded(codes: np.ndarray, words: Sequence[str] | pa.Array) -> pa.DictionaryArray:
    """Words by their numbers: 40 million rows need no 40 million strings."""
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(words))


def constraint_table(
    id: pa.Array, clause: np.ndarray, attribute: pa.Array, operator: pa.Array, **values: pa.Array
) -> pa.Table:
    """One row per constraint; columns of values that are not given are null."""
    columns = {"id": id, "clause": pa.array(clause), "attribute": attribute, "operator": operator}
    for name, type_ in _VALUE_TYPES.items():
        columns[name] = values[name] if name in values else pa.nulls(len(clause), type_)
    return pa.table(columns)


class _ConstraintColumn(NamedTuple):
    """One constraint of every subscription of a shape."""

    clause: int
    attribute: str
    operator: str
    operands: np.ndarray


def _shape_table(shape: Shape, names: pa.Array, attributes: list[str]) -> pa.Table:
    rows = [
        _ConstraintColumn(number, comparison.attribute, comparison.operator, operands)
        for number, clause in enumerate(shape.clauses)
        for comparison in clause
        for operands in _operands(comparison, shape.columns)
    ]
    count, width = len(shape.rows), len(rows)
    # A subscription's rows stand together, as anybody's table would have them.
    return constraint_table(
        encoded(np.repeat(shape.rows, width), names),
        np.tile(np.array([row.clause for row in rows], np.int64), count),
        encoded(np.tile([attributes.index(row.attribute) for row in rows], count), attributes),
        encoded(np.tile([OPERATORS.index(row.operator) for row in rows], count), OPERATORS),
        **{
            column: _interleaved([row.operands for row in rows], column)
            for column in _VALUE_TYPES
            if any(_column_of(row.operands) == column for row in rows)
        },
    )


def _operands(comparison: Comparison, columns: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    operands = [columns[name] for name in comparison.columns]
    if comparison.operator == "like":
        head, tail = operands
        return [np.strings.add(np.strings.add(head, "%"), tail)]
    return operands


def _column_of(operands: np.ndarray) -> str:
    kinds = {"i": "int_value", "u": "int_value", "f": "float_value", "b": "bool_value"}
    return kinds.get(operands.dtype.kind, "string_value")


def _interleaved(rows: list[np.ndarray], column: str) -> pa.Array:
    """The operands of this kind, subscription by subscription, null where there are others."""
    fits = [_column_of(operands) == column for operands in rows]
    dtype = np.result_type(*(row for row, fit in zip(rows, fits, strict=True) if fit))
    values = np.zeros((len(rows[0]), len(rows)), dtype)
    for number, (row, fit) in enumerate(zip(rows, fits, strict=True)):
        if fit:
            values[:, number] = row
    mask = None if all(fits) else np.tile(np.logical_not(fits), len(rows[0]))
    flat: Any = values.ravel()
    return pa.array(flat, _VALUE_TYPES[column], mask=mask)
