"""The poset: its shape, its changes in place, and the paper's counter-examples by name."""

from __future__ import annotations

import pytest

from predicast.language import to_subscription
from predicast.matching.poset import poset as poset_module
from predicast.matching.poset.poset import Poset
from predicast.model import Absent, Event, Subscription
from tests.deltas import delta, unasked


def below(number: float) -> Subscription:
    return to_subscription(f"price < {number}")


def poset_of(*texts: str, absent: Absent = "fails") -> Poset:
    poset = Poset(absent=absent)
    for key, text in enumerate(texts):
        poset.subscribe(key, to_subscription(text))
    poset.check()
    return poset


def roots(poset: Poset) -> list[set[int]]:
    return sorted((set(root.subscribers) for root in poset.roots()), key=sorted)


@pytest.fixture
def never_relinks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poset_module, "OPERATIONS_PER_RELINK", 10**9)


def test_equal_filters_are_one_node_however_they_are_written() -> None:
    poset = poset_of(
        "x BETWEEN 3 AND 5",
        "x >= 3 AND x <= 5.0",
        "x <= 5 AND x > 2 AND x >= 3 AND x < 9",
        "x BETWEEN 3 AND 5 OR x = 4",
        "x BETWEEN 3 AND 5 OR (x > 7 AND x < 6)",
    )
    assert poset.statistics()["nodes"] == 1
    assert poset.statistics()["merged"] == 4
    assert roots(poset) == [{0, 1, 2, 3, 4}]


def test_string_tests_that_say_nothing_new_do_not_tell_filters_apart() -> None:
    poset = poset_of(
        "contains(s, 'ab') AND endswith(s, 'c')",
        "endswith(s, 'c') AND contains(s, 'ab')",
        "contains(s, 'ab') AND contains(s, 'a') AND endswith(s, 'c')",
    )
    assert poset.statistics()["nodes"] == 1


@pytest.mark.parametrize(
    "texts",
    [
        ("startswith(s, '')", "contains(s, '')"),
        ("s LIKE '%' AND x = 1", "s >= '' AND x = 1"),
        ("endswith(s, '')", "s LIKE '%%'", "NOT s < ''", "s LIKE '%' AND s >= ''"),
        ("startswith(s, '\U0010ffff')", "s >= '\U0010ffff'", "s LIKE '\U0010ffff%'"),
        ("s LIKE '%' OR x = 1", "x = 1 OR contains(s, '') OR s = 'a'"),
    ],
)
@pytest.mark.parametrize("absent", ["fails", "passes"])
def test_filters_that_cover_each_other_are_one_node(texts: tuple[str, ...], absent: Absent) -> None:
    event = Event({"s": "\U0010ffffabc", "x": 1})
    poset = poset_of(*texts, absent=absent)
    assert poset.statistics()["nodes"] == 1
    assert sorted(poset.match(event)) == [*range(len(texts))]
    # The same by way of changes, and by way of a window.
    changed = poset_of(*(f"price < {key}" for key in range(len(texts))), absent=absent)
    windowed = poset_of(*(f"price < {key}" for key in range(len(texts))), absent=absent)
    for key, text in enumerate(texts):
        changed.change(key, to_subscription(text))
    windowed.apply(delta(changed={key: to_subscription(t) for key, t in enumerate(texts)}), unasked)
    for each in (changed, windowed):
        each.relink(10)
        each.check()
        assert each.statistics()["nodes"] == 1
        assert sorted(each.match(event)) == [*range(len(texts))]


def test_a_node_that_fails_prunes_what_it_covers() -> None:
    poset = poset_of("price < 20", "price < 10", "price < 5", "volume > 3")
    assert poset.statistics()["edges"] == 2
    assert poset.match(Event({"price": 30, "volume": 1})) == []
    assert poset.statistics()["candidates"] == 2
    assert sorted(poset.match(Event({"price": 7}))) == [0, 1]


def test_edges_lead_to_the_next_covered_only() -> None:
    poset = poset_of("price < 5", "price < 20")
    poset.subscribe(2, below(10))
    statistics = poset.statistics()
    assert statistics["edges"] == 2
    poset.unsubscribe(2)
    poset.check()
    assert poset.statistics()["edges"] == 1


