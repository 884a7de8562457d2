"""Derived attributes in an engine: every way in, every way of asking, and files."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from predicast import Engine, Event, Interval
from predicast.errors import InvalidConstraintError, JsonFormError, LanguageError, PredicastError
from predicast.language import (
    attr,
    expr,
    parse_where,
    subscription_from_json,
    to_subscription,
    to_where,
)
from predicast.language.where import ShapeCache
from predicast.language.where.mistakes import AT_VALUE
from predicast.language.where.printer import VALUE_WORDS
from predicast.model import Constraint, Operator, Subscription


def filled() -> Engine:
    engine = Engine()
    engine.subscribe("price * qty > 100", id="big")
    engine.subscribe("lower(city) = 'rome' AND price < limit", id="rome")
    engine.subscribe("PRICE * 1 > 0 OR Price*(qty)>0", id="other case")
    return engine


EVENTS: list[dict[str, Any]] = [
    {"price": 10, "qty": 20, "city": "ROME", "limit": 10.5},
    {"price": 10, "qty": 2, "city": "Rome", "limit": 10},
    {"Price": 1, "qty": 1},
    {"price": "dear", "qty": 5},
]
RIGHT = [["big", "rome"], [], ["other case"], []]


def test_all_ways_of_asking() -> None:
    engine = filled()
    assert [engine.match(event) for event in EVENTS] == RIGHT
    assert engine.match_batch(EVENTS) == RIGHT
    table = pa.Table.from_pylist(EVENTS[:2])
    found = engine.match_arrow(table)
    assert found["event"].to_pylist() == [0, 0]
    assert sorted(found["subscription"].to_pylist()) == RIGHT[0]
    assert engine.count_arrow(table).to_pylist() == [2, 0]
    assert engine.attributes() == {"price", "qty", "city", "limit", "PRICE", "Price"}


def test_columns_that_nothing_is_computed_from_may_be_of_any_type() -> None:
    engine = filled()
    table = pa.table({"price": [10], "qty": [20], "tags": [["a"]]})
    assert engine.match_arrow(table)["event"].to_pylist() == [0]


def test_files_keep_them(tmp_path: Path) -> None:
    engine = filled()
    engine.save(tmp_path / "engine")
    loaded = Engine.load(tmp_path / "engine")
    assert loaded.match_batch(EVENTS) == RIGHT
    assert loaded.get("big").subscription == engine.get("big").subscription
    assert to_where(loaded.get("rome").subscription) == "lower(city) = 'rome' AND price < limit"


def test_an_explanation_shows_what_was_computed() -> None:
    shown = str(filled().explain("big", EVENTS[1]))
    assert "✗ price * qty > 100    saw 20, from price = " in shown


def test_they_go_when_nobody_looks_at_them() -> None:
    engine = filled()
    for id in ("big", "rome", "other case"):
        engine.unsubscribe(id)
    assert engine.attributes() == frozenset()
    engine.subscribe("a + b = 3", id="sum")
    assert engine.match({"a": 1, "b": 2}) == ["sum"]


def test_an_event_cannot_pretend() -> None:
    engine = filled()
    assert engine.match({"=price * qty": 500}) == []
    assert engine.match_batch([{"=price * qty": 500}]) == [[]]
    assert engine.match_arrow(pa.table({"=price * qty": [500]})).num_rows == 0


def test_an_attribute_whose_name_begins_with_the_mark() -> None:
    engine = Engine()
    engine.subscribe("`=x` = 5", id="a")
    engine.subscribe(attr("=x") == 5, id="b")
    assert engine.match({"=x": 5}) == engine.match_batch([{"=x": 5}])[0] == ["a", "b"]
    assert engine.match({"=x": Interval(1, 9)}) == ["a", "b"]
    assert engine.match({"x": 5}) == []
    assert engine.attributes() == {"=x"}
    assert to_where(engine.get("a").subscription) == "`=x` = 5"


def test_spellings_of_one_expression_are_one_attribute() -> None:
    texts = [
        "lower( City )='a'",
        "LOWER(`City`) = 'a'",
        "((Lower((City)))) = ('a')",
        "lcase(City)='a'",
    ]
    assert len({parse_where(text) for text in texts}) == 1


@pytest.mark.parametrize(
    ("built", "text"),
    [
        (attr("price") * attr("qty") > 100, "price * qty > 100"),
        (2 * attr("a") - 1 <= 5, "2 * a - 1 <= 5"),
        (attr("a") < attr("b"), "a < b"),
        (attr("a") >= attr("b"), "b <= a"),
        (attr("a") != attr("b"), "a != b"),
        (-attr("a") % 2 == 1, "-a % 2 = 1"),
        (1 / attr("a") > 0.5, "1 / a > 0.5"),
        (attr("at") + timedelta(days=1) > attr("b"), "at + INTERVAL 1 DAY > b"),
        (expr("lower(city)").startswith("r"), "startswith(lower(city), 'r')"),
        (expr("price * 1.5") + 1 > 5, "price * 1.5 + 1 > 5"),
    ],
)
def test_the_builder_says_the_same(built: Any, text: str) -> None:
    assert to_subscription(built) == parse_where(text)


def test_other_forms() -> None:
    document = '{"any": [{"all": [{"attribute": "=price*QTY", "operator": ">", "value": 5}]}]}'
    assert subscription_from_json(document) == parse_where("price * QTY > 5")
    with pytest.raises(JsonFormError, match="no function 'nope'"):
        subscription_from_json(document.replace("price*QTY", "nope(x)"))
    row = {"id": "s", "clause": 0, "attribute": "=LOWER(x)", "operator": "=", "string_value": "a",
           "int_value": None, "float_value": None, "bool_value": None}  # fmt: skip
    engine = Engine()
    engine.subscribe_arrow(
        pa.Table.from_pylist([row, {**row, "id": "t", "attribute": "=lower(x)"}])
    )
    assert engine.match({"x": "A"}) == ["s", "t"]
    with pytest.raises(InvalidConstraintError) as caught:
        engine.subscribe_arrow(pa.Table.from_pylist([{**row, "id": "u", "attribute": "=lower("}]))
    assert caught.value.row == 0


def test_a_constraint_with_a_name_that_is_not_written_so_is_refused() -> None:
    odd = Subscription.of([[Constraint("=a+b", Operator.EQ, 5)]])
    with pytest.raises(LanguageError, match="is written '=a \\+ b'"):
        Engine().subscribe(odd)


def test_parameters_beside_an_expression() -> None:
    engine = Engine()
    engine.subscribe("price * qty > :limit", id="s", parameters={"limit": 100})
    assert engine.match({"price": 10, "qty": 20}) == ["s"]
    engine.change("s", parameters={"limit": 500})
    assert engine.match({"price": 10, "qty": 20}) == []


def test_regions() -> None:
    engine = Engine()
    engine.subscribe("a + b > 5", id="sum")
    engine.subscribe("coalesce(a, 0) = 0", id="none")
    engine.subscribe("a + b IS NULL", id="unknown")
    region = {"a": Interval(1, 9), "b": 5}
    assert engine.match(region) == engine.match_batch([region])[0] == ["unknown"]


def test_shapes_with_constants_inside_are_remembered() -> None:
    cache = ShapeCache()
    for number in range(5):
        text = f"round(price, 2) > {number} AND substring(s, 1, 3) = 'a{number}'"
        assert cache.parse(text) == parse_where(text)
    assert (cache.hits, cache.misses) == (4, 1)
    assert cache.parse("round(price, 3) > 1 AND substring(s, 1, 3) = 'a'") == parse_where(
        "round(price, 3) > 1 AND substring(s, 1, 3) = 'a'"
    )
    assert (cache.hits, cache.misses) == (4, 2)


def test_words_that_are_no_values_are_quoted() -> None:
    words = {word.lower() for word in AT_VALUE if word.isidentifier()}
    assert words <= VALUE_WORDS
    for word in sorted(words):
        assert parse_where(to_where(parse_where(f"`{word}` + x > 5"))) == parse_where(
            f"`{word}` + x > 5"
        )


@pytest.mark.parametrize("text", ["1 + 1", "INTERVAL 1 DAY", "a +", "lower(", ""])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(PredicastError):
        expr(text)


def test_an_absent_value_passes_where_the_policy_says_so() -> None:
    engine = Engine(absent="passes")
    engine.subscribe("a / b > 5", id="s")
    assert engine.match({"a": 1, "b": 0}) == engine.match({}) == ["s"]
    assert engine.match(Event({"a": 1, "b": 1})) == []
