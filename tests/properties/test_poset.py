"""The poset against brute force, its invariants checked after every step."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from predicast.covering import covers
from predicast.covering.filter import Filter
from predicast.covering.index import SketchIndex
from predicast.errors import TooManyClausesError
from predicast.matching.poset.poset import Poset
from predicast.model import (
    Absent,
    Clause,
    Constraint,
    Event,
    Interval,
    LikePattern,
    Operator,
    Subscription,
)
from predicast.model.normal_form import without_rests
from predicast.model.operators import LIKE, PRESENCE
from predicast.testing.conformance import definition
from predicast.testing.rewording import reworded
from predicast.testing.strategies import events, events_near, subscriptions
from tests.deltas import delta, unasked

_POLICIES: tuple[Absent, ...] = ("fails", "passes")
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@st.composite
def boxes(draw: st.DrawFn) -> Subscription:
    """Small boxes of few numbers, which cover, equal and overlap each other all the time."""
    clauses = []
    for _ in range(1 if draw(st.integers(0, 4)) else 2):
        clause = []
        for name in draw(st.sampled_from(["a", "b", "ab", "ab", "abc", ""])):
            lo, width = draw(st.integers(0, 4)), draw(st.integers(0, 4))
            clause.append(Constraint(name, Operator.BETWEEN, (lo, lo + width)))
        clauses.append(clause)
    return Subscription.of(clauses)


_CLAUSES = 16  # with more, checking every pair takes too long
_PARTS = ("", "", "a", "b", "ab", "\0", "\U0010ffff")
_TEXT_TESTS = (
    *(Operator.PREFIX, Operator.SUFFIX, Operator.CONTAINS, Operator.GE, Operator.GT, Operator.LT),
    *(Operator.NOT_PREFIX, Operator.NOT_SUFFIX, Operator.NOT_CONTAINS, Operator.NE, Operator.LIKE),
    *(Operator.NOT_LIKE, Operator.EXISTS),
)


@st.composite
def phrases(draw: st.DrawFn) -> Subscription:
    """Tests of strings that are often the same in other words, above all on the empty string."""
    clauses = []
    for _ in range(1 if draw(st.integers(0, 4)) else 2):
        clause = []
        for name in draw(st.sampled_from(["a", "a", "aa", "ab", "b"])):
            operator = draw(st.sampled_from(_TEXT_TESTS))
            part: Any = draw(st.sampled_from(_PARTS))
            if operator in LIKE:
                around = draw(st.sampled_from(["{}", "%{}", "{}%", "%{}%", "{}%%", "_{}%"]))
                part = LikePattern(around.format(part))
            clause.append(Constraint(name, operator, None if operator in PRESENCE else part))
        clauses.append(clause)
    return Subscription.of(clauses)


def wanted() -> st.SearchStrategy[Subscription]:
    any_ = subscriptions().map(in_clauses).filter(lambda each: len(each.clauses) <= _CLAUSES)
    return boxes() | boxes() | phrases() | phrases() | any_


def in_clauses(subscription: Subscription) -> Subscription:
    """What the poset makes of it; rests are multiplied out."""
    try:
        return without_rests(subscription, "poset")
    except TooManyClausesError:
        return Subscription(tuple(Clause() for _ in range(_CLAUSES + 1)))  # not drawn, then


def like(subscription: Subscription) -> st.SearchStrategy[Subscription]:
    """What somebody has already, as it is or in other words."""
    return st.just(subscription) | reworded(subscription)


def happenings() -> st.SearchStrategy[Event]:
    number: st.SearchStrategy[Any] = st.integers(0, 8)
    region: st.SearchStrategy[Any] = st.tuples(number, number).map(
        lambda ends: Interval(min(ends), max(ends))
    )
    text = st.lists(st.sampled_from(_PARTS), max_size=3).map("".join)
    small = st.dictionaries(st.sampled_from("abc"), number | region | text, max_size=3).map(Event)
    return small | events()


class Machine(RuleBasedStateMachine):
    """Subscribe, change, unsubscribe, run windows, relink, match and ask for the roots."""

    policy: Absent

    @initialize()
    def start(self) -> None:
        self.poset = Poset(absent=self.policy)
        self.held: dict[int, Subscription] = {}
        self.next_key = 0

    @rule(subscription=wanted())
    def subscribe(self, subscription: Subscription) -> None:
        self.poset.subscribe(self.next_key, subscription)
        self.held[self.next_key] = subscription
        self.next_key += 1

    @precondition(lambda self: self.held)
    @rule(data=st.data(), subscription=wanted())
    def change(self, data: Any, subscription: Subscription) -> None:
        key = data.draw(st.sampled_from(sorted(self.held)), "key")
        self.poset.change(key, subscription)
        self.held[key] = subscription

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def change_to_what_another_has(self, data: Any) -> None:
        key, other = (data.draw(st.sampled_from(sorted(self.held)), "key") for _ in range(2))
        subscription = data.draw(like(self.held[other]), "subscription")
        self.poset.change(key, subscription)
        self.held[key] = subscription

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def unsubscribe(self, data: Any) -> None:
        key = data.draw(st.sampled_from(sorted(self.held)), "key")
        self.poset.unsubscribe(key)
        del self.held[key]

    @rule(data=st.data())
    def window(self, data: Any) -> None:
        before = dict(self.held)
        for _ in range(data.draw(st.integers(0, 8), "operations")):
            self._operate(data, before)
        added = {key: each for key, each in self.held.items() if key not in before}
        changed = {
            key: each
            for key, each in self.held.items()
            if key in before and (before[key] is not each or data.draw(st.booleans(), "idle"))
        }
        removed = [key for key in before if key not in self.held]
        effect = self.poset.apply(delta(added=added, changed=changed, removed=removed), unasked)
        assert sum(effect) <= len(added) + len(changed) + len(removed)
        assert min(effect) >= 0

    def _operate(self, data: Any, before: dict[int, Subscription]) -> None:
        """A random operation, also of what others in the window had before or have now."""
        pool = [*before.values(), *self.held.values()]
        subscription = data.draw(
            st.sampled_from(pool).flatmap(like) | wanted() if pool else wanted(), "subscription"
        )
        gone = sorted(before.keys() - self.held.keys())
        choices = ["add", *(["remove", "replace", "replace"] if self.held else [])]
        choice = data.draw(st.sampled_from(choices + (["again"] if gone else [])), "operation")
        if choice in {"add", "again"}:
            key = self.next_key if choice == "add" else data.draw(st.sampled_from(gone))
            self.next_key += choice == "add"
            self.held[key] = subscription
            return
        key = data.draw(st.sampled_from(sorted(self.held)), "key")
        if choice == "remove":
            del self.held[key]
        else:
            self.held[key] = subscription

    @rule(budget=st.integers(0, 3))
    def relink(self, budget: int) -> None:
        assert self.poset.relink(budget) <= budget

    @rule()
    def relink_all(self) -> None:
        self.poset.relink(10**6)
        statistics = self.poset.statistics()
        assert statistics["waiting"] == 0
        assert statistics["subscriptions"] == len(self.held)
        self.poset.check()  # with nobody waiting: exactly the transitive reduction

    @rule(data=st.data())
    def match(self, data: Any) -> None:
        source = happenings()
        if self.held:
            source = source | st.sampled_from(list(self.held.values())).flatmap(events_near)
        for event in data.draw(st.lists(source, min_size=1, max_size=4), "events"):
            found = self.poset.match(event)
            assert sorted(found) == definition(self.held, event, self.policy)

    @rule()
    def roots_are_the_maxima(self) -> None:
        satisfiable = {
            key: each
            for key, each in self.held.items()
            if not covers(Subscription(()), each, absent=self.policy)
        }
        maximal = {
            key
            for key, each in satisfiable.items()
            if all(
                covers(each, other, absent=self.policy)
                for other in satisfiable.values()
                if covers(other, each, absent=self.policy)
            )
        }
        roots = self.poset.roots()
        assert {key for root in roots for key in root.subscribers} == maximal
        for root in roots:
            for key in root.subscribers:
                assert covers(root.subscription, self.held[key], absent=self.policy)
                assert covers(self.held[key], root.subscription, absent=self.policy)

    @invariant()
    def holds_together(self) -> None:
        if hasattr(self, "poset"):
            self.poset.check()


@pytest.mark.parametrize("absent", _POLICIES)
def test_answers_as_brute_force_through_changes_and_windows(absent: Absent) -> None:
    class ForPolicy(Machine):
        policy = absent

    run_state_machine_as_test(
        ForPolicy,
        settings=settings(deadline=None, stateful_step_count=40, suppress_health_check=_SLOW),
    )


@pytest.mark.parametrize("absent", _POLICIES)
@settings(deadline=None, suppress_health_check=_SLOW)
@given(one=wanted(), other=wanted())
def test_filters_cover_as_subscriptions_do(
    absent: Absent, one: Subscription, other: Subscription
) -> None:
    first, second = Filter(one, absent), Filter(other, absent)
    forth, back = covers(one, other, absent=absent), covers(other, one, absent=absent)
    assert first.covers(second) == forth
    assert second.covers(first) == back
    assert (first == second) == (forth and back)
    assert (first != second) or hash(first) == hash(second)


@pytest.mark.parametrize("absent", _POLICIES)
@settings(deadline=None, suppress_health_check=_SLOW)
@given(data=st.data(), subscription=wanted())
def test_a_filter_matches_as_its_subscription(
    absent: Absent, data: Any, subscription: Subscription
) -> None:
    event = data.draw(events_near(subscription) | happenings())
    assert Filter(subscription, absent).matches(event) == subscription.matches(event, absent)


@pytest.mark.parametrize("absent", _POLICIES)
@settings(deadline=None, suppress_health_check=_SLOW)
@given(one=wanted(), other=wanted())
def test_the_index_loses_no_covering(
    absent: Absent, one: Subscription, other: Subscription
) -> None:
    outer, inner = Filter(one, absent), Filter(other, absent)
    if outer.is_never() or inner.is_never() or not outer.covers(inner):
        return
    index = SketchIndex()
    sketches = [index.sketch(outer), index.sketch(inner)]
    # So many that no question stops early because few rows are left.
    rows = [[index.add(sketch) for sketch in sketches] for _ in range(8)]
    assert {row for row, _ in rows} <= set(index.may_cover(sketches[1]))
    assert {row for _, row in rows} <= set(index.may_be_covered(sketches[0]))


@pytest.mark.parametrize("absent", _POLICIES)
@settings(deadline=None, suppress_health_check=_SLOW)
@given(data=st.data(), subscription=wanted(), others=st.lists(wanted(), max_size=3))
def test_the_index_loses_no_match(
    absent: Absent, data: Any, subscription: Subscription, others: list[Subscription]
) -> None:
    event = data.draw(events_near(subscription) | happenings())
    index = SketchIndex()
    filters = [Filter(each, absent) for each in (subscription, *others)]
    numbers = {index.add(index.sketch(each)): each for each in filters if not each.is_never()}
    matched = {number for number, each in numbers.items() if each.matches(event)}
    assert matched <= set(index.may_match(event))


@pytest.mark.parametrize("absent", _POLICIES)
@settings(deadline=None, suppress_health_check=_SLOW)
@given(data=st.data(), subscription=wanted())
def test_the_same_in_other_words_is_the_same_filter(
    absent: Absent, data: Any, subscription: Subscription
) -> None:
    other = data.draw(reworded(subscription), "in other words")
    assert Filter(other, absent) == Filter(subscription, absent)