def test_what_no_event_matches_is_held_apart() -> None:
    poset = poset_of("x > 3 AND x < 2", "FALSE", "x > 3")
    assert poset.statistics()["nodes"] == 1
    assert poset.statistics()["subscriptions"] == 3
    poset.change(0, below(3))
    poset.change(2, to_subscription("FALSE"))
    poset.unsubscribe(1)
    poset.check()
    assert poset.match(Event({"x": 4, "price": 1})) == [0]


def test_absence_decides_what_covers_what() -> None:
    texts = "x > 3", "x > 3 AND x IS NOT NULL"
    assert poset_of(*texts).statistics()["nodes"] == 1
    passes = poset_of(*texts, absent="passes")
    assert roots(passes) == [{0}]
    assert passes.match(Event({})) == [0]


def test_a_change_that_the_neighbours_allow_is_made_in_place() -> None:
    """Figure 2 of the paper: price < 10 becomes price <= 20, above price < 5."""
    poset = poset_of("price < 10", "price < 5")
    before = poset.statistics()
    poset.change(0, to_subscription("price <= 20"))
    poset.check()
    after = poset.statistics()
    assert after["in_place"] == 1
    assert after["edges_added"] == before["edges_added"]
    assert after["nodes_created"] == before["nodes_created"]
    assert poset.match(Event({"price": 20})) == [0]


def test_a_change_that_breaks_an_edge_cuts_that_edge_only() -> None:
    poset = poset_of("price < 20", "price < 10", "price < 5", "price < 10 AND volume > 3")
    poset.change(1, below(7))
    poset.check()
    assert poset.statistics()["restructured"] == 1
    assert poset.statistics()["nodes_created"] == 4
    assert sorted(poset.match(Event({"price": 6, "volume": 4}))) == [0, 1, 3]
    assert sorted(poset.match(Event({"price": 8, "volume": 4}))) == [0, 3]


def test_a_subscriber_among_others_moves_out() -> None:
    poset = poset_of("price < 10", "price < 10")
    poset.change(1, below(20))
    poset.check()
    assert poset.statistics()["nodes"] == 2
    assert poset.match(Event({"price": 15})) == [1]
    assert sorted(poset.match(Event({"price": 5}))) == [0, 1]


def test_a_change_into_anothers_filter_merges_the_nodes() -> None:
    """Counter-example: the paper overwrites, and two nodes have one filter."""
    poset = poset_of("price < 10", "price < 5")
    poset.change(0, below(5))
    poset.check()
    assert poset.statistics()["nodes"] == 1
    poset.unsubscribe(1)
    poset.check()
    assert poset.match(Event({"price": 4})) == [0]


def test_a_change_to_the_same_filter_does_nothing() -> None:
    poset = poset_of("price < 10")
    poset.change(0, to_subscription("price < 10.0"))
    statistics = poset.statistics()
    assert statistics["in_place"] == statistics["restructured"] == statistics["waiting"] == 0


@pytest.mark.usefixtures("never_relinks")
def test_roots_are_the_maxima_after_changes_in_place() -> None:
    """Counter-example: in-place changes alone leave roots that others cover."""
    poset = poset_of("price < 10", "volume < 10", "volume < 20")
    poset.change(0, to_subscription("volume < 30"))  # covers the others, without an edge
    poset.check()
    assert poset.statistics()["entries"] == 2
    assert roots(poset) == [{0}]
    poset.check()


@pytest.mark.usefixtures("never_relinks")
def test_roots_are_the_maxima_after_a_change_below_another() -> None:
    poset = poset_of("price < 10", "volume < 10")
    poset.change(0, to_subscription("volume < 5"))
    assert poset.statistics()["entries"] == 2
    assert roots(poset) == [{1}]


