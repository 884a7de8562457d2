"""What one Sigma value asks of one field: two conditions, where it holds and where it does not.

Sigma knows true and false only: a field that is absent, or is of another kind than a value speaks
of, does not meet the value and so meets its negation. The language of subscriptions, like SQL, has
a third outcome, unknown, that ``NOT`` leaves as it is. So the negation of a test is written out.

Strings are compared without case: what is tested is ``lower(field)``, one derived attribute for all
rules that look at the field, with a value in lower case. It is absent exactly where the field is no
string, which is what the negation of any test on a string asks for.

A number meets what its text meets, and its text what the number meets: logs hold both. So does a
boolean, as a word. Patterns that a number's text might fit are also tested on
``CAST(field + 0 AS STRING)``, which only a number has; others have no need of it, since there are
no letters in a number. Regular expressions are about strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from sigma.types import (
    Placeholder,
    SigmaBool,
    SigmaCasedString,
    SigmaCIDRExpression,
    SigmaCompareExpression,
    SigmaExists,
    SigmaExpansion,
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
from predicast.derived.addresses import holds_mapped, network_ends
from predicast.errors import LanguageError
from predicast.language.where.scalar_text import name_of
from predicast.model import (
    And,
    Constraint,
    Expression,
    Kind,
    Leaf,
    LikePattern,
    Not,
    Operator,
    Or,
    Subscription,
)

_MAX_BYTES: Final = 1 << 20  # of names of derived attributes: some thousands of them
_COMPARISONS: Final = {
    SigmaCompareExpression.CompareOperators.LT: Operator.LT,
    SigmaCompareExpression.CompareOperators.LTE: Operator.LE,
    SigmaCompareExpression.CompareOperators.GT: Operator.GT,
    SigmaCompareExpression.CompareOperators.GTE: Operator.GE,
}
_LIKE_WILDCARDS: Final = {SpecialChars.WILDCARD_MULTI: "%", SpecialChars.WILDCARD_SINGLE: "_"}
_LIKE_SIGNS: Final = str.maketrans({sign: f"\\{sign}" for sign in "\\%_"})
_MANY: Final = SpecialChars.WILDCARD_MULTI
_OF_NUMBERS: Final = frozenset("0123456789.-")  # what the text of a number is made of
_TRUTHS: Final = {"true": True, "false": False}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NOTHING: Final = Subscription(())


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


def none_of(tests: Iterable[Test]) -> Expression:
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


def tests_of_any(field: str, values: Iterable[SigmaType]) -> list[Test]:
    """What a list of values asks of a field: one of several tests; plain values share one."""
    numbers: list[int | float] = []
    words: list[str] = []
    others: list[Test] = []
    for value in _spread(values):
        number = _number(value)
        if number is not None:
            numbers.append(number)
        elif _is_plain_word(value):
            words.append(_text(value).lower())
        else:
            others += _tests(field, value)
    tests = [_number_test(field, numbers)] if numbers else []
    if words:
        name = lowered(field)
        tests.append(Test(_leaf(name, *_one_or_several(words)), name))
    return tests + others


def tests_of_text(text: str, values: Iterable[SigmaType]) -> list[Test]:
    """What values without a field ask of the text of an event: that one stands somewhere in it."""
    return [_contained_in(text, value) for value in _spread(values)]


def has_word(attribute: str, word: str) -> Test:
    """An attribute is a word, whatever the case of its letters."""
    name = lowered(attribute)
    return Test(_leaf(name, Operator.EQ, word.lower()), name)


def _spread(values: Iterable[SigmaType]) -> Iterable[SigmaType]:
    """Modifiers such as ``windash`` make several values of one, any of which will do."""
    for value in values:
        if isinstance(value, SigmaExpansion):
            yield from _spread(value.values)
        else:
            yield value


def _contained_in(text: str, value: SigmaType) -> Test:
    match value:
        case SigmaNumber():
            return _string_test(text, SigmaString(f"*{value.number}*"))
        case SigmaString():
            return _string_test(text, _MANY + value + _MANY)
        case SigmaRegularExpression():
            return _test(text, value)
        case _:
            raise LanguageError(
                f"{_named(value)} needs a field; without one there are words and patterns to be "
                "found anywhere in an event"
            )


# Names of derived attributes.


@remembered(_MAX_BYTES, lambda field, name: 200 + 2 * len(field) + len(name))
def lowered(field: str) -> str:
    """The derived attribute that is the field in lower case."""
    return name_of(_lower(field))


@remembered(_MAX_BYTES, lambda field, name: 200 + 2 * len(field) + len(name))
def _as_text(field: str) -> str:
    """The derived attribute that is the text of a field which is a number."""
    return name_of(call("cast STRING", [_number_alone(field)]))


@remembered(_MAX_BYTES, lambda field, name: 200 + 2 * len(field) + len(name))
def _as_number(field: str) -> str:
    """The derived attribute that is a field which is a number."""
    return name_of(_number_alone(field))


@remembered(_MAX_BYTES, lambda field, name: 200 + 2 * len(field) + len(name))
def _number_in_text(field: str) -> str:
    """The derived attribute that is the number which a string is the text of."""
    return name_of(call("cast DOUBLE", [_lower(field)]))  # only a string is in lower case


@remembered(_MAX_BYTES, lambda field, name: 200 + 2 * len(field) + len(name))
def _digits(field: str) -> str:
    """The derived attribute that is the address in a field, as digits."""
    return name_of(call("ip_digits", [Input(field)]))


def _number_alone(field: str) -> Tree:
    return call("+", [Input(field), Constant(0)])  # nothing else can be added to


def _lower(field: str) -> Tree:
    return call("lower", [Input(field)])


# Numbers and truth.


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
    """A number also meets its text, and its text the number."""
    texts = _leaf(field, *_one_or_several([str(number) for number in numbers]))
    themselves = _leaf(field, *_one_or_several(numbers))
    others = _but(field, {Kind.STRING, Kind.NUMBER})
    return Test(Or((themselves, texts)), field, Or((Not(themselves), Not(texts), *others)))


def _truth_test(field: str, wanted: bool) -> Test:
    """A truth value, or its word: their text is the same."""
    name = name_of(call("lower", [call("cast STRING", [Input(field)])]))
    return Test(_leaf(name, Operator.EQ, str(wanted).lower()), name)


def _comparisons(field: str, value: SigmaCompareExpression) -> list[Test]:
    operator, limit = _COMPARISONS.get(value.op), value.number.number
    if operator is None:
        raise LanguageError(f"the field {field!r} is compared by {value.op.name.lower()}")
    if isinstance(value.number, SigmaTimestampPart):
        names = [_time_part(field, value.number)]
    else:
        names = [_as_number(field), _number_in_text(field)]
    return [Test(_leaf(name, operator, limit), name) for name in names]


def _but(field: str, spoken_of: set[Kind]) -> list[Expression]:
    """Where a field is of another kind than those that a test speaks of, or absent."""
    every: dict[Kind, list[Expression]] = {
        Kind.NUMBER: [_leaf(field, Operator.GE, 0), _leaf(field, Operator.LT, 0)],
        Kind.STRING: [_leaf(field, Operator.GE, "")],
        Kind.BOOLEAN: [_leaf(field, Operator.IN, (False, True))],
        Kind.TIMESTAMP: [_leaf(field, Operator.GE, _EPOCH), _leaf(field, Operator.LT, _EPOCH)],
        Kind.LIST: [_leaf(field, Operator.NOT_HAS, _NOTHING)],
    }
    others = [each for kind, tests in every.items() if kind not in spoken_of for each in tests]
    return [_absent(field), *others]


# Everything else.


def _tests(field: str, value: SigmaType) -> list[Test]:
    """The tests of which one is to hold."""
    if isinstance(value, SigmaCompareExpression):
        return _comparisons(field, value)
    tests = [_test(field, value)]
    if isinstance(value, SigmaString) and _fits_numbers(value):
        name = _as_text(field)
        tests.append(Test(_leaf(name, *_operation(field, value.s)), name))
    return tests


def _test(field: str, value: SigmaType) -> Test:
    match value:
        case SigmaString():
            return _string_test(field, value)
        case SigmaRegularExpression():
            return Test(_leaf(field, Operator.MATCHES, _regex(value)), lowered(field))
        case SigmaNull():
            return Test(_absent(field), field, _exists(field))
        case SigmaExists(wanted):
            there, gone = _exists(field), _absent(field)
            return Test(there, field, gone) if wanted else Test(gone, field, there)
        case SigmaBool(wanted):
            return _truth_test(field, wanted)
        case SigmaCIDRExpression():
            return _in_network(field, str(value.network))
        case SigmaFieldReference():
            return _same_as(field, value)
        case SigmaTimestampPart():
            name = _time_part(field, value)
            return Test(_leaf(name, Operator.EQ, value.number), name)
        case _:
            raise LanguageError(
                f"the field {field!r} is compared with {_named(value)}, which only the query "
                "language that a pipeline was made for can be asked"
            )


def _time_part(field: str, value: SigmaTimestampPart) -> str:
    part = value.timestamp_part.name.lower()
    if part == "week":
        raise LanguageError(
            f"the field {field!r} is compared by week, which is not supported; there are minute, "
            "hour, day, month and year"
        )
    return name_of(call(part, [call("cast TIMESTAMP", [Input(field)])]))


def _in_network(field: str, network: str) -> Test:
    """An address lies in a network: in a range of what all networks of the field are looked up in.

    Of a few very wide ones addresses of IPv4 are a part, if they are written as those of IPv6.
    """
    ends = network_ends(network)
    if ends is None or holds_mapped(network):
        return _computed("ip_in", Input(field), Constant(network))
    name = _digits(field)
    return Test(_leaf(name, Operator.BETWEEN, ends), name)


def _same_as(field: str, other: SigmaFieldReference) -> Test:
    """Two fields have the same text; or one begins or ends with the other's."""
    mine, theirs = (
        call("lower", [call("cast STRING", [Input(each)])]) for each in (field, other.field)
    )
    if other.starts_with and other.ends_with:
        raise LanguageError(
            f"whether the field {field!r} contains the field {other.field!r} is not supported; "
            "fieldref goes alone, or with startswith or endswith"
        )
    size = call("length", [theirs])
    if other.starts_with:
        mine = call("substring", [mine, Constant(1), size])
    elif other.ends_with:
        mine = call("substring", [mine, call("negative", [size]), size])
    return _computed("=", mine, theirs)


