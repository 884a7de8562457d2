"""``Constraint``: one test on one attribute, the leaf of every subscription.

A constraint knows the kind of value it speaks of. A value of another kind satisfies neither it
nor its negation, and so does an absent attribute unless the ``absent`` policy says otherwise:
that is SQL's three-valued logic, with *unknown* told apart from *false* only where NOT asks.

Whatever OR says of one attribute is one constraint as well: *any* and *all* join others on the same
attribute, inside one another if need be. What a simpler operator says is said by that one: any of
``x = 1`` and ``x = 2`` is ``x IN (1, 2)`` (``predicast.model.folding``).

Of a list it is asked whether some element matches a subscription of its own
(``predicast.model.elements``): true if one does, unknown if it is unknown of one, and else false.
"""

from __future__ import annotations

import operator as python_operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from predicast.errors import InvalidConstraintError, NestingTooDeepError
from predicast.model.elements import Elements
from predicast.model.like import like_test
from predicast.model.operators import ELEMENTS, JOINED, LIKE, PRESENCE, RANGE, REGEX, SET, Operator
from predicast.model.patterns import LikePattern, PatternError, regex_test
from predicast.model.values import (
    NOT_UNICODE,
    Kind,
    Value,
    canonical_number,
    checked,
    kind_of,
    lone_surrogate,
)

if TYPE_CHECKING:
    from predicast.model.subscription import Subscription

Absent: TypeAlias = Literal["fails", "passes"]
Truth: TypeAlias = bool | None  # None: unknown
# In characters; a match may take a time that grows with it and with the string.
LONGEST_LIKE: Final = 1 << 17
# Of constraints and expressions inside one another: more than any text can say with 64 parentheses,
# and few enough for what walks them by recursion.
MAX_NESTING: Final = 200

MAX_LISTS: Final = 8  # conditions on elements of lists inside one another

Operand: TypeAlias = (
    "Value | tuple[Value, ...] | LikePattern | tuple[Constraint, ...] | Subscription | None"
)


