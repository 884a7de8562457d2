"""The tests of many clauses as codes: what a segment is built from, and what it turns back into.

::

    clauses   keys     [ 7      | 8          | 9    ]   the subscription each belongs to
    tests     clause   [ 0    0 | 1    1   1 | 2    ]   ascending; each test is on one axis
              axis     [ 0    2 | 0    1   2 | 1    ]
    spans     first    [ 0    1 | 2    3   4 | 7    ]   a test holds if one of its spans does
              lo, hi   [ ..   ..| ..   ..  .. .. .. | .. ]

A test of one span is a comparison, an equality or a between; one of several spans is an IN or a
<>. What codes cannot express stands apart, as *others*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from predicast.arrays import Array, expand, offsets, offsets_of
from predicast.matching.columnar.compile.axes import Axis
from predicast.model import Constraint, Expression

# How many clauses take as long to merge as one of these does.
_AXIS: Final = 8
_OTHER: Final = 16


class Other(NamedTuple):
    """A test that codes cannot express: constraints on one attribute, to hold or (inverted) not."""

    attribute: str
    constraints: tuple[Constraint, ...]
    inverted: bool
    # Of a clause with a rest: then the constraints are all of the clause's, on several attributes.
    rest: Expression | None = None


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

    def __len__(self) -> int:
        return len(self.keys)

    def is_plain(self) -> Array:
        """Which clauses consist of tests of one span only."""
        plain = np.ones(len(self.keys), bool)
        plain[self.clause[np.diff(self.span_first) != 1]] = False
        plain[self.other_clause] = False
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
    )
