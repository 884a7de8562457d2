"""Each listener is told what others want, less what something else that it is told covers."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.covering.check import check_graph
from predicast.covering.filter import Filter
from predicast.covering.graph import CoveringGraph
from predicast.covering.interest import Interest
from predicast.covering.widening import parts
from predicast.language import parse_where
from predicast.model import Subscription

NAMES = ("a", "b", "c")
PASSES_ON = "c"  # wants nothing itself
RANGES = st.builds(
    lambda lo, width, kind: parse_where(
        (f"x BETWEEN {lo} AND {lo + width}" if width else f"x < {lo}") + kind
    ),
    st.integers(0, 6),
    st.integers(0, 4),
    st.sampled_from(["", "", " AND kind = 'k'", " AND kind = 'm'", " AND kind IN ('k', 'm')"]),
)
STEPS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 4), st.none() | RANGES, st.booleans()),
    max_size=40,
)


def expected(
    wanted: dict[tuple[str, int], Subscription], listener: str, slack: float
) -> set[Filter]:
    """The definition: all filters of others, but for those that another of them covers."""
    filters = {
        Filter(part, "fails")
        for (source, _), subscription in wanted.items()
        if source != listener
        for part in parts(subscription, 0.0 if source == PASSES_ON else slack, "fails")
    }
    return {
        each
        for each in filters
        if not any(other != each and other.covers(each) for other in filters)
    }


@pytest.mark.parametrize("slack", [0.0, 2.0])
@given(steps=STEPS)
def test_listeners_are_told_the_maxima_of_what_others_want(
    slack: float, steps: list[tuple[str, int, Subscription | None, bool]]
) -> None:
    interest = Interest(slack=slack)
    wanted: dict[tuple[str, int], Subscription] = {}
    told: dict[str, set[Filter]] = {name: set() for name in NAMES}
    for name in NAMES:
        interest.listen(name)
    for source, key, subscription, takes in [*steps, ("a", 0, None, True)]:
        if subscription is not None:
            wanted[source, key] = subscription
            interest.ask(source, str(key), subscription, passed_on=source == PASSES_ON)
        elif (source, key) in wanted:
            del wanted[source, key]
            interest.drop(source, str(key))
        if takes:
            for name in NAMES:
                news = interest.take(name)
                told[name] -= {Filter(wish.statement, "fails") for wish in news.gone}
                told[name] |= {Filter(wish.statement, "fails") for wish in news.new}
                assert told[name] == expected(wanted, name, slack)


WINDOWS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.dictionaries(st.integers(0, 9), RANGES, min_size=1)),
    max_size=8,
)


@pytest.mark.parametrize("slack", [0.0, 2.0])
@given(windows=WINDOWS)
def test_a_window_is_asked_for_like_its_parts(
    slack: float, windows: list[tuple[str, dict[int, Subscription]]]
) -> None:
    """Keys may exchange what they ask for within one, and filters cover each other there."""
    interest = Interest(slack=slack)
    wanted: dict[tuple[str, int], Subscription] = {}
    for name in NAMES:
        interest.listen(name)
    for source, window in windows:
        wanted |= {(source, key): subscription for key, subscription in window.items()}
        named = {str(key): subscription for key, subscription in window.items()}
        interest.ask_all(source, named, passed_on=source == PASSES_ON)
        for name in NAMES:
            interest.take(name)
            told = {Filter(wish.statement, "fails") for wish in interest.told(name)}
            assert told == expected(wanted, name, slack)


@pytest.mark.parametrize("seed", range(3))
def test_filters_that_come_together_are_linked_as_if_they_came_one_by_one(seed: int) -> None:
    chance = random.Random(seed)
    together, singly = CoveringGraph(), CoveringGraph()
    for size in (1, 40, 300, 7):
        new: dict[Filter, Subscription] = {}
        while len(new) < size:
            wanted = parse_where(_box(chance))
            if (made := Filter(wanted, "fails")) not in together.nodes:
                new[made] = wanted
        together.insert_all(list(new.items()))
        for each, wanted in new.items():
            singly.insert(each, wanted)
        if len(together.nodes) < 200:
            check_graph(together)
    assert not together.waiting
    assert _edges(together) == _edges(singly)
    assert {each.filter for each in together.entries} == {each.filter for each in singly.entries}


def _box(chance: random.Random) -> str:
    lo, width = chance.randrange(12), chance.randrange(1, 8)
    kind = chance.choice(["", " AND kind = 'k'", " AND kind IN ('k', 'm')", " AND y < 3"])
    return f"x BETWEEN {lo} AND {lo + width + chance.random()}{kind}"


def _edges(graph: CoveringGraph) -> set[tuple[Filter, Filter]]:
    return {
        (node.filter, below.filter) for node in graph.nodes.values() for below in node.successors
    }


@given(steps=STEPS)
def test_who_begins_to_listen_later_is_told_the_same(
    steps: list[tuple[str, int, Subscription | None, bool]],
) -> None:
    interest = Interest()
    wanted: dict[tuple[str, int], Subscription] = {}
    for source, key, subscription, _ in steps:
        if subscription is not None:
            wanted[source, key] = subscription
            interest.ask(source, str(key), subscription)
    interest.listen("b")
    news = interest.take("b")
    assert not news.gone
    assert {Filter(wish.statement, "fails") for wish in news.new} == expected(wanted, "b", 0.0)
    for name in NAMES:
        interest.drop_all(name)
    assert len(interest) == 0


def test_what_was_covered_is_told_again_when_its_cover_goes() -> None:
    interest = Interest()
    interest.listen("parent")
    interest.ask("alice", "wide", parse_where("price < 20"))
    interest.ask("bob", "narrow", parse_where("price < 10"))
    assert [wish.statement for wish in interest.take("parent").new] == [parse_where("price < 20")]
    interest.drop("alice", "wide")
    news = interest.take("parent")
    assert [wish.statement for wish in news.gone] == [parse_where("price < 20")]
    assert [wish.statement for wish in news.new] == [parse_where("price < 10")]


def test_a_change_between_the_same_lines_is_no_news() -> None:
    interest = Interest(slack=4.0)
    interest.listen("parent")
    interest.ask("radar", "area", parse_where("x BETWEEN 3 AND 11"))
    assert len(interest.take("parent").new) == 1
    interest.ask("radar", "area", parse_where("x BETWEEN 5 AND 13"))
    news = interest.take("parent")
    assert (news.gone, news.new) == ([], [])


def test_what_is_opaque_is_told_as_it_is_once_for_all_that_are_equal() -> None:
    interest = Interest()
    interest.listen("parent")
    for source in ("alice", "bob"):
        interest.ask(source, "graph", "ASK { ... }")
    assert [wish.statement for wish in interest.take("parent").new] == ["ASK { ... }"]
    interest.drop("alice", "graph")
    assert interest.take("parent") == ([], [])
    interest.drop("bob", "graph")
    assert [wish.statement for wish in interest.take("parent").gone] == ["ASK { ... }"]


def test_a_rest_is_told_as_it_is_and_hidden_only_by_what_covers_its_conditions() -> None:
    rest = " AND ".join(f"(a{n} = 1 OR b{n} = 1)" for n in range(12))
    with_rest = parse_where(f"price < 10 AND {rest}")
    assert with_rest.clauses[0].rest is not None
    interest = Interest()
    interest.listen("parent")
    interest.ask("alice", "rest", with_rest)
    interest.ask("bob", "equal", with_rest)
    assert [wish.statement for wish in interest.take("parent").new] == [with_rest]
    interest.ask("bob", "wide", parse_where("price < 20"))
    news = interest.take("parent")
    assert [wish.statement for wish in news.gone] == [with_rest]
    interest.ask("carol", "narrow", parse_where("price < 5"))
    assert interest.take("parent") == ([], [])
    interest.drop("bob", "wide")
    told = {wish.statement for wish in interest.take("parent").new}
    assert told == {with_rest, parse_where("price < 5")}, "a rest hides nothing without it"


def test_without_covering_every_subscription_is_told() -> None:
    interest = Interest(covering=False)
    interest.listen("parent")
    for key in ("one", "two"):
        interest.ask("alice", key, parse_where("price < 10"))
    assert len(interest.take("parent").new) == 2
