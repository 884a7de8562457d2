"""``match`` as a broadcast join, where subscriptions are a plain set (``plain_sets.py``).

Exact by the columns' types: texts are equal byte by byte, integers as integers, and the ends of a
range are the least and the greatest value *of the column's own type* in it, so that Java compares
like with like and rounds nothing. Columns of other types are left to workers.

What workers refuse is refused here, by the same words: a NaN, an infinity, bytes that are no text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from predicast.model.spans import Span
from predicast.spark.plain_sets import PlainSet
from predicast.spark.schemas import Schema
from predicast.spark.shipping import Shipment, is_told_apart, quoted

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_INTEGERS: Final = frozenset({"tinyint", "smallint", "int", "bigint"})
_DOUBLE: Final = "double"
_NUMBERS: Final = _INTEGERS | {_DOUBLE}
_STRING: Final = "string"
_LONG: Final = "long"  # what PySpark calls bigint
_LEAST: Final = -(2**63)
_GREATEST: Final = 2**63 - 1
_JOINS: Final = {"inner": "inner", "left": "left_outer", "anti": "left_anti"}


class _Column(NamedTuple):
    """Where the values of an attribute are, as Spark has it, and their type."""

    place: str
    type: str


def plainly_joined(
    shipment: Shipment, schema: Schema, plain: PlainSet, how: str
) -> DataFrame | None:
    """Kept columns and, unless only the unmatched are wanted, an id; ``None`` if types forbid it.

    ``schema`` is that of the events, before they were made a shipment.
    """
    from pyspark.sql.functions import broadcast, expr

    columns = _columns(shipment, schema)
    if not all(_is_answered(columns[name], equal[0]) for name, equal in plain.equals.items()):
        return None
    if not all(columns[name].type in _NUMBERS for name in plain.ranges):
        return None
    if not all(column.type in {_STRING, *_NUMBERS} for column in columns.values()):
        return None  # what is looked at to no avail (x > 3 AND x < 1) may be refused as well
    events, ours = shipment.columns, _free_prefix(shipment.columns.columns)
    conditions = list(_conditions(columns, plain, ours))
    refusals = " ".join(_refusals(columns))
    if refusals:
        # Spark moves no filter past what may differ from task to task. So each event is looked at,
        # whether or not something else says that it matches nothing.
        looked_at = f"CASE {refusals} ELSE spark_partition_id() END AS {ours}looked_at"
        events = events.selectExpr("*", looked_at)
        conditions.append(f"{ours}looked_at >= 0")
    arrays = _arrays(columns, plain, ours)
    table = events.sparkSession.createDataFrame(_table(arrays), _struct(arrays))
    found = events.join(broadcast(table), expr(" AND ".join(conditions)), _JOINS[how])
    ids = [] if how == "anti" else [f"{ours}id"]
    return found.selectExpr(*map(quoted, shipment.names), *ids)


def _columns(shipment: Shipment, schema: Schema) -> dict[str, _Column]:
    """What is sent of the attributes, in the order in which it is."""
    names, found = shipment.columns.columns, {}
    for attribute, position, path in shipment.sources:
        leaf = schema.leaf(attribute)
        steps = [names[position], *(leaf.fields if path else ())]
        told_apart = is_told_apart(schema.fields[leaf.column].dataType, path)
        type_ = leaf.type.simpleString() if told_apart else "ambiguous"
        found[attribute] = _Column(".".join(map(quoted, steps)), type_)
    return found


def _is_answered(column: _Column, equal: str | int) -> bool:
    """Whether Java finds the column equal to such values just where the model does."""
    return column.type == _STRING if isinstance(equal, str) else column.type in _INTEGERS


def _free_prefix(names: Sequence[str]) -> str:
    """What no name begins with, in upper or lower case."""
    prefix = "plain_"
    while any(name.casefold().startswith(prefix) for name in names):
        prefix += "_"
    return prefix


def _refusals(columns: Mapping[str, _Column]) -> Iterator[str]:
    """What is refused, as cases that raise."""
    for attribute, (place, type_) in columns.items():
        begin = f"attribute {attribute!r}"
        if type_ == _DOUBLE:  # a number less itself is 0, or is not finite
            why = f"lower(string({place})), {_text(' is not finite; use null for no value')}"
            test = f"isnan({place} - {place})"
        elif type_ == _STRING:
            why, test = _text("a text is not Unicode (UTF-8)"), f"NOT is_valid_utf8({place})"
        else:
            continue
        raised = f"raise_error(concat({_text(begin + ': ')}, {why}))"
        yield f"WHEN {test} THEN CAST({raised} AS INT)"


def _text(value: str) -> str:
    """A literal of Spark's."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _conditions(columns: Mapping[str, _Column], plain: PlainSet, ours: str) -> Iterator[str]:
    for place, name in enumerate(plain.equals):
        yield f"{columns[name].place} = {ours}equal{place}"
    for place, (name, spans) in enumerate(plain.ranges.items()):
        lo, hi = f"{ours}lo{place}", f"{ours}hi{place}"
        within = f"{columns[name].place} >= {lo} AND {columns[name].place} <= {hi}"
        # Who asks nothing of an attribute has no ends, and takes its absence as well.
        yield f"coalesce({within}, {lo} IS NULL)" if None in spans else within


