"""Hypothesis strategies for expressions over attributes, and for texts that hold them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from hypothesis import strategies as st

from predicast.derived import Case, Constant, Input, Span, Test, Tree, call, kinds_of
from predicast.derived.functions import FUNCTIONS, check_alike, checked_depth
from predicast.derived.times import UNITS
from predicast.derived.tree import Condition
from predicast.errors import PredicastError
from predicast.language.where.scalar_text import name_of
from predicast.model import And, Constraint, Kind, Leaf, Not, Or
from predicast.model.values import SCALARS
from predicast.testing import strategies as some

_KINDS: Final = sorted(SCALARS, key=str)
_SPANS: Final = st.builds(
    Span,
    st.sampled_from([0, 0, 1, -1, 12, 13, 12 * 9_998]),
    st.sampled_from([0, 1, -1, 1_500_000, 86_400_000_000, -7 * 86_400_000_000]),
)

_NETWORKS: Final = ("10.0.0.0/8", "10.1.2.3", "0.0.0.0/0", "2001:db8::/32", "::/0", "::ffff:0:0/96")
_ADDRESSES: Final = ("10.1.2.3", "11.0.0.1", "2001:db8::1", "::ffff:10.1.2.3", "fe80::1%eth0")
_CESQL: Final = (
    *("a", "INT(a)", "STRING(b)", "BOOL(a)", "NOT a", "a = b", "a < c", "a + 1", "-b", "a / b"),
    *("LENGTH(a)", "CONCAT(a, '-', b)", "SUBSTRING(a, b)", "a LIKE 'a%'", "a IN (b, 'ab', 1)"),
    *("EXISTS a", "EXISTS a AND NOT EXISTS b", "a = 'a' OR b = 1", "a XOR (b AND c)"),
)


def _is_plain(constraint: Constraint) -> bool:
    return constraint.kind is not Kind.LIST and not constraint.operator.value.startswith("not ")


_PLAIN_TESTS: Final = some.constraints(st.sampled_from(some.PLAIN)).filter(_is_plain)


def trees(kind: Kind | None = None, depth: int = 3) -> st.SearchStrategy[Tree]:
    """Expressions that may have a value of the kind, over the names of ``strategies``."""
    return _trees(kind, depth)


@lru_cache
@st.composite
def _trees(draw: st.DrawFn, kind: Kind | None, depth: int) -> Tree:
    wanted = kind or draw(st.sampled_from(_KINDS))
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        if draw(st.integers(0, 3)):
            return Input(draw(some.attribute_names()))
        return Constant(draw(some.values(wanted)))
    if draw(st.integers(0, 7)) == 0:
        return draw(_cases(wanted, depth - 1))
    function = draw(st.sampled_from(_makers(wanted)))
    known = FUNCTIONS[function]
    count = draw(st.integers(known.fewest, min(known.most, 3)))
    arguments = [draw(_arguments(function, place, wanted, depth - 1)) for place in range(count)]
    try:
        return call(function, arguments)
    except PredicastError:  # constants without a value, or kinds that do not go together
        return Input(draw(some.attribute_names()))


def _makers(kind: Kind) -> list[str]:
    return [name for name, each in FUNCTIONS.items() if each.result is None or kind in each.result]


@lru_cache
@st.composite
def _arguments(draw: st.DrawFn, function: str, place: int, kind: Kind, depth: int) -> Tree:
    known = FUNCTIONS[function]
    if function == "shift" and place == 1:
        return draw(_SPANS)
    if function == "date_trunc" and place == 0:
        return Constant(draw(st.sampled_from(UNITS)))
    if function == "ip_in" and draw(st.booleans() if place == 0 else st.just(True)):
        return Constant(draw(st.sampled_from(_NETWORKS if place else _ADDRESSES)))
    if function == "cesql":
        return Constant(draw(st.sampled_from(_CESQL)))
    if function in {"round", "substring"} and place and draw(st.integers(0, 5)):
        return Constant(draw(st.integers(-3, 5)))
    kinds = known.parameter(place) & SCALARS
    if not kinds:  # a list, of which there are no constants
        return Input(draw(some.attribute_names()))
    if known.result is None:
        kinds = kinds & {kind} or kinds
    return draw(_trees(draw(st.sampled_from(sorted(kinds, key=str))), depth))


@lru_cache
@st.composite
def _cases(draw: st.DrawFn, kind: Kind, depth: int) -> Tree:
    branches = tuple(
        (draw(_conditions(depth)), draw(_trees(kind, depth)))
        for _ in range(draw(st.integers(1, 2)))
    )
    otherwise = draw(st.none() | _trees(kind, depth))
    results = [result for _, result in branches]
    try:
        check_alike("CASE", results if otherwise is None else [*results, otherwise])
        return checked_depth(Case(branches, otherwise))
    except PredicastError:
        return Input(draw(some.attribute_names()))


@lru_cache
@st.composite
def _conditions(draw: st.DrawFn, depth: int) -> Condition:
    shape = draw(st.sampled_from(["test", "test", "not", "and", "or"]))
    if shape == "test" or depth == 0:
        return Leaf(draw(_tests(depth)))
    if shape == "not":
        return Not(draw(_conditions(depth - 1)))
    parts = tuple(draw(_conditions(depth - 1)) for _ in range(2))
    return And(parts) if shape == "and" else Or(parts)


@lru_cache
@st.composite
def _tests(draw: st.DrawFn, depth: int) -> Test:
    """A test as the parser makes it: what is negated stands under a NOT."""
    constraint = draw(_PLAIN_TESTS)
    kind = constraint.kind or draw(st.sampled_from(_KINDS))
    subject = draw(_trees(kind, max(depth - 1, 0)))
    if isinstance(subject, Constant):
        subject = Input(constraint.attribute)
    return Test(subject, Constraint(name_of(subject), constraint.operator, constraint.operand))


@lru_cache
def derived_attributes() -> st.SearchStrategy[Tree]:
    """Expressions that name an attribute at least."""
    return trees().filter(lambda tree: not isinstance(tree, Constant | Input))


@lru_cache
@st.composite
def derived_constraints(draw: st.DrawFn) -> Constraint:
    """Constraints on what an expression gives, with operands of a kind that it may be of."""
    tree = draw(derived_attributes())
    kinds = kinds_of(tree)
    named = some.constraints(names=st.just(name_of(tree)))
    return draw(
        named.filter(lambda each: all(part.kind in {None, *kinds} for part in each.plain()))
    )
