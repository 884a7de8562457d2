"""Coded tests of clauses of plain bounds, whatever their outlines: for schemas of many attributes.

Where subscriptions choose ten of five hundred attributes, hardly two are alike and columns by
outline do not help. Their constraints are then gathered into one long table::

    clause     0      0      0      1      1 ...
    attribute  price  price  qty    price  name
    bound      >=     <      =      <=     = 'IBM'

and sorted by clause and attribute, which brings the bounds that belong together side by side.
Comparisons, equalities and betweens of numbers, comparisons and equalities of strings, equalities
of booleans; any other clause is compiled by itself (``from_clauses.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from predicast.arrays import Array, places_of_each
from predicast.matching.columnar.compile.axes import Axis, AxisName, Scale
from predicast.matching.columnar.compile.coded_tests import CodedTests
from predicast.matching.columnar.compile.cuts import (
    TextCuts,
    hold_no_integer,
    lie_before,
    ranked_apart,
)
from predicast.matching.columnar.compile.from_clauses import coded_clauses
from predicast.model import Absent, Clause, Constraint, Kind, Operator, Subscription
from predicast.model.decimals import ExactDecimal
from predicast.model.operators import BOUNDS
from predicast.model.values import EXACT

# Operators of one operand have a number here, by which to look up in arrays what they bound.
_NUMBERED: Final = tuple(operator for operator in BOUNDS if operator is not Operator.BETWEEN)
_NUMBERS: Final[dict[Operator, int]] = {
    operator: number for number, operator in enumerate(_NUMBERED)
}
_EQ, _LE, _GE = (_NUMBERS[each] for each in (Operator.EQ, Operator.LE, Operator.GE))


class _Side(NamedTuple):
    """Which operators set a lower (or an upper) end, and which of them an open one."""

    is_set: Array
    is_open: Array


def _side(*, is_lower: bool) -> _Side:
    ends = [
        next((end for end in BOUNDS[operator] if end.is_lower is is_lower), None)
        for operator in _NUMBERED
    ]
    return _Side(
        np.array([end is not None for end in ends]),
        np.array([end is not None and end.is_open for end in ends]),
    )


_LOWER: Final = _side(is_lower=True)
_UPPER: Final = _side(is_lower=False)


class _Tests(NamedTuple):
    """Tests of one span each: clause, axis and codes."""

    clause: Array
    axis: Array
    lo: Array
    hi: Array
    is_point: Array


class _Ends(NamedTuple):
    """For each (clause, attribute) that has one, the bound that leaves the least room."""

    group: Array
    whole: Array
    rest: Array
    side: Array


def coded_subscriptions(
    subscriptions: Iterable[tuple[int, Subscription]], absent: Absent
) -> list[CodedTests]:
    """The clauses of subscriptions under their keys; those that nothing can match are left out."""
    plain = _Gathered()
    odd: list[tuple[int, Clause]] = []
    for key, subscription in subscriptions:
        odd += [(key, clause) for clause in subscription.clauses if not plain.add(key, clause)]
    table, contradictory = plain.table()
    odd += contradictory
    tables = [table, coded_clauses(odd, absent)] if odd else [table]
    return [each for each in tables if len(each)]


class _Gathered:
    """The long table, before it is sorted."""

    def __init__(self) -> None:
        self._keys: list[int] = []
        self._clauses: list[Clause] = []
        self._attributes: dict[str, int] = {}
        self._clause: list[int] = []
        self._attribute: list[int] = []
        self._bound: list[int] = []
        self._value: list[int | float] = []
        self._text_clause: list[int] = []
        self._text_attribute: list[int] = []
        self._text_bound: list[int] = []
        self._text: list[str] = []
        self._truth_clause: list[int] = []
        self._truth_attribute: list[int] = []
        self._truth: list[bool] = []

    def add(self, key: int, clause: Clause) -> bool:
        """Take a clause, if it is of the plain kind."""
        if clause.rest is not None or not _is_plain(clause.constraints):
            return False
        number = len(self._keys)
        self._keys.append(key)
        self._clauses.append(clause)
        for constraint in clause.constraints:
            attribute = self._attributes.setdefault(constraint.attribute, len(self._attributes))
            operand = constraint.operand
            if isinstance(operand, str):
                self._text_clause.append(number)
                self._text_attribute.append(attribute)
                self._text_bound.append(_NUMBERS[constraint.operator])
                self._text.append(operand)
            elif isinstance(operand, bool):
                self._truth_clause.append(number)
                self._truth_attribute.append(attribute)
                self._truth.append(operand)
            elif isinstance(operand, tuple):
                self._put(number, attribute, _GE, operand[0])  # type: ignore[arg-type]
                self._put(number, attribute, _LE, operand[1])  # type: ignore[arg-type]
            else:
                bound = _NUMBERS[constraint.operator]
                self._put(number, attribute, bound, operand)  # type: ignore[arg-type]
        return True

    def _put(self, clause: int, attribute: int, bound: int, value: int | float) -> None:
        self._clause.append(clause)
        self._attribute.append(attribute)
        self._bound.append(bound)
        self._value.append(value)

    def table(self) -> tuple[CodedTests, list[tuple[int, Clause]]]:
        """The clauses as a table, and those whose bounds contradict each other."""
        names = sorted(self._attributes)
        number = {name: rank for rank, name in enumerate(names)}
        ranks = np.array([number[name] for name in self._attributes], np.int64)
        axes: list[Axis] = []
        tests: list[_Tests] = []
        contradictory = self._add_numbers(names, ranks, axes, tests)
        self._add_texts(names, ranks, axes, tests)
        self._add_truths(names, ranks, axes, tests)
        dropped = np.zeros(len(self._keys), bool)
        dropped[contradictory] = True
        return _table(self._keys, axes, tests, ~dropped), [
            (self._keys[number], self._clauses[number]) for number in np.unique(contradictory)
        ]

    def _add_numbers(
        self, names: list[str], ranks: Array, axes: list[Axis], tests: list[_Tests]
    ) -> Array:
        """Tests of numbers; returns the clauses whose bounds contradict each other."""
        attribute = ranks[np.array(self._attribute, np.int64)] if self._attribute else _none()
        group = np.array(self._clause, np.int64) * max(len(names), 1) + attribute
        bound = np.array(self._bound, np.int8)
        value = np.array(self._value, np.float64)  # exact, being below 2^53
        lower = _outermost(group, bound, value, is_lower=True)
        upper = _outermost(group, bound, value, is_lower=False)
        groups, counts = np.unique(group, return_counts=True)
        equalities = np.bincount(
            np.searchsorted(groups, group[bound == _EQ]), minlength=len(groups)
        )
        is_point = (counts == 1) & (equalities == 1)
        clause, axis_name = groups // max(len(names), 1), groups % max(len(names), 1)
        at_lower, at_upper = (
            np.searchsorted(groups, lower.group),
            np.searchsorted(groups, upper.group),
        )
        present, axis = np.unique(axis_name, return_inverse=True)
        lower_cuts, lower_codes = ranked_apart(axis[at_lower], *lower[1:], len(present))
        upper_cuts, upper_codes = ranked_apart(axis[at_upper], *upper[1:], len(present))
        lo = np.zeros(len(groups), np.int32)
        lo[at_lower] = lower_codes + 1
        hi = np.array([len(cuts) for cuts in upper_cuts], np.int32)[axis]
        hi[at_upper] = upper_codes
        tests.append(_Tests(clause, axis + len(axes), lo, hi, is_point))
        called = [AxisName(names[name], Scale.NUMBER) for name in present.tolist()]
        axes += [Axis(*each) for each in zip(called, lower_cuts, upper_cuts, strict=True)]
        both, which_lower, which_upper = np.intersect1d(
            lower.group, upper.group, assume_unique=True, return_indices=True
        )
        low = _Ends(*(part[which_lower] for part in lower))
        high = _Ends(*(part[which_upper] for part in upper))
        self._add_discrete(names, both, low, high, axes, tests)
        contradicting: Array = (both // max(len(names), 1))[~lie_before(low, high)]
        return contradicting

    def _add_discrete(
        self,
        names: list[str],
        groups: Array,
        lower: _Ends,
        upper: _Ends,
        axes: list[Axis],
        tests: list[_Tests],
    ) -> None:
        """A span without an integer is missed by intervals of integers."""
        none = groups[hold_no_integer(lower, upper)]
        clause, axis_name = none // max(len(names), 1), none % max(len(names), 1)
        present, axis = np.unique(axis_name, return_inverse=True)
        zeros = np.zeros(len(none), np.int32)
        tests.append(_Tests(clause, axis + len(axes), zeros, zeros, zeros.astype(bool)))
        called = [AxisName(names[name], Scale.DISCRETE) for name in present.tolist()]
        axes += [Axis(name, None, None) for name in called]

    def _add_texts(
        self, names: list[str], ranks: Array, axes: list[Axis], tests: list[_Tests]
    ) -> None:
        if not self._text:
            return
        attribute = ranks[np.array(self._text_attribute, np.int64)]
        clause = np.array(self._text_clause, np.int64)
        for name, here in places_of_each(attribute):
            words = [(self._text_bound[index], self._text[index]) for index in here.tolist()]
            lower_cuts, lo = TextCuts.rank([_from_word(*each) for each in words])
            upper_cuts, hi = TextCuts.rank([_up_to_word(*each) for each in words])
            points = np.array([bound == _EQ for bound, _ in words], bool)
            axis = Axis(AxisName(names[name], Scale.STRING), lower_cuts, upper_cuts)
            where = np.full(len(here), len(axes))
            tests.append(_Tests(clause[here], where, *axis.codes(lo, hi), points))
            axes.append(axis)

    def _add_truths(
        self, names: list[str], ranks: Array, axes: list[Axis], tests: list[_Tests]
    ) -> None:
        if not self._truth:
            return
        attribute = ranks[np.array(self._truth_attribute, np.int64)]
        clause = np.array(self._truth_clause, np.int64)
        value = np.array(self._truth, np.int64)
        present, axis = np.unique(attribute, return_inverse=True)
        rest, side = np.zeros(len(value)), np.zeros(len(value), np.int8)
        lower_cuts, lo = ranked_apart(axis, value, rest, side, len(present))
        upper_cuts, hi = ranked_apart(axis, value + 1, rest, side, len(present))
        tests.append(_Tests(clause, axis + len(axes), lo + 1, hi, np.ones(len(value), bool)))
        called = [AxisName(names[name], Scale.BOOLEAN) for name in present.tolist()]
        axes += [Axis(*each) for each in zip(called, lower_cuts, upper_cuts, strict=True)]


def _from_word(bound: int, word: str) -> str | None:
    """The first string that a bound allows; ``None``: any."""
    if not _LOWER.is_set[bound]:
        return None
    return word + "\0" if _LOWER.is_open[bound] else word


def _up_to_word(bound: int, word: str) -> str | None:
    """The first string after those that a bound allows; ``None``: there is none."""
    if not _UPPER.is_set[bound]:
        return None
    return word if _UPPER.is_open[bound] else word + "\0"


def _none() -> Array:
    return np.zeros(0, np.int64)


def _is_plain(constraints: Sequence[Constraint]) -> bool:
    others = 0
    for constraint in constraints:
        operand: Any = constraint.operand
        if constraint.kind is Kind.NUMBER:
            if constraint.operator is Operator.BETWEEN:
                values = operand
            elif constraint.operator in _NUMBERS:
                values = (operand,)
            else:
                return False
            if not all(type(v) is not ExactDecimal and -EXACT < v < EXACT for v in values):
                return False
        elif (constraint.kind is Kind.STRING and constraint.operator in _NUMBERS) or (
            constraint.kind is Kind.BOOLEAN and constraint.operator is Operator.EQ
        ):
            others += 1
        else:
            return False
    if not others:
        return True
    # Anything beside them on the same attribute is for others to work out.
    return len({constraint.attribute for constraint in constraints}) == len(constraints)


def _outermost(group: Array, bound: Array, value: Array, *, is_lower: bool) -> _Ends:
    """The latest lower or the earliest upper bound of each group."""
    which = _LOWER if is_lower else _UPPER
    mine = np.flatnonzero(which.is_set[bound])
    group, value, bound = group[mine], value[mine], bound[mine]
    whole = np.trunc(value)
    rest = value - whole
    side = which.is_open[bound] if is_lower else ~which.is_open[bound]
    order = np.lexsort((side, value, group))
    if is_lower:
        order = order[::-1]
    _, first = np.unique(group[order], return_index=True)
    chosen = order[first]
    return _Ends(
        group[chosen], whole[chosen].astype(np.int64), rest[chosen], side[chosen].astype(np.int8)
    )


def _table(
    keys: Sequence[int], axes: list[Axis], tests: Sequence[_Tests], kept: Array
) -> CodedTests:
    """All tests of the clauses that are kept, by clause and axis, the axes in order of name."""
    order = sorted(range(len(axes)), key=lambda axis: axes[axis].name)
    rank = np.zeros(len(axes), np.int32)
    rank[order] = np.arange(len(axes))
    clause = np.concatenate([each.clause for each in tests])
    axis = rank[np.concatenate([each.axis for each in tests]).astype(np.int64)]
    number = np.cumsum(kept) - 1
    sorted_tests = np.lexsort((axis, clause))
    sorted_tests = sorted_tests[kept[clause[sorted_tests]]]
    return CodedTests(
        keys=np.array(keys, np.int32)[kept],
        axes=[axes[each] for each in order],
        clause=number[clause[sorted_tests]].astype(np.int32),
        axis=axis[sorted_tests],
        span_first=np.arange(len(sorted_tests) + 1),
        lo=np.concatenate([each.lo for each in tests])[sorted_tests].astype(np.int32),
        hi=np.concatenate([each.hi for each in tests])[sorted_tests].astype(np.int32),
        is_point=np.concatenate([each.is_point for each in tests])[sorted_tests],
        others=[],
        other_clause=np.zeros(0, np.int32),
        other=np.zeros(0, np.int32),
    )
