"""The conformance suite: what it means to be a matcher, as tests.

Subclass it in a test module, name your matcher, and pytest runs the lot::

    class TestMyMatcher(MatcherConformance):
        matcher = "my-matcher"

Every answer is compared with ``definition``, the model's own definition of a match.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from predicast.errors import UnsupportedByMatcherError
from predicast.language import to_subscription
from predicast.matching import Matcher, make_matcher
from predicast.matching.batches.event_batch import EventBatch
from predicast.model import Absent, Event, Interval, Subscription
from predicast.testing.rewording import reworded
from predicast.testing.strategies import events, events_near, subscriptions

_BOTH: tuple[Absent, ...] = ("fails", "passes")
_EXPECTED = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.differing_executors,  # each subclass runs the same tests
]


def definition(
    subscriptions: Mapping[int, Subscription], event: Event, absent: Absent
) -> list[int]:
    """The right answer: the keys whose subscriptions match by definition, sorted."""
    return sorted(key for key, each in subscriptions.items() if each.matches(event, absent))


class MatcherConformance:
    """Tests that every matcher passes; ``matcher`` is its name in the registry."""

    matcher: ClassVar[str]

    def policies(self) -> list[Absent]:
        """Those that the matcher takes; a refusal must be clear."""
        taken: list[Absent] = []
        for absent in _BOTH:
            try:
                make_matcher(self.matcher, absent=absent)
            except UnsupportedByMatcherError as refusal:
                assert absent in str(refusal), "a refusal names what it refuses"
            else:
                taken.append(absent)
        assert taken, "no policy is taken"
        return taken

    def new(self, absent: Absent) -> Filled:
        """A new matcher; skips the test if the policy is refused."""
        if absent not in self.policies():
            pytest.skip(f"{self.matcher} does not take {absent!r}")
        return Filled(make_matcher(self.matcher, absent=absent), absent)

    def check(self, absent: Absent, wanted: Sequence[Subscription], some: Sequence[Event]) -> None:
        """Those of the subscriptions that are accepted are matched as defined."""
        filled = self.new(absent)
        for key, each in enumerate(wanted):
            filled.subscribe(key, each)
        filled.check(some)

    # An example takes longer to generate than to check, so it is checked under each policy.

    @settings(deadline=None, suppress_health_check=_EXPECTED)
    @given(data=st.data())
    def test_answers_as_defined(self, data: Any) -> None:
        wanted = data.draw(st.lists(subscriptions(), min_size=1, max_size=6), "subscriptions")
        wanted += [data.draw(reworded(each), "in other words") for each in wanted[:2]]
        near = st.sampled_from(wanted).flatmap(events_near)
        some = data.draw(st.lists(near, min_size=1, max_size=5), "events")
        for absent in self.policies():
            self.check(absent, wanted, some)

    @settings(deadline=None, suppress_health_check=_EXPECTED)
    @given(wanted=st.lists(subscriptions(), max_size=6), some=st.lists(events(), max_size=6))
    def test_answers_on_unrelated_events(
        self, wanted: list[Subscription], some: list[Event]
    ) -> None:
        for absent in self.policies():
            self.check(absent, wanted, some)

    @pytest.mark.parametrize("absent", _BOTH)
    @pytest.mark.parametrize(("expression", "attributes"), [
        ("TRUE", {}),
        ("FALSE", {"a": 1}),
        ("a > 0 AND b = 1", {"a": 1}),
        ("a IS NULL", {}),
        ("a IS NOT NULL", {}),
        ("a = 1 OR a = 1.0 OR b = 2", {"a": 1, "b": 2}),
        ("a = 9007199254740993", {"a": 2.0**53}),
        ("a = 9007199254740992", {"a": 2.0**53}),
        ("a = 1", {"a": True}),
        ("NOT a = 1", {"a": "1"}),
        ("a > 3 AND a < 2", {"a": Interval(0, 9)}),
        ("a > 3 AND a < 4", {"a": Interval(0, 9)}),
        ("a > 3 AND a < 4", {"a": Interval(0.0, 9.0)}),
        ("a = 5", {"a": Interval(None, 3, hi_open=True)}),
        ("a != 5", {"a": Interval(5, 5)}),
        ("a > 3 AND a > 5", {"a": 4}),
        ("startswith(a, 'ab') OR startswith(a, 'abc')", {"a": "abx"}),
    ])  # fmt: skip
    def test_edge(self, absent: Absent, expression: str, attributes: dict[str, Any]) -> None:
        self.check(absent, [to_subscription(expression)], [Event(attributes)])

    def test_a_refused_subscription_leaves_no_trace(self) -> None:
        matcher = self.new("fails").matcher
        refused = to_subscription("a RLIKE '^x' AND b NOT LIKE '%y_z' AND c IS NULL")
        plain = to_subscription("a = 1")
        matcher.subscribe(0, plain)
        before = matcher.statistics()
        if accepts(matcher, 1, refused):
            matcher.unsubscribe(1)
        else:
            assert matcher.statistics() == before
        assert matcher.match(Event({"a": 1})) == [0]

    def test_answers_as_defined_while_subscriptions_change(self) -> None:
        suite = self

        class Machine(_ChangingSubscriptions):
            def make(self) -> list[Filled]:
                return [suite.new(absent) for absent in suite.policies()]

        run_state_machine_as_test(Machine, settings=settings(deadline=None))

    def test_statistics_count(self) -> None:
        filled = self.new("fails")
        for key, expression in enumerate(["a = 1", "b > 2"]):
            filled.subscribe(key, to_subscription(expression))
        filled.matcher.match(Event({"a": 1}))
        statistics = filled.matcher.statistics()
        assert statistics["subscriptions"] == len(filled.held) == 2
        assert statistics["events"] == 1
        assert all(count >= 0 for count in statistics.values())


def accepts(matcher: Matcher, key: int, subscription: Subscription) -> bool:
    """Subscribe, or learn that the matcher cannot hold it."""
    try:
        matcher.subscribe(key, subscription)
    except UnsupportedByMatcherError as refusal:
        assert str(refusal)
        return False
    return True


@dataclass(slots=True)
class Filled:
    """A matcher and what it holds."""

    matcher: Matcher
    absent: Absent
    held: dict[int, Subscription] = field(default_factory=dict)

    def subscribe(self, key: int, subscription: Subscription) -> None:
        if accepts(self.matcher, key, subscription):
            self.held[key] = subscription

    def change(self, key: int, subscription: Subscription) -> None:
        if key not in self.held:
            return
        try:
            self.matcher.change(key, subscription)
        except UnsupportedByMatcherError:
            return
        self.held[key] = subscription

    def unsubscribe(self, key: int) -> None:
        if self.held.pop(key, None) is not None:
            self.matcher.unsubscribe(key)

    def check(self, some: Sequence[Event]) -> None:
        """All three ways of asking give the right answer."""
        right = [definition(self.held, event, self.absent) for event in some]
        assert [sorted(self.matcher.match(event)) for event in some] == right
        assert [sorted(keys) for keys in self.matcher.match_batch(some)] == right
        pairs = self.matcher.match_columns(EventBatch.from_events(some))
        assert [sorted(keys) for keys in pairs.by_event(len(some))] == right


class _ChangingSubscriptions(RuleBasedStateMachine):
    """Subscribe, change, unsubscribe and match in any order, under each policy."""

    keys = Bundle("keys")

    def make(self) -> list[Filled]:
        raise NotImplementedError

    @initialize()
    def start(self) -> None:
        self.filled = self.make()
        self.next_key = 0

    @rule(target=keys, subscription=subscriptions())
    def subscribe(self, subscription: Subscription) -> int:
        key = self.next_key
        self.next_key += 1
        for each in self.filled:
            each.subscribe(key, subscription)
        return key

    @rule(key=keys, subscription=subscriptions())
    def change(self, key: int, subscription: Subscription) -> None:
        for each in self.filled:
            each.change(key, subscription)

    @rule(key=consumes(keys))
    def unsubscribe(self, key: int) -> None:
        for each in self.filled:
            each.unsubscribe(key)

    @rule(data=st.data())
    def match(self, data: Any) -> None:
        source = events()
        if held := [one for each in self.filled for one in each.held.values()]:
            source = source | st.sampled_from(held).flatmap(events_near)
        some = data.draw(st.lists(source, min_size=1, max_size=3))
        for each in self.filled:
            each.check(some)

    @invariant()
    def counts_its_subscriptions(self) -> None:
        for each in getattr(self, "filled", []):
            assert each.matcher.statistics()["subscriptions"] == len(each.held)
