"""Tables of coded tests: however they come about, they mean what the subscriptions state."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from predicast import Event
from predicast.matching.brute_force import BruteForce
from predicast.matching.columnar.compile.coded_tests import CodedTests
from predicast.matching.columnar.compile.from_bounds import coded_subscriptions
from predicast.matching.columnar.compile.from_operands import coded_operands
from predicast.matching.columnar.compile.uniting import merged
from predicast.matching.columnar.layout.blocks import Layout
from predicast.matching.columnar.segment import Segment
from predicast.model import Absent, Clause, Constraint, Interval, Operator, Subscription
from predicast.model.operand_columns import OperandColumns, grouped
from predicast.model.outline import outlined
from predicast.testing import strategies as some

LAYOUTS = st.sampled_from([Layout(), Layout(block=2, reached=0, family=0, partition=0)])
POLICIES = st.sampled_from(["fails", "passes"])
EVENTS = st.lists(some.events(), min_size=1, max_size=6)
BOUNDS = [
    Operator.EQ,
    Operator.LT,
    Operator.LE,
    Operator.GT,
    Operator.GE,
    Operator.BETWEEN,
]
SOME = st.lists(some.subscriptions(), min_size=1, max_size=6)


def found(segment: Segment, event: Event) -> list[int]:
    return sorted(set(segment.match_one(event, epoch=1)))


def right(subscriptions: Sequence[Subscription], absent: Absent, event: Event) -> list[int]:
    oracle = BruteForce(absent=absent)
    for key, subscription in enumerate(subscriptions):
        oracle.subscribe(key, subscription)
    return sorted(oracle.match(event))


def assert_means(
    tables: list[CodedTests],
    subscriptions: Sequence[Subscription],
    absent: Absent,
    layout: Layout,
    events: list[Event],
) -> None:
    tables = [table for table in tables if len(table)]
    if not tables:
        assert all(right(subscriptions, absent, event) == [] for event in events)
        return
    segment = Segment.of(merged(tables), absent, layout)
    again = Segment.of(segment.tests(), absent, layout)
    for event in events:
        expected = right(subscriptions, absent, event)
        assert found(segment, event) == expected
        assert found(again, event) == expected


@given(SOME, POLICIES, LAYOUTS, EVENTS)
def test_clauses_one_by_one(
    subscriptions: list[Subscription], absent: Absent, layout: Layout, events: list[Event]
) -> None:
    tables = coded_subscriptions(enumerate(subscriptions), absent)
    assert_means(tables, subscriptions, absent, layout, events)


@given(
    st.lists(
        st.lists(some.constraints(st.sampled_from(BOUNDS)), min_size=1, max_size=5),
        min_size=1,
        max_size=5,
    ),
    POLICIES,
    LAYOUTS,
    EVENTS,
)
def test_bounds_that_meet_and_contradict(
    clauses: list[list[Constraint]], absent: Absent, layout: Layout, events: list[Event]
) -> None:
    subscriptions = [Subscription((Clause(tuple(dict.fromkeys(each))),)) for each in clauses]
    tables = coded_subscriptions(enumerate(subscriptions), absent)
    assert_means(tables, subscriptions, absent, layout, events)


@given(SOME, POLICIES, LAYOUTS, EVENTS)
def test_tables_of_one_each_are_merged(
    subscriptions: list[Subscription], absent: Absent, layout: Layout, events: list[Event]
) -> None:
    tables = [t for pair in enumerate(subscriptions) for t in coded_subscriptions([pair], absent)]
    assert_means(tables, subscriptions, absent, layout, events)


@given(SOME, POLICIES, LAYOUTS, EVENTS)
def test_alike_ones_column_by_column(
    subscriptions: list[Subscription], absent: Absent, layout: Layout, events: list[Event]
) -> None:
    tables = [
        table
        for keys, operands in grouped(enumerate(subscriptions))
        for table in coded_operands(keys, operands, absent)
    ]
    assert_means(tables, subscriptions, absent, layout, events)


@given(st.data(), some.subscriptions(), POLICIES, LAYOUTS, EVENTS)
def test_many_of_one_outline(
    data: st.DataObject,
    model: Subscription,
    absent: Absent,
    layout: Layout,
    events: list[Event],
) -> None:
    """Rows of one outline differ in being odd, contradictory, or without an integer."""
    outline, operands = outlined(model)
    rows = [operands]
    for _ in range(data.draw(st.integers(1, 5))):
        drawn = []
        for type_, operand in zip(outline.places, operands, strict=True):
            choices = {
                "integer": some.integers(),
                "float": some.floats().filter(lambda value: isinstance(value, float)),
                "string": some.strings(),
                "boolean": st.booleans(),
            }
            drawn.append(data.draw(choices.get(type_.value, st.just(operand))))
        rows.append(tuple(drawn))
    columns = OperandColumns.of(outline, rows)
    tables = coded_operands(np.arange(len(rows)), columns, absent)
    assert_means(tables, list(columns.subscriptions()), absent, layout, events)


@given(SOME, POLICIES, LAYOUTS, EVENTS, st.data())
def test_what_is_deleted_is_left_out_of_a_merge(
    subscriptions: list[Subscription],
    absent: Absent,
    layout: Layout,
    events: list[Event],
    data: st.DataObject,
) -> None:
    tables = coded_subscriptions(enumerate(subscriptions), absent)
    if not tables:
        return
    table = merged(tables)
    segment = Segment.of(table, absent, layout)
    gone = data.draw(st.sets(st.integers(0, len(subscriptions) - 1)))
    keys = np.array(sorted(gone), np.int64)
    wanted = keys.copy()
    left = segment.delete(wanted, np.ones_like(keys), 1)
    assert wanted[:left].tolist() == keys[~np.isin(keys, table.keys)].tolist()
    assert segment.deleted == int(np.isin(table.keys, keys).sum())
    assert segment.delete(keys.copy(), np.ones_like(keys), 1) == len(keys)
    again = Segment.of(merged([segment.tests(), segment.tests()]), absent, layout)
    for event in events:
        assert sorted(set(segment.match_one(event, epoch=0))) == right(subscriptions, absent, event)
        expected = [key for key in right(subscriptions, absent, event) if key not in gone]
        assert found(segment, event) == expected
        assert found(again, event) == expected


@given(st.data(), POLICIES, LAYOUTS)
def test_many_attributes_of_one_outline(
    data: st.DataObject, absent: Absent, layout: Layout
) -> None:
    """More attributes than an integer has bits; on each, rows with and without an integer."""
    names = [f"a{n}" for n in range(data.draw(st.sampled_from([3, 70])))]
    some_names = st.sampled_from([names[0], names[1], names[-1]])
    rows = []
    for _ in range(data.draw(st.integers(1, 4))):
        without = data.draw(st.sets(some_names))
        ends = [(0.25, 0.75 if name in without else 1.75) for name in names]
        rows.append(tuple(end for pair in ends for end in pair))
    clause = Clause(tuple(Constraint(name, Operator.BETWEEN, (0.25, 0.5)) for name in names))
    outline, _ = outlined(Subscription((clause,)))
    operands = OperandColumns.of(outline, rows)
    inside: dict[str, Interval | float] = dict.fromkeys(names, 0.5)
    events = [
        Event(inside | {data.draw(some_names): data.draw(st.sampled_from(ENDS))}) for _ in range(4)
    ]
    tables = coded_operands(np.arange(len(rows)), operands, absent)
    assert_means(tables, list(operands.subscriptions()), absent, layout, events)


ENDS = [Interval(0, 1), Interval(1, 2), Interval(0.5, 0.6), Interval(-1, 0)]
