"""Many intervals tested at once are each answered as ``Domain.meets`` answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from predicast.errors import InvalidIntervalError
from predicast.matching.batches.interval_ends import IntervalEnds
from predicast.model import Constraint, Interval, Operator
from predicast.model.domain import domain_of

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
BIG = 2**53

numbers = st.one_of(
    st.integers(-4, 4),
    st.sampled_from([-1.5, -0.5, 0.5, 1.5, 2.0]),
    st.integers(BIG - 2, BIG + 3),
    st.sampled_from([float(BIG), 2.0**63, -(2**63), 2**63 - 1]),
)
moments = st.integers(-3, 3).map(lambda n: EPOCH + timedelta(microseconds=n))


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    ends = draw(st.sampled_from([numbers, moments]))
    lo: Any = draw(st.none() | ends)
    hi: Any = draw(st.none() | ends)
    if lo is not None and hi is not None and lo > hi:
        lo, hi = hi, lo
    try:
        return Interval(lo, hi, draw(st.booleans()), draw(st.booleans()))
    except InvalidIntervalError:
        return Interval(lo, lo) if lo is not None else Interval()


@st.composite
def constraints(draw: st.DrawFn) -> Constraint:
    values: Any = draw(st.sampled_from([numbers, moments]))
    operator = draw(
        st.sampled_from(
            [
                Operator.EQ,
                Operator.NE,
                Operator.LT,
                Operator.LE,
                Operator.GT,
                Operator.GE,
                Operator.BETWEEN,
                Operator.NOT_BETWEEN,
                Operator.IN,
                Operator.NOT_IN,
                Operator.EXISTS,
                Operator.ABSENT,
            ]
        )
    )
    if operator in {Operator.EXISTS, Operator.ABSENT}:
        return Constraint("x", operator)
    if operator in {Operator.BETWEEN, Operator.NOT_BETWEEN}:
        return Constraint("x", operator, (draw(values), draw(values)))
    if operator in {Operator.IN, Operator.NOT_IN}:
        return Constraint("x", operator, tuple(draw(st.lists(values, min_size=1, max_size=12))))
    return Constraint("x", operator, draw(values))


@given(st.lists(intervals(), max_size=8), st.lists(constraints(), min_size=1, max_size=3))
@example([Interval(BIG + 1, None)], [Constraint("x", Operator.LE, float(BIG))])
@example([Interval(0.5, float(BIG))], [Constraint("x", Operator.GE, BIG + 1)])
@example([Interval(3, 4)], [Constraint("x", Operator.BETWEEN, (3.2, 3.8))])
@example([Interval(3.0, 4.5)], [Constraint("x", Operator.BETWEEN, (3.2, 3.8))])
@example([Interval(0.5, 1.5, hi_open=True)], [Constraint("x", Operator.EQ, 1.5)])
def test_each_interval_is_answered_as_by_the_domain(
    batch: list[Interval], together: list[Constraint]
) -> None:
    domain = domain_of(tuple(together), "fails")
    boxed = np.empty(len(batch), object)
    boxed[:] = batch
    expected = [domain.meets(interval) for interval in batch]
    assert IntervalEnds(boxed).meets(domain).tolist() == expected
