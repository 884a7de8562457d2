"""Explanations of random expressions agree with matching, part by part."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bench.real.where_text import expression_text
from predicast import Engine
from predicast.engine.entry import Entry
from predicast.engine.explanation import Explanation, Outcome
from predicast.engine.judging import Explainer
from predicast.errors import LimitError
from predicast.model import Absent, Expression, subscription_of
from predicast.testing import strategies
from tests.properties.test_truth import EVENTS, Condition, conditions


@given(conditions(), st.lists(EVENTS, min_size=1, max_size=5))
@settings(max_examples=200)
def test_a_text_is_true_false_or_unknown_as_three_valued_logic_says(
    condition: Condition, events: list[dict[str, Any]]
) -> None:
    text, meaning = condition
    engine = Engine(matcher="brute-force")
    try:
        engine.subscribe(text, id="s")
    except LimitError:
        return
    for event in events:
        explanation = engine.explain("s", event)
        assert explanation.outcome.held is meaning(event)
        assert explanation.matched is (meaning(event) is True)


@given(strategies.expressions(), st.sampled_from(["fails", "passes"]), st.data())
@settings(max_examples=300)
def test_the_whole_holds_where_the_subscription_matches(
    expression: Expression, absent: Absent, data: st.DataObject
) -> None:
    subscription = subscription_of(expression)
    text = expression_text(expression)
    event = data.draw(strategies.events_near(subscription))
    for entry in (Entry("s", subscription, None, text), Entry("s", subscription, None)):
        explanation = Explainer.of(entry, absent).explanation(event)
        assert explanation.matched is subscription.matches(event, absent)
        assert (explanation.outcome.held is True) is explanation.matched
        assert_consistent(explanation, is_region=event.is_region)


def assert_consistent(explanation: Explanation, *, is_region: bool) -> None:
    """What is said of a part follows from its own parts, unless a region is to blame."""
    for _, each in explanation.outcome.lines():
        held = [part.held for part in each.parts]
        if each.text == "NOT":
            assert held == [None if each.held is None else not each.held]
        elif each.text in {"AND", "OR"} and not is_region:
            assert each.held is combined(each, held)


def combined(outcome: Outcome, held: list[bool | None]) -> bool | None:
    decided = outcome.text == "OR"
    if decided in held:
        return decided
    return None if None in held else not decided
