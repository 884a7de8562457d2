"""A widened subscription covers the one it was made of, and is no wider than its slack."""

from __future__ import annotations

from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from predicast.covering.filter import Filter
from predicast.covering.widening import parts, widened
from predicast.language import parse_where
from predicast.model import Absent, Event, Operator, Subscription
from predicast.testing import strategies

SLACKS = st.sampled_from([0.0, 2**-40, 0.1, 0.5, 1.0, 10.0, 1e300, float("inf")])


@given(strategies.subscriptions(), SLACKS, st.sampled_from(["fails", "passes"]), st.data())
def test_what_matches_it_matches_what_it_was_widened_to(
    subscription: Subscription, slack: float, absent: Absent, data: st.DataObject
) -> None:
    wide = widened(subscription, slack, absent)
    assert Filter(wide, absent).covers(Filter(subscription, absent))
    event = data.draw(strategies.events_near(subscription))
    if subscription.matches(event, absent):
        assert wide.matches(event, absent)


@given(st.integers(-1000, 1000), st.integers(1, 100), st.sampled_from([0.25, 1.0, 4.0]))
def test_an_end_moves_by_less_than_the_slack(lo: int, width: int, slack: float) -> None:
    hi = lo + width
    (clause,) = widened(parse_where(f"x BETWEEN {lo} AND {hi}"), slack, "fails").clauses
    (constraint,) = clause.constraints
    assert constraint.operator is Operator.BETWEEN
    least, greatest = cast("tuple[int, int]", constraint.operand)
    assert lo - slack * width < least <= lo
    assert hi <= greatest < hi + slack * width


def test_ranges_between_the_same_lines_become_one() -> None:
    near = {
        widened(parse_where(f"x BETWEEN {lo} AND {lo + 10}"), 10.0, "fails") for lo in range(1, 54)
    }
    assert near == {parse_where("x BETWEEN 0 AND 64")}
    beyond = widened(parse_where("x BETWEEN 55 AND 65"), 10.0, "fails")
    assert beyond == parse_where("x BETWEEN 0 AND 128")


@given(st.integers(1, 10**6), st.sampled_from([0.25, 1.0, 4.0]), st.booleans())
def test_a_single_end_moves_by_less_than_the_slack_of_its_distance_from_zero(
    end: int, slack: float, is_upper: bool
) -> None:
    for signed in (end, -end):
        text = f"x < {signed}" if is_upper else f"x > {signed}"
        (clause,) = widened(parse_where(text), slack, "fails").clauses
        (constraint,) = clause.constraints
        moved = cast("int", constraint.operand) - signed
        assert 0 <= (moved if is_upper else -moved) < max(slack * end, 1)


def test_single_ends_between_the_same_lines_become_one() -> None:
    near = {widened(parse_where(f"x < {end}"), 0.5, "fails") for end in range(65, 97)}
    assert near == {parse_where("x <= 96")}


def test_what_is_no_range_stays_as_it_is() -> None:
    for text in ("symbol = 'IBM'", "x < 0", "x IN (1, 100)", "note LIKE 'a%b'", "x = 3", "n > 'b'"):
        assert widened(parse_where(text), 1.0, "fails") == parse_where(text)


@given(
    strategies.subscriptions(),
    SLACKS,
    st.sampled_from(["fails", "passes"]),
    st.data(),
)
def test_what_matches_it_matches_one_of_its_parts(
    subscription: Subscription, slack: float, absent: Absent, data: st.DataObject
) -> None:
    event = data.draw(strategies.events_near(subscription))
    matches = [each.matches(event, absent) for each in parts(subscription, slack, absent)]
    if subscription.matches(event, absent):
        assert any(matches)
    if slack < 1 and not widened(subscription, slack, absent).matches(event, absent):
        assert not any(matches)  # to be taken apart lets nothing more through


def test_sets_and_alternatives_are_told_one_by_one() -> None:
    wanted = parse_where("(symbol IN ('A', 'B') AND kind IN ('k', 'l')) OR x = 1")
    texts = ["symbol = 'A' AND kind = 'k'", "symbol = 'A' AND kind = 'l'"]
    texts += ["symbol = 'B' AND kind = 'k'", "symbol = 'B' AND kind = 'l'", "x = 1"]
    assert set(parts(wanted, 1.0, "fails")) == set(map(parse_where, texts))
    many = parse_where(f"x IN ({', '.join(map(str, range(9)))})")
    assert parts(many, 1.0, "fails") == [many]
    assert parts(wanted, 0.0, "fails") == [wanted]
    assert parts(wanted, 0.5, "fails") == [wanted]


def test_infinite_slack_leaves_conditions_out_but_what_never_matches_stays_so() -> None:
    infinite = float("inf")
    assert widened(parse_where("x < 1 AND y = 'a'"), infinite, "fails").matches(Event({}))
    assert not widened(Subscription(()), infinite, "fails").matches(Event({}))