@dataclass(frozen=True, slots=True)
class Constraint:
    """(attribute, operator, operand), checked and canonical when made.

    The operand is a value; a pair for between; a sorted tuple without repeats for in; a
    ``LikePattern`` for like; for has the ``Subscription`` that an element is to match; ``None`` for
    exists and absent; for any and all the constraints that they join, in an order of their own.
    Numbers have one spelling (1.0 is 1), so equal constraints mean the same. Any and all of what a
    simpler operator says become that operator.

    ``kind`` is that of all the values that can satisfy it; ``None`` if there are several such kinds
    (exists, any of ``x = 1`` and ``x = 'a'``) or none (absent).
    """

    attribute: str
    operator: Operator
    operand: Operand = None
    kind: Kind | None = field(init=False)  # 1 and True are equal in Python; kinds tell them apart

    def __post_init__(self) -> None:
        if self.operator in JOINED:
            self._fold()
            return
        operand, kind = _canonical(checked_name(self.attribute), self.operator, self.operand)
        object.__setattr__(self, "operand", operand)
        object.__setattr__(self, "kind", kind)

    def _fold(self) -> None:
        """Become the simplest constraint that says what all or any of the parts do."""
        from predicast.model.folding import folded  # which is made of constraints

        parts = _checked_parts(checked_name(self.attribute), self.operator, self.operand)
        simplest = folded(self.operator, parts)
        for name in ("operator", "operand", "kind"):
            object.__setattr__(self, name, getattr(simplest, name))

    @property
    def parts(self) -> tuple[Constraint, ...]:
        """The constraints that any and all join; a plain constraint has none."""
        return self.operand if self.operator in JOINED else ()  # type: ignore[return-value]

    def plain(self) -> Iterator[Constraint]:
        """The constraints of one operator each that it is made of: itself, unless it joins some."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.plain()

    @property
    def size(self) -> int:
        """How many constraints it is made of, itself among them."""
        return 1 + sum([part.size for part in self.parts])

    def holds(self, value: Value | Elements) -> bool:
        """Whether a present value satisfies it."""
        operator = self.operator
        if operator in JOINED:
            wanted = operator is Operator.ANY
            for part in self.parts:
                if part.holds(value) is wanted:
                    return wanted
            return not wanted
        if self.kind is None:
            return operator is Operator.EXISTS
        return kind_of(value) is self.kind and _TESTS[operator](value, self.operand)

    def holds_absent(self, absent: Absent) -> bool:
        """Whether it is satisfied when the event lacks the attribute."""
        if self.operator in JOINED:
            judge = any if self.operator is Operator.ANY else all
            return judge([part.holds_absent(absent) for part in self.parts])
        if self.operator in PRESENCE:
            return self.operator is Operator.ABSENT
        return absent == "passes"

    def truth(self, value: Value | Elements | None) -> Truth:
        """Whether it is true, false or unknown of a value, or of none, as in SQL."""
        if self.operator in JOINED:
            decides = self.operator is Operator.ANY
            return joined_truth((part.truth(value) for part in self.parts), decides=decides)
        if self.operator in PRESENCE:
            return (value is None) is (self.operator is Operator.ABSENT)
        if value is None or kind_of(value) is not self.kind:
            return None
        if not isinstance(value, Elements):
            held: bool = _TESTS[self.operator](value, self.operand)
            return held
        found = _some(value, self.operand)
        return found if found is None or self.operator is Operator.HAS else not found

    def negated(self) -> Constraint:
        """The constraint that NOT makes of it."""
        operand = self.operand
        if self.operator in JOINED:
            operand = in_order([part.negated() for part in self.parts])
        return trusted_constraint(self.attribute, self.operator.negation, operand, self.kind)

    def joined(self, operator: Operator, others: Sequence[Constraint]) -> Constraint:
        """Any or all of this and others on the same attribute."""
        return Constraint(self.attribute, operator, (self, *others))


def joined_truth(truths: Iterable[Truth], *, decides: bool) -> Truth:
    """Any of the truths if TRUE decides, all of them if FALSE does."""
    found: Truth = not decides
    for truth in truths:
        if truth is decides:
            return decides
        if truth is None:
            found = None
    return found


def checked_name(attribute: Any) -> str:
    """The attribute's name, or an error if it cannot be one."""
    if type(attribute) is not str or not attribute:
        raise InvalidConstraintError(
            f"an attribute's name is a non-empty string, not {attribute!r}", attribute=attribute
        )
    if lone_surrogate(attribute) is not None:
        raise InvalidConstraintError(
            f"the attribute's name {attribute!r} {NOT_UNICODE}", attribute=attribute
        )
    return attribute


# Writing the slots directly is several times as fast as a frozen dataclass's own __init__.
_new = object.__new__
_slots: Final[dict[str, Any]] = dict(vars(Constraint))
_set_attribute = _slots["attribute"].__set__
_set_operator = _slots["operator"].__set__
_set_operand = _slots["operand"].__set__
_set_kind = _slots["kind"].__set__


def trusted_constraint(
    attribute: str, operator: Operator, operand: Operand, kind: Kind | None
) -> Constraint:
    """A constraint from parts that are known to be canonical; skips the checks, for bulk work."""
    constraint = _new(Constraint)
    _set_attribute(constraint, attribute)
    _set_operator(constraint, operator)
    _set_operand(constraint, operand)
    _set_kind(constraint, kind)
    return constraint


def joined_constraint(
    attribute: str, operator: Operator, parts: tuple[Constraint, ...]
) -> Constraint:
    """Any or all of parts in order that cannot be folded further; a single part is itself."""
    if len(parts) == 1:
        return parts[0]
    kinds = {part.kind for part in parts}
    kind = kinds.pop() if len(kinds) == 1 else None
    return trusted_constraint(attribute, operator, parts, kind)


