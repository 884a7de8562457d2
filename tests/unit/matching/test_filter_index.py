"""The Filter Index: the digest's counter-examples by name, its structure, and what it refuses."""

from __future__ import annotations

import random

import pytest

from predicast.errors import TooManyClausesError
from predicast.language import to_subscription
from predicast.matching import make_matcher
from predicast.matching.filter_index import FilterIndex
from predicast.model import Event, Interval
from predicast.testing.conformance import definition


def cells(*sets: set[int]) -> FilterIndex:
    """An index of sets of cells; the key of each is its place."""
    index = FilterIndex()
    for key, each in enumerate(sets):
        index.subscribe(key, to_subscription(f"cell IN ({', '.join(map(str, sorted(each)))})"))
    index.check()
    return index


def test_all_superlinks_are_followed() -> None:
    index = cells({1}, {1, 2}, {1, 3}, {1, 2, 3})
    assert sorted(index.match(Event({"cell": 1}))) == [0, 1, 2, 3]
    statistics = index.statistics()
    assert (statistics["candidates"], statistics["untested"]) == (1, 3)  # {1} answers for all


def test_the_way_down_does_not_stop_at_what_the_way_up_has_marked() -> None:
    """{1}, {2}, {2,3}, {1,2,3} and an event in 1 and 3: what is in cell n has n as an attribute."""
    index = FilterIndex()
    for key, each in enumerate([{1}, {2}, {2, 3}, {1, 2, 3}]):
        index.subscribe(key, to_subscription(" OR ".join(f"cell{n} = 1" for n in sorted(each))))
    index.check()
    assert sorted(index.match(Event({"cell1": 1, "cell3": 1}))) == [0, 2, 3]
    assert index.tops() == [frozenset({3})]
    assert set(index.bottoms()) == {frozenset({0}), frozenset({1})}


def test_intervals_of_cells_meet_sets_of_cells() -> None:
    index = cells({1}, {2}, {2, 5}, {1, 2, 5}, {3, 9})
    assert sorted(index.match(Event({"cell": Interval(3, 6)}))) == [2, 3, 4]
    assert sorted(index.match(Event({"cell": Interval(4, 8)}))) == [2, 3]
    assert index.match(Event({"cell": Interval(6, 8)})) == []  # inside the hull of {3, 9} alone


def test_equal_regions_are_one_node() -> None:
    index = cells({1, 2}, {2, 1})
    index.subscribe(2, to_subscription("cell = 1 OR cell = 2"))
    assert index.statistics()["nodes"] == 1
    assert index.tops() == index.bottoms() == [frozenset({0, 1, 2})]
    index.unsubscribe(1)
    assert sorted(index.match(Event({"cell": 2}))) == [0, 2]
    index.unsubscribe(0)
    index.unsubscribe(2)
    assert index.statistics()["nodes"] == 0


def test_tops_and_bottoms_move_as_regions_come_and_go() -> None:
    index = cells({1, 2, 3}, {1})
    assert (index.tops(), index.bottoms()) == ([frozenset({0})], [frozenset({1})])
    index.change(1, to_subscription("cell IN (1, 2, 3, 4)"))
    index.check()
    assert (index.tops(), index.bottoms()) == ([frozenset({1})], [frozenset({0})])
    index.unsubscribe(1)
    assert index.tops() == index.bottoms() == [frozenset({0})]


def test_a_change_to_what_it_was_changes_nothing() -> None:
    index = cells({1, 2})
    index.change(0, to_subscription("cell IN (2, 1)"))
    assert index.statistics()["nodes_created"] == 1


def test_what_multiplies_out_too_far_is_refused_by_name() -> None:
    index = cells({1})
    text = " AND ".join(f"(a{n} = 1 OR b{n} = 1)" for n in range(12))
    with pytest.raises(TooManyClausesError, match="filter-index"):
        index.subscribe(1, to_subscription(text))
    assert index.match(Event({"cell": 1})) == [0]
    assert index.statistics()["subscriptions"] == 1


def test_areas_of_interest_that_come_move_and_go() -> None:
    """Enough to fill many blocks of the index, with moves, against the definition."""
    chance = random.Random(14)

    def area(widest: int) -> dict[str, Interval]:
        sides = {name: (chance.randrange(400), chance.randrange(widest)) for name in "xy"}
        return {name: Interval(lo, lo + width) for name, (lo, width) in sides.items()}

    def subscription() -> str:
        return " AND ".join(
            f"{name} BETWEEN {each.lo} AND {each.hi}" for name, each in area(60).items()
        )

    index = make_matcher("filter-index")
    assert isinstance(index, FilterIndex)
    held = {}
    for key in range(900):
        held[key] = to_subscription(subscription())
        index.subscribe(key, held[key])
        if key % 3 == 0:
            moved = chance.choice(list(held))
            held[moved] = to_subscription(subscription())
            index.change(moved, held[moved])
        if key % 4 == 0:
            gone = chance.choice(list(held))
            del held[gone]
            index.unsubscribe(gone)
    for _ in range(20):
        event = Event(area(30))
        assert sorted(index.match(event)) == definition(held, event, "fails")
    index.check()
