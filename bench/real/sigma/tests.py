"""What one Sigma value asks of one field: two conditions, where it holds and where it does not.

Sigma knows true and false only: a field that is absent, or is of another kind than a value speaks
of, does not meet the value and so meets its negation. The language of subscriptions, like SQL, has
a third outcome, unknown, that ``NOT`` leaves as it is. So the negation of a test is written out.

Strings are compared without case: what is tested is ``lower(field)``, one derived attribute for all
rules that look at the field, with a value in lower case. It is absent exactly where the field is no
string, which is what the negation of any test on a string asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sigma.types import (
    SigmaBool,
    SigmaCasedString,
    SigmaCIDRExpression,
    SigmaCompareExpression,
    SigmaExists,
    SigmaFieldReference,
    SigmaNull,
    SigmaNumber,
    SigmaRegularExpression,
    SigmaString,
    SigmaTimestampPart,
    SigmaType,
    SpecialChars,
)

from predicast.bounded_cache import remembered
from predicast.derived import Constant, Input, Tree, call
from predicast.errors import LanguageError
from predicast.language.where.scalar_text import name_of
from predicast.model import And, Constraint, Expression, Leaf, LikePattern, Not, Operator, Or

_MAX_BYTES: Final = 1 << 20  # of names of fields in lower case: some thousands of them
_COMPARISONS: Final = {
    SigmaCompareExpression.CompareOperators.LT: Operator.LT,
    SigmaCompareExpression.CompareOperators.LTE: Operator.LE,
    SigmaCompareExpression.CompareOperators.GT: Operator.GT,
    SigmaCompareExpression.CompareOperators.GTE: Operator.GE,
}
_LIKE_WILDCARDS: Final = {SpecialChars.WILDCARD_MULTI: "%", SpecialChars.WILDCARD_SINGLE: "_"}
_LIKE_SIGNS: Final = str.maketrans({sign: f"\\{sign}" for sign in "\\%_"})
_MANY: Final = SpecialChars.WILDCARD_MULTI


@dataclass(frozen=True, slots=True)
class Test:
    """A test on a field: a condition that is true where it holds, and when it cannot hold at all.

    ``guard`` is the attribute without which it does not hold. ``untrue``, if it is given, is the
    condition that is true where the test does not hold; otherwise that is where the guard is absent
    or ``true`` is false.
    """

    true: Expression
    guard: str
    untrue: Expression | None = None

    def negated(self) -> Test:
        """The test that holds where this one does not."""
        return Test(none_of([self]), self.guard, self.true)


def none_of(tests: Sequence[Test]) -> Expression:
    """Where none of the tests holds: tests with one guard share it."""
    together: dict[str, list[Expression]] = {}
    parts: list[Expression] = []
    for test in tests:
        if test.untrue is None:
            together.setdefault(test.guard, []).append(test.true)
        else:
            parts.append(test.untrue)
    parts += [Or((_absent(guard), Not(any_of(held)))) for guard, held in together.items()]
    return all_of(parts)


def any_of(parts: Sequence[Expression]) -> Expression:
    """OR, where there is more than one."""
    return parts[0] if len(parts) == 1 else Or(tuple(parts))


def all_of(parts: Sequence[Expression]) -> Expression:
    """AND, where there is more than one."""
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def tests_on(field: str, values: Iterable[SigmaType]) -> list[Test]:
    """What values ask of a field, one test each; plain values that may stand in one list do."""
    numbers: list[int | float] = []
    words: list[str] = []
    others: list[Test] = []
    for value in values:
        number = _number(value)
        if number is not None:
            numbers.append(number)
        elif type(value) is SigmaString and _is_plain(value):
            words.append(_text(value).lower())
        else:
            others.append(_test(field, value))
    tests = [_number_test(field, numbers)] if numbers else []
    if words:
        name = lowered(field)
        tests.append(Test(_leaf(name, *_one_or_several(words)), name))
    return tests + others


def contained_in(text: str, value: SigmaType) -> Test:
    """What a value without a field asks of the text of an event: to stand somewhere in it."""
    match value:
        case SigmaNumber():
            return _string_test(text, SigmaString(f"*{value.number}*"))
        case SigmaString():
            return _string_test(text, _MANY + value + _MANY)
        case _:
            return _test(text, value)


@remembered(_MAX_BYTES, lambda field, name: 200 + 2 * len(field) + len(name))
def lowered(field: str) -> str:
    """The derived attribute that is the field in lower case."""
    return name_of(call("lower", [Input(field)]))


def _number(value: SigmaType) -> int | float | None:
    """The number that a value is, be it written as a string."""
    if type(value) is SigmaNumber:
        return value.number
    if type(value) is SigmaString and _is_plain(value):
        text = _text(value)
        if text.isascii() and text.isdigit() and str(int(text[:19])) == text:
            return int(text)
    return None


def _number_test(field: str, numbers: Sequence[int | float]) -> Test:
    """A number also meets its text, and its text the number.

    A field is of one kind, and what is said of the other is unknown then: so the negations of
    the two are alternatives as well. (Of a boolean both are unknown.)
    """
    held = _leaf(field, *_one_or_several(numbers)), _leaf(field, *_one_or_several(_texts(numbers)))
    return Test(Or(held), field, Or((_absent(field), Not(held[0]), Not(held[1]))))


def _texts(numbers: Sequence[int | float]) -> list[str]:
    return [str(number) for number in numbers]


def _one_or_several(values: Sequence[Any]) -> tuple[Operator, Any]:
    return (Operator.EQ, values[0]) if len(values) == 1 else (Operator.IN, tuple(values))


def _test(field: str, value: SigmaType) -> Test:
    match value:
        case SigmaString():
            return _string_test(field, value)
        case SigmaRegularExpression():
            return Test(_leaf(field, Operator.MATCHES, _regex(value)), lowered(field))
        case SigmaNull():
            return Test(_absent(field), field, _leaf(field, Operator.EXISTS))
        case SigmaExists(wanted):
            there, gone = _leaf(field, Operator.EXISTS), _absent(field)
            return Test(there, field, gone) if wanted else Test(gone, field, there)
        case SigmaBool(wanted):
            said = _leaf(lowered(field), Operator.EQ, str(wanted).lower())
            others = Or((_absent(field), _leaf(field, Operator.EQ, not wanted), Not(said)))
            return Test(Or((_leaf(field, Operator.EQ, wanted), said)), field, others)
        case SigmaCIDRExpression():
            return _computed("ip_in", Input(field), Constant(str(value.network)))
        case SigmaFieldReference(other, starts_with=False, ends_with=False):
            return _computed("=", *[call("lower", [Input(each)]) for each in (field, other)])
        case SigmaTimestampPart():
            part = call(value.timestamp_part.name.lower(), [Input(field)])
            return Test(_leaf(name_of(part), Operator.EQ, value.number), name_of(part))
        case SigmaCompareExpression():
            return _comparison(field, value)
        case _:
            raise LanguageError(f"the field {field!r} is compared with a {type(value).__name__}")


def _comparison(field: str, value: SigmaCompareExpression) -> Test:
    operator = _COMPARISONS.get(value.op)
    if operator is None or isinstance(value.number, SigmaTimestampPart):
        raise LanguageError(f"the field {field!r} is compared by {value.op.name.lower()}")
    said = _leaf(field, operator, value.number.number)
    others = Or((_absent(field), _leaf(lowered(field), Operator.EXISTS), Not(said)))
    return Test(said, field, others)


def _computed(function: str, *arguments: Tree) -> Test:
    """A function of fields that is true."""
    name = name_of(call(function, list(arguments)))
    return Test(_leaf(name, Operator.EQ, True), name)


def _string_test(field: str, value: SigmaString) -> Test:
    """The operator that says it most directly: ``*`` at the ends alone needs no LIKE."""
    name = lowered(field)
    parts = list(value.s)
    if not isinstance(value, SigmaCasedString):
        parts = [part.lower() if isinstance(part, str) else part for part in parts]
    tested = field if isinstance(value, SigmaCasedString) else name
    match parts:
        case []:
            said = _leaf(tested, Operator.EQ, "")
        case [SpecialChars.WILDCARD_MULTI]:
            return Test(_leaf(field, Operator.EXISTS), field, _absent(field))
        case [str(word)]:
            said = _leaf(tested, Operator.EQ, word)
        case [str(word), SpecialChars.WILDCARD_MULTI]:
            said = _leaf(tested, Operator.PREFIX, word)
        case [SpecialChars.WILDCARD_MULTI, str(word)]:
            said = _leaf(tested, Operator.SUFFIX, word)
        case [SpecialChars.WILDCARD_MULTI, str(word), SpecialChars.WILDCARD_MULTI]:
            said = _leaf(tested, Operator.CONTAINS, word)
        case _:
            said = _leaf(tested, Operator.LIKE, LikePattern(_like(field, parts)))
    return Test(said, name)


def _like(field: str, parts: Iterable[Any]) -> str:
    pieces = []
    for part in parts:
        if isinstance(part, str):
            pieces.append(part.translate(_LIKE_SIGNS))
        elif isinstance(part, SpecialChars):
            pieces.append(_LIKE_WILDCARDS[part])
        else:
            raise LanguageError(
                f"the field {field!r} is compared with a placeholder, %{part.name}%"
            )
    return "".join(pieces)


def _regex(value: SigmaRegularExpression) -> str:
    flags = "".join(sorted(value.sigma_to_re_flag[flag] for flag in value.flags))
    pattern = value.regexp.to_plain(regex=True)
    return f"(?{flags}){pattern}" if flags else pattern


def _is_plain(value: SigmaString) -> bool:
    return all(isinstance(part, str) for part in value.s)


def _text(value: SigmaString) -> str:
    return "".join(str(part) for part in value.s)


def _leaf(attribute: str, operator: Operator, operand: Any = None) -> Expression:
    return Leaf(Constraint(attribute, operator, operand))


def _absent(attribute: str) -> Expression:
    return _leaf(attribute, Operator.ABSENT)
