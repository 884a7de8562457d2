"""Covering: paper 2's table, its mixtures, and the papers' mistakes."""

from typing import Any

import pytest

from predicast import covers
from predicast.language import parse_where
from predicast.model import Constraint, Operator
from predicast.model.domain import _common_prefix, _members, domain_of
from predicast.model.spans import Span

TRUE_COVERS = [
    # paper 2, table 1
    ("x > 1", "x > 1"), ("x > 1", "x >= 2"), ("x >= 1", "x > 1"), ("x >= 1", "x >= 1"),
    ("x < 2", "x < 2"), ("x < 2", "x <= 1"), ("x <= 2", "x < 2"), ("x <= 2", "x <= 2"),
    ("x = 'a'", "x = 'a'"), ("x LIKE 'ab%'", "x LIKE 'abc%'"), ("x LIKE '%bc'", "x LIKE '%abc'"),
    ("contains(x, 'b')", "contains(x, 'abc')"),
    # and beyond
    ("startswith(x, 'ab')", "x = 'abc'"),
    ("startswith(x, 'ab')", "x IN ('ab', 'abc')"),
    ("startswith(x, 'ab')", "x >= 'ab' AND x < 'ac'"),
    ("x >= 'ab' AND x < 'ac'", "startswith(x, 'ab')"),
    ("x BETWEEN 0 AND 10", "x IN (0, 5, 10)"),
    ("contains(x, 'b')", "startswith(x, 'abc')"),
    ("contains(x, 'b')", "endswith(x, 'abc')"),
    ("contains(x, 'b')", "x LIKE '%a_c%b%'"),
    ("endswith(x, 'c')", "x LIKE 'a%bc'"),
    ("x LIKE 'abc'", "x = 'abc'"),
    ("x != 5", "x > 5"), ("x != 5", "x IN (1, 2)"), ("x NOT IN (1, 2)", "x BETWEEN 3 AND 4"),
    ("x > 5", "x >= 5 AND x != 5"),
    ("x > 'a'", "x >= 'a' AND x != 'a'"),
    ("x NOT BETWEEN 1 AND 3", "x > 3"),
    ("NOT startswith(x, 'a')", "startswith(x, 'b')"),
    ("NOT endswith(x, 'ab')", "NOT endswith(x, 'b')"),
    ("NOT endswith(x, 'a')", "endswith(x, 'b')"),
    ("NOT contains(x, 'abc')", "NOT contains(x, 'b')"),
    ("x = TRUE", "x != FALSE"),
    ("x IS NOT NULL", "x > 1"), ("x IS NOT NULL", "x RLIKE 'a'"), ("TRUE", "x = 1"),
    ("x RLIKE 'a+'", "x RLIKE 'a+' AND y = 1"),
    ("x > 1", "x > 2 AND y = 3"), ("x > 1 OR y = 1", "x > 2"),
    ("x > 1 OR x < 0", "x > 5 OR x < -1"),
    ("t > TIMESTAMP '2026-01-01'", "t >= TIMESTAMP '2026-01-01 00:00:00.000001'"),
    ("x = 1", "x > 3 AND x < 2"), ("x = 1", "FALSE"), ("x = 1", "x = 'a' AND x = 2"),
    ("y = 1", "endswith(x, 'a') AND endswith(x, 'b')"),
    ("y = 1", "contains(x, 'abc') AND NOT contains(x, 'b')"),
    ("y = 1", "x IS NULL AND x > 1"),
    ("x LIKE '%'", "x = 'q'"),
    ("contains(x, 'ab')", "x >= 'ab' AND x < 'ab\U0010ffff'"),
    ("contains(x, 'ab')", "x >= 'ab\U0010ffffc' AND x < 'ac'"),
    ("contains(x, '\U0010ffff')", "x >= '\U0010ffffa'"),
]  # fmt: skip

