"""Any and all of constraints on one attribute, and what they fold into."""

from datetime import UTC, datetime

import pytest

from predicast.errors import InvalidConstraintError, NestingTooDeepError
from predicast.language import parse_where, to_where
from predicast.model import Clause, Constraint, Event, Interval, Kind, LikePattern, Operator

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def only(text: str) -> Constraint:
    """The one constraint that a text comes to."""
    (clause,) = parse_where(text).clauses
    (constraint,) = clause.constraints
    assert clause.rest is None
    return constraint


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("x = 1 OR x = 2 OR x = 3", "x IN (1, 2, 3)"),
        ("x = 1 OR x = 1.0", "x = 1"),
        ("x IN (1, 2) OR x = 3 OR x IN (2, 4)", "x IN (1, 2, 3, 4)"),
        ("NOT (x = 1 OR x = 2)", "x NOT IN (1, 2)"),
        ("NOT (x = 'b' OR x IN ('a', 'b'))", "x NOT IN ('a', 'b')"),
        ("x < 3 OR x BETWEEN 2 AND 5", "x <= 5"),
        ("x < 3 OR x > 5", "x NOT BETWEEN 3 AND 5"),
        ("x < 3 OR x > 3", "x != 3"),
        ("x BETWEEN 1 AND 3 OR x BETWEEN 2 AND 7 OR x = 4", "x BETWEEN 1 AND 7"),
        ("x <= 3 OR x = 3 OR x = 2", "x <= 3"),
        ("x >= 'b' OR x > 'a'", "x > 'a'"),
        ("x >= 'a' OR x = 'b'", "x >= 'a'"),
        ("NOT (x < 1 OR x > 5)", "x BETWEEN 1 AND 5"),
        ("x = TRUE OR x != TRUE", "x IN (FALSE, TRUE)"),
        ("x != 1 OR x NOT IN (1, 2)", "x != 1"),
        ("x NOT IN (1, 2, 3) OR x = 2", "x NOT IN (1, 3)"),
    ],
)
def test_what_a_simpler_operator_says_is_said_by_that_one(text: str, folded: str) -> None:
    assert only(text) == only(folded)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1 OR x = 'a'",
        "x < 3 OR x >= 3",  # every number, and nothing else
        "x = 5 OR x < 3",
        "x = 1 OR x IS NULL",
        "x LIKE ANY ('%b%', 'a%')",
        "startswith(x, 'a') OR contains(x, 'b') OR x RLIKE 'c+'",
        "NOT (contains(x, 'a') OR contains(x, 'b'))",
        "(x > 1 AND x < 2) OR (x > 3 AND x < 4)",
        "x = 'A' OR (contains(x, 'b') AND NOT (x = 'ab' OR endswith(x, 'c')))",
    ],
)
def test_what_is_left_is_any_or_all_in_one_order(text: str) -> None:
    constraint = only(text)
    assert constraint.operator in {Operator.ANY, Operator.ALL}
    assert only(to_where(constraint)) == constraint
    assert constraint.negated().negated() == constraint
    assert constraint == Constraint("x", constraint.operator, constraint.parts[::-1])


def test_any_in_any_is_flat_and_one_part_is_itself() -> None:
    a, b, c = (Constraint("x", Operator.CONTAINS, text) for text in "abc")
    inner = Constraint("x", Operator.ANY, (b, c))
    assert Constraint("x", Operator.ANY, (a, inner, a)).operand == (a, b, c)
    assert Constraint("x", Operator.ANY, (a, a)) == a == Constraint("x", Operator.ALL, (a,))
    everything = Constraint("x", Operator.ALL, (a, Constraint("x", Operator.ALL, (b, c))))
    assert everything.operand == (a, b, c)


def test_kinds_stay_apart() -> None:
    mixed = only("x = 1 OR x = 'a' OR x = TRUE")
    assert mixed.kind is None
    assert [mixed.holds(value) for value in (1, 1.0, "a", True)] == [True] * 4
    assert not any(mixed.holds(value) for value in (2, "b", False, NOON))
    neither = mixed.negated()
    assert not any(neither.holds(value) for value in (2, "b", False, NOON))
    assert only("x = 1 OR x > 5").kind is Kind.NUMBER