def _computed(function: str, *arguments: Tree) -> Test:
    """A function of fields that is true."""
    name = name_of(call(function, list(arguments)))
    return Test(_leaf(name, Operator.EQ, True), name)


def _string_test(field: str, value: SigmaString) -> Test:
    """The operator that says it most directly: ``*`` at the ends alone needs no LIKE."""
    parts: list[Any] = list(value.s)
    if not isinstance(value, SigmaCasedString):
        parts = [part.lower() if isinstance(part, str) else part for part in parts]
    if parts == [_MANY]:
        return Test(_exists(field), field, _absent(field))
    if type(value) is SigmaString and _is_plain(value) and _text(value).lower() in _TRUTHS:
        return _truth_test(field, _TRUTHS[_text(value).lower()])
    guard = lowered(field)
    tested = field if isinstance(value, SigmaCasedString) else guard
    return Test(_leaf(tested, *_operation(field, parts)), guard)


def _operation(field: str, parts: Sequence[Any]) -> tuple[Operator, Any]:
    match parts:
        case []:
            return Operator.EQ, ""
        case [str(word)]:
            return Operator.EQ, word
        case [str(word), SpecialChars.WILDCARD_MULTI]:
            return Operator.PREFIX, word
        case [SpecialChars.WILDCARD_MULTI, str(word)]:
            return Operator.SUFFIX, word
        case [SpecialChars.WILDCARD_MULTI, str(word), SpecialChars.WILDCARD_MULTI]:
            return Operator.CONTAINS, word
        case _:
            return Operator.LIKE, LikePattern("".join(_like(field, part) for part in parts))