def in_order(parts: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """Constraints in the one order in which any and all have them, each once."""
    return tuple(sorted(dict.fromkeys(parts), key=_sorting_key))


_OPERATOR_NUMBERS: Final = {operator: number for number, operator in enumerate(Operator)}
_KIND_NUMBERS: Final[dict[Kind | None, int]] = {
    None: 0,
    **{kind: number for number, kind in enumerate(Kind, 1)},
}


def _sorting_key(constraint: Constraint) -> tuple[int, int, Any]:
    """Operands are compared only if the operators and kinds are the same, and so are the types."""
    parts = constraint.parts
    operand: Any = tuple([_sorting_key(part) for part in parts]) if parts else constraint.operand
    if constraint.operator in ELEMENTS:
        operand = repr(operand)
    return _OPERATOR_NUMBERS[constraint.operator], _KIND_NUMBERS[constraint.kind], operand


def _checked_parts(attribute: str, operator: Operator, operand: Any) -> tuple[Constraint, ...]:
    """What any or all are to join, if they can."""
    parts = tuple(operand) if isinstance(operand, tuple | list) else ()
    if not parts or not all(isinstance(part, Constraint) for part in parts):
        raise _refused(attribute, operator, f"takes constraints, not {operand!r}")
    for part in parts:
        if part.attribute != attribute:
            why = f"joins constraints on one attribute, not on {part.attribute!r} as well"
            raise _refused(attribute, operator, why)
    level, nesting = parts, 1
    while level := tuple(inner for part in level for inner in part.parts):
        nesting += 1
        if nesting > MAX_NESTING:
            raise NestingTooDeepError(
                f"attribute {attribute!r}: any and all nest deeper than {MAX_NESTING}",
                limit=MAX_NESTING,
                actual=nesting,
            )
    return parts


def _canonical(attribute: str, operator: Operator, operand: Any) -> tuple[Operand, Kind | None]:
    """The operand in canonical form and its kind, or a typed error."""
    if operator in PRESENCE:
        if operand is not None:
            raise _refused(attribute, operator, f"takes no operand, not {operand!r}")
        return None, None
    if operator in SET:
        return _canonical_set(attribute, operator, operand)
    if operator in RANGE:
        return _canonical_range(attribute, operator, operand)
    if operator in LIKE:
        if isinstance(operand, str):
            operand = LikePattern(operand)
        return canonical_like(attribute, operator, operand), Kind.STRING
    if operator in ELEMENTS:
        return _canonical_elements(attribute, operator, operand), Kind.LIST
    value = canonical_value(attribute, operator, operand)
    if operator in REGEX:
        check_regex(attribute, operator, value)
    return value, kind_of(value)


def canonical_value(attribute: str, operator: Operator, raw: Any) -> Value:
    """One operand in canonical form, of a kind that the operator takes."""
    if raw is None:
        raise _refused(attribute, operator, "needs an operand; absence is tested by IS NULL")
    value = checked(attribute, raw)
    kind = kind_of(value)
    if kind not in operator.kinds:
        taken = " or ".join(sorted(k.value for k in operator.kinds))
        raise _refused(attribute, operator, f"takes a {taken}, not the {kind.value} {raw!r}")
    return canonical_number(value) if isinstance(value, float) else value


def _canonical_set(
    attribute: str, operator: Operator, operand: Any
) -> tuple[tuple[Value, ...], Kind]:
    if isinstance(operand, str) or not isinstance(operand, Iterable):
        raise _refused(attribute, operator, f"takes a collection of values, not {operand!r}")
    values = [canonical_value(attribute, operator, raw) for raw in operand]
    if not values:
        raise _refused(attribute, operator, "needs at least one value")
    kind = one_kind(attribute, operator, values)
    return sorted_set(values), kind


def sorted_set(values: Iterable[Value]) -> tuple[Value, ...]:
    """Canonical values of one kind as a sorted tuple without repeats."""
    return tuple(sorted(set(values)))


def one_kind(attribute: str, operator: Operator, values: Iterable[Value]) -> Kind:
    """The kind that all the values share, or an error if they do not."""
    kinds = {kind_of(value) for value in values}
    if len(kinds) > 1:
        mixed = " and ".join(sorted(kind.value for kind in kinds))
        raise _refused(attribute, operator, f"takes values of one kind, not {mixed}")
    return kinds.pop()


def _canonical_range(
    attribute: str, operator: Operator, operand: Any
) -> tuple[tuple[Value, Value], Kind]:
    if not isinstance(operand, tuple | list) or len(operand) != 2:
        raise _refused(attribute, operator, f"takes a pair (low, high), not {operand!r}")
    lo, hi = (canonical_value(attribute, operator, raw) for raw in operand)
    return (lo, hi), one_kind(attribute, operator, (lo, hi))


def _canonical_elements(attribute: str, operator: Operator, operand: Any) -> Subscription:
    from predicast.model.normal_form import in_normal_form  # which is made of constraints
    from predicast.model.subscription import Subscription

    if not isinstance(operand, Subscription):
        raise _refused(attribute, operator, f"takes a Subscription, not {operand!r}")
    nesting = nesting_of(operand) + 1
    if nesting > MAX_LISTS:
        raise NestingTooDeepError(
            f"attribute {attribute!r}: conditions on elements of lists stand inside one another "
            f"more than {MAX_LISTS} times",
            limit=MAX_LISTS,
            actual=nesting,
        )
    return in_normal_form(operand)


def nesting_of(subscription: Subscription) -> int:
    """How many conditions on elements stand inside one another."""
    inside = (each.operand for each in subscription.constraints() if each.operator in ELEMENTS)
    return max((1 + nesting_of(each) for each in inside), default=0)  # type: ignore[arg-type]


def canonical_like(attribute: str, operator: Operator, operand: Any) -> LikePattern:
    """A LIKE pattern whose escapes are right."""
    if not isinstance(operand, LikePattern):
        raise _refused(attribute, operator, f"takes a string pattern, not {operand!r}")
    checked(attribute, operand.pattern)
    checked(attribute, operand.escape)
    if len(operand.escape) > 1 or operand.escape in {"%", "_"}:
        raise _refused(attribute, operator, "takes one character other than % and _ as its escape")
    if len(operand.pattern) > LONGEST_LIKE:
        length = len(operand.pattern)
        why = f"takes a pattern of at most {LONGEST_LIKE} characters, not {length}"
        raise _refused(attribute, operator, why)
    try:
        like_test(operand)
    except PatternError as error:
        raise _refused(attribute, operator, f"pattern {operand.pattern!r}: {error}") from None
    return operand


def check_regex(attribute: str, operator: Operator, pattern: Any) -> None:
    """Refuse a regular expression that RE2 cannot compile."""
    try:
        regex_test(pattern)
    except PatternError as error:
        raise _refused(
            attribute, operator, f"regular expression {pattern!r}: {error} (RE2 syntax)"
        ) from None


def _refused(attribute: str, operator: Operator, why: str) -> InvalidConstraintError:
    return InvalidConstraintError(
        f"attribute {attribute!r}: {operator.value!r} {why}",
        attribute=attribute,
        operator=operator.value,
    )


def _some(elements: Elements, wanted: Any) -> Truth:
    """Whether some element matches a subscription."""
    truths = (wanted.truth(attributes.get) for attributes in elements.attributes())
    return joined_truth(truths, decides=True)


_HELD: Final[dict[Operator, Callable[[Any, Any], bool]]] = {
    Operator.EQ: python_operator.eq,
    Operator.LT: python_operator.lt,
    Operator.LE: python_operator.le,
    Operator.BETWEEN: lambda value, ends: ends[0] <= value <= ends[1],
    Operator.IN: lambda value, members: value in members,
    Operator.PREFIX: str.startswith,
    Operator.SUFFIX: str.endswith,
    Operator.CONTAINS: python_operator.contains,
    Operator.LIKE: lambda value, pattern: like_test(pattern)(value),
    Operator.MATCHES: lambda value, pattern: regex_test(pattern)(value),
    Operator.HAS: lambda value, wanted: _some(value, wanted) is True,
}


def _not(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda value, operand: not test(value, operand)


_TESTS: Final = (
    {held.negation: _not(test) for held, test in _HELD.items()}
    | _HELD
    | {
        # The same, without the detour through a negation.
        Operator.NE: python_operator.ne,
        Operator.GE: python_operator.ge,
        Operator.GT: python_operator.gt,
        # And this one is more than that, since it may be unknown.
        Operator.NOT_HAS: lambda value, wanted: _some(value, wanted) is False,
    }
)
