"""What is said about the truth of conditions: random ones against a direct evaluation."""

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predicast import Engine, Event
from predicast.errors import TooManyClausesError, UnsupportedByMatcherError
from predicast.language import parse_where, subscription_from_json, subscription_to_json, to_where
from predicast.language.where import ShapeCache
from predicast.matching import matcher_names

Truth: TypeAlias = bool | None
Meaning: TypeAlias = Callable[[dict[str, Any]], Truth]
Condition: TypeAlias = tuple[str, Meaning]

NUMBERS = st.sampled_from([0, 1, 2])
LETTERS = st.sampled_from(["a", "A", "ab", "aB", "B", ""])
PATTERNS: dict[str, Callable[[str], bool]] = {
    "a%": lambda s: s.startswith("a"),
    "%B": lambda s: s.endswith("B"),
    "Ab": lambda s: s == "Ab",
    "_": lambda s: len(s) == 1,
}
IN_LOWER_CASE: dict[str, Callable[[str], bool]] = PATTERNS | {
    "%B": lambda s: s.endswith("b"),
    "Ab": lambda s: s == "ab",
}
EVENTS = st.fixed_dictionaries(
    {},
    optional={
        "a": NUMBERS,
        "b": NUMBERS,
        "s": LETTERS,
        "t": st.booleans(),
        "u": st.booleans(),
    },
)


def kleene(truths: list[Truth], decided: bool) -> Truth:
    if decided in truths:
        return decided
    return None if None in truths else not decided


@st.composite
def nulls(draw: st.DrawFn) -> Condition:
    """NULL-safe equality, in all its spellings."""
    left = draw(st.sampled_from(["a", "b"]))
    right = draw(st.sampled_from(["a", "b", "0", "1", "NULL"]))

    def value(event: dict[str, Any], name: str) -> Any:
        return event.get(name) if name.isalpha() else int(name)

    spelling, wanted = draw(
        st.sampled_from(
            [("<=>", True), ("IS NOT DISTINCT FROM", True), ("IS DISTINCT FROM", False)]
        )
    )
    if right.isdigit() and draw(st.booleans()):
        left, right = right, left
    return (
        f"{left} {spelling} {right}",
        lambda event: (value(event, left) == value(event, right)) is wanted,
    )


@st.composite
def comparisons(draw: st.DrawFn) -> Condition:
    right = draw(st.sampled_from(["b", "1"]))

    def meaning(event: dict[str, Any]) -> Truth:
        x, y = event.get("a"), event.get("b") if right == "b" else 1
        return None if x is None or y is None else x < y

    return f"a < {right}", meaning


@st.composite
def likes(draw: st.DrawFn) -> Condition:
    patterns = draw(st.lists(st.sampled_from(sorted(PATTERNS)), min_size=1, max_size=3))
    word = draw(st.sampled_from(["LIKE", "ILIKE"]))
    negated = draw(st.booleans())
    quantifier = draw(st.sampled_from(["ANY", "SOME", "ALL"]))
    listed = ", ".join(f"'{each}'" for each in patterns)
    text = f"s {'NOT ' if negated else ''}{word} {quantifier} ({listed})"

    def is_like(string: str, pattern: str) -> bool:
        if word == "LIKE":
            return PATTERNS[pattern](string)
        return IN_LOWER_CASE[pattern](string.lower())

    def meaning(event: dict[str, Any]) -> Truth:
        string = event.get("s")
        if string is None:
            return None
        each = [is_like(string, pattern) is not negated for pattern in patterns]
        return all(each) if quantifier == "ALL" else any(each)

    return text, meaning


TESTS: st.SearchStrategy[Condition] = st.one_of(
    nulls(),
    comparisons(),
    likes(),
    st.sampled_from(["t", "u"]).map(lambda name: (name, lambda event: event.get(name))),
    st.just(("a IS NULL", lambda event: "a" not in event)),
)


@st.composite
def conditions(draw: st.DrawFn, depth: int = 3) -> Condition:
    form = draw(st.sampled_from(["test", "not", "and", "or", "is", "is"])) if depth else "test"
    if form == "test":
        return draw(TESTS)
    text, meaning = draw(conditions(depth - 1))
    if form == "not":
        return (
            f"NOT ({text})",
            lambda event: None if (truth := meaning(event)) is None else not truth,
        )
    if form == "is":
        word, truth = draw(
            st.sampled_from([("TRUE", True), ("FALSE", False), ("UNKNOWN", None), ("NULL", None)])
        )
        negated = draw(st.booleans())
        return (
            f"({text}) IS {'NOT ' if negated else ''}{word}",
            lambda event: (meaning(event) is truth) is not negated,
        )
    other, right = draw(conditions(depth - 1))
    decided = form == "or"
    return f"({text}) {form} ({other})", lambda event: kleene(
        [meaning(event), right(event)], decided
    )


@given(conditions(), st.lists(EVENTS, min_size=1, max_size=5))
@settings(max_examples=300)
def test_conditions_mean_what_three_valued_logic_says(
    condition: Condition, events: list[dict[str, Any]]
) -> None:
    text, meaning = condition
    try:
        subscription = parse_where(f"WHERE {text}")
    except TooManyClausesError:
        return
    assert parse_where(to_where(subscription)) == subscription
    assert subscription_from_json(subscription_to_json(subscription)) == subscription
    assert ShapeCache().outlined(text).subscription() == subscription
    engine = Engine(matcher="brute-force")
    engine.subscribe(text, id="s")
    engine.subscribe(f"CASE WHEN {text} THEN 1 ELSE 2 END = 1", id="case")
    right = [["case", "s"] if meaning(event) is True else [] for event in events]
    assert [engine.match(event) for event in events] == right
    assert engine.match_batch(events) == right


@pytest.mark.parametrize("matcher", sorted(matcher_names()))
@settings(max_examples=20)
@given(
    wanted=st.lists(conditions(2), min_size=1, max_size=4),
    events=st.lists(EVENTS, min_size=1, max_size=4),
)
def test_every_matcher_answers_so(
    matcher: str, wanted: list[Condition], events: list[dict[str, Any]]
) -> None:
    try:
        engine = Engine(matcher=matcher)
    except UnsupportedByMatcherError:
        engine = Engine(matcher=matcher, absent="passes")
    oracle = Engine(matcher="brute-force", absent=engine.absent)
    for number, (text, _) in enumerate(wanted):
        try:
            engine.subscribe(text, id=f"s{number}")
        except (UnsupportedByMatcherError, TooManyClausesError):
            continue
        oracle.subscribe(text, id=f"s{number}")
    right = [oracle.match(event) for event in events]
    assert [engine.match(Event(event)) for event in events] == right
    assert engine.match_batch(events) == right
