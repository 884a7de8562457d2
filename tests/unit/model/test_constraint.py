"""Constraints: canonical operands, kinds that never mix, and refusals."""

from typing import Any

import pytest

from predicast.errors import InvalidConstraintError, InvalidValueError
from predicast.model import Constraint, LikePattern, Operator

OP = Operator


@pytest.mark.parametrize(
    ("operator", "operand", "held", "failed"),
    [
        (OP.EQ, 5, [5, 5.0], [4, "5", True]),
        (OP.EQ, 2**53 + 1, [2**53 + 1], [2.0**53, 2**53]),
        (OP.NE, 1, [2, 1.5], [1, 1.0, "a", True]),
        (OP.LT, 2**53 + 1, [2.0**53], [2.0**53 + 2]),
        (OP.GE, "b", ["b", "ba", "é"], ["a", "", 5]),
        (OP.BETWEEN, (1, 3), [1, 3, 2.5], [0.999, 4, "2"]),
        (OP.BETWEEN, (3, 1), [], [1, 2, 3]),
        (OP.NOT_BETWEEN, (1, 3), [0, 3.5], [1, 2, "a"]),
        (OP.IN, [1, 2.5], [1.0, 2.5], [2, True, "1"]),
        (OP.NOT_IN, ["a"], ["b", ""], ["a", 1]),
        (OP.PREFIX, "ab", ["ab", "abx"], ["a", "b", "xab"]),
        (OP.SUFFIX, "", ["", "a"], [5]),
        (OP.NOT_CONTAINS, "a", ["", "b"], ["cab", 5]),
        (OP.LIKE, "a%b_", ["abc", "a--b!"], ["ab", "xabc", "a\nb"]),
        (OP.LIKE, LikePattern("50!%", "!"), ["50%"], ["500", "50!%"]),
        (OP.NOT_LIKE, "a%", ["b"], ["a", 1]),
        (OP.MATCHES, "a+$", ["a", "baa"], ["ab", 5]),
        (OP.EXISTS, None, [0, "", False], []),
        (OP.ABSENT, None, [], [0, "", False]),
        (OP.EQ, True, [True], [1, "TRUE", False]),
    ],
)
def test_holds(operator: Operator, operand: Any, held: list[Any], failed: list[Any]) -> None:
    constraint = Constraint("x", operator, operand)
    assert [value for value in held + failed if constraint.holds(value)] == held


@pytest.mark.parametrize("operator", list(Operator))
def test_negation_is_its_own_inverse(operator: Operator) -> None:
    assert operator.negation.negation is operator
    assert operator.negation is not operator


def test_canonical_operands() -> None:
    assert Constraint("x", OP.EQ, 1.0) == Constraint("x", OP.EQ, 1)
    assert Constraint("x", OP.EQ, 1) != Constraint("x", OP.EQ, True)
    assert Constraint("x", OP.IN, (3, 1, 3.0)).operand == (1, 3)
    assert Constraint("x", OP.EQ, -0.0).operand == 0
    assert isinstance(Constraint("x", OP.EQ, 1e300).operand, float)


@pytest.mark.parametrize(
    ("operator", "operand"),
    [
        (OP.LT, True),
        (OP.EQ, None),
        (OP.IN, []),
        (OP.IN, "abc"),
        (OP.IN, [1, "a"]),
        (OP.BETWEEN, (1, "a")),
        (OP.BETWEEN, 5),
        (OP.PREFIX, 5),
        (OP.LIKE, 5),
        (OP.LIKE, "50\\"),
        (OP.LIKE, "a\\b"),
        (OP.LIKE, LikePattern("a", "%")),
        (OP.LIKE, LikePattern("a", "xy")),
        (OP.MATCHES, "("),
        (OP.MATCHES, "(?=a)b"),
        (OP.EXISTS, 5),
    ],
)
def test_misfits_are_refused(operator: Operator, operand: Any) -> None:
    with pytest.raises(InvalidConstraintError, match="attribute 'x'") as caught:
        Constraint("x", operator, operand)
    assert caught.value.operator == operator.value


def test_bad_values_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="attribute 'x'"):
        Constraint("x", OP.EQ, float("nan"))


@pytest.mark.parametrize("name", ["", None, 5])
def test_bad_names_are_refused(name: Any) -> None:
    with pytest.raises(InvalidConstraintError):
        Constraint(name, OP.EXISTS)


def test_a_hostile_regex_takes_linear_time() -> None:
    assert not Constraint("x", OP.MATCHES, "^(a+)+$").holds("a" * 50_000 + "b")
    with pytest.raises(InvalidConstraintError, match="RE2"):
        Constraint("x", OP.MATCHES, "((a{1000}){1000}){1000}")
