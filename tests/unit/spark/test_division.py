"""Subscriptions in parts that few events have to visit together."""

from __future__ import annotations

import random

import pytest

from predicast.covering.merging import Hull, covering_subscription, hull_of, merged
from predicast.language import parse_where, to_where
from predicast.model import Event
from predicast.spark.division import divided


def hulls_of(*texts: str) -> list[Hull]:
    return [hull_of(parse_where(text), "fails") for text in texts]


def visits(hulls: list[Hull], parts: int, event: Event) -> int:
    """How many parts an event has to visit."""
    covering = [
        covering_subscription(merged(hulls[place] for place in part))
        for part in divided(hulls, parts)
    ]
    return sum(each.matches(event) for each in covering)


def test_hulls_bound_what_every_clause_bounds() -> None:
    (hull,) = hulls_of("(x > 1 AND y = 'a') OR (x < 9 AND x > 3 AND z = 2)")
    assert to_where(covering_subscription(hull)) == "x >= 1"
    (hull,) = hulls_of("at >= TIMESTAMP '2026-01-01' AND name LIKE 'ab%' AND tags IS NULL")
    assert set(hull) == {"at", "name"}
    assert hulls_of("x = 1 OR x IS NULL", "x != 5", "TRUE", "FALSE") == [{}, {}, {}, {}]


def test_every_one_is_in_one_part() -> None:
    chance = random.Random(1)
    texts = [
        chance.choice(["TRUE", f"x > {n}", f"k = 's{n % 7}' AND x < {n}", f"y BETWEEN {n} AND 99"])
        for n in range(90)
    ]
    for parts in (1, 2, 5, 16, 200):
        found = divided(hulls_of(*texts), parts)
        assert len(found) <= parts
        assert sorted(place for part in found for place in part) == list(range(90))
        assert all(len(part) for part in found)


def test_equalities_are_divided_by_their_values() -> None:
    hulls = hulls_of(*(f"symbol = 's{n % 100:02}' AND price > {n}" for n in range(1_000)))
    for symbol in ("s00", "s37", "s99"):
        assert visits(hulls, 8, Event({"symbol": symbol, "price": 5_000})) == 1
    assert visits(hulls, 8, Event({"symbol": "t", "price": 5_000})) == 0
    assert {len(part) for part in divided(hulls, 8)} <= set(range(110, 141))


def test_regions_are_divided_on_both_axes() -> None:
    hulls = hulls_of(
        *(
            f"x BETWEEN {x} AND {x + 1} AND y BETWEEN {y} AND {y + 1}"
            for x in range(40)
            for y in range(40)
        )
    )
    chance = random.Random(2)
    counts = [
        visits(hulls, 16, Event({"x": chance.uniform(0, 40), "y": chance.uniform(0, 40)}))
        for _ in range(40)
    ]
    assert sum(counts) / len(counts) < 2.5


def test_what_is_not_bounded_is_a_part_of_its_own() -> None:
    hulls = hulls_of(*(["flag"] * 3), *(f"x = {n}" for n in range(97)))
    parts = divided(hulls, 4)
    assert [0, 1, 2] in [sorted(part) for part in parts]
    assert visits(hulls, 4, Event({"x": 50})) == 2


@pytest.mark.parametrize("text", ["flag", "x != 1", "lower(name) LIKE '%a'"])
def test_where_nothing_is_bounded_parts_are_even(text: str) -> None:
    parts = divided(hulls_of(*[text] * 10), 3)
    assert sorted(map(len, parts)) == [3, 3, 4]
