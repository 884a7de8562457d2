"""The tests of many clauses as codes: what a segment is built from, and what it turns back into.

::

    clauses   keys     [ 7      | 8          | 9    ]   the subscription each belongs to
    tests     clause   [ 0    0 | 1    1   1 | 2    ]   ascending; each test is on one axis
              axis     [ 0    2 | 0    1   2 | 1    ]
    spans     first    [ 0    1 | 2    3   4 | 7    ]   a test holds if one of its spans does
              lo, hi   [ ..   ..| ..   ..  .. .. .. | .. ]

A test of one span is a comparison, an equality or a between; one of several spans is an IN or a
<>. What codes cannot express stands apart, as *others*. All of these must hold. What else a clause
may say, OR across attributes above all, is its *program* (``programs.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from predicast.arrays import Array, expand, offsets, offsets_of
from predicast.matching.columnar.compile.axes import Axis
from predicast.matching.columnar.compile.programs import NO_PROGRAMS, Programs, joined_programs
from predicast.model import Constraint, Expression, Kind, Operator
from predicast.model.constraint import trusted_constraint

# How many clauses take as long to merge as one of these does.
_AXIS: Final = 8
_OTHER: Final = 16

# What words alone decide, and an index finds for all of them at once.
WORD_TESTS: Final = frozenset(
    {
        *(Operator.EQ, Operator.PREFIX, Operator.SUFFIX),
        *(Operator.CONTAINS, Operator.LIKE, Operator.MATCHES),
    }
)


class Other(NamedTuple):
    """A test that codes cannot express: constraints on one attribute, to hold or (inverted) not."""

    attribute: str
    constraints: tuple[Constraint, ...]
    inverted: bool
    # Of a clause with a rest, all of which is asked about regions only: inverted, it holds for
    # whatever else. The constraints are then all of the clause's, on several attributes.
    rest: Expression | None = None

    def patterns(self) -> tuple[Constraint, ...]:
        """The patterns on strings of which one must hold; none if it says anything else."""
        if len(self.constraints) != 1 or self.rest is not None:
            return ()
        (only,) = self.constraints
        parts = only.parts if only.operator is Operator.ANY else (only,)
        members = tuple(each for part in parts for each in _members(part))
        are_words = all(
            each.kind is Kind.STRING and each.operator in WORD_TESTS for each in members
        )
        return members if are_words else ()


def _members(constraint: Constraint) -> Iterable[Constraint]:
    """A set of strings as equalities; anything else as it is."""
    if constraint.operator is not Operator.IN or constraint.kind is not Kind.STRING:
        return (constraint,)
    members: Any = constraint.operand
    return (
        trusted_constraint(constraint.attribute, Operator.EQ, member, Kind.STRING)
        for member in members
    )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CodedTests:
    """The tests of clauses; arrays as drawn above."""

    keys: Array
    axes: list[Axis]
    clause: Array
    axis: Array
    span_first: Array
    lo: Array
    hi: Array
    is_point: Array  # of each test: whether all of its spans are single values
    others: list[Other]
    other_clause: Array  # ascending
    other: Array
    programs: Programs = NO_PROGRAMS

    def __len__(self) -> int:
        return len(self.keys)

    def is_plain(self) -> Array:
        """Which clauses consist of tests of one span only, all of which must hold."""
        plain = np.ones(len(self.keys), bool)
        plain[self.clause[np.diff(self.span_first) != 1]] = False
        plain[self.other_clause] = False
        plain[self.programs.clause] = False
        return plain

    def live(self) -> CodedTests:
        """The same without the clauses that are marked as deleted."""
        clauses = np.flatnonzero(self.keys >= 0)
        if len(clauses) == len(self):
            return self
        number = np.zeros(len(self), np.int32)
        number[clauses] = np.arange(len(clauses))
        tests = expand(offsets_of(self.clause, len(self)), clauses)
        spans = expand(self.span_first, tests)
        others = expand(offsets_of(self.other_clause, len(self)), clauses)
        return CodedTests(
            keys=self.keys[clauses],
            axes=self.axes,
            clause=number[self.clause[tests]],
            axis=self.axis[tests],
            span_first=offsets(np.diff(self.span_first)[tests]),
            lo=self.lo[spans],
            hi=self.hi[spans],
            is_point=self.is_point[tests],
            others=self.others,
            other_clause=number[self.other_clause[others]],
            other=self.other[others],
            programs=self.programs.taken(clauses, tests, len(self), len(self.axis)),
        )


def weight(clauses: int, axes: Sequence[Axis], others: Sequence[Other]) -> int:
    """What merging so many clauses costs, axes and others making up for so many more."""
    return clauses + _AXIS * len(axes) + _OTHER * len(others)


def stacked(tables: Sequence[CodedTests]) -> CodedTests:
    """One table of the clauses of several that have the same axes and others."""
    clauses = offsets([len(table) for table in tables])
    spans = offsets([len(table.lo) for table in tables])

    def joined(name: str, shifts: Array | None = None) -> Array:
        parts = [getattr(table, name) for table in tables]
        if shifts is not None:
            parts = [p + shift for p, shift in zip(parts, shifts, strict=False)]
        return np.concatenate(parts)

    ends = [table.span_first[1:] + shift for table, shift in zip(tables, spans, strict=False)]
    return CodedTests(
        keys=joined("keys"),
        axes=tables[0].axes,
        clause=joined("clause", clauses).astype(np.int32),
        axis=joined("axis"),
        span_first=np.concatenate([[0], *ends]).astype(np.int64),
        lo=joined("lo"),
        hi=joined("hi"),
        is_point=joined("is_point"),
        others=tables[0].others,
        other_clause=joined("other_clause", clauses).astype(np.int32),
        other=joined("other"),
        programs=joined_programs(
            [
                table.programs.moved(*before)
                for table, *before in zip(
                    tables, offsets([len(table.axis) for table in tables]), clauses, strict=False
                )
            ]
        ),
    )
