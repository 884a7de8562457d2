"""Statements: a dictionary of subscriptions that keeps most of them in columns."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from predicast.engine.statements import Statements
from predicast.language import parse_where
from predicast.model import Subscription
from predicast.model.operand_columns import grouped
from predicast.model.outline import Stated, outlined
from predicast.testing.strategies import subscriptions


def many(first: int, count: int, text: str = "a < {0} AND b = '{0}'") -> dict[int, Subscription]:
    return {key: parse_where(text.format(key)) for key in range(first, first + count)}


def loaded(*batches: dict[int, Subscription]) -> Statements:
    statements = Statements()
    for batch in batches:
        for keys, operands in grouped(batch.items()):
            statements.put_columns(keys, operands)
    return statements


def content(statements: Statements) -> dict[int, Subscription]:
    found: dict[int, Subscription] = {}
    for keys, operands in statements.grouped():
        assert len(keys) == len(operands) > 0
        for key, each in zip(keys.tolist(), operands.subscriptions(), strict=True):
            assert key not in found
            found[key] = each
    return found


def test_bulk_and_single_subscriptions_side_by_side() -> None:
    batch = many(10, 100)
    statements = loaded(batch)
    statements.put(3, outlined(parse_where("c IS NULL")))
    assert len(statements) == 101
    assert statements.get(42) == batch[42]
    assert statements.attributes() == {"a", "b", "c"}
    assert content(statements) == batch | {3: parse_where("c IS NULL")}
    statements.put(42, outlined(parse_where("d = 1")))
    assert statements.get(42) == parse_where("d = 1")
    statements.remove(3)
    assert statements.attributes() == {"a", "b", "d"}


def test_changes_of_one_outline_are_seen_at_once_and_written_later() -> None:
    """Also those whose operands are wider than their columns, and by a copy."""
    statements = loaded(many(0, 10_000))
    changed = many(0, 10_000)
    for turn, key in enumerate(random.Random(7).choices(range(10_000), k=1_500)):
        changed[key] = parse_where(f"a < {turn * 10**15} AND b = 'of {turn}'")
        statements.put(key, outlined(changed[key]))
        assert statements.get(key) == changed[key]
    assert statements._chunks[1]._waiting
    copy = statements.copy()
    statements.put(0, outlined(parse_where("a < 1 AND b = 'later'")))
    assert content(copy) == changed
    assert statements.get(0) == parse_where("a < 1 AND b = 'later'")


def test_what_was_handed_out_stays_as_it_was() -> None:
    """Columns are shared with whoever asked for them, also if changes waited to be written."""
    statements = loaded(many(0, 10_000))
    right = many(0, 10_000)
    handed_out = []
    for turn in range(4):
        for key in range(300):
            right[key] = parse_where(f"a < {turn} AND b = 'turn {turn}'")
            statements.put(key, outlined(right[key]))
        handed_out.append(([*statements.grouped()], right.copy()))
    for groups, expected in handed_out:
        [(keys, operands)] = groups
        assert dict(zip(keys.tolist(), operands.subscriptions(), strict=True)) == expected


@pytest.mark.parametrize("key", [3, 10, 9_999])
def test_an_unknown_key_is_a_key_error(key: int) -> None:
    statements = loaded(many(10, 100))
    statements.remove(10)
    with pytest.raises(KeyError):
        statements.get(key)
    with pytest.raises(KeyError):
        statements.remove(key)
    assert len(statements) == 99


def test_keys_may_come_in_any_order() -> None:
    batch = many(0, 200)
    keys = np.random.default_rng(5).permutation(200)
    [(_, operands)] = grouped((key, batch[key]) for key in keys.tolist())
    statements = Statements()
    statements.put_columns(keys, operands)
    assert all(statements.get(key) == each for key, each in batch.items())


def test_a_mostly_dead_chunk_is_written_anew() -> None:
    statements = loaded(many(0, 10_000))
    whole = statements.nbytes()
    for key in range(9_900):
        statements.remove(key)
    assert content(statements) == many(9_900, 100)
    assert statements.nbytes() < whole / 5
    for key in range(9_900, 9_990):
        statements.remove(key)
    assert content(statements) == many(9_990, 10)
    for key in range(9_990, 10_000):
        statements.remove(key)
    assert (len(statements), content(statements), statements.attributes()) == (0, {}, frozenset())


def test_chunks_of_one_outline_are_merged() -> None:
    batches = [many(64 * number, 64) for number in range(100)]
    statements = loaded(*batches)
    assert len(statements._chunks) <= 8
    assert content(statements) == many(0, 6_400)
    assert statements.get(6_399) == batches[-1][6_399]


def test_many_outlines_have_many_chunks() -> None:
    """More than fit into the narrowest numbers of chunks."""
    batches = [many(40 * number, 40, f"a{number} = {{0}}") for number in range(300)]
    statements = loaded(*batches)
    assert all(statements.get(key) == each for batch in batches for key, each in batch.items())
    assert len(statements.attributes()) == 300


def test_endless_churn_takes_bounded_room() -> None:
    statements = loaded(many(0, 1_000))
    batch = many(0, 1_000)
    most = 2 * statements.nbytes()
    for _ in range(50):
        for key in range(500):
            statements.remove(key)
        for keys, operands in grouped((key, batch[key]) for key in range(500)):
            statements.put_columns(keys, operands)
        assert statements.nbytes() < most
    assert content(statements) == batch


class StatementsAsADictionary(RuleBasedStateMachine):
    """Whatever happens to them, statements hold what a dictionary would."""

    def __init__(self) -> None:
        super().__init__()
        self.statements = Statements()
        self.right: dict[int, Subscription] = {}

    def free(self) -> int:
        return next(key for key in range(10_000) if key not in self.right)

    @rule(subscription=subscriptions())
    def add(self, subscription: Subscription) -> None:
        key = self.free()
        self.statements.put(key, outlined(subscription))
        self.right[key] = subscription

    @rule(
        count=st.sampled_from([1, 31, 32, 33, 70]),
        start=st.integers(0, 300),
        text=st.sampled_from(["a < {0} AND b = '{0}'", "c BETWEEN {0} AND {0}.5", "d IN ({0}, 1)"]),
    )
    def add_alike(self, count: int, start: int, text: str) -> None:
        batch = {
            key: each for key, each in many(start, count, text).items() if key not in self.right
        }
        for keys, operands in grouped(batch.items()):
            self.statements.put_columns(keys, operands)
        self.right |= batch

    @precondition(lambda self: self.right)
    @rule(data=st.data(), subscription=subscriptions())
    def replace(self, data: Any, subscription: Subscription) -> None:
        key = data.draw(st.sampled_from(sorted(self.right)))
        self.statements.put(key, outlined(subscription))
        self.right[key] = subscription

    @precondition(lambda self: self.right)
    @rule(start=st.integers(0, 300), count=st.integers(1, 60))
    def remove(self, start: int, count: int) -> None:
        for key in range(start, start + count):
            if key in self.right:
                self.statements.remove(key)
                del self.right[key]

    @invariant()
    def holds_what_it_should(self) -> None:
        assert len(self.statements) == len(self.right)
        assert content(self.statements) == self.right
        assert dict(self.statements.items()) == self.right
        assert all(self.statements.get(key) == each for key, each in self.right.items())
        looked_at = [each.attributes() for each in self.right.values()]
        assert self.statements.attributes() == frozenset().union(*looked_at)


TestStatementsAsADictionary = StatementsAsADictionary.TestCase
TestStatementsAsADictionary.settings = settings(
    max_examples=30, stateful_step_count=20, deadline=None
)


@pytest.mark.parametrize("seed", range(40))
def test_replacing_across_outlines_while_chunks_merge(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunks so small that one replacement makes, merges and renumbers several."""
    monkeypatch.setattr("predicast.engine.statements._MOST", 12)
    monkeypatch.setattr("predicast.engine.statements._FEW", 3)
    texts = ["a = {0}", "b < {0} AND c = '{0}'", "d > {0}"]
    chosen = random.Random(seed)
    statements, right = Statements(), dict[int, Subscription]()
    for _ in range(25):
        text = chosen.choice(texts)
        if chosen.random() < 0.4 or not right:
            change = many(max(right, default=-1) + 1, chosen.choice([1, 5, 30]), text)
            put = statements.put_columns
        else:
            some = chosen.sample(sorted(right), chosen.randint(1, len(right)))
            change = {key: parse_where(text.format(chosen.randrange(99))) for key in some}
            put = statements.put_columns
        for keys, operands in grouped(change.items()):
            put(keys, operands)
        right |= change
        for key in chosen.sample(sorted(right), len(right) // 4):
            statements.remove(key)
            del right[key]
        assert content(statements) == right
        assert all(statements.get(key) == each for key, each in right.items())
        assert statements.attributes() == {n for each in right.values() for n in each.attributes()}


class Waiting:
    """Subscriptions as a file has them."""

    def __init__(self, held: dict[int, Subscription]) -> None:
        self._held = held

    def __len__(self) -> int:
        return len(self._held)

    def items(self) -> list[tuple[int, Stated]]:
        return [(key, outlined(subscription)) for key, subscription in self._held.items()]


def test_what_a_file_looks_at_is_known_before_it_is_read_and_forgotten_with_it() -> None:
    alone = {3: parse_where("a < 1 AND c = 2"), 4: parse_where("c = 5")}
    columns = grouped(many(100, 40).items())
    statements = Statements.restored(columns, Waiting(alone), frozenset({"a", "c"}), 140)
    assert statements.attributes() == {"a", "b", "c"}
    statements.put(4, outlined(parse_where("d = 5")))
    assert statements.attributes() == {"a", "b", "c", "d"}
    statements.remove(3)
    assert statements.attributes() == {"a", "b", "d"}
    statements.remove(4)
    for key in range(100, 140):
        statements.remove(key)
    assert statements.attributes() == frozenset()