def _arrays(
    columns: Mapping[str, _Column], plain: PlainSet, ours: str
) -> dict[str, tuple[Sequence[Any], str]]:
    """The subscriptions by column, each with Spark's name of its type."""
    arrays: dict[str, tuple[Sequence[Any], str]] = {f"{ours}id": (plain.ids, _STRING)}
    for place, equal in enumerate(plain.equals.values()):
        type_ = _STRING if isinstance(equal[0], str) else _LONG
        arrays[f"{ours}equal{place}"] = equal, type_
    for place, (name, spans) in enumerate(plain.ranges.items()):
        is_double = columns[name].type == _DOUBLE
        ends = _double_ends if is_double else _integer_ends
        pairs = [(None, None) if span is None else ends(span) for span in spans]
        for end, values in zip(("lo", "hi"), zip(*pairs, strict=True), strict=True):
            arrays[f"{ours}{end}{place}"] = values, _DOUBLE if is_double else _LONG
    return arrays


def _table(arrays: Mapping[str, tuple[Sequence[Any], str]]) -> pa.Table:
    import pyarrow as pa

    types = {_STRING: pa.string(), _LONG: pa.int64(), _DOUBLE: pa.float64()}
    return pa.table({name: pa.array(values, types[t]) for name, (values, t) in arrays.items()})


def _struct(arrays: Mapping[str, tuple[Sequence[Any], str]]) -> StructType:
    from pyspark.sql.types import StructType

    found = StructType()
    for name, (values, type_) in arrays.items():
        found = found.add(name, type_, nullable=None in values)
    return found


def _integer_ends(span: Span) -> tuple[int, int]:
    """The least and the greatest of 64-bit integers in a range."""
    lo, hi = _LEAST, _GREATEST
    if span.lo is not None:
        lo = math.floor(span.lo) + 1 if span.lo_open else math.ceil(span.lo)
    if span.hi is not None:
        hi = math.ceil(span.hi) - 1 if span.hi_open else math.floor(span.hi)
    if lo > _GREATEST or hi < _LEAST:
        return _GREATEST, _LEAST  # none
    return max(lo, _LEAST), min(hi, _GREATEST)


def _double_ends(span: Span) -> tuple[float, float]:
    """The least and the greatest of 64-bit floats in a range."""
    lo, hi = -math.inf, math.inf
    if span.lo is not None:
        lo = float(span.lo)  # and Python compares it with an integer exactly
        if lo < span.lo or (span.lo_open and lo == span.lo):
            lo = math.nextafter(lo, math.inf)
    if span.hi is not None:
        hi = float(span.hi)
        if hi > span.hi or (span.hi_open and hi == span.hi):
            hi = math.nextafter(hi, -math.inf)
    return lo, hi
