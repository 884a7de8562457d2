"""Hypothesis strategies for CESQL, for filters of CloudEvents, and for events to ask them of."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from hypothesis import strategies as st

from predicast.derived.cesql.tree import (
    Attribute,
    Chain,
    Exists,
    In,
    Invocation,
    Like,
    Literal,
    Node,
    Scalar,
    Unary,
)

NAMES: Final = ("type", "a", "b", "c")
_STRINGS: Final = (
    *("", "a", "ab", "b", "A", "5", "05", "-1", "+5", "true", "TRUE", "false", "1", "2.5"),
    *("it's", "a%", "a_b", "back\\slash", "2026-01-31T12:00:00Z", "é", "\u2028a "),
)
_PATTERNS: Final = (
    *("a%", "%b", "a_", "%", "", "5%", "%5", "t%", "tru_", "-%", "a\\%", "2%", "%e", "A"),
    *("back\\slash", "_\\__", "é%", "%T%"),
)
_NOON: Final = datetime(2026, 1, 31, 12, tzinfo=UTC)
_INTEGERS: Final = (0, 1, 2, 5, -1, 2**31 - 1, -(2**31))
_SCALARS: Final[tuple[Scalar, ...]] = (*_STRINGS, *_INTEGERS, True, False)
_LITERALS: Final = st.sampled_from(_SCALARS).map(Literal)
_FUNCTIONS: Final = {
    **dict.fromkeys(("INT", "STRING", "BOOL", "LENGTH", "LOWER", "UPPER", "TRIM", "ABS"), (1, 1)),
    "CONCAT": (0, 3),
    "CONCAT_WS": (1, 3),
    "LEFT": (2, 2),
    "RIGHT": (2, 2),
    "SUBSTRING": (2, 3),
}
_LEVELS: Final = (
    ("AND", "OR", "XOR"),
    ("=", "!=", "<", "<=", ">", ">="),
    ("+", "-"),
    ("*", "/", "%"),
)


def nodes(depth: int = 3) -> st.SearchStrategy[Node]:
    """Expressions, as the parser makes them."""
    names = st.sampled_from(NAMES)
    leaves = st.one_of(names.map(Attribute), names.map(Attribute), _LITERALS, names.map(Exists))
    if depth == 0:
        return leaves
    inner = nodes(depth - 1)
    return st.one_of(leaves, _tests(inner), _composed(inner))


def _tests(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    """What filters are mostly made of: attributes beside literals."""
    subject = st.sampled_from(NAMES).map(Attribute) | inner
    sets = st.lists(_LITERALS, min_size=1, max_size=3).map(tuple)
    compared = st.sampled_from(_LEVELS[1]).map(lambda each: (each,))
    return st.one_of(
        st.builds(Chain, st.tuples(subject, _LITERALS), compared),
        st.builds(Chain, st.tuples(_LITERALS, subject), compared),
        st.builds(Like, subject, st.sampled_from(_PATTERNS), st.booleans()),
        st.builds(In, subject, sets, st.booleans()),
    )


@st.composite
def _composed(draw: st.DrawFn, inner: st.SearchStrategy[Node]) -> Node:
    shape = draw(st.sampled_from(["logic", "logic", "chain", "not", "minus", "call", "in"]))
    if shape in {"logic", "chain"}:
        operators = _LEVELS[0] if shape == "logic" else draw(st.sampled_from(_LEVELS))
        between = draw(st.lists(st.sampled_from(operators), min_size=1, max_size=3))
        operands = [draw(inner) for _ in range(len(between) + 1)]
        return Chain(tuple(operands), tuple(between))
    if shape in {"not", "minus"}:
        return Unary("NOT" if shape == "not" else "-", draw(inner))
    if shape == "in":
        return In(draw(inner), tuple(draw(st.lists(inner, min_size=1, max_size=2))), False)
    function = draw(st.sampled_from(sorted(_FUNCTIONS)))
    least, most = _FUNCTIONS[function]
    return Invocation(function, tuple(draw(st.lists(inner, min_size=least, max_size=most))))


def events() -> st.SearchStrategy[dict[str, Any]]:
    """Attributes of every type, and values that are none of CESQL's."""
    values = st.sampled_from([*_SCALARS, 2.5, 5.0, 2**40, 1e30, Decimal("2.50"), _NOON])
    return st.dictionaries(st.sampled_from(NAMES), values)


def filters(depth: int = 3) -> st.SearchStrategy[dict[str, Any]]:
    """Filters of the Subscriptions API."""
    wanted = st.dictionaries(
        st.sampled_from(NAMES), st.sampled_from(_STRINGS[1:]), min_size=1, max_size=2
    )
    tests = st.sampled_from(["exact", "prefix", "suffix"]).flatmap(
        lambda name: st.fixed_dictionaries({name: wanted})
    )
    if depth == 0:
        return tests
    inner = filters(depth - 1)
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        tests,
        inner.map(lambda each: {"not": each}),
        several.map(lambda each: {"all": each}),
        several.map(lambda each: {"any": each}),
    )
