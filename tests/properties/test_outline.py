"""Outlines and columns of operands give back the subscriptions they were made of."""

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from predicast.model import Subscription
from predicast.model.operand_columns import OperandColumns, grouped
from predicast.model.outline import OF_VALUES, outline_of, outlined
from predicast.testing.strategies import subscriptions


def same(left: Subscription, right: Subscription) -> bool:
    """Equal, and of the same types: 1 and True, 1 and 1.0 are equal to Python."""
    return left == right and types_in(left) == types_in(right) and hash(left) == hash(right)


def types_in(subscription: Subscription) -> list[object]:
    operands = [constraint.operand for constraint in subscription.constraints()]
    return [
        [type(value) for value in operand] if isinstance(operand, tuple) else type(operand)
        for operand in operands
    ]


@given(subscriptions())
def test_an_outline_and_its_operands_make_the_subscription(subscription: Subscription) -> None:
    outline, operands = outlined(subscription)
    assert same(outline.subscription(operands), subscription)
    assert len(operands) == len(outline.places)
    assert outline.attributes() == subscription.attributes()


@given(subscriptions())
def test_outlines_are_told_apart_by_their_slots(subscription: Subscription) -> None:
    outline, operands = outlined(subscription)
    outline_of.cache.clear()
    OF_VALUES.clear()
    again, _ = outlined(subscription)
    assert again is outline
    assert pickle.loads(pickle.dumps(outline)) is outline
    assert outline.subscription(operands) == subscription
    assert outline_of((*outline.clauses, ()), ()) != outline


@given(st.lists(subscriptions(), max_size=12))
def test_groups_hold_every_subscription_under_its_key(given_: list[Subscription]) -> None:
    groups = grouped((10 * number, each) for number, each in enumerate(given_))
    found = {
        key: operands.subscription(row)
        for keys, operands in groups
        for row, key in enumerate(keys.tolist())
    }
    assert sorted(found) == [10 * number for number in range(len(given_))]
    assert all(same(found[10 * number], each) for number, each in enumerate(given_))
    assert len({operands.outline for _, operands in groups}) == len(groups)


@given(st.lists(subscriptions(), min_size=1, max_size=8), st.data())
def test_rows_can_be_taken(given_: list[Subscription], data: st.DataObject) -> None:
    operands = max((operands for _, operands in grouped(enumerate(given_))), key=len)
    rows = data.draw(st.lists(st.integers(0, len(operands) - 1)))
    taken = operands.take(np.array(rows, np.int64))
    assert list(taken.subscriptions()) == [operands.subscription(row) for row in rows]
    mask = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(operands), max_size=len(operands)))
    )
    kept = operands.take(mask)
    assert list(kept.subscriptions()) == [
        operands.subscription(row) for row in mask.nonzero()[0].tolist()
    ]
    assert len(kept) == mask.sum()


@given(st.lists(subscriptions(), min_size=1, max_size=8))
def test_one_by_one_is_the_same_as_all_at_once(given_: list[Subscription]) -> None:
    for _, operands in grouped(enumerate(given_)):
        assert all(
            same(operands.subscription(row), each)
            for row, each in enumerate(operands.subscriptions())
        )
        assert len(OperandColumns.of(operands.outline, [])) == 0