def _like(field: str, part: str | SpecialChars | Placeholder) -> str:
    if isinstance(part, str):
        return part.translate(_LIKE_SIGNS)
    if isinstance(part, SpecialChars):
        return _LIKE_WILDCARDS[part]
    raise _unfilled(f"the field {field!r}", part)


def _regex(value: SigmaRegularExpression) -> str:
    written: Any = value.regexp
    if not isinstance(written, SigmaString):  # pySigma takes whatever YAML has made of it
        raise LanguageError(f"a regular expression is text, not {written!r}: write it in quotes")
    for part in value.regexp.s:
        if isinstance(part, Placeholder):
            raise _unfilled("a regular expression", part)
    flags = "".join(sorted(value.sigma_to_re_flag[flag] for flag in value.flags))
    pattern = value.regexp.to_plain(regex=True)
    return f"(?{flags}){pattern}" if flags else pattern


def _unfilled(what: str, placeholder: Placeholder) -> LanguageError:
    return LanguageError(
        f"{what} is compared with a placeholder, %{placeholder.name}%; a pipeline says what "
        "stands in its place"
    )


def _is_plain_word(value: SigmaType) -> bool:
    """Whether it stands for itself alone, as a string and nothing else."""
    if type(value) is not SigmaString or not value.s or not _is_plain(value):
        return False
    return not _fits_numbers(value) and _text(value).lower() not in _TRUTHS


def _fits_numbers(value: SigmaString) -> bool:
    """Whether the text of a number may fit a pattern."""
    if not value.s or value.s == [_MANY]:
        return False
    return all(_OF_NUMBERS.issuperset(part) for part in value.s if isinstance(part, str))


def _is_plain(value: SigmaString) -> bool:
    return all(isinstance(part, str) for part in value.s)


def _text(value: SigmaType) -> str:
    assert isinstance(value, SigmaString)
    return "".join(str(part) for part in value.s)


def _one_or_several(values: Sequence[Any]) -> tuple[Operator, Any]:
    return (Operator.EQ, values[0]) if len(values) == 1 else (Operator.IN, tuple(values))


def _named(value: SigmaType) -> str:
    return f"a {type(value).__name__.removeprefix('Sigma')}"


def _leaf(attribute: str, operator: Operator, operand: Any = None) -> Expression:
    return Leaf(Constraint(attribute, operator, operand))


def _exists(attribute: str) -> Expression:
    return _leaf(attribute, Operator.EXISTS)


def _absent(attribute: str) -> Expression:
    return _leaf(attribute, Operator.ABSENT)
