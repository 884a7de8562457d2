"""Conditions on elements of lists: as text, as JSON, as Python, with parameters."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from predicast import Engine, attr
from predicast.errors import (
    InvalidConstraintError,
    InvalidParameterError,
    JsonFormError,
    LanguageError,
    NestingTooDeepError,
    ParseError,
    UnsupportedSyntaxError,
)
from predicast.language import (
    event_from_json,
    event_to_json,
    expr,
    parse_where,
    subscription_from_json,
    subscription_to_json,
    to_subscription,
    to_where,
)
from predicast.language.arrow_form import SCHEMA
from predicast.language.where import ShapeCache
from predicast.model import Constraint, Event, Leaf, Operator, Subscription
from predicast.model.constraint import MAX_LISTS

TEXTS = {
    "array_contains(tags, 'a')": "array_contains(tags, 'a')",
    "NOT array_contains(tags, 5)": "NOT array_contains(tags, 5)",
    "arrays_overlap(tags, array('b', 'a'))": "arrays_overlap(tags, array('a', 'b'))",
    "arrays_overlap(array(1), tags)": "arrays_overlap(tags, array(1))",
    "exists(tags, t -> t LIKE 'a%')": "exists(tags, element -> element LIKE 'a%')",
    "exists(tags, (`t`) -> `t` = TRUE)": "array_contains(tags, TRUE)",
    "forall(tags, t -> t > 1)": "NOT exists(tags, element -> element <= 1)",
    "exists(items, i -> i.price < 10 AND i.at.city = 'Rome')": (
        "exists(items, element -> element.price < 10 AND element.at.city = 'Rome')"
    ),
    "exists(o, o -> exists(o.items, i -> i = 1))": (
        "exists(o, element -> array_contains(element.items, 1))"
    ),
    "exists(`a, b`, t -> lower(t) = 'x')": ("exists(`a, b`, element -> lower(element) = 'x')"),
    "exists(tags, t -> TRUE)": "exists(tags, element -> TRUE)",
    "size(tags) > 3 AND cardinality(a.b) = array_size(c)": (
        "size(tags) > 3 AND (size(a.b) = size(c)) = TRUE"
    ),
}


@pytest.mark.parametrize(("text", "written"), TEXTS.items())
def test_what_is_written_reads_back(text: str, written: str) -> None:
    subscription = parse_where(text)
    shown = to_where(subscription)
    if "size(c)" not in text:
        assert shown == written
    assert parse_where(shown) == subscription
    assert subscription_from_json(subscription_to_json(subscription)) == subscription


def test_a_name_inside_is_the_element_or_its_field() -> None:
    assert parse_where("exists(a, a -> a = 1)") == parse_where("exists(a, x -> x = 1)")
    assert parse_where("exists(a, x -> x.a = 1)") != parse_where("exists(a, x -> x = 1)")


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("exists(tags, t -> x = 1)", 19, "x is an attribute; .* the element t alone"),
        ("exists(a, t -> exists(t.b, u -> t.c = 1))", 33, "an element of another list"),
        ("exists(tags)", 12, "a comma between the arguments of exists"),
        ("exists(tags, 5)", 14, "a name for the element"),
        ("exists(tags, t = 1)", 16, "-> behind the element's name"),
        ("forall(tags, (t, i) -> t = 1)", 16, "one name for the element"),
        ("exists(tags, t -> t = 1", 7, "never closed"),
        ("exists(tags, t -> (t = 1)", 7, "never closed"),
        ("exists(lower(tags), t -> t = 'a')", 8, "an attribute as the first argument"),
        ("exists('tags', t -> t = 'a')", 8, "an attribute as the first argument"),
        ("array_contains(tags, x)", 22, "a value to look for"),
        ("array_contains(tags, 'a', 'b')", 25, "the closing parenthesis"),
        ("arrays_overlap(tags, 'a')", 22, r"array\(...\)"),
        ("arrays_overlap(tags, array())", 28, "a value in the array"),
        ("arrays_overlap(tags, array(1, 'a'))", 1, "of one kind"),
        ("exists(SELECT 1)", 1, "EXISTS cannot be part"),
        ("size('a') > 1", 6, "size takes a list"),
        ("size(lower(a)) > 1", 6, "size takes a list"),
        ("exists(tags, t -> t = 1) = TRUE", 26, "not compared"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, column: int, message: str) -> None:
    with pytest.raises(ParseError, match=message) as refused:
        parse_where(text)
    assert refused.value.column == column


def test_an_attribute_of_the_event_inside_is_told_what_to_do() -> None:
    with pytest.raises(UnsupportedSyntaxError) as refused:
        parse_where("exists(items, i -> i.price < budget)")
    assert refused.value.hint is not None
    assert "i.budget" in refused.value.hint
    assert "outside" in refused.value.hint


def test_conditions_stand_inside_one_another_a_few_times() -> None:
    text = "x = 1"
    for _ in range(MAX_LISTS):
        text = f"exists(x, x -> {text})"
    assert parse_where(text).attributes() == {"x"}
    with pytest.raises(NestingTooDeepError):
        parse_where(f"exists(x, x -> {text})")
    document: Any = '{"any": [{"all": [{"attribute": "x", "operator": "exists"}]}]}'
    for _ in range(20):
        has = f'{{"attribute": "x", "operator": "has", "value": {document}}}'
        document = f'{{"any": [{{"all": [{has}]}}]}}'
    with pytest.raises(JsonFormError, match="inside one another"):
        subscription_from_json(document)


def test_literals_inside_are_literals_of_the_shape() -> None:
    cache = ShapeCache()
    cache.parse("exists(items, i -> i.price < 10 AND i.kind = 'book') AND a = 1")
    found = cache.parse("exists(items, i -> i.price < 9.5 AND i.kind = 'pen') AND a = 2")
    assert (cache.hits, cache.misses) == (1, 1)
    assert to_where(found) == (
        "exists(items, element -> element.price < 9.5 AND element.kind = 'pen') AND a = 2"
    )
    stated = cache.outlined("exists(items, i -> i.price < 7 AND i.kind = 'cup') AND a = 2")
    assert stated.subscription() == parse_where(
        "exists(items, i -> i.price < 7 AND i.kind = 'cup') AND a = 2"
    )
    assert cache.hits == 2


def test_parameters_inside() -> None:
    engine = Engine()
    text = "exists(items, i -> i.price BETWEEN :lo AND :hi AND i.kind IN (:kind, 'pen'))"
    engine.subscribe(text, id="s", parameters={"lo": 1, "hi": 5, "kind": "book"})
    assert engine.match({"items": [{"price": 3, "kind": "book"}]}) == ["s"]
    engine.change("s", parameters={"hi": 2})
    assert engine.match({"items": [{"price": 3, "kind": "book"}]}) == []
    assert engine.match({"items": [{"price": 2, "kind": "pen"}]}) == ["s"]
    with pytest.raises(InvalidParameterError) as refused:
        engine.change("s", parameters={"kind": 5})
    assert refused.value.name == "kind"
    assert refused.value.attribute == "element.kind"


def test_the_builder_says_the_same() -> None:
    pairs = [
        (attr("tags").has("a"), "array_contains(tags, 'a')"),
        (attr("tags").has_one_of(["a", "b"]), "arrays_overlap(tags, array('a', 'b'))"),
        (attr("tags").has_some(lambda t: t.like("a%")), "exists(tags, t -> t LIKE 'a%')"),
        (attr("tags").has_only(lambda t: t > 5), "forall(tags, t -> t > 5)"),
        (
            attr("items").has_some(lambda i: (i["a"]["b"] * 2 > 5) | (i["c"] == 1)),
            "exists(items, i -> i.a.b * 2 > 5 OR i.c = 1)",
        ),
        (~attr("tags").has("a"), "NOT array_contains(tags, 'a')"),
        (expr("size(tags)") > 2, "size(tags) > 2"),
    ]
    for built, text in pairs:
        assert to_subscription(built) == parse_where(text), text
    with pytest.raises(LanguageError, match="is computed"):
        (attr("a") + 1).has(5)
    with pytest.raises(LanguageError, match="is computed"):
        (attr("a") + 1)["b"]
    with pytest.raises(TypeError):
        list(attr("a"))  # type: ignore[call-overload]


def test_the_json_form_is_readable() -> None:
    text = subscription_to_json(parse_where("exists(tags, t -> lower(t) = 'a')"))
    assert text == (
        '{"any":[{"all":[{"attribute":"tags","operator":"has","value":{"any":[{"all":['
        '{"attribute":"=lower(element)","operator":"=","value":"a"}]}]}}]}]}'
    )
    spelt = text.replace("=lower(element)", "=LOWER( element )")
    assert subscription_from_json(spelt) == parse_where("exists(tags, t -> lower(t) = 'a')")
    with pytest.raises(JsonFormError, match=r"\$.any\[0\].all\[0\].value: expected an object"):
        subscription_from_json(
            '{"any":[{"all":[{"attribute":"tags","operator":"has","value":5}]}]}'
        )


def test_events_with_lists_as_json() -> None:
    text = (
        '{"tags":["a",1,null],"items":[{"at":{"$timestamp":"2026-01-31T00:00:00Z"},"b":{"c":[2]}}]}'
    )
    event = event_from_json(text)
    assert event_from_json(event_to_json(event)) == event
    assert event == Event(
        {
            "tags": ["a", 1, None],
            "items": [{"at": event.get("items").plain()[0]["at"], "b.c": [2]}],  # type: ignore[union-attr]
        }
    )
    with pytest.raises(JsonFormError, match=r"\$.x\[1\]"):
        event_from_json('{"x": [1, {"$timestamp": 5}]}')


def test_a_table_of_constraints_has_it_as_json() -> None:
    wanted = '{"any": [{"all": [{"attribute": "=LOWER(element)", "operator": "=", "value": "a"}]}]}'
    rows = [
        {"id": "s", "clause": 0, "attribute": "tags", "operator": "has", "string_value": wanted},
        {"id": "s", "clause": 0, "attribute": "x", "operator": "<", "int_value": 5},
    ]
    engine = Engine()
    engine.subscribe_arrow(pa.Table.from_pylist(rows, SCHEMA))
    assert engine.get("s").subscription == parse_where(
        "exists(tags, t -> lower(t) = 'a') AND x < 5"
    )
    assert engine.match({"tags": ["b", "A"], "x": 1}) == ["s"]
    rows[0]["string_value"] = "a"
    with pytest.raises(InvalidConstraintError, match="row 0: 'has' in string_value: not JSON"):
        engine.subscribe_arrow(pa.Table.from_pylist(rows, SCHEMA))


def test_unknown_conditions_are_about_absence() -> None:
    subscription = parse_where("array_contains(tags, 'a') IS UNKNOWN")
    [constraint] = subscription.constraints()
    assert (constraint.attribute, constraint.operator) == ("tags", Operator.ABSENT)


def test_what_no_longer_matters_is_not_computed() -> None:
    for text in (
        "exists(a, e -> lower(e) = 'x' OR TRUE)",
        "forall(a, e -> lower(e) = 'x' OR 1 = 1)",
    ):
        subscription = parse_where(text)
        assert subscription.attributes() == {"a"}
        assert parse_where(to_where(subscription)) == subscription


def test_a_condition_built_by_hand_on_what_is_computed_from_elements_is_checked() -> None:
    """Under another name nothing would be computed, and nothing match."""
    wanted = parse_where("lower(element) = 'x'")
    misnamed = Constraint("a", Operator.HAS, wanted)
    either = Constraint("a", Operator.ANY, (misnamed, Constraint("a", Operator.EQ, 5)))
    for constraint in (misnamed, misnamed.negated(), either):
        for given in (Leaf(constraint), Subscription.of([[constraint]])):
            with pytest.raises(LanguageError, match=r"written '=elements\(a, lower\(element\)\)'"):
                Engine().subscribe(given)
    inner = Constraint("element", Operator.HAS, wanted)
    with pytest.raises(LanguageError, match="lower"):
        Engine().subscribe(Leaf(Constraint("a", Operator.HAS, Subscription.of([[inner]]))))
    engine = Engine()
    engine.subscribe(
        Leaf(Constraint("=elements(a, lower(element))", Operator.HAS, wanted)), id="right"
    )
    assert engine.match({"a": ["X"]}) == ["right"]
