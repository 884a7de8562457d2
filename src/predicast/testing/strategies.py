"""Hypothesis strategies for everything in the model.

Values come from small pools, so that constraints and events meet often, and from the edges of each
type (``predicast.testing.edges``), so that they also meet there.

Each function makes its strategy once: to make and check one takes longer than to draw from it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from hypothesis import strategies as st

from predicast.errors import ModelError
from predicast.model import (
    And,
    Clause,
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
    subscription_of,
)
from predicast.model.decimals import ExactDecimal
from predicast.model.elements import ELEMENT, FIELDS
from predicast.model.operators import ELEMENTS, JOINED, LIKE, PRESENCE, RANGE, REGEX, SET
from predicast.model.values import INT_MAX, INT_MIN
from predicast.testing import edges

NAMES: Final = ("a", "b", "c", "order.total")
ELEMENT_NAMES: Final = (ELEMENT, ELEMENT, f"{FIELDS}a", f"{FIELDS}order.total")

_SMALL_INTEGERS: Final = tuple(range(-3, 8))
_HALVES: Final = tuple(step / 2 for step in range(-6, 15))
_SMALL_STRINGS: Final = (
    *("", "a", "ab", "abc", "abx", "b", "ba", "bab", "c"),
    *("A", "a%", "a_b", "it's", "back\\slash", "é", "\U0010ffffa"),
)
_START: Final = datetime(2026, 1, 31, 23, 59, 59, 999_998, tzinfo=UTC)


@lru_cache
def attribute_names() -> st.SearchStrategy[str]:
    """A few names, so that events and constraints share them."""
    return st.sampled_from(NAMES)


@lru_cache
def integers() -> st.SearchStrategy[int]:
    """64-bit integers."""
    small, at_edges = st.sampled_from(_SMALL_INTEGERS), st.sampled_from(edges.INTEGERS)
    return small | at_edges | st.integers(INT_MIN, INT_MAX)


@lru_cache
def floats() -> st.SearchStrategy[float]:
    """Finite floats."""
    halves, at_edges = st.sampled_from(_HALVES), st.sampled_from(edges.FLOATS)
    return halves | at_edges | st.floats(allow_nan=False, allow_infinity=False)


@lru_cache
def decimals() -> st.SearchStrategy[ExactDecimal]:
    """Numbers that are neither 64-bit integers nor floats."""
    # The shortest text of a float has 17 digits at most; these have more, and end in a one.
    digits, places = st.integers(10**17, 10**46), st.sampled_from((1, 2, 22))
    drawn = st.builds(
        lambda sign, number, place: ExactDecimal(f"{sign}{number}1E-{place}"),
        st.sampled_from(("", "-")),
        digits,
        places,
    )
    return st.sampled_from(edges.DECIMALS) | drawn


@lru_cache
def numbers() -> st.SearchStrategy[int | float | ExactDecimal]:
    """Numbers of every type; decimals are rarer than the others, as they are in events."""
    return integers() | floats() | integers() | floats() | decimals()


@lru_cache
def strings() -> st.SearchStrategy[str]:
    """Strings that share prefixes, suffixes and parts."""
    small, at_edges = st.sampled_from(_SMALL_STRINGS), st.sampled_from(edges.STRINGS)
    characters = st.sampled_from("ab%_\\'\0é\U0010ffff") | st.characters(codec="utf-8")
    return small | at_edges | st.text(characters, max_size=4)


@lru_cache
def timestamps() -> st.SearchStrategy[datetime]:
    """Instants in UTC, often a microsecond apart or at an end of the calendar."""
    near = st.integers(0, 6).map(lambda step: _START + timedelta(microseconds=step))
    return near | st.sampled_from(edges.TIMESTAMPS) | st.datetimes(timezones=st.just(UTC))


@lru_cache
def values(kind: Kind | None = None) -> st.SearchStrategy[Any]:
    """Values of one kind, or single ones of any."""
    if kind is Kind.LIST:
        return lists()
    by_kind: dict[Kind, st.SearchStrategy[Any]] = {
        Kind.NUMBER: numbers(),
        Kind.STRING: strings(),
        Kind.BOOLEAN: st.booleans(),
        Kind.TIMESTAMP: timestamps(),
    }
    return st.one_of(*by_kind.values()) if kind is None else by_kind[kind]


@lru_cache
def lists(depth: int = 2) -> st.SearchStrategy[list[Any]]:
    """Lists of values, of objects with some of the fields of ``ELEMENT_NAMES``, and of lists."""
    inner = values() if depth == 0 else values() | lists(depth - 1)
    fields = st.fixed_dictionaries(
        {}, optional={"a": inner | st.none(), "order": st.fixed_dictionaries({"total": inner})}
    )
    element = st.one_of(values(), st.none(), inner, fields)
    alike = st.sampled_from([integers(), strings(), fields, element])
    return alike.flatmap(lambda elements: st.lists(elements, max_size=4))


@lru_cache
@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    """Intervals of numbers (integer, real or mixed ends) and of timestamps, never empty."""
    ends: st.SearchStrategy[Any] = draw(
        st.sampled_from([integers(), floats(), integers() | floats(), numbers(), timestamps()])
    )
    pair = sorted((draw(ends), draw(ends)))
    lo, hi = (None if draw(st.integers(0, 4)) == 0 else end for end in pair)
    lo_open, hi_open = draw(st.booleans()), draw(st.booleans())
    try:
        return Interval(lo, hi, lo_open, hi_open)
    except ModelError:  # empty: both ends closed cannot be
        return Interval(lo, hi)


@lru_cache
def like_patterns() -> st.SearchStrategy[LikePattern]:
    """LIKE patterns with ``!`` as their escape."""
    piece = st.sampled_from(["%", "_", "a", "b", "ab", "!%", "!_", "!!", "é", "\0", "\U0010ffff"])
    drawn = st.lists(piece, max_size=4).map("".join)
    long = st.sampled_from(["%", "_", "a" * 65, "ab" * 40, "b"])
    drawn_long = st.lists(long, min_size=2, max_size=4).map("".join)
    patterns = st.sampled_from(edges.LIKE_PATTERNS) | drawn | drawn | drawn_long
    return patterns.map(lambda pattern: LikePattern(pattern, "!"))


@lru_cache
def regexes() -> st.SearchStrategy[str]:
    """A few regular expressions, valid in RE2."""
    plain = [
        "a",
        "^a",
        "b$",
        "a.*b",
        "^(ab|c)+$",
        "[^a]",
        "(?i)A",
        "é?x",
        "\\.",
        "a{2}",
        "(ab){33}",
    ]
    return st.sampled_from(edges.REGEXES) | st.sampled_from(plain)


@lru_cache
@st.composite
def constraints(
    draw: st.DrawFn,
    operators: st.SearchStrategy[Operator] | None = None,
    names: st.SearchStrategy[str] | None = None,
    *,
    lists: int = 2,
) -> Constraint:
    """Constraints with every operator, each on a kind of value that it takes.

    Conditions on elements stand inside one another up to ``lists`` times.
    """
    name = draw(attribute_names() if names is None else names)
    operator = draw(st.sampled_from(Operator) if operators is None else operators)
    if operator in ELEMENTS:
        return Constraint(name, operator, draw(_of_elements(lists)))
    if operator in JOINED:
        return draw(joined_constraints(operator, name))
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


PLAIN: Final = tuple(operator for operator in Operator if operator not in JOINED)
_OF_VALUES: Final = tuple(operator for operator in PLAIN if operator not in ELEMENTS)


@lru_cache
def _of_elements(lists: int) -> st.SearchStrategy[Subscription]:
    """What an element is to match."""
    operators = st.sampled_from(PLAIN if lists > 1 else _OF_VALUES)
    test = constraints(operators, st.sampled_from(ELEMENT_NAMES), lists=lists - 1)
    return st.lists(st.lists(test, max_size=2), max_size=2).map(Subscription.of) | expressions(
        test, max_leaves=4
    ).map(subscription_of)


@lru_cache
def joined_constraints(operator: Operator, name: str) -> st.SearchStrategy[Constraint]:
    """Any or all of constraints on an attribute, of one kind or of several, one in another."""
    parts = st.recursive(
        constraints(st.sampled_from(PLAIN), st.just(name)),
        lambda inner: st.builds(
            lambda outer, found: Constraint(name, outer, tuple(found)),
            st.sampled_from([Operator.ANY, Operator.ALL]),
            st.lists(inner, min_size=1, max_size=3),
        ),
        max_leaves=4,
    )
    return st.lists(parts, min_size=1, max_size=3).map(
        lambda found: Constraint(name, operator, tuple(found))
    )


@lru_cache
def expressions(
    leaves: st.SearchStrategy[Constraint] | None = None, *, max_leaves: int = 6
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
        max_leaves=max_leaves,
    )


@lru_cache
def rests() -> st.SearchStrategy[Expression]:
    """What a clause may have as its rest: AND and OR over constraints."""
    tests: st.SearchStrategy[Expression] = constraints().map(Leaf)
    return st.recursive(
        tests,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: And(tuple(parts))),
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: Or(tuple(parts))),
        ),
        max_leaves=6,
    )


@lru_cache
def clauses() -> st.SearchStrategy[Clause]:
    """Clauses of a few constraints, some of them with a rest."""
    tests = st.lists(constraints(), max_size=3).map(tuple)
    return st.builds(Clause, tests, st.none() | st.none() | rests())


@lru_cache
def wide_expressions() -> st.SearchStrategy[Expression]:
    """Expressions that would be a great many clauses: AND of ORs over several attributes."""
    test: st.SearchStrategy[Expression] = constraints(st.sampled_from(PLAIN)).map(Leaf)
    both = st.lists(test, min_size=2, max_size=2).map(lambda parts: And(tuple(parts)))
    either = st.lists(test | both, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts)))
    return st.lists(either | test, min_size=4, max_size=7).map(lambda parts: And(tuple(parts)))


@lru_cache
def subscriptions() -> st.SearchStrategy[Subscription]:
    """Mostly one or two clauses; now and then a whole tree, everything, or nothing."""
    clause = st.lists(constraints(), max_size=4)
    plain = st.lists(clause, min_size=1, max_size=2).map(Subscription.of)
    with_rests = st.lists(clauses(), min_size=1, max_size=2).map(Subscription.of)
    trees = expressions() | wide_expressions()
    return plain | with_rests | trees.map(subscription_of)


@lru_cache
def events(*, regions: bool = True) -> st.SearchStrategy[Event]:
    """Events with some of the names; with intervals unless told otherwise."""
    value: st.SearchStrategy[Any] = values() | values() | lists()
    if regions:
        value = value | intervals()
    return st.dictionaries(attribute_names(), value, max_size=len(NAMES)).map(Event)


@st.composite
def events_near(draw: st.DrawFn, subscription: Subscription, *, regions: bool = True) -> Event:
    """Events whose values are taken from a subscription's own operands, or lie next to them."""
    attributes: dict[str, Any] = {}
    for constraint in subscription.constraints():
        pool = _near(constraint)
        if draw(st.integers(0, 5)):
            attributes[constraint.attribute] = draw(pool)
    fallback = events(regions=regions)
    if not attributes or draw(st.integers(0, 5)) == 0:
        return draw(fallback)
    return Event({**dict(draw(fallback).items()), **attributes})


