"""What lint claims of subscriptions, against what events match them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predicast import Engine
from predicast.covering import redundancy
from predicast.covering.filter import Filter
from predicast.covering.redundancy import coverers
from predicast.language import to_subscription
from predicast.model import Absent, Event, Subscription
from predicast.testing.strategies import events, events_near, subscriptions

ABSENT: st.SearchStrategy[Absent] = st.sampled_from(["fails", "passes"])

# Few values and many ways to say them, so that some subscriptions do cover others.
_TESTS = st.sampled_from(
    [
        *("x = 1", "x = 2", "x < 2", "x > 0", "x BETWEEN 0 AND 2", "x IN (1, 2)", "x != 1"),
        *("x NOT IN (1, 2)", "x NOT BETWEEN 1 AND 2", "NOT x BETWEEN 0 AND 3", "s != 'ab'"),
        *(
            "s = 'ab'",
            "s = 'abc'",
            "s LIKE 'ab%'",
            "s LIKE '%b%'",
            "s LIKE '%bc'",
            "s LIKE '%abc%'",
        ),
        *("s RLIKE 'b.'", "s RLIKE 'a'", "NOT s LIKE '%b%'", "NOT s LIKE '%abc%'", "s IS NULL"),
        *("x IS NULL", "y = 1", "y > 1", "x < y", "lower(s) = 'ab'", "exists(l, e -> e = 1)"),
    ]
)
TEXTS = st.recursive(
    _TESTS,
    lambda inner: st.tuples(inner, st.sampled_from([" AND ", " OR "]), inner).map(
        lambda parts: f"({''.join(parts)})"
    ),
    max_leaves=4,
)


@st.composite
def asked(draw: st.DrawFn) -> tuple[list[Subscription], list[Event]]:
    drawn = draw(st.lists(subscriptions(), min_size=1, max_size=5))
    some = draw(st.lists(events(), max_size=3))
    near = [draw(events_near(each)) for each in drawn]
    return drawn, [*some, *near]


@given(asked(), ABSENT)
def test_claims_hold_of_events(
    asked: tuple[list[Subscription], list[Event]], absent: Absent
) -> None:
    stated, seen = asked
    engine = Engine(matcher="brute-force", absent=absent)
    engine.subscribe_many((str(place), each) for place, each in enumerate(stated))
    matched = engine.match_batch(seen)
    for finding in engine.lint():
        of_it = {place for place, ids in enumerate(matched) if finding.id in ids}
        of_other = {place for place, ids in enumerate(matched) if finding.other in ids}
        match finding.check:
            case "never-true":
                assert not of_it, finding
            case "always-true":
                assert len(of_it) == len(seen), finding
            case "duplicate":
                assert of_it == of_other, finding
            case "covered":
                assert of_it <= of_other, finding


@given(st.lists(TEXTS, min_size=2, max_size=30, unique=True), ABSENT)
def test_one_that_covers_is_found_where_there_is_one(texts: list[str], absent: Absent) -> None:
    made = dict.fromkeys(Filter(to_subscription(text), absent) for text in texts)
    filters = [each for each in made if not each.is_never()]
    found = redundancy._by_index(filters)
    for place, each in enumerate(filters):
        covering = [p for p, other in enumerate(filters) if p != place and other.covers(each)]
        assert (found[place] is None) is (not covering), texts
        if found[place] is not None:
            assert found[place] in covering
    for place, above in enumerate(coverers(filters)):
        if above is not None:
            assert filters[above].covers(filters[place])
            assert found[above] is None