@pytest.mark.usefixtures("never_relinks")
def test_relinking_is_bounded_and_shows_what_waits() -> None:
    poset = poset_of(*(f"a{number} = 1" for number in range(6)))
    for number in range(6):
        poset.change(number, below(number))
    assert poset.statistics()["waiting"] == 6
    assert poset.statistics()["edges"] == 0
    assert poset.relink(4) == 4
    poset.check()
    assert poset.statistics()["waiting"] == 2
    assert poset.relink(100) == 2
    poset.check()
    assert poset.statistics()["edges"] == 5
    assert poset.statistics()["relinked"] == 6


def test_operations_relink_now_and_then() -> None:
    poset = poset_of("price < 1", "price < 2")
    for number in range(poset_module.OPERATIONS_PER_RELINK):
        poset.change(0, below(3 + number))
    assert poset.statistics()["relinked"] == 1


def test_removing_a_node_whose_place_is_uncertain_keeps_paths() -> None:
    poset = poset_of("a < 9 AND b < 9", "a < 5 AND b < 5", "a < 2 AND b < 2", "a < 1 AND b < 1")
    poset.change(1, to_subscription("a < 3 AND b < 6"))
    poset.change(2, to_subscription("a < 4 AND b < 2"))
    poset.check()
    poset.unsubscribe(1)
    poset.check()
    poset.relink(100)
    poset.check()
    assert roots(poset) == [{0}]


class Watching(Poset):
    """Asks, at every step into and out of nodes, who would hear of an event right now."""

    event = Event({"price": 3})

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[list[int]] = []

    def _join(self, *arguments: object) -> bool:
        changed = super()._join(*arguments)  # type: ignore[arg-type]
        self.heard.append(self.match(self.event))
        return changed

    def _leave(self, *arguments: object) -> bool:
        self.heard.append(self.match(self.event))
        return super()._leave(*arguments)  # type: ignore[arg-type]


def test_no_gap_opens_when_a_subscriber_moves() -> None:
    """Counter-example: unsubscribe, then subscribe, loses the events in between."""
    poset = Watching()
    poset.subscribe(0, below(10))
    poset.subscribe(1, below(10))
    poset.subscribe(2, below(5))
    poset.heard.clear()
    poset.change(1, below(20))  # a new node
    poset.change(1, below(5))  # a node that there is
    assert len(poset.heard) == 4
    assert all(1 in keys for keys in poset.heard)


def test_a_deep_chain_needs_no_deep_stack() -> None:
    depth = 1_500  # more calls than Python nests
    poset = Poset()
    for number in range(depth):
        poset.subscribe(number, below(number))
    statistics = poset.statistics()
    assert (statistics["edges"], statistics["entries"]) == (depth - 1, 1)
    assert len(poset.match(Event({"price": -1}))) == depth
    assert poset.match(Event({"price": depth - 1.5})) == [depth - 1]
    for number in range(1, depth, 2):
        poset.unsubscribe(number)
    assert poset.statistics()["edges"] == depth // 2 - 1
    assert roots(poset) == [{depth - 2}]


def test_a_wide_antichain_costs_few_covering_tests() -> None:
    width = 3_000
    poset = Poset()
    for number in range(width):
        poset.subscribe(number, to_subscription(f"x BETWEEN {2 * number} AND {2 * number + 1}"))
    statistics = poset.statistics()
    assert (statistics["edges"], statistics["entries"]) == (0, width)
    assert statistics["covering_tests"] < 10 * width
    assert poset.match(Event({"x": 2_000})) == [1_000]
    poset.subscribe(width, to_subscription("x >= 0"))
    assert poset.statistics()["entries"] == 1
    poset.unsubscribe(width)
    assert poset.statistics()["entries"] == width


def test_attributes_beyond_those_with_hulls_lose_no_covering() -> None:
    poset = Poset()
    for number in range(130):
        poset.subscribe(number, to_subscription(f"a{number} < 5"))
        poset.subscribe(1_000 + number, to_subscription(f"a{number} < 3 AND b = 1"))
    for number in range(130):  # each to where another was, past attributes that share a bit
        poset.change(number, to_subscription(f"a{(number + 62) % 130} < 4"))
    poset.relink(1_000)
    poset.check()
    assert poset.statistics()["entries"] == 130
