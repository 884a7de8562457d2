"""A hull holds all that its subscriptions match, points and regions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predicast.covering.merging import covering_subscription, hull_of, merged
from predicast.model import Absent, Expression, subscription_of
from predicast.testing import strategies


@given(
    st.lists(strategies.expressions(), min_size=1, max_size=4),
    st.sampled_from(["fails", "passes"]),
    st.data(),
)
def test_what_matches_one_of_them_matches_the_hull(
    expressions: list[Expression], absent: Absent, data: st.DataObject
) -> None:
    subscriptions = [subscription_of(each) for each in expressions]
    covering = covering_subscription(merged(hull_of(each, absent) for each in subscriptions))
    for subscription in subscriptions:
        event = data.draw(strategies.events_near(subscription))
        if subscription.matches(event, absent):
            assert covering.matches(event, absent)
