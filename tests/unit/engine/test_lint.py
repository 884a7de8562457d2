"""Lint: what is found, beside which other subscription, and what would be right."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from predicast import Engine
from predicast.engine.lint import Check, Finding, Severity
from predicast.engine.lint.costs import Cost, cost_of
from predicast.engine.lint.names import NearNames
from predicast.errors import InvalidOptionError
from predicast.language import to_subscription


def engine(**texts: str) -> Engine:
    made = Engine()
    made.subscribe_many(texts)
    return made


def found(made: Engine, check: str, events: object = None) -> list[tuple[str, str | None]]:
    findings = made.lint(events, checks=[check])  # type: ignore[arg-type]
    assert all(each.check == check for each in findings)
    return [(each.id, each.other) for each in findings]


def only(findings: list[Finding]) -> Finding:
    (finding,) = findings
    return finding


def test_nothing_is_wrong_with_what_is_right() -> None:
    made = engine(a="price < 10 AND symbol = 'IBM'", b="price > 5 AND symbol = 'SAP'")
    assert made.lint() == []
    assert made.lint([{"price": 7, "symbol": "IBM", "other": None}]) == []
    assert Engine().lint() == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("price < 5 AND price > 10", "price < 5 AND price > 10 leaves no value of price"),
        ("x = 'a' AND x = 'b' AND y = 1", "leaves no value of x"),
        ("x = 1 AND x = 'one'", "leaves no value of x"),
        ("x IS NULL AND x > 1", "leaves no value of x"),
        ("x LIKE 'a%' AND NOT x LIKE '%' AND y = 1", "leaves no value of x"),
        ("x = 1 AND FALSE", "FALSE"),
        (
            "(x < 1 AND x > 2 AND y = 1) OR (x < 3 AND x > 4 AND y = 2)",
            "none of its 2 alternatives",
        ),
    ],
)
def test_what_no_event_matches(text: str, said: str) -> None:
    finding = only(engine(a=text).lint())
    assert (finding.id, finding.check, finding.severity) == ("a", Check.NEVER_TRUE, Severity.ERROR)
    assert said in finding.message


def test_what_depends_on_absence_is_judged_by_the_engine() -> None:
    made = Engine(absent="passes")
    made.subscribe("x < 1 AND x > 2", id="a")
    assert made.match({}) == ["a"]
    assert made.lint(checks=["never-true"]) == []


@pytest.mark.parametrize("text", ["TRUE", "x IS NULL OR x IS NOT NULL", "x < 1 OR TRUE"])
def test_what_every_event_matches(text: str) -> None:
    finding = only(engine(a=text, b="y = 1").lint(checks=["always-true", "covered"]))
    assert (finding.id, finding.check) == ("a", Check.ALWAYS_TRUE)


def test_alternatives_that_never_hold() -> None:
    made = engine(a="(x < 1 AND x > 2 AND y = 1) OR z = 3")
    finding = only(made.lint())
    assert finding.check is Check.DEAD_PART
    assert "x < 1 AND x > 2 leaves no value of x" in finding.message


def test_duplicates_are_equal_in_meaning() -> None:
    made = engine(
        a="price BETWEEN 1 AND 5", b="price >= 1 AND NOT price > 5", c="5 >= price AND 1 <= price"
    )
    assert found(made, "duplicate") == [("b", "a"), ("c", "a")]
    assert found(made, "covered") == []


def test_what_another_covers_is_named_with_the_widest() -> None:
    made = engine(a="price < 5", b="price < 20", c="price < 10 AND symbol = 'IBM'", d="x = 1")
    assert found(made, "covered") == [("a", "b"), ("c", "b")]


def test_subscriptions_of_different_owners_are_not_compared() -> None:
    made = Engine()
    for owner in ("ada", "bob"):
        made.subscribe("x = 1", id=f"{owner}-1", owner=owner)
        made.subscribe("x = 1 AND y = 2", id=f"{owner}-2", owner=owner)
    assert found(made, "duplicate") == []
    assert found(made, "covered") == [("ada-2", "ada-1"), ("bob-2", "bob-1")]
    across = made.lint(checks=["duplicate"], across_owners=True)
    assert [(each.id, each.other) for each in across] == [("bob-1", "ada-1"), ("bob-2", "ada-2")]


def test_names_near_those_that_many_have() -> None:
    texts = {f"s{n}": f"price < {n}" for n in range(6)}
    made = engine(**texts, odd="prcie < 5", other="volume > 3", cased="Price < 2")
    findings = made.lint(checks=["unknown-attribute"])
    assert [(each.id, each.attribute, each.advice) for each in findings] == [
        ("odd", "prcie", "is it 'price'?"),
        ("cased", "Price", "is it 'price'?"),
    ]
    assert "by this subscription alone, 'price' by 6" in findings[0].message


def test_near_names_are_one_slip_away() -> None:
    known = NearNames(["price", "symbol", "sensor1", "user_id", "ip"])
    assert known.near("prise") == known.near("prce") == known.near("pricee") == ["price"]
    assert known.near("symblo") == ["symbol"]
    assert known.near("userId") == ["user_id"]
    for other in ("prose2", "sensor2", "price", "up", "is", "", "pprriiccee"):
        assert known.near(other) == []


def test_attributes_that_a_sample_lacks() -> None:
    made = engine(a="prise < 5", b="order.totl > 1", c="lower(cty) = 'rome'", d="colour = 1")
    events = [{"price": 1, "order": {"total": 5}, "city": "Rome", "x": 1}]
    findings = made.lint(events, checks=["unknown-attribute"])
    assert [(each.id, each.attribute, each.advice) for each in findings] == [
        ("a", "prise", "is it 'price'?"),
        ("b", "order.totl", "is it 'order.total'?"),
        ("c", "cty", "is it 'city'?"),
        ("d", "colour", "check its name, or take a sample that has it"),
    ]


def test_values_of_another_kind() -> None:
    when = datetime(2026, 1, 31, tzinfo=UTC)
    made = engine(
        a="price < '10'",
        b="at > TIMESTAMP '2026-01-01 00:00:00'",
        c="hour(name) = 3",
        d="price IN ('1', '2') OR name = 'x'",
        e="name = 'x'",
    )
    sample = pa.table({"price": [1, 2], "at": [when, when], "name": ["x", None]})
    for events in (sample, sample.to_pylist()):
        findings = made.lint(events, checks=["other-kind"])
        assert [(each.id, each.attribute) for each in findings] == [
            ("a", "price"),
            ("c", "name"),
            ("d", "price"),
        ]
        assert "compared with the string '10'" in findings[0].message
        assert findings[0].advice == "write a number in its place"


def test_a_sample_without_events_is_refused() -> None:
    with pytest.raises(InvalidOptionError, match="no events"):
        engine(a="x = 1").lint([])


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("x = 1", Cost.LOW),
        ("x IN (1, 2) AND y != 3", Cost.LOW),
        ("x BETWEEN 1 AND 2", Cost.LOW),
        ("x > 1", Cost.MEDIUM),
        ("x > 1 AND y < 2", Cost.MEDIUM),
        ("x != 1", Cost.HIGH),
        ("x IS NULL", Cost.HIGH),
        ("x IS NOT NULL", Cost.HIGH),
        ("TRUE", Cost.HIGH),
        ("name LIKE '%abc%'", Cost.LOW),
        ("name LIKE 'abc%'", Cost.LOW),
        ("NOT name LIKE '%abc%'", Cost.HIGH),
        ("name RLIKE 'abc.*[0-9]+'", Cost.LOW),
        ("name RLIKE '[0-9]+'", Cost.HIGH),
        ("name RLIKE '[0-9]+' AND x = 1", Cost.LOW),
        ("x = 1 OR NOT y = 2", Cost.HIGH),
        ("sold = TRUE", Cost.LOW),
    ],
)
def test_costs(text: str, cost: Cost) -> None:
    assert cost_of(to_subscription(text)).cost is cost
    assert bool(found(engine(a=text), "costly")) is (cost is Cost.HIGH)


def test_a_regular_expression_is_told_why() -> None:
    (finding,) = engine(a="name RLIKE '[0-9]+'").lint()
    assert "run on every value" in finding.message
    assert "letter or word that must be there" in finding.advice


def test_checks_are_known_by_name() -> None:
    with pytest.raises(InvalidOptionError, match="did you mean 'covered'"):
        Engine().lint(checks=["coverd"])
    with pytest.raises(InvalidOptionError, match="such as \\['covered'\\]"):
        Engine().lint(checks="covered")