FALSE_COVERS = [
    # paper 1, theorem 2 ignores operators: {x > 1} would lie inside {x < 10}
    ("x < 10", "x > 1"),
    ("x > 2", "x > 1"), ("x > 3", "x >= 3"), ("x >= 4", "x > 3"),
    ("x = 1", "y = 1"), ("x > 1", "TRUE"), ("x = 1", "x = TRUE"), ("x != 5", "x != 'a'"),
    ("startswith(x, 'abc')", "startswith(x, 'ab')"), ("endswith(x, 'a')", "startswith(x, 'a')"),
    ("x LIKE 'a%c'", "x LIKE 'a%b'"), ("x LIKE 'a_'", "x LIKE 'a%'"),
    ("contains(x, 'ac')", "x LIKE 'a%c'"),
    ("x IS NULL", "x = 1"), ("x IS NOT NULL", "y = 1"), ("x IS NOT NULL", "x IS NULL"),
    ("contains(x, 'a\U0010ffff')", "x >= 'a\U0010fffe' AND x < 'b'"),
    ("contains(x, '\U0010ffffa')", "x >= '\U0010ffffa'"),
    ("FALSE", "x = 1"), ("x > 1", "x > 2 OR y = 1"), ("x RLIKE 'a'", "x RLIKE 'ab'"),
]  # fmt: skip


@pytest.mark.parametrize(("outer", "inner"), TRUE_COVERS)
def test_covers(outer: str, inner: str) -> None:
    assert covers(parse_where(outer), parse_where(inner))


@pytest.mark.parametrize(("outer", "inner"), FALSE_COVERS)
def test_does_not_cover(outer: str, inner: str) -> None:
    assert not covers(parse_where(outer), parse_where(inner))


def test_covering_depends_on_what_absence_means() -> None:
    contradiction, other = parse_where("x > 3 AND x < 2"), parse_where("y = 1")
    assert covers(other, contradiction)
    assert not covers(other, contradiction, absent="passes")
    assert covers(parse_where("x > 9"), contradiction, absent="passes")


def test_constraints_and_clauses_are_coverable_too() -> None:
    outer, inner = parse_where("x > 1"), parse_where("x > 2 AND y = 1")
    assert covers(outer.clauses[0].constraints[0], inner.clauses[0])
    assert not covers(inner.clauses[0], outer.clauses[0].constraints[0])


def test_what_long_strings_share_is_found_in_one_pass() -> None:
    """The prefixes that a span's strings may share are not tried one by one."""
    calls = 0

    class Counted(str):
        __slots__ = ()

        def __getitem__(self, key: Any) -> str:
            nonlocal calls
            calls += isinstance(key, slice)
            return super().__getitem__(key)

    assert _common_prefix(Span(Counted("x" * 2_000), "z", False, True)) == ""
    assert calls < 5


def test_a_large_set_of_long_strings_is_not_listed() -> None:
    """From s to s + 2,000 zeros there are 2,000 strings, here of 4 million characters and more."""
    long = "x" * 4_000
    inner = Constraint("s", Operator.BETWEEN, (long, long + "\0" * 2_000))
    assert covers(Constraint("s", Operator.CONTAINS, "x"), inner)
    assert _members(domain_of((inner,), "fails").spans) is None
    assert not covers(Constraint("s", Operator.MATCHES, "x"), inner)


@pytest.mark.parametrize(
    ("outer", "inner", "covered"),
    [
        ("x < 3 OR x > 7", "x = 1 OR x = 9", True),
        ("x < 3 OR x > 7", "x = 1 OR x = 5", False),
        ("x = 1 OR x = 'a'", "x = 'a'", True),
        ("x = 'a'", "x = 1 OR x = 'a'", False),
        ("x IS NULL OR x = 1", "x IS NULL", True),
        ("startswith(x, 'a') OR x = 'b'", "x IN ('ab', 'b')", True),
        ("contains(x, 'a') OR contains(x, 'b')", "contains(x, 'b') OR contains(x, 'a')", True),
    ],
)
def test_unions_are_compared_as_sets(outer: str, inner: str, covered: bool) -> None:
    assert covers(parse_where(outer), parse_where(inner)) is covered


def test_a_rest_narrows_and_covers_only_itself() -> None:
    rest = " AND ".join(f"(a{n} = 1 OR b{n} = 1)" for n in range(5))
    with_rest, without = parse_where(f"x = 1 AND {rest}"), parse_where("x = 1")
    assert with_rest.clauses[0].rest is not None
    assert covers(without, with_rest)
    assert not covers(with_rest, without)
    assert covers(with_rest, with_rest)
    assert covers(with_rest, parse_where(f"x = 1 AND {rest} AND (c = 1 OR d = 1)"))
    assert not covers(with_rest, parse_where(f"x = 2 AND {rest}"))
