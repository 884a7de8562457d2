"""The predicate table: the paper's gaps closed one by one, its rows and links, its early exit."""

from __future__ import annotations

import itertools
import random
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.errors import TooManyClausesError
from predicast.language import to_subscription
from predicast.matching.predicate_table.families import predicates_of
from predicast.matching.predicate_table.rows import BoundRow, EqualityRow
from predicast.matching.predicate_table.table import PredicateTable
from predicast.model import Absent, Clause, Constraint, Event, Interval, Operator, Subscription
from predicast.testing.strategies import subscriptions
from tests.histories import take_step

BELOW_3 = Interval(None, 3, hi_open=True)
ABOVE_9 = Interval(9, None, lo_open=True)
EVERYWHERE = Interval()


def table(*expressions: str, absent: Absent = "fails") -> PredicateTable:
    """A table with the expressions under the keys 0, 1, 2 and so on."""
    made = PredicateTable(absent=absent)
    for key, expression in enumerate(expressions):
        made.subscribe(key, to_subscription(expression))
    return made


def matches(expression: str, absent: Absent = "fails", **attributes: Any) -> bool:
    """Whether a table with that subscription finds it; the model must agree."""
    event = Event(attributes)
    found = table(expression, absent=absent).match(event) == [0]
    assert found == to_subscription(expression).matches(event, absent)
    return found


def work(held: PredicateTable, name: str) -> int:
    return held.statistics()[name]


# The digest's counter-examples to paper 1, in its order.


def test_an_absent_attribute_fails_by_default() -> None:
    assert not matches("x < 1 AND y = 2", x=0)


def test_an_absent_attribute_passes_as_in_definition_4() -> None:
    assert matches("x < 1 AND y = 2", absent="passes", x=0)
    assert not matches("x < 1 AND y = 2", absent="passes", x=1)


@pytest.mark.parametrize("absent", ["fails", "passes"])
def test_definition_5_is_not_met_on_a_fresh_attribute(absent: Absent) -> None:
    assert not matches("x < 1", absent=absent, x=ABOVE_9)
    assert not matches("x < 1", absent=absent, x=ABOVE_9, fresh=0)


def test_an_equality_is_compared_with_a_bound() -> None:
    assert not matches("x = 5", x=BELOW_3)
    assert not matches("x = 3", x=BELOW_3)
    assert matches("x = 2", x=BELOW_3)


@pytest.mark.parametrize("region", [EVERYWHERE, BELOW_3, Interval(0, 9), Interval(2.0, 3.0)])
def test_a_contradiction_matches_no_region(region: Interval) -> None:
    assert not matches("x > 3 AND x < 2", x=region)


def test_integers_are_not_reals() -> None:
    assert not matches("x > 3", x=Interval(0, 4, hi_open=True))
    assert matches("x > 3", x=Interval(0.0, 4.0, hi_open=True))
    assert not matches("x > 3 AND x < 4", x=Interval(0, 9))
    assert matches("x > 3 AND x < 4", x=Interval(0.0, 9.0))
    assert not matches("x BETWEEN 3.2 AND 3.8", x=Interval(0, 9))
    assert not matches("x = 3.5", x=Interval(0, 9))


def test_two_bounds_in_one_family_keep_the_tightest() -> None:
    held = table("x > 3 AND x > 5", "x < 8 AND x < 7 AND x < 9")
    assert work(held, "predicates") == 2
    assert [sorted(held.match(Event({"x": x}))) for x in (4, 6, 7.5)] == [[1], [0, 1], [0]]
    assert held.match(Event({"x": Interval(3.5, 5.0)})) == [1]


def test_numbers_do_not_shift_and_so_it_can_delete() -> None:
    held = table("x > 3 AND y = 1", "x > 1 AND y = 1", "x > 2 AND y = 1")
    held.unsubscribe(0)
    held.subscribe(3, to_subscription("x > 0 AND y = 1"))
    check(held)
    assert sorted(held.match(Event({"x": 9, "y": 1}))) == [1, 2, 3]
    assert sorted(held.match(Event({"x": 2, "y": 1}))) == [1, 3]


# More of regions.


def test_each_predicate_may_hold_though_no_point_satisfies_all() -> None:
    assert not matches("x >= 5 AND x <= 5 AND x != 5", x=Interval(0, 9))
    assert not matches("x = 1 AND x = 2", x=Interval(0, 9))
    assert not matches("x IN (1, 9) AND x > 1 AND x < 9", x=Interval(0.0, 10.0))


