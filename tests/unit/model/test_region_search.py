"""Whether one point of a region satisfies the rest of a clause, beside trying every point."""

import random
from itertools import product

import pytest

from predicast import Engine, Event, Interval
from predicast.errors import TooManyAlternativesError
from predicast.language import parse_where
from predicast.model import Absent, region_search

NAMES = ("w", "x", "y", "z")


def some_test(chance: random.Random) -> str:
    name, low, high = chance.choice(NAMES), chance.randrange(6), chance.randrange(6)
    return chance.choice(
        [
            f"{name} {chance.choice(['<', '<=', '>', '>=', '=', '!='])} {low}",
            f"{name} BETWEEN {low} AND {high}",
            f"{name} NOT IN ({low}, {high})",
            f"({name} < {low} OR {name} > {high} OR {name} LIKE 'a%')",
            f"{name} IS NOT NULL",
        ]
    )


def some_expression(chance: random.Random, depth: int = 3) -> str:
    if depth == 0:
        return some_test(chance)
    joined = " AND " if depth % 2 else " OR "
    parts = [some_expression(chance, depth - 1) for _ in range(chance.randint(2, 4))]
    return f"({joined.join(parts)})"


@pytest.mark.parametrize("seed", range(4))
def test_a_region_matches_if_one_of_its_points_does(seed: int) -> None:
    chance = random.Random(seed)
    decided = set()
    for _ in range(60):
        subscription = parse_where(some_expression(chance))
        ends = {name: (low := chance.randrange(4), low + chance.randrange(4)) for name in NAMES}
        absent: Absent = chance.choice(["fails", "passes"])
        region = Event({name: Interval(*both) for name, both in ends.items()})
        points = product(*(range(low, high + 1) for low, high in ends.values()))
        expected = any(
            subscription.matches(Event(dict(zip(NAMES, point, strict=True))), absent)
            for point in points
        )
        assert subscription.matches(region, absent) is expected
        if any(clause.rest is not None for clause in subscription.clauses):
            decided.add(expected)
    assert decided == {True, False}


def test_between_numbers_there_are_others_and_between_integers_there_are_none() -> None:
    text = " AND ".join(f"(x != {n} OR y != {n})" for n in range(9))
    text += " AND (x > 3 OR y > 30) AND (x < 4 OR y < -9)"
    subscription = parse_where(text)
    assert subscription.clauses[0].rest is not None
    assert subscription.matches(Event({"x": Interval(0.0, 9.0), "y": Interval(0, 9)}))
    assert not subscription.matches(Event({"x": Interval(0, 9), "y": Interval(0, 9)}))


def test_alternatives_of_two_intervals_are_not_all_combined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 40 ORs there are 2**40 combinations, none of which has a point."""
    monkeypatch.setattr(region_search, "MOST_LOOKS", 10_000)
    text = " AND ".join(f"(x < {n} OR y < {n})" for n in range(10, 50)) + " AND x > 90 AND y > 90"
    region = Event({"x": Interval(0, 100), "y": Interval(0, 100)})
    assert not parse_where(text).matches(region)
    late = " AND ".join(f"({name} > 90 OR z > 5) AND ({name} > 95 OR z < 3)" for name in "xy")
    late = text.replace("x > 90 AND y > 90", late)
    region = Event({"x": Interval(0, 100), "y": Interval(0, 100), "z": Interval(0, 9)})
    assert not parse_where(late).matches(region)


def test_what_shares_no_attribute_is_searched_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(region_search, "MOST_LOOKS", 10_000)
    free = [f"(a{n} < 5 OR b{n} < 5)" for n in range(30)]
    text = " AND ".join([*free, "(x < 5 OR y < 5)", "(x > 5 OR y < 3)", "(x < 4 OR y > 4)"])
    names = [f"{letter}{n}" for letter in "ab" for n in range(30)]
    region = {name: Interval(0, 9) for name in names}
    never = Event({**region, "x": Interval(5, 5), "y": Interval(4, 4)})
    assert not parse_where(text).matches(never)
    assert parse_where(text).matches(Event({**region, "x": Interval(0, 9), "y": Interval(0, 9)}))


def test_there_is_an_end_to_what_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    chance, clauses = random.Random(1), []
    for _ in range(260):  # a hard formula over 60 variables
        tests = [f"x{n} {chance.choice('<>')} 5" for n in chance.sample(range(60), 3)]
        clauses.append(f"({' OR '.join(tests)})")
    monkeypatch.setattr(region_search, "MOST_LOOKS", 2_000)
    engine = Engine()
    engine.subscribe(" AND ".join(clauses), id="hard")
    region = {f"x{n}": Interval(0.0, 9.0) for n in range(60)}
    with pytest.raises(TooManyAlternativesError, match="divide the subscription") as refused:
        engine.match(region)
    assert refused.value.limit == 2_000
    assert engine.match({f"x{n}": 0 for n in range(60)}) == []
