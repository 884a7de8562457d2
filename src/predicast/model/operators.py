"""The operators of constraints, each with its negation and the kinds of value it takes."""

from __future__ import annotations

import enum
from typing import Final, NamedTuple

from predicast.model.values import SCALARS, Kind


class Operator(enum.Enum):
    """One test on one attribute; the value is its name in the JSON and Arrow forms."""

    EQ = "="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    BETWEEN = "between"
    NOT_BETWEEN = "not between"
    IN = "in"
    NOT_IN = "not in"
    PREFIX = "prefix"
    NOT_PREFIX = "not prefix"
    SUFFIX = "suffix"
    NOT_SUFFIX = "not suffix"
    CONTAINS = "contains"
    NOT_CONTAINS = "not contains"
    LIKE = "like"
    NOT_LIKE = "not like"
    MATCHES = "matches"
    NOT_MATCHES = "not matches"
    HAS = "has"
    NOT_HAS = "not has"
    EXISTS = "exists"
    ABSENT = "absent"
    ANY = "any"
    ALL = "all"

    @property
    def negation(self) -> Operator:
        """The operator that holds for a value of the right kind exactly when this one does not.

        Of any and all the parts are negated as well. Only where it is unknown of some elements
        whether they match, a list neither has one that does nor has none.
        """
        return _NEGATIONS[self]

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of value it takes; none for exists and absent, any and all."""
        return _KINDS[self]

    # Enum's own hash is a Python call; members are singletons, so identity will do.
    __hash__ = object.__hash__


_PAIRS: Final = (
    (Operator.EQ, Operator.NE),
    (Operator.LT, Operator.GE),
    (Operator.LE, Operator.GT),
    (Operator.BETWEEN, Operator.NOT_BETWEEN),
    (Operator.IN, Operator.NOT_IN),
    (Operator.PREFIX, Operator.NOT_PREFIX),
    (Operator.SUFFIX, Operator.NOT_SUFFIX),
    (Operator.CONTAINS, Operator.NOT_CONTAINS),
    (Operator.LIKE, Operator.NOT_LIKE),
    (Operator.MATCHES, Operator.NOT_MATCHES),
    (Operator.HAS, Operator.NOT_HAS),
    (Operator.EXISTS, Operator.ABSENT),
    (Operator.ANY, Operator.ALL),
)
_NEGATIONS: Final = dict(_PAIRS) | {b: a for a, b in _PAIRS}


class Bound(NamedTuple):
    """One end of the values that satisfy an operator."""

    is_lower: bool
    operand: int  # which one it is at: the first, or the last (-1)
    is_open: bool  # whether the operand itself does not satisfy


_LEAST: Final = Bound(is_lower=True, operand=0, is_open=False)
_GREATEST: Final = Bound(is_lower=False, operand=-1, is_open=False)
# What an operator says that is satisfied by all that lies between two ends, or beyond one.
BOUNDS: Final = {
    Operator.EQ: (_LEAST, _GREATEST),
    Operator.GE: (_LEAST,),
    Operator.GT: (_LEAST._replace(is_open=True),),
    Operator.LE: (_GREATEST,),
    Operator.LT: (_GREATEST._replace(is_open=True),),
    Operator.BETWEEN: (_LEAST, _GREATEST),
}
FROM: Final = frozenset(op for op, ends in BOUNDS.items() if ends[0].is_lower)

ORDER: Final = frozenset({Operator.LT, Operator.LE, Operator.GT, Operator.GE})
RANGE: Final = frozenset({Operator.BETWEEN, Operator.NOT_BETWEEN})
SET: Final = frozenset({Operator.IN, Operator.NOT_IN})
LIKE: Final = frozenset({Operator.LIKE, Operator.NOT_LIKE})
REGEX: Final = frozenset({Operator.MATCHES, Operator.NOT_MATCHES})
ELEMENTS: Final = frozenset({Operator.HAS, Operator.NOT_HAS})
PRESENCE: Final = frozenset({Operator.EXISTS, Operator.ABSENT})
JOINED: Final = frozenset({Operator.ANY, Operator.ALL})  # of other constraints on the attribute

_ORDERED: Final = frozenset({Kind.NUMBER, Kind.STRING, Kind.TIMESTAMP})


def _kinds(operator: Operator) -> frozenset[Kind]:
    if operator in PRESENCE | JOINED:
        return frozenset()
    if operator in ORDER | RANGE:
        return _ORDERED
    if operator in SET | {Operator.EQ, Operator.NE}:
        return SCALARS
    if operator in ELEMENTS:
        return frozenset({Kind.LIST})
    return frozenset({Kind.STRING})


_KINDS: Final = {operator: _kinds(operator) for operator in Operator}
