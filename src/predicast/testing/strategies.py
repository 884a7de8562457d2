"""Hypothesis strategies for everything in the model.

Values come from small pools with the awkward ones among them (neighbours of 2**53, ends of the
64-bit range, the empty string, characters beyond the basic plane), so that constraints and events
meet often and at the edges.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from hypothesis import strategies as st

from predicast.errors import ModelError
from predicast.model import (
    And,
    Constraint,
    Event,
    Expression,
    Interval,
    Kind,
    Leaf,
    LikePattern,
    Not,
    Operator,
    Or,
    Subscription,
    Value,
    subscription_of,
)
from predicast.model.operators import LIKE, PRESENCE, RANGE, REGEX, SET
from predicast.model.values import INT_MAX, INT_MIN

NAMES: Final = ("a", "b", "c", "order.total")

_INTEGERS: Final = (
    *range(-3, 8),
    2**53 - 1,
    2**53,
    2**53 + 1,
    -(2**53) - 1,
    INT_MIN,
    INT_MIN + 1,
    INT_MAX - 1,
    INT_MAX,
)
_FLOATS: Final = (
    *(step / 2 for step in range(-6, 15)),
    2.0**53,
    2.0**53 + 2,
    -(2.0**53),
    2.0**63,
    -(2.0**63),
    2.0**63 - 1024,
    1e300,
    -1e300,
    5e-324,
)
_STRINGS: Final = (
    "",
    "a",
    "ab",
    "abc",
    "abx",
    "b",
    "ba",
    "bab",
    "c",
    "a\0",
    "A",
    "a%",
    "a_b",
    "it's",
    "back\\slash",
    "é",
    "\ud7ff",
    "\ue000",
    "\U0010ffff",
    "\U0010ffffa",
)
_START: Final = datetime(2026, 1, 31, 23, 59, 59, 999_998, tzinfo=UTC)


def attribute_names() -> st.SearchStrategy[str]:
    """A few names, so that events and constraints share them."""
    return st.sampled_from(NAMES)


def integers() -> st.SearchStrategy[int]:
    """64-bit integers."""
    return st.sampled_from(_INTEGERS) | st.integers(INT_MIN, INT_MAX)


def floats() -> st.SearchStrategy[float]:
    """Finite floats."""
    return st.sampled_from(_FLOATS) | st.floats(allow_nan=False, allow_infinity=False)


def strings() -> st.SearchStrategy[str]:
    """Strings that share prefixes, suffixes and parts."""
    return st.sampled_from(_STRINGS) | st.text(
        st.sampled_from("ab%_\\'\0é") | st.characters(codec="utf-8"), max_size=4
    )


def timestamps() -> st.SearchStrategy[datetime]:
    """Instants in UTC, often a microsecond apart."""
    near = st.integers(0, 6).map(lambda step: _START + timedelta(microseconds=step))
    return near | st.datetimes(timezones=st.just(UTC))


def values(kind: Kind | None = None) -> st.SearchStrategy[Value]:
    """Values of one kind, or of any."""
    by_kind: dict[Kind, st.SearchStrategy[Any]] = {
        Kind.NUMBER: integers() | floats(),
        Kind.STRING: strings(),
        Kind.BOOLEAN: st.booleans(),
        Kind.TIMESTAMP: timestamps(),
    }
    return st.one_of(*by_kind.values()) if kind is None else by_kind[kind]


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    """Intervals of numbers (integer, real or mixed ends) and of timestamps, never empty."""
    ends: st.SearchStrategy[Any] = draw(
        st.sampled_from([integers(), floats(), integers() | floats(), timestamps()])
    )
    pair = sorted((draw(ends), draw(ends)))
    lo, hi = (None if draw(st.integers(0, 4)) == 0 else end for end in pair)
    lo_open, hi_open = draw(st.booleans()), draw(st.booleans())
    try:
        return Interval(lo, hi, lo_open, hi_open)
    except ModelError:  # empty: both ends closed cannot be
        return Interval(lo, hi)


def like_patterns() -> st.SearchStrategy[LikePattern]:
    """LIKE patterns with ``!`` as their escape."""
    piece = st.sampled_from(["%", "_", "a", "b", "ab", "!%", "!_", "!!", "é"])
    return st.lists(piece, max_size=4).map(lambda pieces: LikePattern("".join(pieces), "!"))


def regexes() -> st.SearchStrategy[str]:
    """A few regular expressions, valid in RE2."""
    return st.sampled_from(
        ["", "a", "^a", "b$", "a.*b", "^(ab|c)+$", "[^a]", "(?i)A", "é?x", "\\."]
    )


@st.composite
def constraints(
    draw: st.DrawFn, operators: st.SearchStrategy[Operator] | None = None
) -> Constraint:
    """Constraints with every operator, each on a kind of value that it takes."""
    name = draw(attribute_names())
    operator = draw(st.sampled_from(Operator) if operators is None else operators)
    if operator in PRESENCE:
        return Constraint(name, operator)
    if operator in LIKE:
        return Constraint(name, operator, draw(like_patterns()))
    if operator in REGEX:
        return Constraint(name, operator, draw(regexes()))
    of_kind = values(draw(st.sampled_from(sorted(operator.kinds, key=lambda kind: kind.value))))
    if operator in SET:
        return Constraint(name, operator, tuple(draw(st.lists(of_kind, min_size=1, max_size=4))))
    if operator in RANGE:
        return Constraint(name, operator, (draw(of_kind), draw(of_kind)))
    return Constraint(name, operator, draw(of_kind))


def expressions(
    leaves: st.SearchStrategy[Constraint] | None = None,
) -> st.SearchStrategy[Expression]:
    """Trees of AND, OR and NOT over constraints."""
    tests: st.SearchStrategy[Expression] = (constraints() if leaves is None else leaves).map(Leaf)
    return st.recursive(
        tests,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(lambda parts: And(tuple(parts))),
            st.lists(inner, max_size=3).map(lambda parts: Or(tuple(parts))),
            inner.map(Not),
        ),
        max_leaves=6,
    )


def subscriptions() -> st.SearchStrategy[Subscription]:
    """Mostly one or two clauses; now and then a whole tree, everything, or nothing."""
    clause = st.lists(constraints(), max_size=4)
    plain = st.lists(clause, min_size=1, max_size=2).map(Subscription.of)
    return plain | expressions().map(subscription_of)


def events(*, regions: bool = True) -> st.SearchStrategy[Event]:
    """Events with some of the names; with intervals unless told otherwise."""
    value: st.SearchStrategy[Any] = values()
    if regions:
        value = value | intervals()
    return st.dictionaries(attribute_names(), value, max_size=len(NAMES)).map(Event)


@st.composite
def events_near(draw: st.DrawFn, subscription: Subscription, *, regions: bool = True) -> Event:
    """Events whose values are taken from a subscription's own operands, or lie next to them."""
    attributes: dict[str, Any] = {}
    for constraint in subscription.constraints():
        nearby = [near for operand in _operands(constraint) for near in _neighbours(operand)]
        pool = st.sampled_from(nearby) if nearby else values(constraint.kind)
        if draw(st.integers(0, 5)):
            attributes[constraint.attribute] = draw(pool)
    fallback = events(regions=regions)
    if not attributes or draw(st.integers(0, 5)) == 0:
        return draw(fallback)
    return Event({**dict(draw(fallback).items()), **attributes})


def _operands(constraint: Constraint) -> list[Any]:
    operand = constraint.operand
    if operand is None:
        return []
    if isinstance(operand, LikePattern):
        return [operand.pattern.replace("!", "").replace("%", "").replace("_", "a")]
    return list(operand) if isinstance(operand, tuple) else [operand]


def _neighbours(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [True, False]
    if isinstance(value, int):
        return [each for each in (value - 1, value, value + 1) if INT_MIN <= each <= INT_MAX]
    if isinstance(value, float):
        return [value, value / 2]
    if isinstance(value, str):
        return [value, value + "a", "a" + value, value[:-1]]
    return [value]
