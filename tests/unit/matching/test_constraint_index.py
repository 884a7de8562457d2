"""The constraint index finds what a linear scan finds, whatever has come and gone before."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.matching.counting.constraint_index import ConstraintIndex
from predicast.matching.counting.constraint_subscription_list import HeldConstraint
from predicast.model import Constraint, Interval, Operator
from predicast.model.domain import domain_of
from predicast.testing.strategies import NAMES, constraints, events

DISTINCT = st.lists(constraints(), unique=True, max_size=25)


def index_of(held: list[Constraint]) -> tuple[ConstraintIndex, dict[Constraint, HeldConstraint]]:
    index = ConstraintIndex()
    rows = {constraint: HeldConstraint(constraint) for constraint in held}
    for row in rows.values():
        index.insert(row)
    return index, rows


def satisfied(constraint: Constraint, value: Any) -> bool:
    if isinstance(value, Interval):
        return domain_of((constraint,), "fails").meets(value)
    return constraint.holds(value)


def scanned(held: list[Constraint], name: str, value: Any) -> Counter[Constraint]:
    return Counter(each for each in held if each.attribute == name and satisfied(each, value))


def found(index: ConstraintIndex, name: str, value: Any) -> Counter[Constraint]:
    return Counter(row.constraint for row in index.matching(name, value))


def strings(operator: Operator, *operands: str) -> list[Constraint]:
    return [Constraint("a", operator, operand) for operand in operands]


@given(held=DISTINCT, event=events(), data=st.data())
def test_finds_what_a_scan_finds_with_removals(
    held: list[Constraint], event: Any, data: Any
) -> None:
    index, rows = index_of(held)
    for name, value in event.items():
        assert found(index, name, value) == scanned(held, name, value)
    gone = data.draw(st.lists(st.sampled_from(held), unique=True) if held else st.just([]))
    for constraint in gone:
        index.remove(rows[constraint])
    kept = [constraint for constraint in held if constraint not in gone]
    for name, value in event.items():
        assert found(index, name, value) == scanned(kept, name, value)
    for constraint in gone:
        index.insert(rows[constraint])
    for name, value in event.items():
        assert found(index, name, value) == scanned(held, name, value)


@given(held=DISTINCT, batch=st.lists(events(regions=False), max_size=8))
def test_a_batch_finds_what_its_values_find(held: list[Constraint], batch: list[Any]) -> None:
    index, _ = index_of(held)
    for name in NAMES:
        carried: dict[type, dict[Any, list[int]]] = {}
        for number, event in enumerate(batch):
            value = event.get(name)
            if value is not None:
                of_type = carried.setdefault(type(value), {})
                of_type.setdefault(value, []).append(number)
        for type_, by_value in carried.items():
            right = Counter(
                (row.constraint, number)
                for value, numbers in by_value.items()
                for row in index.matching(name, value)
                for number in numbers
                if row is not index.exists.get(name)  # which is in no list
            )
            in_batch = Counter(
                (row.constraint, number)
                for each in index.lists(type_, name)
                for row, numbers in each.matching_batch(by_value)
                for number in numbers
            )
            assert in_batch == right


@given(held=DISTINCT)
def test_removing_everything_leaves_nothing(held: list[Constraint]) -> None:
    index, rows = index_of(held)
    for name in NAMES:
        index.matching(name, 1)
    tested = index.tested
    for row in rows.values():
        index.remove(row)
    assert not index.exists
    for type_ in (int, float, str, bool):
        assert [index.lists(type_, name) for name in NAMES] == [()] * len(NAMES)
    assert index.tested == tested, "work that was done stays counted"


@pytest.mark.parametrize(("operator", "right"), [
    (Operator.LT, [3, 4]), (Operator.LE, [2, 3, 4]),
    (Operator.GT, [0, 1]), (Operator.GE, [0, 1, 2]),
])  # fmt: skip
def test_order_operators_take_all_from_the_first_match(
    operator: Operator, right: list[int]
) -> None:
    index, _ = index_of([Constraint("a", operator, operand) for operand in (4, 0, 3, 1, 2)])
    assert sorted(row.constraint.operand for row in index.matching("a", 2.0)) == right  # type: ignore[type-var]


def test_order_operators_are_searched_not_tested_one_by_one() -> None:
    index, _ = index_of([Constraint("a", Operator.LT, operand) for operand in range(1_000)])
    index.matching("a", 998)
    assert index.tested == 10
    index.matching("a", Interval(998, 2_000))
    assert index.tested == 20


def test_prefixes_are_not_everything_behind_the_first_match() -> None:
    held = strings(Operator.PREFIX, "ab", "abc", "", "b")
    index, _ = index_of(held)
    assert found(index, "a", "abx") == Counter(strings(Operator.PREFIX, "", "ab"))


def test_suffixes_are_found_from_the_end() -> None:
    held = strings(Operator.SUFFIX, "ab", "b", "", "abab", "xab", "a")
    index, _ = index_of(held)
    assert found(index, "a", "abab") == Counter(strings(Operator.SUFFIX, "", "b", "ab", "abab"))


def test_a_part_that_occurs_twice_is_found_once() -> None:
    held = strings(Operator.CONTAINS, "ab", "", "ba", "bb")
    index, _ = index_of(held)
    assert found(index, "a", "abab") == Counter(strings(Operator.CONTAINS, "", "ab", "ba"))
    assert found(index, "a", "") == Counter(strings(Operator.CONTAINS, ""))


def test_a_trie_forgets_only_what_is_removed() -> None:
    held = strings(Operator.PREFIX, "ab", "abc", "abcd")
    index, rows = index_of(held)
    index.remove(rows[held[1]])
    assert found(index, "a", "abcde") == Counter([held[0], held[2]])
    index.remove(rows[held[2]])
    assert found(index, "a", "abcde") == Counter([held[0]])


def test_equal_keys_of_different_types_never_meet() -> None:
    number, truth = Constraint("a", Operator.EQ, 1), Constraint("a", Operator.EQ, True)
    members = Constraint("a", Operator.IN, (True, False))
    index, _ = index_of([number, truth, members])
    assert found(index, "a", 1) == found(index, "a", 1.0) == Counter([number])
    assert found(index, "a", True) == Counter([truth, members])


def test_numbers_are_compared_exactly() -> None:
    held = [Constraint("a", Operator.LT, 2**53 + 1), Constraint("a", Operator.EQ, 2**53 + 1)]
    index, _ = index_of(held)
    assert found(index, "a", 2.0**53) == Counter([held[0]])
    assert found(index, "a", 2**53 + 1) == Counter([held[1]])
