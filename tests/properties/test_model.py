"""Laws of the model, on random input."""

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from predicast import Event, covers
from predicast.model import (
    Absent,
    And,
    Clause,
    Constraint,
    Expression,
    Interval,
    Leaf,
    Not,
    Operator,
    Or,
    Subscription,
    Value,
    subscription_of,
)
from predicast.model.values import kind_of
from predicast.testing import strategies as some

ON_X = st.lists(some.constraints(names=st.just("x")), min_size=1, max_size=3)
POLICIES = st.sampled_from(["fails", "passes"])
ORDERED = st.sampled_from(
    [Operator.EQ, Operator.LT, Operator.LE, Operator.GT, Operator.GE, Operator.BETWEEN, Operator.IN]
)


def truth(node: Expression, event: Event) -> bool | None:
    """SQL's three-valued logic, straight from the tree: the oracle for the normal form."""
    if isinstance(node, Leaf):
        value = event.get(node.constraint.attribute)
        if node.constraint.parts:
            operator = node.constraint.operator
            leaves = tuple(Leaf(part) for part in node.constraint.parts)
            return truth(Or(leaves) if operator is Operator.ANY else And(leaves), event)
        if node.constraint.kind is None:
            return (value is not None) is (node.constraint.operator is Operator.EXISTS)
        if (
            value is None
            or isinstance(value, Interval)
            or kind_of(value) is not node.constraint.kind
        ):
            return None
        return node.constraint.holds(value)
    if isinstance(node, Not):
        part = truth(node.part, event)
        return None if part is None else not part
    parts = [truth(part, event) for part in node.parts]
    decisive = not isinstance(node, And)
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


@given(some.expressions(max_leaves=12) | some.wide_expressions(), st.data())
def test_the_normal_form_means_what_the_tree_means(tree: Expression, data: st.DataObject) -> None:
    subscription = subscription_of(tree)
    event = data.draw(some.events_near(subscription, regions=False))
    assert subscription.matches(event) is (truth(tree, event) is True)


@given(st.data(), POLICIES)
def test_covers_is_never_wrongly_true(data: st.DataObject, absent: Absent) -> None:
    outer, inner = data.draw(some.subscriptions()), data.draw(some.subscriptions())
    if not covers(outer, inner, absent=absent):
        return
    for event in data.draw(st.lists(some.events_near(inner), min_size=1, max_size=5)):
        assert outer.matches(event, absent) or not inner.matches(event, absent)


@given(some.subscriptions(), POLICIES)
def test_covers_is_reflexive(subscription: Subscription, absent: Absent) -> None:
    assert covers(subscription, subscription, absent=absent)


@given(st.lists(some.constraints(), max_size=3), some.constraints(), POLICIES)
def test_a_clause_covers_itself_with_more_constraints(
    constraints: list[Constraint], more: Constraint, absent: Absent
) -> None:
    assert covers(Clause(tuple(constraints)), Clause((*constraints, more)), absent=absent)


@given(
    st.lists(some.constraints(ORDERED), min_size=1, max_size=3),
    st.lists(some.constraints(ORDERED), min_size=1, max_size=3),
)
def test_covers_is_complete_for_intervals_and_sets(
    outer: list[Constraint], inner: list[Constraint]
) -> None:
    """Where it says no, there is an event to show for it: an end of an interval, or beside one."""
    a, b = Clause(tuple(outer)), Clause(tuple(inner))
    assume(all(_has_room(constraint.operand) for constraint in outer + inner))
    if covers(a, b):
        return
    attributes = {c.attribute for c in outer + inner}
    assert any(
        b.matches(event) and not a.matches(event) for event in _witnesses(outer + inner, attributes)
    )


def _witnesses(constraints: list[Constraint], attributes: set[str]) -> list[Event]:
    """Points at, between and beyond all operands, one attribute varied at a time."""
    pools: dict[str, list[Any]] = {name: [] for name in attributes}
    for constraint in constraints:
        operand = constraint.operand
        pools[constraint.attribute].extend(operand if isinstance(operand, tuple) else (operand,))
    for pool in pools.values():
        pool.extend([near for value in list(pool) for near in _beside(value, pool)])
        pool.extend([True, False, 0, ""])
    events = []
    for name, pool in pools.items():
        for value in pool:
            for inner in _satisfying(constraints, pools):
                events.append(Event({**inner, name: value}))
                events.append(Event({k: v for k, v in inner.items() if k != name}))
    return events


EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)


def _has_room(operand: Any) -> bool:
    """Whether each end has values close by on both sides that are there to show.

    Past the last float, between an integer beyond 2**53 and the next, and before the year 1 a
    region can reach, but no point lies.
    """
    operands = operand if isinstance(operand, tuple) else (operand,)
    for each in operands:
        if isinstance(each, datetime) and not EARLIEST < each < LATEST:
            return False
        is_number = isinstance(each, int | float | Decimal)
        if is_number and not (each == 0 or 1e-300 < abs(each) < 2**53):
            return False
    return True


def _beside(value: Any, others: list[Any]) -> list[Any]:
    """Values of the same kind before and after, with no operand in between."""
    if isinstance(value, bool):
        return []
    if isinstance(value, str):
        return [value + "\0", value + "\U0010ffff"]
    if isinstance(value, datetime):
        return [value + timedelta(microseconds=step) for step in (-1, 1)]
    return [math.nextafter(float(value), limit) for limit in (-math.inf, math.inf)]


def _satisfying(constraints: list[Constraint], pools: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """For each prefix of the constraints, values that satisfy as many attributes as can be."""
    found = []
    for count in range(len(constraints) + 1):
        clause = Clause(tuple(constraints[count:]))
        chosen = {
            name: next((v for v in pool if all(c.holds(v) for c in clause.on(name))), None)
            for name, pool in pools.items()
        }
        found.append({name: value for name, value in chosen.items() if value is not None})
    return found


@given(ON_X, some.integers(), st.integers(0, 12))
def test_integer_regions_are_the_union_of_their_points(
    constraints: list[Constraint], lo: int, length: int
) -> None:
    hi = min(lo + length, 2**63 - 1)
    clause = Clause(tuple(constraints))
    points = any(clause.matches(Event({"x": point})) for point in range(lo, hi + 1))
    assert clause.matches(Event({"x": Interval(lo, hi)})) is points


@given(ON_X, some.timestamps(), st.integers(0, 5))
def test_timestamp_regions_are_the_union_of_their_points(
    constraints: list[Constraint], start: datetime, length: int
) -> None:
    moments = [start]
    while len(moments) <= length and moments[-1] < LATEST:
        moments.append(moments[-1] + timedelta(microseconds=1))
    clause = Clause(tuple(constraints))
    points = any(clause.matches(Event({"x": moment})) for moment in moments)
    assert clause.matches(Event({"x": Interval(moments[0], moments[-1])})) is points


@given(some.values(), some.values())
def test_equality_is_exact_and_kinds_never_mix(left: Value, right: Value) -> None:
    same_kind = kind_of(left) is kind_of(right)
    assert Constraint("x", Operator.EQ, left).holds(right) is (same_kind and left == right)
