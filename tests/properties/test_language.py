"""The language on random input: round trips, and no way to hurt it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from predicast import Event
from predicast.errors import PredicastError
from predicast.language import (
    event_from_document,
    event_from_json,
    event_to_json,
    parse_where,
    subscription_from_document,
    subscription_from_json,
    subscription_to_json,
    to_where,
)
from predicast.language.where import ShapeCache
from predicast.model import Subscription, subscription_of
from predicast.model.outline import Stated
from predicast.testing import strategies as some
from tests.thorough import LONG

TIMES = 4 if LONG else 1  # how long a text is: in the end, almost as long as one may be

ANYTHING = st.characters() | st.characters(categories=["Cs"])  # lone surrogates among the rest
FRAGMENTS = st.sampled_from(
    [
        "a", "b.c", "`x y`", "``", "=", "==", "<>", "!=", "<", "<=", ">=", "<=>", "AND", "OR",
        "NOT", "IN", "BETWEEN", "LIKE", "RLIKE", "ESCAPE", "IS", "NULL", "TRUE", "FALSE", "(",
        ")", ",", ".", "1", "-2", "1.5", ".5", "1e5", "1e999", "10L", "0x1F", "'s'", "'O''B'",
        r"'\'", "'%_'", '"d"', "r'raw'", "X'1F'", "TIMESTAMP", "DATE", "'2026-01-31'",
        "startswith", "contains", "rlike", "isnull", "to_date", "--", "/*", "*/", ";", ":p",
        "?", "@", "{", "[", "]", "*", "+", "-", "||", "&&", "!", "SELECT", "CASE", "EXISTS",
        "INTERVAL", "CAST", "\n", "\t", "\0", "é", "\\", "`", "'",
        # What people write who know SQL, or another language, and not this one.
        "WHERE", "HAVING", "ORDER BY", "LIMIT", "SELECT * FROM t WHERE", "CAST(x AS INT)", "::int",
        "now()", "CURRENT_DATE", "0xFF", "0x", "0x" + "f" * 40, "1_000", "1,000", "2026-01-31",
        "10:30", "5k", "1.2.3", "1..5", "31.01.2026", "NaN", "-Infinity", "None", "=>", "=<", "===",
        ":=", "=~", "~", "!~", "><", "≥", "≠", "∧", "‘a’", "“b”", "−5", "N'x'", "b'x'", "e'x'",  # noqa: RUF001
        "array_contains(x, 1)", "lower(x)", "begins_with(x, 'a')", "x.contains('a')", "x[0]",
        "x->>'y'", "my-name", "my name", "$p", "${p}", "@p", "%s", "{p}", "#", "//", "|", "&",
        "XOR", "DIV", "MOD", "ILIKE", "SIMILAR TO", "DISTINCT FROM", "IS TRUE", "ANY", "COLLATE",
        "SOME", "ALL ('a', 'B')", "LIKE ANY ('a%', '%b')", "IS UNKNOWN", "IS NOT TRUE", "NULL <=>",
        "IS NOT DISTINCT FROM", "ip_in(x, '10.0.0.0/8')", "ip_in(x, '::/129')",
        "EQ", "(1, 2)", "()", "[1]", "\ud800",
    ]
)  # fmt: skip


def check(refusal: PredicastError) -> None:
    assert refusal.message, "a refusal says what is wrong"
    refusal.message.encode()  # and can be written down


@given(some.expressions().map(subscription_of))
@example(parse_where("a != 1 OR NOT (b = 1 OR b = 'x')"))
def test_printing_and_parsing_gives_the_subscription_back(subscription: Subscription) -> None:
    assert parse_where(to_where(subscription)) == subscription


@given(some.subscriptions(), st.data())
def test_what_is_printed_means_the_same(subscription: Subscription, data: st.DataObject) -> None:
    read = parse_where(to_where(subscription))
    assert read.attributes() <= subscription.attributes()
    for event in data.draw(st.lists(some.events_near(subscription), min_size=1, max_size=4)):
        for absent in ("fails", "passes"):
            assert read.matches(event, absent) is subscription.matches(event, absent)


@given(some.subscriptions())
def test_the_json_form_loses_nothing(subscription: Subscription) -> None:
    assert subscription_from_json(subscription_to_json(subscription)) == subscription


@given(some.events())
def test_the_json_form_of_events_loses_nothing(event: Event) -> None:
    assert event_from_json(event_to_json(event)) == event


@given(st.lists(some.subscriptions(), max_size=5))
def test_the_cache_never_changes_the_answer(subscriptions: list[Subscription]) -> None:
    shared = ShapeCache()
    for subscription in subscriptions * 2:
        text = to_where(subscription)
        assert shared.parse(text) == ShapeCache().parse(text)


@given(st.lists(FRAGMENTS, max_size=12), st.lists(FRAGMENTS, max_size=12), st.booleans())
def test_the_cache_agrees_with_a_fresh_parse_on_any_two_texts(
    first: list[str], second: list[str], spaced: bool
) -> None:
    shared, glue = ShapeCache(), " " if spaced else ""
    for words in (first, second, first):
        text = glue.join(words)
        assert outcome(shared, text) == outcome(ShapeCache(), text)


def outcome(cache: ShapeCache, text: str) -> Subscription | str:
    try:
        return cache.parse(text)
    except PredicastError as error:
        return f"{type(error).__name__}: {error}"


@given(st.lists(FRAGMENTS, max_size=12), st.lists(FRAGMENTS, max_size=12), st.booleans())
def test_a_pattern_of_a_shape_agrees_with_a_fresh_parse(
    first: list[str], second: list[str], spaced: bool
) -> None:
    shared, glue = ShapeCache(), " " if spaced else ""
    for words in [*[first] * 10, second, first]:
        text = glue.join(words)
        assert stated_outcome(shared, text) == stated_outcome(ShapeCache(), text)


@given(some.subscriptions())
def test_a_text_read_again_and_again_states_the_same(subscription: Subscription) -> None:
    shared, text = ShapeCache(), to_where(subscription)
    right = stated_outcome(ShapeCache(), text)
    for _ in range(10):
        assert stated_outcome(shared, text) == right


def stated_outcome(cache: ShapeCache, text: str) -> tuple[Stated, list[type]] | str:
    try:
        stated = cache.outlined(text)
    except PredicastError as error:
        return f"{type(error).__name__}: {error}"
    return stated, [type(operand) for operand in stated.operands]


@given(st.one_of(st.text(ANYTHING, max_size=200), st.lists(FRAGMENTS, max_size=60).map(" ".join)))
@example("(" * 15_000 * TIMES)
@example("NOT " * 4_000 * TIMES)
@example("- " * 8_000 * TIMES + "1 < a")
@example("a = 1 AND " * 1_500 * TIMES + "TRUE")
@example("(a = 1 OR " * 60 + "b" + ")" * 60)
@example("((a OR b) AND " * 60 + "c" + ")" * 60)
@example("'" * 65_535)
@example("a = " + "9" * 60_000)
@example("a RLIKE '" + "(a*)*" * 1_000 + "'")
@example("f(" * 8_000 * TIMES)
@example("`" * 65_535)
@example("a IN (" + "1," * 8_000 * TIMES + "1)")
@example("0x" + "f" * 60_000)
@example("a = 1 AND " * 800 * TIMES + "b ≥ 5")
@example("WHERE " * 10_000)
@example("(" * 60 + "a" + ") IS NOT TRUE" * 60)
@example("(" * 60 + "a OR b" + " OR c) IS NOT FALSE" * 60)
@example("(" * 60 + "a OR FALSE" + " OR FALSE) IS UNKNOWN" * 60)
@example("(" * 4 + "a OR " * 500 * TIMES + "b" + " OR c) IS UNKNOWN" * 4)
@example("a LIKE ANY (" + "'b'," * 4_000 * TIMES + "'c')")
@example("a LIKE ALL (" + "'b'," * 4_000 * TIMES + "'c')")
def test_any_text_is_parsed_or_refused_with_a_typed_error_after_bounded_work(text: str) -> None:
    with counted_calls() as calls:
        try:
            assert isinstance(parse_where(text), Subscription)
        except PredicastError as error:
            check(error)
    # In proportion to the text; IS UNKNOWN, four times inside itself, says it some thirty times.
    assert calls[0] < 100_000 + 1_500 * len(text)


@contextmanager
def counted_calls() -> Iterator[list[int]]:
    """How many functions were called: work that no machine is faster or slower at."""
    calls = [0]

    def count(*_: Any) -> None:
        calls[0] += 1

    outer = sys.getprofile()
    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(outer)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(ANYTHING, max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "any",
                    "all",
                    "attribute",
                    "operator",
                    "value",
                    "escape",
                    "$timestamp",
                    "$interval",
                    "lo",
                ]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)
CONSTRAINTS = st.fixed_dictionaries(
    {"attribute": st.just("a") | JSON, "operator": st.sampled_from(["=", "in", "like", "matches"])},
    optional={"value": JSON, "escape": JSON},
)


@given(JSON | st.lists(CONSTRAINTS, max_size=3).map(lambda all_: {"any": [{"all": all_}]}))
def test_any_document_is_a_subscription_or_refused(document: Any) -> None:
    try:
        assert isinstance(subscription_from_document(document), Subscription)
    except PredicastError as error:
        check(error)


@given(st.dictionaries(st.text(ANYTHING, max_size=5), JSON, max_size=4))
@example({"\ud800": 1})
@example({"a": {"\ud800": {"$timestamp": 5}}})
@example({"a": [{"$timestamp": "2026-01-31", "lo": None}]})
def test_any_document_is_an_event_that_can_be_written_or_refused(document: Any) -> None:
    try:
        event = event_from_document(document)
    except PredicastError as error:
        check(error)
    else:
        assert event_from_json(event_to_json(event)) == event


@given(st.text(max_size=50) | st.binary(max_size=50) | JSON.map(repr))
def test_any_json_text_is_an_event_or_refused(text: str | bytes) -> None:
    for read in (event_from_json, subscription_from_json):
        try:
            read(text)
        except PredicastError as error:
            check(error)
