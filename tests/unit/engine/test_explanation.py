"""Explanations: the tree that was written, the values seen, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from predicast import Engine, Interval, attr
from predicast.engine.explanation import Explanation, Seen
from predicast.language import to_subscription


def explained(text: Any, event: dict[str, Any], **options: Any) -> Explanation:
    parameters = options.pop("parameters", None)
    engine = Engine(**options)
    engine.subscribe(text, id="s", parameters=parameters)
    return engine.explain("s", event)


def tree(explanation: Explanation) -> list[str]:
    """One line per part, as text."""
    return str(explanation).splitlines()[1:]


def test_the_tree_is_that_of_the_text() -> None:
    text = """
        price < 10
        AND NOT (symbol = 'IBM'
                 OR volume BETWEEN 5
                    AND 500)
    """
    explanation = explained(text, {"price": 9.5, "symbol": "AMD", "volume": 7})
    assert not explanation.matched
    assert tree(explanation) == [
        "  ✗ AND",
        "    ✓ price < 10    saw 9.5",
        "    ✗ NOT",
        "      ✓ OR",
        "        ✗ symbol = 'IBM'    saw 'AMD'",
        "        ✓ volume BETWEEN 5 AND 500    saw 7",
    ]
    assert [(each.text, each.value, each.held) for each in explanation.tests] == [
        ("price < 10", 9.5, True),
        ("symbol = 'IBM'", "AMD", False),
        ("volume BETWEEN 5 AND 500", 7, True),
    ]


def test_a_single_test_is_the_whole_tree() -> None:
    explanation = explained("x = 1", {"x": 1})
    assert explanation.matched
    assert explanation.outcome.seen == (Seen("x", 1),)
    assert tree(explanation) == ["  ✓ x = 1    saw 1"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("TRUE", ["  ✓ TRUE"]),
        ("x = 1 OR FALSE", ["  ? OR", "    ? x = 1    saw absent", "    ✗ FALSE"]),
        ("x IS NULL", ["  ✓ x IS NULL    saw absent"]),
        ("NOT x <=> 1", ["  ✓ NOT", "    ✗ x <=> 1    saw absent"]),
        ("x IS NOT TRUE", ["  ✓ x IS NOT TRUE    saw absent"]),
        (
            "(x > 1 AND FALSE) IS NOT TRUE",
            ["  ✓ IS NOT TRUE", "    ✗ AND", "      ? x > 1    saw absent", "      ✗ FALSE"],
        ),
        ("(x > 1) IS UNKNOWN", ["  ✓ IS UNKNOWN", "    ? x > 1    saw absent"]),
    ],
)
def test_what_is_unknown_and_what_never_is(text: str, lines: list[str]) -> None:
    assert tree(explained(text, {})) == lines


def test_a_test_of_several_patterns_tells_which_was_met() -> None:
    explanation = explained("name ILIKE ANY ('x%', '%NN%')", {"name": "Anna"})
    [line] = tree(explanation)
    assert line.startswith("  ✓ name ILIKE ANY ('x%', '%NN%')    saw 'anna', from name = 'Anna'")
    assert line.endswith("(met by lower(name) LIKE '%nn%')")


def test_a_test_of_several_patterns_tells_which_was_not_met() -> None:
    explanation = explained("name LIKE ALL ('A%', '%x', '%y')", {"name": "Anna"})
    assert explanation.outcome.reason == "not met: name LIKE '%x'"


def test_a_rest_is_shown_as_a_tree() -> None:
    parts = [f"(x{number} = 1 OR y{number} = 2)" for number in range(12)]
    subscription = to_subscription(" AND ".join(parts))
    assert any(clause.rest is not None for clause in subscription.clauses)
    explanation = explained(subscription, {f"x{number}": 1 for number in range(11)})
    assert not explanation.matched
    held = {each.text: each.held for _, each in explanation.outcome.lines()}
    assert held["x10 = 1"] is True
    assert held["y11 = 2"] is None
    assert explained(subscription, {f"x{number}": 1 for number in range(12)}).outcome.held


def test_lists_are_shown_with_what_is_asked_of_their_elements() -> None:
    text = "array_contains(tags, 'x') AND NOT exists(items, i -> i.price < 10 AND i.kind = 'book')"
    event = {"tags": ["x", "y"], "items": [{"price": 5, "kind": "book"}]}
    lines = tree(explained(text, event))
    assert lines[1] == "    ✓ array_contains(tags, 'x')    saw array('x', 'y')"
    assert lines[3].startswith(
        "      ✓ exists(items, i -> i.price < 10 AND i.kind = 'book')    saw "
    )
    assert lines[3].endswith("    saw array({price: 5, kind: 'book'})")
    assert "a string, where the constraint is on a list" in str(explained(text, {"items": "x"}))


def test_a_derived_attribute_is_shown_with_its_inputs() -> None:
    explanation = explained("price * qty > 100 AND a < b", {"price": 2, "qty": 3, "a": 1})
    assert tree(explanation)[1:] == [
        "    ✗ price * qty > 100    saw 6, from price = 2, qty = 3",
        "    ? a < b    saw absent, from a = 1, b is absent",
    ]
    [first, _] = explanation.tests
    assert first.seen == (Seen("price * qty", 6, (Seen("price", 2), Seen("qty", 3))),)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"Price": 1}, "the event has Price"),
        ({"prise": 1}, "the event has prise"),
        ({"order": {"price": 1}}, "the event has order.price"),
        ({"Price tag": 1, "b": 2}, "the event has `Price tag`"),
        ({"cost": 1}, None),
        ({}, None),
    ],
)
def test_near_names_are_told(event: dict[str, Any], said: str | None) -> None:
    assert explained("price < 5", event).outcome.reason == said
    assert explained("price + 1 < 5", event).outcome.reason == said


def test_a_value_of_another_kind_is_told() -> None:
    explanation = explained("price < 5", {"price": "4"})
    assert explanation.outcome.held is None
    said = "a string, where the constraint is on a number"
    assert explanation.outcome.reason == said


def test_absent_passes_whatever_is_asked() -> None:
    explanation = explained("x > 3 AND NOT (y = 1) AND z IS NOT NULL", {}, absent="passes")
    why = '(which passes, as absent="passes" says)'
    assert tree(explanation) == [
        "  ✗ AND",
        f"    ✓ x > 3    saw absent {why}",
        "    ✓ NOT",
        f"      ✗ y = 1    saw absent {why}",
        "    ✗ z IS NOT NULL    saw absent",
    ]
    explanation = explained("(y = 1) IS NOT TRUE", {}, absent="passes")
    assert explanation.matched
    assert [each.held for _, each in explanation.outcome.lines()] == [True, False]


def test_a_region_tells_where_it_was_met_and_that_one_point_must_do() -> None:
    explanation = explained("x > 3 AND x < 4 OR y = 1", {"x": Interval(0, 9)})
    assert not explanation.matched
    assert tree(explanation)[1:4] == [
        "    ✗ AND (no one point satisfies all of it)",
        "      ✓ x > 3    saw [0, 9] (met in (3, 9])",
        "      ✓ x < 4    saw [0, 9] (met in [0, 4))",
    ]
    assert explained("x > 3 AND x < 4", {"x": Interval(0.0, 9.0)}).matched
    explanation = explained("x != 5", {"x": Interval(0, 9)})
    assert explanation.outcome.reason == "met in [0, 5) and in (5, 9]"
    explanation = explained("NOT (x > 3 OR x < 2)", {"x": Interval(0, 9)})
    assert explanation.matched
    assert explanation.outcome.held


def test_parameters_are_shown_with_their_values() -> None:
    explanation = explained(
        "x BETWEEN :lo AND :hi OR name = :name",
        {"x": 9, "name": "a"},
        parameters={"lo": 1, "hi": 5, "name": "b"},
    )
    assert tree(explanation) == [
        "  ✗ OR",
        "    ✗ x BETWEEN :lo AND :hi    saw 9 (:lo = 1, :hi = 5)",
        "    ✗ name = :name    saw 'a' (:name = 'b')",
    ]


def test_parameters_that_changed_are_shown_as_they_are() -> None:
    engine = Engine()
    engine.subscribe("x < :limit", id="s", parameters={"limit": 1})
    engine.change("s", parameters={"limit": 7})
    assert ":limit = 7" in str(engine.explain("s", {"x": 3}))


def test_what_was_given_as_objects_is_explained_by_its_clauses() -> None:
    expression = (attr("x") > 3) & ~(attr("y").contains("a") | (attr("y") == "b"))
    assert tree(explained(expression, {"x": 4, "y": "b"})) == [
        "  ✗ AND",
        "    ✓ x > 3    saw 4",
        "    ✗ NOT (y = 'b' OR contains(y, 'a'))    saw 'b' (not met: y != 'b')",
    ]
    assert tree(explained((attr("x") == 1) | (attr("y") == 2), {"x": 1})) == [
        "  ✓ OR",
        "    ✓ x = 1    saw 1",
        "    ? y = 2    saw absent",
    ]


def test_long_texts_and_values_are_shortened_where_they_are_shown() -> None:
    listed = ", ".join(map(str, range(500)))
    explanation = explained(f"x IN ({listed}) OR y = 'a'", {"x": 3, "y": "b" * 1_000})
    [first, second] = explanation.tests
    assert first.text == f"x IN ({listed})"
    assert len(first.brief) < 150
    assert first.brief.endswith(" 496, 497, 498, 499) (2,395 characters)")
    assert second.value == "b" * 1_000
    assert second.saw is not None
    assert len(second.saw) < 150
    assert "(1,002 characters)" in str(explanation)


def test_literals_keep_their_spaces() -> None:
    assert explained("s = 'two  spaces'", {}).outcome.text == "s = 'two  spaces'"


def test_an_engine_that_was_saved_explains_as_before(tmp_path: Path) -> None:
    engine = Engine()
    engine.subscribe("NOT (x = 1 OR y = 2)", id="s")
    engine.save(tmp_path / "engine")
    event = {"x": 2, "y": 2}
    assert str(Engine.load(tmp_path / "engine").explain("s", event)) == str(
        engine.explain("s", event)
    )
