"""Coded tests of many subscriptions of one outline, column by column, without an object for any.

For each attribute of a clause the bounds are intersected and ranked as whole columns: comparisons,
equalities and betweens of numbers and timestamps, equalities of booleans and strings, prefixes,
sets of numbers and strings. What is rarer (other operators, bounds that contradict each other,
integers beyond 2^53) is compiled subscription by subscription (``from_clauses.py``), row by row
where only some rows are odd.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np

from predicast.arrays import Array, offsets
from predicast.matching.columnar.compile.axes import SCALES, Axis, AxisName, Scale
from predicast.matching.columnar.compile.coded_tests import CodedTests
from predicast.matching.columnar.compile.cuts import (
    NumberCuts,
    TextCuts,
    hold_no_integer,
    lie_before,
    spread,
)
from predicast.matching.columnar.compile.from_clauses import coded_clauses
from predicast.model import Absent, Kind, Operator
from predicast.model.domain import after_prefix
from predicast.model.operand_columns import OperandColumns
from predicast.model.operators import BOUNDS
from predicast.model.outline import KINDS, OperandType, Slot
from predicast.model.values import EXACT

_WHOLE_KINDS: Final = frozenset({Kind.TIMESTAMP, Kind.BOOLEAN})


class Ends(NamedTuple):
    """One end of many spans of numbers: a cut each, where it is bounded."""

    whole: Array
    rest: Array
    side: Array
    is_bounded: Array


class Column(NamedTuple):
    """One test of the clauses: an axis with its cuts, and the codes of the spans."""

    axis: Axis
    first: Array | None  # of each clause's spans; None: one span each
    lo: Array
    hi: Array
    is_point: bool
    clauses: Array | None = None  # those that have the test; None: all


class _Ranged(NamedTuple):
    """The spans of numbers on one attribute, before they are ranked."""

    name: AxisName
    lower: Ends
    upper: Ends
    is_point: bool


class _OddError(Exception):
    """An attribute whose constraints are compiled one by one."""


def coded_operands(keys: Array, operands: OperandColumns, absent: Absent) -> list[CodedTests]:
    """Tables of the clauses of all these subscriptions."""
    tables: list[CodedTests] = []
    start = 0
    for number, slots in enumerate(operands.outline.clauses):
        width = sum(len(slot.operands) for slot in slots)
        columns = operands.columns[start : start + width]
        start += width
        tables += _coded_clause(keys, operands, number, slots, columns, absent)
    return [table for table in tables if len(table)]


def _coded_clause(
    keys: Array,
    operands: OperandColumns,
    number: int,
    slots: Sequence[Slot],
    columns: Sequence[Array],
    absent: Absent,
) -> Iterator[CodedTests]:
    is_odd = np.zeros(len(operands), bool)
    rests = operands.outline.rests
    try:
        if rests and rests[number] is not None:
            raise _OddError
        groups = list(_groups(slots, columns, absent, is_odd))
    except _OddError:
        is_odd[:] = True
        groups = []
    odd = np.flatnonzero(is_odd)
    if len(odd):
        rows_of_keys = zip(keys[odd].tolist(), odd.tolist(), strict=True)
        yield coded_clauses(
            ((key, operands.subscription(row).clauses[number]) for key, row in rows_of_keys), absent
        )
    rows = np.flatnonzero(~is_odd)
    if len(rows):
        yield _by_columns(keys[rows].astype(np.int32), rows, groups)


# Attribute by attribute.

_Group = _Ranged | Column


def _groups(
    slots: Sequence[Slot], columns: Sequence[Array], absent: Absent, is_odd: Array
) -> Iterator[_Group]:
    """The tests on each attribute; rows that they do not hold for are marked odd."""
    by_attribute: dict[str, list[tuple[Slot, Sequence[Array]]]] = {}
    start = 0
    for slot in slots:
        width = len(slot.operands)
        by_attribute.setdefault(slot.attribute, []).append((slot, columns[start : start + width]))
        start += width
    for attribute, group in by_attribute.items():
        valued = [each for each in group if each[0].operator is not Operator.EXISTS]
        if len(valued) < len(group) and (absent == "passes" or not valued):
            yield _presence(attribute, len(is_odd))
        if valued:
            yield _valued(attribute, valued, is_odd)


def _presence(attribute: str, length: int) -> Column:
    ones = np.ones(length, np.int32)
    axis = Axis(AxisName(attribute, Scale.PRESENCE), None, None)
    return Column(axis, None, ones, ones, is_point=False)


def _valued(attribute: str, group: list[tuple[Slot, Sequence[Array]]], is_odd: Array) -> _Group:
    kinds = {KINDS.get(operand) for slot, _ in group for operand in slot.operands}
    operators = {slot.operator for slot, _ in group}
    are_exact = any(OperandType.DECIMAL in slot.operands for slot, _ in group)
    if len(kinds) != 1 or Operator.ABSENT in operators or are_exact:
        raise _OddError
    (kind,) = kinds
    if kind in {Kind.NUMBER, Kind.TIMESTAMP, Kind.BOOLEAN} and operators <= BOUNDS.keys():
        assert kind is not None
        return _ranged(AxisName(attribute, SCALES[kind]), kind, group, is_odd)
    if len(group) > 1:
        raise _OddError
    (operator,), column = operators, group[0][1][0]
    if kind is Kind.STRING and operator in {Operator.EQ, Operator.PREFIX}:
        return _texts(AxisName(attribute, Scale.STRING), operator, column)
    if operator is Operator.IN:
        return _sets(attribute, column)
    raise _OddError


# Numbers, timestamps and booleans.


def _ranged(
    name: AxisName, kind: Kind, group: list[tuple[Slot, Sequence[Array]]], is_odd: Array
) -> _Ranged:
    length = len(is_odd)
    zeros = np.zeros(length)
    unbounded = Ends(zeros.astype(np.int64), zeros, zeros.astype(np.int8), zeros.astype(bool))
    lower, upper = unbounded, unbounded
    for slot, columns in group:
        for is_lower, which, is_open in BOUNDS[slot.operator]:
            end = _end(columns[which], kind, is_lower=is_lower, is_open=is_open, is_odd=is_odd)
            if is_lower:
                lower = _outermost(lower, end, 1)
            else:
                upper = _outermost(upper, end, -1)
    both = lower.is_bounded & upper.is_bounded
    is_odd |= both & ~lie_before(lower, upper)  # they contradict each other
    is_point = len(group) == 1 and group[0][0].operator is Operator.EQ
    return _Ranged(name, lower, upper, is_point)


def _end(values: Array, kind: Kind, *, is_lower: bool, is_open: bool, is_odd: Array) -> Ends:
    every = np.ones(len(values), bool)
    if values.dtype == np.float64:
        is_odd |= np.abs(values) >= EXACT
        inside = np.where(is_odd, 0.0, values)
        whole: Array = np.trunc(inside).astype(np.int64)
        rest: Array = inside - whole
    else:
        whole, rest = values.astype(np.int64), np.zeros(len(values))
        is_odd |= (whole >= EXACT) | (whole <= -EXACT)
    if kind in _WHOLE_KINDS:  # as spans of what has a next value are written: lo <= v < hi
        whole = whole + (is_open if is_lower else not is_open)
        return Ends(whole, rest, np.zeros(len(values), np.int8), every)
    side = np.full(len(values), is_open if is_lower else not is_open, np.int8)
    return Ends(whole, rest, side, every)


def _outermost(a: Ends, b: Ends, direction: int) -> Ends:
    """The one of two ends that leaves less room: the later lower (1), the earlier upper (-1)."""
    if not a.is_bounded.any():
        return b
    later = lie_before(a, b) if direction > 0 else lie_before(b, a)
    chosen = later | ~a.is_bounded
    return Ends(
        np.where(chosen, b.whole, a.whole),
        np.where(chosen, b.rest, a.rest),
        np.where(chosen, b.side, a.side),
        a.is_bounded | b.is_bounded,
    )


def _holds_no_integer(ranged: _Ranged) -> Array:
    """Which spans of numbers lie between two integers: regions over integers miss them."""
    lower, upper = ranged.lower, ranged.upper
    none: Array = lower.is_bounded & upper.is_bounded & hold_no_integer(lower, upper)
    return none


def _rank_ranged(ranged: _Ranged, rows: Array) -> Column:
    lower_cuts, lower = _rank_ends(ranged.lower, rows)
    upper_cuts, upper = _rank_ends(ranged.upper, rows)
    axis = Axis(ranged.name, lower_cuts, upper_cuts)
    return Column(axis, None, *axis.codes(lower, upper), ranged.is_point)


def _rank_ends(ends: Ends, rows: Array) -> tuple[NumberCuts, Array]:
    """The distinct cuts, and the position of each among them; -1 where unbounded."""
    bounded = rows[ends.is_bounded[rows]]
    cuts, position = NumberCuts.rank(ends.whole[bounded], ends.rest[bounded], ends.side[bounded])
    if len(bounded) == len(rows):
        return cuts, position
    return cuts, spread(position, ends.is_bounded[rows])


# Strings and sets.


def _texts(name: AxisName, operator: Operator, column: Array) -> Column:
    index: dict[str, int] = {}
    which = np.fromiter((index.setdefault(v, len(index)) for v in column), np.int64, len(column))
    words = list(index)
    is_equality = operator is Operator.EQ
    lower_cuts, lower = TextCuts.rank(words)
    ends = [word + "\0" if is_equality else after_prefix(word) for word in words]
    upper_cuts, upper = TextCuts.rank(ends)
    axis = Axis(name, lower_cuts, upper_cuts)
    lo, hi = axis.codes(lower, upper)
    return Column(axis, None, lo[which], hi[which], is_equality)


def _sets(attribute: str, column: Array) -> Column:
    """IN over strings or integers: each member a span."""
    members = list(chain.from_iterable(column))
    first = offsets([*map(len, column)])
    types = {type(member) for member in members}
    if types == {str}:
        texts = _texts(AxisName(attribute, Scale.STRING), Operator.EQ, _objects(members))
        return texts._replace(first=first)
    if types != {int} or not all(-EXACT < member < EXACT for member in members):
        raise _OddError
    whole = np.array(members, np.int64)
    rest, ones = np.zeros(len(whole)), np.ones(len(whole), np.int8)
    lower_cuts, lower = NumberCuts.rank(whole, rest, ones - 1)
    upper_cuts, upper = NumberCuts.rank(whole, rest, ones)
    axis = Axis(AxisName(attribute, Scale.NUMBER), lower_cuts, upper_cuts)
    return Column(axis, first, *axis.codes(lower, upper), is_point=True)


def _objects(values: list[Any]) -> Array:
    return np.fromiter(values, object, len(values))


# All columns together.


def _by_columns(keys: Array, rows: Array, groups: Sequence[_Group]) -> CodedTests:
    """A table of the clauses in these rows."""
    columns = [_column(each, rows) for each in groups]
    for each in groups:
        if isinstance(each, _Ranged) and each.name.scale is Scale.NUMBER:
            none = np.flatnonzero(_holds_no_integer(each)[rows])
            if len(none):
                columns.append(_not_discrete(each.name.attribute, none))
    return _table(keys, columns)


def _column(group: _Group, rows: Array) -> Column:
    if isinstance(group, _Ranged):
        return _rank_ranged(group, rows)
    if group.first is None:
        return group._replace(lo=group.lo[rows], hi=group.hi[rows])
    sizes = np.diff(group.first)[rows]
    first = offsets(sizes)
    spans = np.repeat(group.first[:-1][rows] - first[:-1], sizes) + np.arange(first[-1])
    return group._replace(first=first, lo=group.lo[spans], hi=group.hi[spans])


def _not_discrete(attribute: str, clauses: Array) -> Column:
    """A span without an integer is missed by intervals of integers."""
    zeros = np.zeros(len(clauses), np.int32)
    axis = Axis(AxisName(attribute, Scale.DISCRETE), None, None)
    return Column(axis, None, zeros, zeros, is_point=False, clauses=clauses)


def _table(keys: Array, columns: list[Column]) -> CodedTests:
    """Clauses with a test for each column that has one of theirs."""
    columns.sort(key=lambda column: column.axis.name)
    n, width = len(keys), len(columns)
    every = np.arange(n)
    sizes = np.zeros((n, width), np.int64)
    for number, column in enumerate(columns):
        clauses = every if column.clauses is None else column.clauses
        sizes[clauses, number] = 1 if column.first is None else np.diff(column.first)
    clause, axis = np.nonzero(sizes)
    first = offsets(sizes.ravel())
    lo, hi = np.empty(first[-1], np.int32), np.empty(first[-1], np.int32)
    starts = first[:-1].reshape(n, width)
    for number, column in enumerate(columns):
        if column.first is None:
            where = starts[every if column.clauses is None else column.clauses, number]
        else:
            counts = sizes[:, number]
            where = np.repeat(starts[:, number] - column.first[:-1], counts)
            where = where + np.arange(len(column.lo))
        lo[where], hi[where] = column.lo, column.hi
    return CodedTests(
        keys=keys.astype(np.int32),
        axes=[column.axis for column in columns],
        clause=clause.astype(np.int32),
        axis=axis.astype(np.int32),
        span_first=np.append(starts[clause, axis], first[-1]),
        lo=lo,
        hi=hi,
        is_point=np.array([column.is_point for column in columns], bool)[axis],
        others=[],
        other_clause=np.zeros(0, np.int32),
        other=np.zeros(0, np.int32),
    )