def test_each_attribute_chooses_its_own_point() -> None:
    assert matches("x < 1 AND y > 8", x=Interval(0, 9), y=Interval(0, 9))


def test_open_ends() -> None:
    assert not matches("x <= 3", x=Interval(3.0, 4.0, lo_open=True))
    assert matches("x <= 3", x=Interval(3.0, 4.0))
    assert not matches("x >= 4", x=Interval(3.0, 4.0, hi_open=True))
    assert matches("x < 3.5", x=Interval(2, 9, lo_open=True))


def test_time_is_counted_in_microseconds() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    step = timedelta(microseconds=1)
    after = Subscription.of([[Constraint("t", Operator.GT, start)]])
    held = PredicateTable()
    held.subscribe(0, after)
    assert held.match(Event({"t": Interval(start, start + step, hi_open=True)})) == []
    assert held.match(Event({"t": Interval(start, start + step)})) == [0]
    assert held.match(Event({"t": EVERYWHERE})) == [0]
    assert held.match(Event({"t": Interval(0, 1)})) == []
    assert held.match(Event({"t": start + step})) == [0]


def test_an_interval_is_neither_a_string_nor_a_boolean() -> None:
    assert not matches("x = 'a' OR x < 'b' OR x = TRUE OR x LIKE 'a%'", x=EVERYWHERE)
    assert matches("x IS NOT NULL", x=EVERYWHERE)
    assert not matches("x IS NULL", absent="passes", x=EVERYWHERE)


# Clauses.


def test_one_true_and_1_are_told_apart() -> None:
    held = table("x = 1", "x = TRUE", "x = 1.0", "x IN (1)", "x != TRUE")
    assert held.match(Event({"x": 1})) == [0, 2, 3]
    assert held.match(Event({"x": True})) == [1]
    assert held.match(Event({"x": False})) == [4]


def test_two_equalities_hold_only_where_absence_passes() -> None:
    assert not matches("x = 1 AND x = 2", x=1)
    assert not matches("x = 1 AND x = 2")
    assert matches("x = 1 AND x = 2", absent="passes")


def test_a_key_is_found_once_and_the_empty_clause_always() -> None:
    held = table("x > 1 OR x > 2 OR y = 1", "TRUE", "FALSE")
    assert sorted(held.match(Event({"x": 3, "y": 1}))) == [0, 1]
    assert held.match(Event({})) == [1]
    held.unsubscribe(1)
    assert held.match(Event({})) == []


def test_constraints_of_one_family_are_tested_together() -> None:
    clause = to_subscription("x != 1 AND x != 2 AND x != 1 AND x LIKE 'a%'").clauses[0]
    families = [(family.operator, len(threshold)) for family, threshold in predicates_of(clause)]
    assert families == [(Operator.LIKE, 1), (Operator.NE, 2)]


def test_rows_come_in_one_order_however_they_arrive() -> None:
    parts = ["z = 1", "a < 1", "a > 0", "b >= 2", "a LIKE 'x%'", "a != 3", "b IS NOT NULL"]
    orders = set()
    for seed in range(5):
        shuffled = random.Random(seed).sample(parts, len(parts))
        held = table(*shuffled)
        orders.add(tuple(f"{f.attribute} {f.operator.value}" for f in families(held)))
    assert orders == {("z =", "a <", "a >", "b >=", "a like", "a !=", "b exists")}


def families(held: PredicateTable) -> list[Any]:
    return [row.family for row in held._rows]


# Early exit.


def test_a_clause_whose_first_predicate_fails_is_not_visited() -> None:
    held = table(*(f"k = {n} AND x > {n}" for n in range(1_000)))
    assert held.match(Event({"k": 7, "x": 8})) == [7]
    assert work(held, "candidates") == 2  # k = 7 and x > 7
    assert work(held, "constraints_tested") < 10


def test_a_sorted_row_gives_its_heads_as_a_slice() -> None:
    held = table(*(f"x > {n} AND x < 2000" for n in range(1_000)))
    assert len(held.match(Event({"x": 10}))) == 10
    # `x <` is above `x >` and begins all clauses; its successors are compared one by one.
    assert work(held, "candidates") == 2_000
    held = table(*(f"x > {n}" for n in range(1_000)))
    assert len(held.match(Event({"x": 10}))) == 10
    assert work(held, "candidates") == 10
    assert work(held, "constraints_tested") <= 10