def _near(constraint: Constraint) -> st.SearchStrategy[Any]:
    """Values that the constraint is about, or next to those."""
    if isinstance(constraint.operand, Subscription):
        return st.lists(_elements_near(constraint.operand), max_size=3)
    if constraint.parts:
        return st.one_of([_near(part) for part in constraint.plain()])
    nearby = [near for operand in _operands(constraint) for near in edges.neighbours(operand)]
    return st.sampled_from(nearby) if nearby else values(constraint.kind)


@st.composite
def _elements_near(draw: st.DrawFn, wanted: Subscription) -> Any:
    """An element with values that a subscription of elements is about."""
    element: dict[str, Any] = {}
    for constraint in wanted.constraints():
        if draw(st.integers(0, 5)):
            element[constraint.attribute] = draw(_near(constraint))
    fields = {
        name.removeprefix(FIELDS): value for name, value in element.items() if name != ELEMENT
    }
    alone = element.get(ELEMENT)
    if not fields or (alone is not None and draw(st.booleans())):
        return alone
    return fields


def _operands(constraint: Constraint) -> list[Any]:
    operand = constraint.operand
    if operand is None:
        return []
    if isinstance(operand, LikePattern):
        return [operand.pattern.replace("!", "").replace("%", "").replace("_", "a")]
    return list(operand) if isinstance(operand, tuple) else [operand]
