"""Rank codes compare exactly as the values do."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast import Event, Interval
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.columnar import loops
from predicast.matching.columnar.compile import cuts as cuts_module
from predicast.matching.columnar.compile.axes import Axis, AxisName, Scale
from predicast.matching.columnar.compile.clause_tests import ClauseTests, compiled_tests
from predicast.matching.columnar.compile.cuts import NumberCuts, ranked_apart, split, split_all
from predicast.matching.columnar.compile.from_clauses import coded
from predicast.matching.columnar.event_codes import EventCoder
from predicast.matching.columnar.layout.question import Question
from predicast.matching.columnar.value_codes import value_code
from predicast.model import Clause, Constraint, Operator
from predicast.testing import strategies as some
from tests.unit.matching.columnar.questions import coded_by

NUMBERS = some.integers() | some.floats()
CUTS = st.lists(st.tuples(NUMBERS, st.integers(0, 1)), max_size=8)
ORDERED = st.sampled_from(
    [Operator.EQ, Operator.LT, Operator.LE, Operator.GT, Operator.GE, Operator.BETWEEN]
)


@given(NUMBERS, NUMBERS)
def test_split_numbers_compare_as_the_numbers_do(a: int | float, b: int | float) -> None:
    assert (split(a) < split(b)) is (a < b)
    assert (split(a) == split(b)) is (a == b)


@given(CUTS, NUMBERS)
def test_a_code_counts_the_cuts_before_a_value(
    cuts: list[tuple[int | float, int]], value: int | float
) -> None:
    whole, rest = split_all([number for number, _ in cuts])
    side = np.array([side for _, side in cuts], np.int8)
    ranked, position = NumberCuts.rank(whole, rest, side)
    distinct = sorted({(split(number), side) for number, side in cuts})
    assert [distinct[place] for place in position] == [(split(n), s) for n, s in cuts]
    before = {(n, s) for n, s in cuts if n < value or (n == value and s == 0)}
    assert ranked.code(value) == len({(split(n), s) for n, s in before})


@given(st.lists(CUTS, min_size=1, max_size=4), st.sampled_from([0, 2, 256]))
def test_many_axes_are_ranked_as_each_by_itself(
    axes: list[list[tuple[int | float, int]]], alone: int
) -> None:
    given_cuts = [(axis, cut) for axis, cuts in enumerate(axes) for cut in cuts]
    random.Random(alone).shuffle(given_cuts)
    axis = np.array([axis for axis, _ in given_cuts], np.int64)
    whole, rest = split_all([number for _, (number, _) in given_cuts])
    side = np.array([side for _, (_, side) in given_cuts], np.int8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts_module, "_ALONE", alone)
        ranked, position = ranked_apart(axis, whole, rest, side, len(axes))
    assert len(ranked) == len(axes)
    for place, cuts in enumerate(ranked):
        here = axis == place
        expected, positions = NumberCuts.rank(whole[here], rest[here], side[here])
        assert position[here].tolist() == positions.tolist()
        for name in ("whole", "rest", "side"):
            assert getattr(cuts, name).tolist() == getattr(expected, name).tolist()


def constraint_on_x(constraint: Constraint) -> Constraint:
    return Constraint("x", constraint.operator, constraint.operand)


@given(st.lists(some.constraints(ORDERED).map(constraint_on_x), min_size=1, max_size=4), st.data())
def test_a_range_test_holds_for_the_values_that_satisfy_the_constraint(
    constraints: list[Constraint], data: st.DataObject
) -> None:
    compiled = [compiled_tests(Clause((constraint,)), "fails", {}) for constraint in constraints]
    kept = [(c, t) for c, t in zip(constraints, compiled, strict=True) if t is not None]
    table = coded(range(len(kept)), [tests for _, tests in kept])
    value = data.draw(some.values() | some.intervals())
    event = Event({"x": value})
    for number, (constraint, _) in enumerate(kept):
        held = True
        for test in np.flatnonzero(table.clause == number):
            low, high = value_code(table.axes[table.axis[test]], value)
            held &= bool(table.lo[test] <= low and high <= table.hi[test])
        assert held is Clause((constraint,)).matches(event)


@given(st.lists(some.constraints(), min_size=1, max_size=4), st.lists(some.events(), max_size=4))
def test_single_events_and_batches_are_coded_operands(
    constraints: list[Constraint], events: list[Event]
) -> None:
    compiled = [compiled_tests(Clause((constraint,)), "fails", {}) for constraint in constraints]
    kept = [tests for tests in compiled if tests is not None]
    axes = coded(range(len(kept)), kept).axes
    for absent in ("fails", "passes"):
        coder = EventCoder(axes, absent)
        columns = EventBatch.from_events(events)
        batch = coder.of_batch(columns, coder.texts_of(columns))
        for number, event in enumerate(events):
            one = coder.blank()
            coder.write(event, one)
            loops.now.match_event(Question(coded_by(coder, one, axes)), -1)
            for single, many in zip(one.arrays[:3], batch[:3], strict=True):
                assert (single[0] == many[number, batch.column]).all()


def test_spans_without_an_integer_miss_intervals_of_integers() -> None:
    tests = compiled_tests(
        Clause((Constraint("x", Operator.GT, 3), Constraint("x", Operator.LT, 4))), "fails", {}
    )
    assert tests is not None
    discrete = Axis(AxisName("x", Scale.DISCRETE), None, None)
    assert discrete.name in [name for name, _ in tests.ranges]
    assert value_code(discrete, Interval(0, 9)) == (1, 1)
    assert value_code(discrete, Interval(0.0, 9.0)) == (0, 0)


def test_a_clause_that_nothing_matches_is_not_compiled() -> None:
    never = Clause((Constraint("x", Operator.GT, 3), Constraint("x", Operator.LT, 2)))
    assert compiled_tests(never, "fails", {}) is None
    assert compiled_tests(never, "passes", {}) == ClauseTests(
        [(AxisName("x", Scale.PRESENCE), (0, 0))], [], []
    )
