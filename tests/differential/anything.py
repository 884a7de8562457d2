"""Subscriptions and events of every kind: all operators, all values, awkward ones above all.

A round draws a *world* of a few names. Half of the subscriptions follow one of a few outlines with
operands of their own, as subscriptions of many users do, so that blocks and partitions fill; the
other half is free: trees of AND, OR and NOT over constraints of any kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final

from predicast.errors import ModelError, PredicastError
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
    subscription_of,
)
from predicast.model.decimals import ExactDecimal
from predicast.model.elements import ELEMENT, FIELDS
from predicast.model.operators import ELEMENTS, JOINED, LIKE, PRESENCE, RANGE, REGEX, SET
from predicast.testing import edges

NAMES: Final = ("a", "b", "c", "d", "e", "order.total", "é", "seen")
OUTLINES: Final = 12
_ALIKE: Final = 0.6  # the share of subscriptions that follow an outline

_PIECES: Final = ("a", "b", "ab", "A", "é", "\U0010ffff", "\ud7ff", "%", "_", "\\", "'", "\0", "c")
_REGEXES: Final = (
    *edges.REGEXES, "a", "^a", "b$", "a.*b", "^(ab|c)+$", "[^a]", "(?i)A", "é?x", "\\.", "ab|ba",
    "a{2}", "[a-c]{2,3}$", "\\\\", "(ab){40}",
)  # fmt: skip
_START: Final = datetime(2026, 1, 31, 23, 59, 59, 999_998, tzinfo=UTC)
_KINDS: Final = tuple(sorted(Kind, key=lambda kind: kind.value))
_OPERATORS: Final = tuple(Operator)
_PLAIN: Final = tuple(operator for operator in Operator if operator not in JOINED)
_SINGLE_KINDS: Final = tuple(kind for kind in _KINDS if kind is not Kind.LIST)
_OF_VALUES: Final = tuple(operator for operator in _PLAIN if operator not in ELEMENTS)
_BLOCK_OPERATORS: Final = (
    Operator.EQ, Operator.EQ, Operator.LT, Operator.LE, Operator.GT, Operator.GE, Operator.BETWEEN,
    Operator.IN,
)  # fmt: skip


def integer(chance: Random) -> int:
    """Small ones, the edges, and anything between."""
    match chance.randrange(4):
        case 0:
            return chance.choice(edges.INTEGERS)
        case 1:
            return chance.randint(-1000, 1000)
        case 2:
            return chance.randint(0, 20)
    top: int = 2 ** chance.randrange(1, 63)
    return chance.randint(-top, top)


def real(chance: Random) -> float:
    """Halves that integers sit next to, the edges, and anything between."""
    match chance.randrange(4):
        case 0:
            return chance.choice(edges.FLOATS)
        case 1:
            return chance.randint(-40, 40) / 4
        case 2:
            return chance.uniform(-1000, 1000)
    return float(integer(chance))


def decimal(chance: Random) -> ExactDecimal:
    """The edges, and what has more digits than a float."""
    if chance.random() < 0.5:
        return chance.choice(edges.DECIMALS)
    digits = f"{chance.randint(-40, 40)}.{chance.randrange(1, 4)}{'0' * 20}{chance.randrange(1, 4)}"
    return ExactDecimal(digits)


def text(chance: Random) -> str:
    """Strings that share prefixes, suffixes and parts, and the edges."""
    if chance.random() < 0.15:
        return chance.choice(edges.STRINGS)
    count = chance.choice((0, 1, 1, 2, 2, 3, 4, 9))
    if chance.random() < 0.02:
        count = 150  # longer than any piece that an index of patterns looks up
    return "".join(chance.choice(_PIECES) for _ in range(count))


def instant(chance: Random) -> datetime:
    """Instants a microsecond apart, or years; the ends of the calendar."""
    draw = chance.random()
    if draw < 0.5:
        return _START + timedelta(microseconds=chance.randrange(12))
    if draw < 0.7:
        return chance.choice(edges.TIMESTAMPS)
    return datetime(chance.randint(1, 9999), chance.randint(1, 12), 1, tzinfo=UTC)


def elements(chance: Random) -> list[Any]:
    """A list of values of one type or of several, or of objects; nulls among them."""
    types = chance.sample(_SINGLE, chance.choice((1, 1, 1, 2)))
    of_objects = chance.random() < 0.4
    found: list[Any] = []
    for _ in range(chance.choice((0, 1, 2, 3, 8))):
        if chance.random() < 0.1:
            found.append(None)
        elif of_objects:
            fields = [field for field in _FIELDS if chance.random() < 0.8]
            found.append({field: DRAW[chance.choice(types)](chance) for field in fields})
        else:
            found.append(DRAW[chance.choice(types)](chance))
    return found


_FIELDS: Final = ("a", "b")
_SINGLE: Final = (int, float, str, bool, datetime)
DRAW: Final[Mapping[type, Callable[[Random], Any]]] = {
    int: integer,
    float: real,
    ExactDecimal: decimal,
    str: text,
    bool: lambda chance: chance.random() < 0.5,
    datetime: instant,
    list: elements,
}
_TYPES: Final[Mapping[Kind, tuple[type, ...]]] = {
    Kind.NUMBER: (*(int, float) * 4, ExactDecimal),
    Kind.STRING: (str,),
    Kind.BOOLEAN: (bool,),
    Kind.TIMESTAMP: (datetime,),
    Kind.LIST: (list,),
}


def value(kind: Kind, chance: Random) -> Any:
    """A value of the kind."""
    return DRAW[chance.choice(_TYPES[kind])](chance)


def interval(type_: type, chance: Random, *, closed: bool) -> Interval:
    """An interval between two values of a type, now and then unbounded on one side."""
    drawn: list[Any] = [DRAW[type_](chance), DRAW[type_](chance)]
    ends = sorted(drawn)
    if chance.random() < 0.15:
        ends[chance.randrange(2)] = None
    lo_open, hi_open = (not closed and chance.random() < 0.4 for _ in ends)
    try:
        return Interval(ends[0], ends[1], lo_open, hi_open)
    except ModelError:  # empty
        return Interval(ends[0], ends[1])


class World:
    """The names, which kinds of value each takes, and the outlines of a round."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._kinds = {name: chance.sample(_KINDS, chance.choice((1, 1, 2, 4))) for name in NAMES}
        self._outlines = [self._outline() for _ in range(OUTLINES)]

    def subscription(self) -> Subscription:
        """One of an outline, or a free one."""
        if self._chance.random() < _ALIKE:
            outline = self._chance.choice(self._outlines)
            return Subscription.of(
                [self._constraint(*test) for test in clause] for clause in outline
            )
        return self._free()

    def _outline(self) -> list[list[tuple[str, Operator, Kind]]]:
        return [
            [self._test() for _ in range(self._chance.randint(1, 4))]
            for _ in range(self._chance.choice((1, 1, 1, 2)))
        ]

    def _test(self) -> tuple[str, Operator, Kind]:
        chance = self._chance
        name = chance.choice(NAMES)
        kind = chance.choice(self._kinds[name])
        usual = [each for each in (*_BLOCK_OPERATORS, *ELEMENTS) if kind in each.kinds]
        operators = usual if chance.random() < 0.8 else _OPERATORS
        return name, chance.choice(operators), kind

    def _constraint(self, name: str, operator: Operator, kind: Kind) -> Constraint:
        chance = self._chance
        if operator in JOINED:
            several = chance.random() < 0.2  # kinds of value
            parts = [
                self._constraint(
                    name, chance.choice(_PLAIN), chance.choice(_KINDS) if several else kind
                )
                for _ in range(chance.choice((1, 2, 2, 3, 12)))
            ]
            if chance.random() < 0.3:
                inner = Constraint(name, operator.negation, tuple(parts[:2]))
                parts = [inner, *parts[2:]]
            return Constraint(name, operator, tuple(parts))
        if operator in PRESENCE:
            return Constraint(name, operator)
        if operator in ELEMENTS:
            return Constraint(name, operator, self._of_elements(2))
        if operator in LIKE:
            return Constraint(name, operator, self._like())
        if operator in REGEX:
            return Constraint(name, operator, chance.choice(_REGEXES))
        if kind not in operator.kinds:
            kind = chance.choice(sorted(operator.kinds, key=lambda each: each.value))
        if operator in SET:
            count = chance.choice((1, 2, 3, 12)) if chance.random() < 0.98 else 200
            return Constraint(name, operator, tuple(value(kind, chance) for _ in range(count)))
        if operator in RANGE:
            ends: list[Any] = [value(kind, chance), value(kind, chance)]
            return Constraint(
                name, operator, tuple(sorted(ends) if chance.random() < 0.9 else ends)
            )
        return Constraint(name, operator, value(kind, chance))

    def _of_elements(self, lists: int) -> Subscription:
        """What an element is to match, itself or its fields, with lists in it so many times."""
        chance = self._chance
        return Subscription.of(
            [self._element_test(lists) for _ in range(chance.choice((0, 1, 1, 2)))]
            for _ in range(chance.choice((1, 1, 1, 2)))
        )

    def _element_test(self, lists: int) -> Constraint:
        chance = self._chance
        name = chance.choice((ELEMENT, *(FIELDS + field for field in _FIELDS)))
        if lists > 1 and chance.random() < 0.1:
            operator = chance.choice((Operator.HAS, Operator.NOT_HAS))
            return Constraint(name, operator, self._of_elements(lists - 1))
        kind = chance.choice(_SINGLE_KINDS)
        usual = [each for each in _BLOCK_OPERATORS if kind in each.kinds]
        operators = usual if chance.random() < 0.6 else _OF_VALUES
        return self._constraint(name, chance.choice(operators), kind)

    def _like(self) -> LikePattern:
        escape = self._chance.choice(("!", "\\"))
        if self._chance.random() < 0.2:
            return LikePattern(self._chance.choice(edges.LIKE_PATTERNS), escape)
        pieces = ("%", "_", "a", "b", "ab", escape + "%", escape + "_", escape * 2, "é", "ab" * 40)
        count = self._chance.randrange(5)
        return LikePattern("".join(self._chance.choice(pieces) for _ in range(count)), escape)

    def _free(self) -> Subscription:
        chance = self._chance
        while True:
            try:
                if chance.random() < 0.5:
                    return subscription_of(self._tree(3))
                if chance.random() < 0.2:
                    return subscription_of(self._wide())
                return Subscription.of(
                    [self._any_constraint() for _ in range(chance.randint(0, 5))]
                    for _ in range(chance.choice((0, 1, 1, 1, 1, 2, 2, 5)))
                )
            except PredicastError:  # too deep a tree
                continue

    def _wide(self) -> Expression:
        """AND of ORs that would be a great many clauses."""
        chance = self._chance
        ors = [
            Or(tuple(self._tree(1) for _ in range(chance.randint(2, 3))))
            for _ in range(chance.randint(4, 7))
        ]
        return And((*ors, *(self._tree(0) for _ in range(chance.randint(0, 2)))))

    def _any_constraint(self) -> Constraint:
        name = self._chance.choice(NAMES)
        kind = self._chance.choice(self._kinds[name] if self._chance.random() < 0.8 else _KINDS)
        return self._constraint(name, self._chance.choice(_OPERATORS), kind)

    def _tree(self, depth: int) -> Expression:
        chance = self._chance
        if depth == 0 or chance.random() < 0.3:
            return Leaf(self._any_constraint())
        match chance.randrange(3):
            case 0:
                return Not(self._tree(depth - 1))
            case 1:
                return And(tuple(self._tree(depth - 1) for _ in range(chance.randrange(4))))
        return Or(tuple(self._tree(depth - 1) for _ in range(chance.randrange(4))))

    # Events.

    def free_event(self) -> dict[str, Any]:
        """Values of any kind, intervals among them, some names absent."""
        chance = self._chance
        found: dict[str, Any] = {}
        for name in NAMES:
            if chance.random() < 0.25:
                continue
            kind = chance.choice(self._kinds[name] if chance.random() < 0.8 else _KINDS)
            type_ = chance.choice(_TYPES[kind])
            if chance.random() < 0.15:
                type_ = chance.choice((int, float, datetime))
                found[name] = interval(type_, chance, closed=False)
            else:
                found[name] = DRAW[type_](chance)
        return found

    def column_types(self) -> dict[str, tuple[type, bool]]:
        """For a batch of columns: the type of each name, and whether it holds intervals."""
        chance = self._chance
        types: dict[str, tuple[type, bool]] = {}
        for name in NAMES:
            type_ = chance.choice(_TYPES[chance.choice(self._kinds[name])])
            is_interval = type_ in {int, float, datetime} and chance.random() < 0.15
            if chance.random() < 0.9:
                types[name] = type_, is_interval
        return types

    def column_event(self, types: Mapping[str, tuple[type, bool]]) -> dict[str, Any]:
        """An event whose values have the types of its batch."""
        chance = self._chance
        return {
            name: interval(type_, chance, closed=True) if is_interval else DRAW[type_](chance)
            for name, (type_, is_interval) in types.items()
            if chance.random() < 0.85
        }


def with_near(
    event: Mapping[str, Any], near: Mapping[str, Any], types: Mapping[str, tuple[type, bool]] | None
) -> Event:
    """The event with the near values that its batch's types admit, or with all of them."""
    fitting = {
        name: value
        for name, value in near.items()
        if types is None or types.get(name) == (type(value), False)
    }
    return Event({**event, **fitting})
