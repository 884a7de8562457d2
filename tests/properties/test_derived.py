"""Derived attributes on random expressions and events: one meaning, computed in whichever way."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlglot.dialects.spark import Spark

from predicast import Engine, Event, Interval
from predicast.derived import Constant, Input, Tree, call, compiled
from predicast.engine.derivation import Derivation
from predicast.errors import LanguageError, PredicastError, UnsupportedByMatcherError
from predicast.language import parse_where, subscription_from_json, subscription_to_json, to_where
from predicast.language.derived_names import canonical_attribute, expression_of
from predicast.language.where import ShapeCache
from predicast.language.where.parser import parse_scalar
from predicast.language.where.scalar_text import name_of, text_of
from predicast.matching import matcher_names
from predicast.matching.batches.derived import with_derived
from predicast.matching.batches.event_batch import EventBatch
from predicast.model import Constraint, Leaf, Operator, Subscription
from predicast.testing import expressions
from predicast.testing import strategies as some


def typed(value: Any) -> tuple[type, Any]:
    return type(value), value


@given(expressions.derived_attributes())
def test_a_text_reads_back_as_the_same_expression(tree: Tree) -> None:
    assert parse_scalar(text_of(tree)) == tree
    assert canonical_attribute(name_of(tree)) == name_of(tree)
    assert expression_of(name_of(tree)) == tree


KEYWORDS = sorted(key.lower() for key in Spark.Tokenizer.KEYWORDS if key[0].isalpha())


@given(st.text(min_size=1, max_size=6) | st.sampled_from(KEYWORDS))
@example("<")
@example("<=>")
@example("=")
@example("+")
@example("(")
@example("::")
def test_any_name_may_stand_in_an_expression(name: str) -> None:
    for tree in (
        call("+", [Input(name), Constant(1)]),
        call("concat", [Constant("x"), Input(name)]),
        call("cast STRING", [Input(name)]),
        call("<", [Input("a"), Input(name)]),
    ):
        assert parse_scalar(text_of(tree)) == tree
        subscription = Subscription.of([[Constraint(name_of(tree), Operator.EXISTS)]])
        assert parse_where(to_where(subscription)) == subscription


def test_functions_of_many_texts() -> None:
    events = [Event({f"s{n}": f"{n * row}" for n in range(8)}) for row in range(300)]
    tree = call("concat", [Input(f"s{n}") for n in range(8)])
    batch = with_derived(EventBatch.from_events(events), {"=": tree})
    assert [event.get("=") for event in batch.events()] == [
        "".join(f"{n * row}" for n in range(8)) for row in range(300)
    ]


@given(expressions.derived_attributes(), st.lists(some.events(regions=False), max_size=8))
def test_columns_give_what_rows_give(tree: Tree, events: list[Event]) -> None:
    value_of = compiled(tree)
    batch = with_derived(EventBatch.from_events(events), {"=": tree})
    found: dict[int, Any] = {}
    for part in batch.parts("="):
        for position, row in enumerate(range(len(part)) if part.rows is None else part.rows):
            assert row not in found
            found[int(row)] = typed(part.value(position))
    for row, event in enumerate(events):
        right = value_of(event.get)
        assert found.get(row) == (None if right is None else typed(right)), event


BEYOND_FLOATS = "9" * 350
BELOW_FLOATS = "0." + "0" * 400 + "1"


@pytest.mark.parametrize(
    "text",
    [
        *("-a", "abs(a)", "round(a)", "round(a, -3)", "floor(a)", "ceil(a)", "a % 7", "a + 1"),
        *("CAST(a AS DOUBLE)", "CAST(a AS TIMESTAMP)"),
    ],
)
@pytest.mark.parametrize("sign", ["", "-"])
def test_what_is_beyond_all_floats_is_unknown(text: str, sign: str) -> None:
    assert _by_row_and_column(text, Decimal(sign + BEYOND_FLOATS)) == (None, None)


@pytest.mark.parametrize("text", ["1 / a", "1 % a", "1.5 % a"])
def test_what_is_nearer_to_zero_than_any_float_divides_nothing(text: str) -> None:
    assert _by_row_and_column(text, Decimal(BELOW_FLOATS)) == (None, None)


def _by_row_and_column(text: str, value: Decimal) -> tuple[Any, Any]:
    tree, event = parse_scalar(text), Event({"a": value})
    [by_column] = with_derived(EventBatch.from_events([event]), {"=": tree}).events()
    return compiled(tree)(event.get), by_column.get("=")


@pytest.mark.parametrize("operator", [Operator.HAS, Operator.NOT_HAS])
def test_what_is_computed_has_no_elements(operator: Operator) -> None:
    alone = Constraint("=lower(a)", operator, Subscription.of([[]]))
    joined = Constraint(
        "=lower(a)", Operator.ANY, (alone, Constraint("=lower(a)", Operator.EXISTS))
    )
    engine = Engine()
    for constraint in (alone, joined):
        with pytest.raises(LanguageError, match="is computed, and no list"):
            engine.subscribe(Subscription.of([[constraint]]), id="s")
        with pytest.raises(LanguageError, match="is computed, and no list"):
            engine.subscribe(Leaf(constraint), id="s")
    assert len(engine) == 0


@given(
    expressions.derived_constraints(),
    st.lists(some.events(), min_size=1, max_size=5),
)
def test_regions_have_no_derived_values(constraint: Constraint, events: list[Event]) -> None:
    derivation = Derivation([constraint.attribute])
    inputs = derivation.inputs()
    batch = derivation.columns(EventBatch.from_events(events)).events()
    for event, by_column in zip(events, batch, strict=True):
        by_row = derivation.event(event)
        assert by_row.get(constraint.attribute) == by_column.get(constraint.attribute)
        if any(isinstance(event.get(name), Interval) for name in inputs):
            assert by_row.get(constraint.attribute) is None


@given(st.lists(expressions.derived_constraints() | some.constraints(), min_size=1, max_size=3))
def test_subscriptions_come_through_text_and_json(constraints: list[Constraint]) -> None:
    subscription = Subscription.of([constraints])
    assert parse_where(to_where(subscription)) == subscription
    assert subscription_from_json(subscription_to_json(subscription)) == subscription
    shared = ShapeCache()
    for _ in range(3):
        assert shared.parse(to_where(subscription)) == subscription
        assert shared.outlined(to_where(subscription)).subscription() == subscription


@pytest.mark.parametrize("matcher", sorted(matcher_names()))
@settings(max_examples=30)
@given(
    wanted=st.lists(
        st.lists(expressions.derived_constraints() | some.constraints(), min_size=1, max_size=3),
        min_size=1,
        max_size=4,
    ),
    events=st.lists(some.events(), min_size=1, max_size=4),
)
def test_every_matcher_answers_as_defined(
    matcher: str, wanted: list[list[Constraint]], events: list[Event]
) -> None:
    try:
        engine = Engine(matcher=matcher)
    except UnsupportedByMatcherError:
        engine = Engine(matcher=matcher, absent="passes")
    held: dict[str, Subscription] = {}
    for number, constraints in enumerate(wanted):
        subscription = Subscription.of([constraints])
        try:
            engine.subscribe(subscription, id=f"s{number}")
        except UnsupportedByMatcherError:
            continue
        held[f"s{number}"] = subscription
    right = []
    for event in events:
        whole = Derivation(name for each in held.values() for name in each.attributes())
        seen = whole.event(event)
        right.append([id for id, each in held.items() if each.matches(seen, engine.absent)])
    assert [engine.match(event) for event in events] == right
    assert engine.match_batch(events) == right
    assert Engine.from_bytes(engine.to_bytes()).match_batch(events) == right
    for id, subscription in held.items():
        assert [engine.explain(id, event).matched for event in events] == [id in r for r in right]
        assert engine.get(id).subscription == subscription


WORDS = st.sampled_from(
    [
        "a", "b.c", "`x y`", "1", "-2", "1.5", "'s'", "+", "-", "*", "/", "%", "||", "::", "(", ")",
        ",", "lower(", "round(", "concat(", "CAST(", "AS", "BIGINT", "string", "CASE", "WHEN",
        "THEN", "ELSE", "END", "INTERVAL", "'1 day'", "DAY", "=", "<", "!=", "AND", "OR", "NOT",
        "IN", "BETWEEN", "IS", "NULL", "LIKE", "TRUE", "date_trunc(", "'hour'", "hour(", ":p",
        "nope(",
        "TIMESTAMP '2026-01-31'", "coalesce(", "startswith(", "substring(", "`=x`", "{", "\0",
    ]
)  # fmt: skip


@given(st.lists(WORDS, max_size=20).map(" ".join), st.lists(WORDS, max_size=20).map(" ".join))
@example("a + " * 10_000 + "a > 1", "a = 1")
@example("-" * 3 + " -" * 20_000 + " a > 1", "a = 1")
@example("lower(" * 60 + "a" + ")" * 60 + " = 'x'", "a = 1")
@example("(" * 100 + "a" + ")" * 100 + " = 1", "a = 1")
@example("CASE WHEN a THEN " * 100 + "1" + " END" * 100 + " = 1", "a = 1")
@example("concat(" + "a, " * 15_000 + "a) = 'x'", "a = 1")
def test_any_text_is_read_or_refused_the_same_each_time(first: str, second: str) -> None:
    shared = ShapeCache()
    for text in (first, second, first):
        assert _outcome(shared, text) == _outcome(ShapeCache(), text)


def _outcome(cache: ShapeCache, text: str) -> Subscription | str:
    try:
        subscription = cache.parse(text)
    except PredicastError as error:
        return f"{type(error).__name__}: {error}"
    assert parse_where(to_where(subscription)) == subscription
    return subscription