def test_a_row_without_its_attribute_ends_its_clauses() -> None:
    held = table(*(f"x > {n} AND y < {n}" for n in range(100)))
    assert held.match(Event({"y": -1})) == []
    assert work(held, "candidates") == 0


def test_the_ends_of_a_row_decide_its_whole_bucket() -> None:
    held = table(*(f"k = 1 AND x < {n}" for n in range(100, 200)))
    assert len(held.match(Event({"k": 1, "x": 0}))) == 100
    assert held.match(Event({"k": 1, "x": 500})) == []
    assert work(held, "constraints_tested") <= 10


# The structure.


def check(held: PredicateTable) -> None:
    """The invariants that the module states."""
    assert families(held) == sorted(families(held), key=lambda family: family.order())
    assert held._row_of == {row.family: row for row in held._rows}
    linked: dict[Any, set[Any]] = {row: set() for row in held._rows}
    heads: dict[Any, set[Any]] = {row: set() for row in held._rows}
    for number, entry in held._subscription_list.items():
        assert entry.number == number
        chain = list(entry.predicates())
        places = [held._rows.index(predicate.row) for predicate in chain]
        assert places == sorted(set(places)), "a successor is in a lower row"
        assert all(predicate.entry is entry for predicate in chain)
        for predicate in chain:
            linked[predicate.row].add(predicate)
        if chain:
            heads[chain[0].row].add(chain[0])
        assert (number in held._empty_clauses) == (not chain)
    for row in held._rows:
        assert len(row.predicates) > 0, "no row is empty"
        assert len(row.predicates) == len(linked[row])
        assert set(row.predicates) == linked[row]
        assert len(row.heads) == len(heads[row])
        assert set(row.heads) == heads[row]
        for cells in (row.predicates, row.heads):
            check_order(row, list(cells))
    listed = list(itertools.chain.from_iterable(held._interface_list.values()))
    assert sorted(listed) == sorted(held._subscription_list)


def check_order(row: Any, predicates: list[Any]) -> None:
    if isinstance(row, BoundRow):
        descending = row.family.operator in {Operator.LT, Operator.LE}
        for one, next_one in itertools.pairwise(predicates):
            if one.threshold == next_one.threshold:
                assert one.entry.number < next_one.entry.number
            else:
                assert (one.threshold > next_one.threshold) == descending
    if isinstance(row, EqualityRow):
        for predicate in predicates:
            equals = row.predicates.equal_to(predicate.threshold)
            numbers = [each.entry.number for each in equals]
            assert numbers == sorted(set(numbers))


@given(st.lists(st.tuples(st.integers(0, 5), subscriptions() | st.none()), max_size=30))
def test_invariants_hold_while_subscriptions_come_and_go(
    steps: list[tuple[int, Subscription | None]],
) -> None:
    held = PredicateTable()
    keys: set[int] = set()
    for key, subscription in steps:
        with suppress(TooManyClausesError):  # and then it is to have changed nothing
            take_step(held, keys, key, subscription)
        check(held)
    for key in keys:
        held.unsubscribe(key)
    check(held)
    assert held._rows == []
    assert held._subscription_list == {}


@pytest.mark.parametrize("seed", range(3))
def test_invariants_hold_where_thresholds_are_crowded(seed: int) -> None:
    draw = random.Random(seed)
    held = PredicateTable()
    keys: list[int] = []
    for key in range(400):
        constraints = [
            Constraint(
                draw.choice("abc"),
                draw.choice([Operator.EQ, Operator.LT, Operator.LE, Operator.GT, Operator.GE]),
                draw.randint(0, 3),
            )
            for _ in range(draw.randint(0, 4))
        ]
        held.subscribe(key, Subscription((Clause(tuple(constraints)),)))
        keys.append(key)
        if draw.random() < 0.4:
            held.unsubscribe(keys.pop(draw.randrange(len(keys))))
    check(held)
    assert work(held, "subscriptions") == len(keys)


def test_bytes_grow_with_what_is_held() -> None:
    held = table("x > 1 AND y = 2")
    one = work(held, "bytes")
    for key in range(1, 100):
        held.subscribe(key, to_subscription(f"x > {key} AND y = {key}"))
    assert work(held, "bytes") > 20 * one
