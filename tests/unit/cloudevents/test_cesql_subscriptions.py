"""CESQL as a dialect: what becomes of expressions, who passes, what is said of it."""

from __future__ import annotations

from typing import Any

import pytest

from predicast import Engine
from predicast.errors import NotExpressibleError
from predicast.language import dialect_named, parse_where, to_where
from predicast.language.dialect import as_subscription
from predicast.model import Subscription


def stated(text: str) -> Subscription:
    return as_subscription(dialect_named("cesql").parse(text))


CONDITIONS = [
    # On the attribute itself where only strings can pass, so that the index finds it.
    ("type = 'sold'", "type = 'sold'"),
    ("type LIKE 'com.%'", "type LIKE 'com.%'"),
    ("type IN ('a', 'b')", "type IN ('a', 'b')"),
    ("type = 'a' OR type = 'b'", "type IN ('a', 'b')"),
    ("EXISTS subject", "subject IS NOT NULL"),
    ("EXISTS type", "TRUE"),
    # On a cast where others can.
    ("hop = '5'", "cesql('STRING(hop)') = '5'"),
    ("hop = 5", "cesql('INT(hop)') = 5"),
    ("hop LIKE '5%'", "cesql('STRING(hop)') LIKE '5%'"),
    ("hop > 3 AND 10 > hop", "cesql('INT(hop)') > 3 AND cesql('INT(hop)') < 10"),
    ("LENGTH(subject) > 3", "cesql('LENGTH(subject)') > 3"),
    ("hop < ttl", "cesql('hop < ttl') = TRUE"),
    # What does not come after a decision, or an error.
    ("NOT type = 'true'", "cesql('STRING(NOT type)') = 'true'"),  # NOT binds more tightly than =
    ("NOT (type = 'a')", "cesql('STRING(type)') != 'a'"),
    ("a = 'x' OR b = 'y'", "a = 'x' OR (a IS NOT NULL AND b = 'y')"),
    # What is known before there is an event.
    ("1 = 1 AND type = 'a'", "type = 'a'"),
    ("1 = 2 AND type = 'a'", "FALSE"),
    ("'a' < type", "FALSE"),
    ("hop + 1", "FALSE"),
    ("urgent", "urgent = TRUE"),
]


@pytest.mark.parametrize(("text", "where"), CONDITIONS)
def test_conditions(text: str, where: str) -> None:
    assert to_where(stated(text)) == where


@pytest.mark.parametrize(
    "text",
    [
        "type = 'sold' AND subject LIKE '%.de' AND NOT EXISTS trace",
        "hop >= 3 AND hop != 5",
        "type = 'a' OR type = 'b' OR (EXISTS type AND subject LIKE 'x_%')",
        "hop < ttl",
        "subject NOT LIKE 'a%'",
        "LOWER(subject) IN ('a', 'b')",
        "urgent",
        "TRUE",
        r"subject LIKE '50\%%'",
    ],
)
def test_what_is_written_reads_back(text: str) -> None:
    written = dialect_named("cesql").to_text(stated(text))
    assert stated(written) == stated(text)


@pytest.mark.parametrize(
    "where", ["type = 'a' AND startswith(subject, '50%')", "a = 'x' OR b = 'y'"]
)
def test_where_text_in_cesql(where: str) -> None:
    written = dialect_named("cesql").to_text(parse_where(where))
    for event in ({}, {"a": "x"}, {"b": "y"}, {"type": "a", "subject": "50% off", "a": 5}):
        engine = Engine()
        engine.subscribe(where, id="where")
        engine.subscribe(written, id="cesql", dialect="cesql")
        assert engine.match(event) in ([], ["cesql", "where"])


@pytest.mark.parametrize(
    "where", ["price < 10", "a = '5'", "order.id = 'a'", "a RLIKE 'b'", "a = 2.5"]
)
def test_what_cesql_cannot_say_is_refused(where: str) -> None:
    with pytest.raises(NotExpressibleError, match="no expression that means") as caught:
        dialect_named("cesql").to_text(parse_where(where))
    assert caught.value.dialect == "cesql"
    assert caught.value.part is not None


def test_an_explanation_speaks_cesql() -> None:
    engine = Engine()
    engine.subscribe("type = 'a' and (hop<ttl or subject like 'x%')", id="s", dialect="cesql")
    told = str(engine.explain("s", {"type": "a", "hop": "7", "ttl": 5, "subject": "y"}))
    assert "✓ type = 'a'" in told
    assert "✗ hop < ttl OR subject LIKE 'x%'" in told
    assert "✗ subject LIKE 'x%'" in told


def test_an_explanation_stops_where_cesql_does() -> None:
    engine = Engine()
    engine.subscribe("a = 'x' OR b = 'y'", id="s", dialect="cesql")
    explanation = engine.explain("s", {"b": "y"})
    assert not explanation.matched
    assert engine.match({"b": "y"}) == []


def test_an_engine_keeps_it_and_finds_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("engine") / "saved"
    engine = Engine()
    engine.subscribe_many(
        [("a", "INT(hop) < INT(ttl) AND type LIKE 'com.%'"), ("b", "NOT EXISTS hop")],
        dialect="cesql",
    )
    engine.save(path)
    loaded = Engine.load(path)
    assert loaded.get("a").text == "INT(hop) < INT(ttl) AND type LIKE 'com.%'"
    events: list[dict[str, Any]] = [
        {"hop": "1", "ttl": 2, "type": "com.x"},
        {"type": "com.x"},
        {"hop": "x", "ttl": 5},
    ]
    assert loaded.match_batch(events) == [["a"], ["b"], []]
    assert [loaded.match(event) for event in events] == [["a"], ["b"], []]


def test_an_and_of_much_is_indexed() -> None:
    text = " AND ".join(f"a{number} = 'x'" for number in range(300))
    assert stated(text).attributes() == {f"a{number}" for number in range(300)}


def test_long_expressions_stay_small() -> None:
    names = [f"a{number}" for number in range(3_000)]
    long = " OR ".join(f"{name} = 'x'" for name in names)
    nested = "a1 = 'x'"
    for name in names[2:30]:
        nested = f"({nested}) XOR {name} = 'x'"
    engine = Engine()
    engine.subscribe(long, id="long", dialect="cesql")
    engine.subscribe(nested, id="nested", dialect="cesql")
    assert engine.match({"a0": "x"}) == ["long"]
    assert engine.match(dict.fromkeys(names, "x")) == ["long", "nested"][: 1 + 29 % 2]