@pytest.mark.parametrize(
    ("text", "fails", "passes"),
    [
        ("x = 1 OR x = 'a'", False, True),
        ("x = 1 OR x IS NULL", True, True),
        ("x = 1 OR x IS NOT NULL", False, True),
        ("NOT (x = 'a' OR x IS NULL)", False, False),
        ("x IS NULL OR x IS NOT NULL", True, True),
    ],
)
def test_absence_is_judged_part_by_part(text: str, fails: bool, passes: bool) -> None:
    constraint = only(text)
    assert constraint.holds_absent("fails") is fails
    assert constraint.holds_absent("passes") is passes


@pytest.mark.parametrize(
    ("text", "interval", "meets"),
    [
        ("x = 1 OR x = 'a'", Interval(0, 5), True),
        ("x = 1 OR x = 'a'", Interval(2, 5), False),
        ("x = 9 OR x = 'a' OR x > TIMESTAMP '2026-01-31 12:00'", Interval(NOON, NOON), False),
        ("x = 9 OR x = 'a' OR x >= TIMESTAMP '2026-01-31 12:00'", Interval(NOON, NOON), True),
        ("(x > 1 AND x < 2) OR x = 7", Interval(1, 3), False),
        ("(x > 1 AND x < 2) OR x = 7", Interval(1.0, 3.0), True),
        ("contains(x, 'a') OR x = 4", Interval(4, 4), True),
        ("x IS NULL OR x = 4", Interval(5, 6), False),
        ("x IS NOT NULL OR x = 4", Interval(5, 6), True),
    ],
)
def test_regions_meet_unions_exactly(text: str, interval: Interval, meets: bool) -> None:
    assert Clause((only(text),)).matches(Event({"x": interval})) is meets


def test_ends_of_time_and_of_strings_are_found_again() -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    for operator in (Operator.LT, Operator.LE, Operator.GT, Operator.GE):
        for moment in (first, last):
            ends = Constraint("x", operator, moment)
            both = Constraint("x", Operator.ANY, (ends, Constraint("x", Operator.EQ, NOON)))
            for value in (first, NOON, last):
                assert both.holds(value) is (ends.holds(value) or value == NOON)
    empty = Constraint("x", Operator.BETWEEN, (5, 1))
    assert Constraint("x", Operator.ANY, (empty, Constraint("x", Operator.EQ, 3))) == only("x = 3")
    nothing = Constraint("x", Operator.ANY, (empty, Constraint("x", Operator.BETWEEN, (2, 1))))
    assert not any(nothing.holds(value) for value in range(6))


@pytest.mark.parametrize("parts", [(), (1,), "x = 1", None, [Constraint("y", Operator.EXISTS)]])
def test_any_and_all_take_constraints_on_the_attribute(parts: object) -> None:
    with pytest.raises(InvalidConstraintError, match="'any'"):
        Constraint("x", Operator.ANY, parts)  # type: ignore[arg-type]


def test_any_in_all_in_any_is_refused_past_a_depth() -> None:
    def nested(depth: int) -> Constraint:
        made = Constraint("x", Operator.CONTAINS, "a")
        for level in range(depth):
            other = Constraint("x", Operator.CONTAINS, f"b{level}")
            made = Constraint("x", (Operator.ANY, Operator.ALL)[level % 2], (made, other))
        return made

    assert nested(199).holds("ab198")
    with pytest.raises(NestingTooDeepError) as caught:
        nested(300)
    assert caught.value.limit == 200


def test_long_lists_are_one_constraint_each() -> None:
    patterns = ", ".join(f"'%{number}%'" for number in range(5_000))
    assert len(only(f"x LIKE ANY ({patterns})").parts) == 5_000
    assert len(only(f"x NOT LIKE ALL ({patterns})").parts) == 5_000
    equal = only(" OR ".join(f"x = {number}" for number in range(300)))
    assert (equal.operator, len(equal.operand)) == (Operator.IN, 300)  # type: ignore[arg-type]
    contains = " OR ".join(f"contains(x, 'a{number}')" for number in range(500))
    without = only(f"NOT ({contains})")
    assert (without.operator, len(without.parts)) == (Operator.ALL, 500)
    assert without.holds("b")
    assert not without.holds("xa499x")


def test_a_few_tests_of_one_attribute_stand_side_by_side() -> None:
    (clause,) = parse_where("x > 1 AND x < 5 AND x != 3").clauses
    assert [each.operator for each in clause] == [Operator.GT, Operator.LT, Operator.NE]
    pattern = Constraint("x", Operator.LIKE, LikePattern("a%"))
    assert parse_where("x LIKE 'a%' AND x > 'ab'").clauses[0].on("x")[0] == pattern
