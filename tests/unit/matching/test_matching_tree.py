"""The matching tree: shared paths, the limit on its nodes, and what is left after removal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.errors import UnsupportedByMatcherError
from predicast.language import to_subscription
from predicast.matching.matching_tree.nodes import InnerNode, Node, TreeLeaf, label_of
from predicast.matching.matching_tree.tree import MatchingTree
from predicast.model import Absent, Constraint, Event, Interval, Operator, Subscription
from predicast.testing.strategies import subscriptions
from tests.histories import take_step


def tree(*expressions: str, absent: Absent = "fails", max_nodes: int = 1_000) -> MatchingTree:
    """A tree with the expressions under the keys 0, 1, 2 and so on."""
    made = MatchingTree(absent=absent, max_nodes=max_nodes)
    for key, expression in enumerate(expressions):
        made.subscribe(key, to_subscription(expression))
    return made


def nodes(held: MatchingTree) -> int:
    return held.statistics()["nodes"]


# Sharing.


def test_the_tree_of_the_drawing() -> None:
    held = tree("a = 1", "a = 1 AND b < 5", "b < 5")
    assert nodes(held) == 6
    assert held.match(Event({"a": 1, "b": 9})) == [0]
    assert sorted(held.match(Event({"a": 1, "b": 4}))) == [0, 1, 2]
    assert held.match(Event({"a": 2, "b": 4})) == [2]


def test_equal_clauses_share_their_whole_path() -> None:
    held = tree("a = 1 AND b < 5")
    alone = nodes(held)
    held.subscribe(1, to_subscription("b < 5 AND a = 1.0"))
    assert nodes(held) == alone == 3
    assert sorted(held.match(Event({"a": 1, "b": 0}))) == [0, 1]


def test_a_shared_beginning_is_tested_once() -> None:
    held = tree("a > 1 AND a < 9", *(f"a > 1 AND a < 9 AND b = {n}" for n in range(50)))
    assert nodes(held) == 2 + 51  # a, b and the leaves
    assert sorted(held.match(Event({"a": 5, "b": 7}))) == [0, 8]
    statistics = held.statistics()
    assert statistics["candidates"] == 4  # a, b and two leaves
    assert statistics["constraints_tested"] == 4  # a look-up each, and the two bounds


def test_the_order_in_which_constraints_are_written_does_not_matter() -> None:
    held = tree("a > 1 AND a < 9", "a < 9 AND a > 1")
    assert nodes(held) == 2
    low, high = Constraint("a", Operator.GT, 1), Constraint("a", Operator.LT, 9)
    assert label_of((low, high, low)) == label_of((high, low))


def test_ranges_that_differ_share_nothing_below() -> None:
    held = tree(*(f"a > {n} AND b = 1 AND c = 1" for n in range(10)), "b = 2")
    # b and c come before a: they are tested for equality.
    assert nodes(held) == 3 + 10 + 1
    held = tree("a > 0", "b = 1", *(f"a > {n} AND b = 1" for n in range(10)))
    # Here a was seen first, so each range has a node for b, and a leaf, of its own.
    assert nodes(held) == 1 + 10 * 2 + 1 + 2


def test_kinds_are_different_edges() -> None:
    held = tree("a = 1", "a = TRUE", "a = 1.0", "a = '1'")
    assert nodes(held) == 1 + 3
    assert [sorted(held.match(Event({"a": a}))) for a in (1, True, 1.0, "1")] == [
        [0, 2],
        [1],
        [0, 2],
        [3],
    ]


# Walking.


def test_absence_follows_the_policy() -> None:
    expressions = ("a = 1", "a > 0", "a IS NULL", "a IS NOT NULL", "b = 2", "TRUE")
    assert sorted(tree(*expressions).match(Event({"b": 2}))) == [2, 4, 5]
    passing = tree(*expressions, absent="passes")
    assert sorted(passing.match(Event({"b": 2}))) == [0, 1, 2, 4, 5]


def test_regions_need_one_point_for_the_whole_label() -> None:
    held = tree("a > 3 AND a < 4", "a = 3", "a > 3 AND a < 2", "a != 3", "a = 'x'")
    assert sorted(held.match(Event({"a": Interval(0, 9)}))) == [1, 3]
    assert sorted(held.match(Event({"a": Interval(0.0, 9.0)}))) == [0, 1, 3]
    assert held.match(Event({"a": Interval(3, 3)})) == [1]


def test_a_key_is_found_once() -> None:
    assert tree("a = 1 OR b = 1 OR a > 0").match(Event({"a": 1, "b": 1})) == [0]


def test_many_attributes_make_a_long_path_but_no_deep_recursion() -> None:
    names = [f"n{i}" for i in range(3_000)]
    clause = " AND ".join(f"{name} = 1" for name in names[:50])
    held = tree(*(f"{name} = 1" for name in names), clause, max_nodes=10_000)
    assert len(held.match(Event(dict.fromkeys(names, 1)))) == 3_001
    for key in range(3_001):
        held.unsubscribe(key)
    assert nodes(held) == 0


# The limit.


def test_the_limit_is_named_and_nothing_changes() -> None:
    held = tree("a = 1 AND b = 1", max_nodes=4)
    before = held.statistics()
    with pytest.raises(UnsupportedByMatcherError, match=r"3 nodes.*4.*max_nodes") as refusal:
        held.subscribe(1, to_subscription("a = 2 AND c < 1 AND d = 1"))
    assert refusal.value.matcher == "matching-tree"
    assert held.statistics() == before
    assert held._ranks.keys() == {"a", "b"}
    held.subscribe(1, to_subscription("a = 1 AND b = 2"))
    held.subscribe(2, to_subscription("b = 2 AND a = 1"))
    assert nodes(held) == 4
    assert sorted(held.match(Event({"a": 1, "b": 2}))) == [1, 2]


def test_a_refused_change_keeps_the_old_subscription() -> None:
    held = tree("a = 1", max_nodes=3)
    with pytest.raises(UnsupportedByMatcherError):
        held.change(0, to_subscription("b = 1 AND c = 1"))
    assert held.match(Event({"a": 1})) == [0]


def test_a_change_that_was_let_in_is_made() -> None:
    # Each new clause shares the old one's nodes, which are gone when the clauses are added.
    held = tree("a = 1 AND b = 1 AND c = 1 AND d = 1", max_nodes=7)
    held.change(0, to_subscription("a = 1 AND b = 1 AND c = 1 AND d IN (2, 3) OR a = 1 AND b = 1"))
    assert held.match(Event({"a": 1, "b": 1})) == [0]
    assert nodes(held) <= 7


# Removal.


def test_removal_leaves_the_paths_of_others() -> None:
    held = tree("a = 1", "a = 1 AND b < 5", "b < 5")
    held.unsubscribe(0)
    assert nodes(held) == 5
    held.unsubscribe(2)
    assert nodes(held) == 3
    assert held.match(Event({"a": 1, "b": 0})) == [1]
    held.unsubscribe(1)
    assert nodes(held) == 0
    assert held._root.dont_care is None
    assert held._ranks == held._uses == {}


def test_a_node_left_without_labels_gives_way_to_what_is_behind_it() -> None:
    held = tree("a = 1", "b = 1", "a = 1 AND b = 1")
    held.unsubscribe(0)
    held.unsubscribe(2)
    assert nodes(held) == 2
    assert held.match(Event({"b": 1})) == [1]


def every_edge(node: Node | None) -> Iterator[tuple[bool, Node]]:
    """All nodes below, each with whether a labelled edge leads to it."""
    pending: list[tuple[bool, Node]] = [] if node is None else [(True, node)]
    while pending:
        labelled, each = pending.pop()
        yield labelled, each
        if isinstance(each, InnerNode):
            pending.extend((True, child) for _, child in each._edges())
            if each.dont_care is not None:
                pending.append((False, each.dont_care))


def check(held: MatchingTree) -> None:
    """The invariants that the module states."""
    count = 0
    for _, node in every_edge(held._root.dont_care):
        count += 1
        if isinstance(node, TreeLeaf):
            assert node.keys == sorted(node.keys)
            assert node.keys
            continue
        assert node.has_labels()
        behind = node.dont_care
        if isinstance(behind, InnerNode):
            assert held._ranks[node.attribute] < held._ranks[behind.attribute]
    assert count == nodes(held)


@given(st.lists(st.tuples(st.integers(0, 5), subscriptions() | st.none()), max_size=30))
def test_invariants_hold_while_subscriptions_come_and_go(
    steps: list[tuple[int, Subscription | None]],
) -> None:
    held = MatchingTree(max_nodes=60)
    keys: set[int] = set()
    for key, subscription in steps:
        before = nodes(held)
        try:
            take_step(held, keys, key, subscription)
        except UnsupportedByMatcherError:
            assert nodes(held) == before
        check(held)
        assert nodes(held) <= 60
        assert held._subscriptions.keys() == keys
    for key in keys:
        held.unsubscribe(key)
    assert nodes(held) == 0
