"""Arrays of a DataFrame: matched as an engine does, and true where Spark itself says so."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from predicast import Engine
from predicast import spark as ps
from predicast.errors import UnsupportedColumnError
from tests.spark.conftest import meaning
from tests.spark.test_same_as_spark_where import held_in_spark, matched_in_spark

SCHEMA = (
    "event INT, tags ARRAY<STRING>, numbers ARRAY<BIGINT>, "
    "items ARRAY<STRUCT<price: BIGINT, kind: STRING, sizes: ARRAY<BIGINT>>>"
)
EVENTS = 200
CONDITIONS = 200


class Conditions:
    """Random conditions on lists, as Spark and Predicast both read them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def events(self) -> list[dict[str, Any]]:
        return [
            {
                "event": number,
                "tags": self._list(lambda: self.chance.choice("abc") * self.chance.randrange(3)),
                "numbers": self._list(lambda: self.chance.randrange(5)),
                "items": self._list(self._item),
            }
            for number in range(EVENTS)
        ]

    def _item(self) -> dict[str, Any]:
        return {
            "price": self._value(lambda: self.chance.randrange(5)),
            "kind": self._value(lambda: self.chance.choice("abc")),
            "sizes": self._list(lambda: self.chance.randrange(4)),
        }

    def _value(self, value: Any) -> Any:
        return None if self.chance.random() < 0.15 else value()

    def _list(self, element: Any) -> Any:
        return self._value(lambda: [self._value(element) for _ in range(self.chance.randrange(4))])

    def condition(self, depth: int = 2) -> str:
        if depth and self.chance.random() < 0.5:
            parts = [self.condition(depth - 1) for _ in range(2)]
            joined = self.chance.choice([" AND ", " OR "]).join(parts)
            return f"{self.chance.choice(['', 'NOT '])}({joined})"
        return self.chance.choice(["", "NOT "]) + self._test()

    def _test(self) -> str:
        quantifier = self.chance.choice(["exists", "forall"])
        return self.chance.choice(
            [
                f"array_contains(tags, '{self.chance.choice('abc')}')",
                f"array_contains(numbers, {self.chance.randrange(5)})",
                "arrays_overlap(tags, array('a', 'bb'))",
                f"arrays_overlap(numbers, array({self.chance.randrange(5)}, 2))",
                f"array_size(tags) > {self.chance.randrange(3)}",
                f"{quantifier}(tags, t -> {self._of('t', 'string')})",
                f"{quantifier}(numbers, n -> {self._of('n', 'number')})",
                f"{quantifier}(items, i -> {self._of_item(1)})",
            ]
        )

    def _of(self, name: str, kind: str) -> str:
        number = self.chance.randrange(5)
        tests = [f"{name} > {number}", f"{name} * 2 = {number}", f"{name} IN (1, {number})"]
        if kind == "string":
            tests = [f"{name} LIKE '{self.chance.choice('abc')}%'", f"upper({name}) = 'AA'"]
            tests += [f"{name} != '{self.chance.choice('abc')}'", f"{name} ILIKE 'B%'"]
        return self.chance.choice([*tests, f"{name} IS NULL", f"NOT {name} IS NOT NULL"])

    def _of_item(self, depth: int) -> str:
        if depth:
            both = [self._of_item(0), self._of_item(0)]
            return self.chance.choice([" AND ", " OR "]).join(both)
        return self.chance.choice(
            [
                self._of("i.price", "number"),
                self._of("i.kind", "string"),
                f"exists(i.sizes, s -> {self._of('s', 'number')})",
                f"NOT array_contains(i.sizes, {self.chance.randrange(4)})",
                "array_size(i.sizes) = 2",
            ]
        )


@pytest.fixture(scope="module")
def conditions() -> list[str]:
    source = Conditions(11)
    return [source.condition() for _ in range(CONDITIONS)]


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return Conditions(12).events()


@pytest.fixture(scope="module")
def events(spark: SparkSession, rows: list[dict[str, Any]]) -> DataFrame:
    return spark.createDataFrame(rows, SCHEMA)


@meaning
def test_conditions_hold_where_spark_says(
    events: DataFrame, rows: list[dict[str, Any]], conditions: list[str]
) -> None:
    ours = matched_in_spark(events, conditions)
    theirs = held_in_spark(events, conditions)
    differing = {n for event in theirs for n in ours[event] ^ theirs[event]}
    assert [conditions[n] for n in sorted(differing)] == []
    engine = Engine()
    engine.subscribe_many((str(number), text) for number, text in enumerate(conditions))
    assert {row["event"]: set(map(int, engine.match(row))) for row in rows} == ours


def test_explained(events: DataFrame, rows: list[dict[str, Any]]) -> None:
    text = "array_contains(tags, 'a')"
    explained = ps.explain(events, {"s": text}, "s", event_id="event").collect()
    assert {row.part for row in explained} == {text}
    assert {row.event for row in explained if row.matched} == {
        row["event"] for row in rows if "a" in (row["tags"] or ())
    }
    assert any((row.value or "").startswith("array('") for row in explained)


def test_an_array_of_what_cannot_be_compared_is_refused(spark: SparkSession) -> None:
    events = spark.createDataFrame([(bytearray(b"a"),)], "x BINARY").selectExpr("array(x) AS x")
    with pytest.raises(UnsupportedColumnError, match="array<binary>"):
        ps.match(events, {"a": "array_contains(x, 'a')"})
