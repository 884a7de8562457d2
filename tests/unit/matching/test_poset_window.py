"""Shared windows: the paper's four cases, and each way in which its pseudo-code goes wrong."""

from __future__ import annotations

import pytest

from predicast.language import to_subscription
from predicast.matching.poset.poset import Poset
from predicast.matching.window import Added, Operation, Removed, Replaced, Saved
from predicast.model import Event

FILTERS = {name: to_subscription(f"{name} = 1") for name in "abcde"}
a, b, c, d, e = FILTERS.values()


def holders(poset: Poset) -> dict[str, list[int]]:
    """Who hears of which filter's event."""
    heard = {name: sorted(poset.match(Event({name: 1}))) for name in FILTERS}
    return {name: keys for name, keys in heard.items() if keys}


def run(held: dict[int, str], window: list[Operation]) -> tuple[Poset, Saved, dict[str, int]]:
    """The window on a poset; also by how much it raised the counters."""
    poset = Poset()
    for key, name in held.items():
        poset.subscribe(key, FILTERS[name])
    before = poset.statistics()
    saved = poset.run_window(window)
    poset.check()
    after = poset.statistics()
    assert saved.given == len(window) == sum(saved[1:])
    return poset, saved, {name: after[name] - before[name] for name in after}


def untouched(raised: dict[str, int]) -> bool:
    work = ("nodes_created", "nodes_removed", "edges_added", "edges_removed", "covering_tests")
    return not any(raised[name] for name in work)


def test_case_1_a_subscription_takes_the_place_of_one_that_ends() -> None:
    """Counter-example: the pseudo-code never removes the paired SUB, and runs it again."""
    poset, saved, raised = run({1: "a"}, [Added(2, a), Removed(1)])
    assert holders(poset) == {"a": [2]}
    assert saved == Saved(2, shared=2)
    assert untouched(raised)


def test_case_2_two_changes_swap_places() -> None:
    poset, saved, raised = run({1: "a", 2: "b"}, [Replaced(1, b), Replaced(2, a)])
    assert holders(poset) == {"a": [2], "b": [1]}
    assert saved == Saved(2, shared=2)
    assert untouched(raised)


def test_case_3_a_change_gives_its_place_to_a_subscription() -> None:
    """Counter-example: the pseudo-code forgets that the change still wants b."""
    poset, saved, _ = run({1: "a"}, [Replaced(1, b), Added(2, a)])
    assert holders(poset) == {"a": [2], "b": [1]}
    assert saved == Saved(2, shared=1, restructured=1)


def test_case_4_a_change_takes_the_place_of_one_that_ends() -> None:
    """Counter-example: the pseudo-code forgets that the change still leaves a."""
    poset, saved, _ = run({1: "a", 2: "b"}, [Replaced(1, b), Removed(2)])
    assert holders(poset) == {"b": [1]}
    assert saved == Saved(2, shared=1, restructured=1)


def test_a_chain_of_changes_loses_nobody() -> None:
    """Counter-example: a to b and b to c, after which the pseudo-code has lost the second."""
    poset, saved, raised = run({1: "a", 2: "b"}, [Replaced(1, b), Replaced(2, c)])
    assert holders(poset) == {"b": [1], "c": [2]}
    assert saved == Saved(2, shared=1, in_place=1)  # the node of a became that of c
    assert raised["nodes_created"] == raised["nodes_removed"] == 0


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2)])
def test_a_long_chain_in_any_order(order: tuple[int, ...]) -> None:
    window: list[Operation] = [Added(9, a), Replaced(1, b), Replaced(2, c), Removed(3)]
    poset, saved, raised = run({1: "a", 2: "b", 3: "c"}, [window[each] for each in order])
    assert holders(poset) == {"a": [9], "b": [1], "c": [2]}
    assert saved == Saved(4, shared=4)
    assert untouched(raised)


def test_a_ring_of_changes_touches_nothing() -> None:
    window: list[Operation] = [Replaced(1, b), Replaced(2, c), Replaced(3, a)]
    poset, saved, raised = run({1: "a", 2: "b", 3: "c"}, window)
    assert holders(poset) == {"a": [3], "b": [1], "c": [2]}
    assert saved == Saved(3, shared=3)
    assert untouched(raised)


def test_several_may_leave_one_node_and_each_place_is_taken_once() -> None:
    """Counter-example: one UNSUB per filter, where a multimap is needed."""
    window: list[Operation] = [Removed(1), Removed(2), Added(4, a), Added(5, a), Added(6, a)]
    poset, saved, _ = run({1: "a", 2: "a", 3: "a"}, window)
    assert holders(poset) == {"a": [3, 4, 5, 6]}
    assert saved == Saved(5, shared=4, in_place=1)


def test_more_leave_than_come() -> None:
    poset, saved, _ = run({1: "a", 2: "a"}, [Removed(1), Removed(2), Added(3, a)])
    assert holders(poset) == {"a": [3]}
    assert saved == Saved(3, shared=2, in_place=1)


def test_one_clients_operations_are_run_in_order() -> None:
    """Counter-example: U, S, U by one client, which the pseudo-code takes in any order."""
    poset, saved, _ = run({1: "a", 2: "b"}, [Removed(1), Added(1, b), Removed(1), Added(3, a)])
    assert holders(poset) == {"a": [3], "b": [2]}
    assert saved == Saved(4, collapsed=2, shared=2)


def test_what_is_subscribed_and_ends_again_pairs_with_nobody() -> None:
    poset, saved, _ = run({1: "a"}, [Added(2, a), Removed(2), Removed(1)])
    assert holders(poset) == {}
    assert saved == Saved(3, collapsed=2, restructured=1)


def test_a_change_to_the_same_filter_is_nothing_and_gives_up_nothing() -> None:
    poset, saved, _ = run({1: "a"}, [Replaced(1, a), Added(2, a)])
    assert holders(poset) == {"a": [1, 2]}
    assert saved == Saved(2, collapsed=1, in_place=1)


def test_filters_that_nothing_matches_take_no_place() -> None:
    nothing = to_subscription("FALSE")
    window: list[Operation] = [
        Replaced(1, nothing),
        Added(3, nothing),
        Replaced(2, a),
        Removed(4),
        Added(5, b),
    ]
    poset = Poset()
    for key, each in {1: a, 2: nothing, 4: nothing}.items():
        poset.subscribe(key, each)
    saved = poset.run_window(window)
    poset.check()
    assert holders(poset) == {"a": [2], "b": [5]}
    assert sum(saved[1:]) == saved.given == 5
    assert poset.statistics()["subscriptions"] == 4


def test_a_window_is_as_live_as_single_operations() -> None:
    poset, _, _ = run({1: "a", 2: "b"}, [Replaced(1, d), Replaced(2, e), Added(3, d)])
    assert holders(poset) == {"d": [1, 3], "e": [2]}
