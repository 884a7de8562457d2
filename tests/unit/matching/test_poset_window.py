"""Shared windows: the paper's four cases, and each way in which its pseudo-code goes wrong."""

from __future__ import annotations

from predicast.language import to_subscription
from predicast.matching.delta import Delta, Effect
from predicast.matching.poset.poset import Poset
from predicast.model import Event
from tests.deltas import delta, unasked

FILTERS = {name: to_subscription(f"{name} = 1") for name in "abcde"}
a, b, c, d, e = FILTERS.values()


def holders(poset: Poset) -> dict[str, list[int]]:
    """Who hears of which filter's event."""
    heard = {name: sorted(poset.match(Event({name: 1}))) for name in FILTERS}
    return {name: keys for name, keys in heard.items() if keys}


def run(held: dict[int, str], window: Delta) -> tuple[Poset, Effect, dict[str, int]]:
    """The window on a poset; also by how much it raised the counters."""
    poset = Poset()
    for key, name in held.items():
        poset.subscribe(key, FILTERS[name])
    before = poset.statistics()
    effect = poset.apply(window, unasked)
    poset.check()
    after = poset.statistics()
    return poset, effect, {name: after[name] - before[name] for name in after}


def untouched(raised: dict[str, int]) -> bool:
    work = ("nodes_created", "nodes_removed", "edges_added", "edges_removed", "covering_tests")
    return not any(raised[name] for name in work)


def test_case_1_a_subscription_takes_the_place_of_one_that_ends() -> None:
    """Counter-example: the pseudo-code never removes the paired SUB, and runs it again."""
    poset, effect, raised = run({1: "a"}, delta(added={2: a}, removed=[1]))
    assert holders(poset) == {"a": [2]}
    assert effect == Effect(shared=2)
    assert untouched(raised)


def test_case_2_two_changes_swap_places() -> None:
    poset, effect, raised = run({1: "a", 2: "b"}, delta(changed={1: b, 2: a}))
    assert holders(poset) == {"a": [2], "b": [1]}
    assert effect == Effect(shared=2)
    assert untouched(raised)


def test_case_3_a_change_gives_its_place_to_a_subscription() -> None:
    """Counter-example: the pseudo-code forgets that the change still wants b."""
    poset, effect, _ = run({1: "a"}, delta(added={2: a}, changed={1: b}))
    assert holders(poset) == {"a": [2], "b": [1]}
    assert effect == Effect(shared=1, restructured=1)


def test_case_4_a_change_takes_the_place_of_one_that_ends() -> None:
    """Counter-example: the pseudo-code forgets that the change still leaves a."""
    poset, effect, _ = run({1: "a", 2: "b"}, delta(changed={1: b}, removed=[2]))
    assert holders(poset) == {"b": [1]}
    assert effect == Effect(shared=1, restructured=1)


def test_a_chain_of_changes_loses_nobody() -> None:
    """Counter-example: a to b and b to c, after which the pseudo-code has lost the second."""
    poset, effect, raised = run({1: "a", 2: "b"}, delta(changed={1: b, 2: c}))
    assert holders(poset) == {"b": [1], "c": [2]}
    assert effect == Effect(shared=1, in_place=1)  # the node of a became that of c
    assert raised["nodes_created"] == raised["nodes_removed"] == 0


def test_a_long_chain() -> None:
    window = delta(added={9: a}, changed={1: b, 2: c}, removed=[3])
    poset, effect, raised = run({1: "a", 2: "b", 3: "c"}, window)
    assert holders(poset) == {"a": [9], "b": [1], "c": [2]}
    assert effect == Effect(shared=4)
    assert untouched(raised)


def test_a_ring_of_changes_touches_nothing() -> None:
    window = delta(changed={1: b, 2: c, 3: a})
    poset, effect, raised = run({1: "a", 2: "b", 3: "c"}, window)
    assert holders(poset) == {"a": [3], "b": [1], "c": [2]}
    assert effect == Effect(shared=3)
    assert untouched(raised)


def test_several_may_leave_one_node_and_each_place_is_taken_once() -> None:
    """Counter-example: one UNSUB per filter, where a multimap is needed."""
    window = delta(added={4: a, 5: a, 6: a}, removed=[1, 2])
    poset, effect, _ = run({1: "a", 2: "a", 3: "a"}, window)
    assert holders(poset) == {"a": [3, 4, 5, 6]}
    assert effect == Effect(shared=4, in_place=1)


def test_more_leave_than_come() -> None:
    poset, effect, _ = run({1: "a", 2: "a"}, delta(added={3: a}, removed=[1, 2]))
    assert holders(poset) == {"a": [3]}
    assert effect == Effect(shared=2, in_place=1)


def test_a_change_to_the_same_filter_is_nothing_and_gives_up_nothing() -> None:
    poset, effect, _ = run({1: "a"}, delta(added={2: a}, changed={1: a}))
    assert holders(poset) == {"a": [1, 2]}
    assert effect == Effect(in_place=1)


def test_filters_that_nothing_matches_take_no_place() -> None:
    nothing = to_subscription("FALSE")
    window = delta(added={3: nothing, 5: b}, changed={1: nothing, 2: a}, removed=[4])
    poset = Poset()
    for key, each in {1: a, 2: nothing, 4: nothing}.items():
        poset.subscribe(key, each)
    effect = poset.apply(window, unasked)
    poset.check()
    assert holders(poset) == {"a": [2], "b": [5]}
    assert sum(effect) == 5
    assert poset.statistics()["subscriptions"] == 4


def test_a_window_is_as_live_as_single_operations() -> None:
    poset, _, _ = run({1: "a", 2: "b"}, delta(added={3: d}, changed={1: d, 2: e}))
    assert holders(poset) == {"d": [1, 3], "e": [2]}
