"""The functions there are: what they are called, which arguments they take, and what they give.

Attributes may hold values of any type, so that only what is certain is refused when a call is
made: ``lower(x) + 1`` can never have a value, ``x + 1`` may. A call of constants is its value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from predicast.derived import addresses, times, values
from predicast.derived.casts import CASTS, TYPE_ALIASES
from predicast.derived.tree import (
    MAX_DEPTH,
    Call,
    Case,
    Constant,
    Each,
    Input,
    Span,
    Tree,
    depth_of,
    parts_of,
)
from predicast.errors import (
    InvalidExpressionError,
    NestingTooDeepError,
    ParseError,
    shortened,
    suggest,
)
from predicast.model import Kind, Value
from predicast.model.values import SCALARS, kind_of

Kinds = frozenset[Kind]

_ANY: Final = SCALARS
_NUMBER: Final = frozenset({Kind.NUMBER})
_STRING: Final = frozenset({Kind.STRING})
_BOOLEAN: Final = frozenset({Kind.BOOLEAN})
_TIME: Final = frozenset({Kind.TIMESTAMP})
_LIST: Final = frozenset({Kind.LIST})
_UNKNOWN: Final = frozenset(Kind)  # an attribute may be of any
_ORDERED: Final = _ANY - _BOOLEAN
_MANY: Final = 1 << 16  # arguments: no text is long enough for more


@dataclass(frozen=True, slots=True)
class Function:
    """One function; its last parameter repeats up to the most arguments that it takes."""

    name: str
    parameters: tuple[Kinds, ...]
    fewest: int
    most: int
    result: Kinds | None  # None: what its arguments have in common
    apply: Callable[..., Value | None]
    alike: bool = False  # the arguments are all of one kind
    is_strict: bool = True  # no value if an argument has none

    def parameter(self, position: int) -> Kinds:
        """The kinds that it takes at a position."""
        return self.parameters[min(position, len(self.parameters) - 1)]


def _strict(name: str, apply: Callable[..., Any], result: Kinds, *parameters: Kinds) -> Function:
    return Function(name, parameters, len(parameters), len(parameters), result, apply)


def _choosing(name: str, apply: Callable[..., Any], kinds: Kinds) -> Function:
    return Function(name, (kinds,), 2, _MANY, None, apply, alike=True, is_strict=False)


def _comparing(name: str, apply: Callable[..., Any], kinds: Kinds) -> Function:
    return Function(name, (kinds, kinds), 2, 2, _BOOLEAN, apply, alike=True)


def _cesql_value(text: str, *values: Value | None) -> Value | None:
    from predicast.derived.cesql.texts import value_of  # a language of its own, seldom spoken

    return value_of(text, *values)


_CAST_FROM: Final = {
    "DOUBLE": (_ANY, _NUMBER),
    "STRING": (_ANY, _STRING),
    "BOOLEAN": (_ANY - _TIME, _BOOLEAN),
    "TIMESTAMP": (_ANY - _BOOLEAN, _TIME),
    "DATE": (_STRING | _TIME, _TIME),
}

_ALL: Final = (
    # The event's arrival, which is given with its attributes: nothing is computed.
    Function("now", (), 0, 0, _TIME, lambda: None),
    _strict("+", values.add, _NUMBER, _NUMBER, _NUMBER),
    _strict("-", values.subtract, _NUMBER, _NUMBER, _NUMBER),
    _strict("*", values.multiply, _NUMBER, _NUMBER, _NUMBER),
    _strict("/", values.divide, _NUMBER, _NUMBER, _NUMBER),
    _strict("%", values.remainder, _NUMBER, _NUMBER, _NUMBER),
    _strict("negative", values.negate, _NUMBER, _NUMBER),
    _strict("abs", values.absolute, _NUMBER, _NUMBER),
    Function("round", (_NUMBER, _NUMBER), 1, 2, _NUMBER, values.rounded),
    _strict("floor", values.floor, _NUMBER, _NUMBER),
    _strict("ceil", values.ceiling, _NUMBER, _NUMBER),
    _strict("lower", values.lower, _STRING, _STRING),
    _strict("upper", values.upper, _STRING, _STRING),
    _strict("trim", values.trim, _STRING, _STRING),
    _strict("ltrim", values.trim_left, _STRING, _STRING),
    _strict("rtrim", values.trim_right, _STRING, _STRING),
    _strict("length", values.length, _NUMBER, _STRING),
    _strict("size", len, _NUMBER, _LIST),
    _strict("ip_in", addresses.is_in, _BOOLEAN, _STRING, _STRING),
    _strict("ip_digits", addresses.digits, _STRING, _STRING),
    # Its arguments beside the text are the attributes that the text names, which ``call`` adds.
    Function("cesql", (_STRING, _ANY), 1, 1, _ANY - _TIME, _cesql_value, is_strict=False),
    Function("substring", (_STRING, _NUMBER, _NUMBER), 2, 3, _STRING, values.substring),
    Function("concat", (_STRING,), 2, _MANY, _STRING, values.concatenate),
    _choosing("coalesce", values.first, _ANY),
    _choosing("greatest", values.greatest, _ORDERED),
    _choosing("least", values.least, _ORDERED),
    _comparing("=", values.equal, _ANY),
    replace(_comparing("<=>", values.same, _ANY), is_strict=False),
    _comparing("<", values.less, _ORDERED),
    _comparing("<=", values.at_most, _ORDERED),
    _strict("date_trunc", times.truncated, _TIME, _STRING, _TIME),
    _strict("shift", times.shifted, _TIME, _TIME, _ANY),
    *(
        _strict(name, lambda at, field=field: field(at) if values.is_time(at) else None,
                _NUMBER, _TIME)
        for name, field in times.FIELDS.items()
    ),
    *(
        _strict(f"cast {name}", cast, _CAST_FROM.get(name, (_ANY, _NUMBER))[1],
                _CAST_FROM.get(name, (_ANY, _NUMBER))[0])
        for name, cast in CASTS.items()
    ),
)  # fmt: skip
FUNCTIONS: Final[dict[str, Function]] = {function.name: function for function in _ALL}
COMPARISONS: Final = frozenset({"=", "<=>", "<", "<="})
# What they are called in texts: the names that are words, and others that Spark has for them.
ALIASES: Final = {
    "negative": "negative",
    "ceiling": "ceil",
    "mod": "%",
    "lcase": "lower",
    "ucase": "upper",
    **dict.fromkeys(("len", "char_length", "character_length"), "length"),
    "substr": "substring",
    **dict.fromkeys(("nvl", "ifnull"), "coalesce"),
    "dayofmonth": "day",
    **dict.fromkeys(("cardinality", "array_size"), "size"),
}
WORDS: Final = {
    name: name for name in FUNCTIONS if name.isidentifier() and name not in {"shift", "now"}
} | ALIASES  # fmt: skip
TYPES: Final = {name: name for name in CASTS} | TYPE_ALIASES


def call(function: str, arguments: Sequence[Tree]) -> Tree:
    """A call with every check made; its value, if all the arguments are constants."""
    known = FUNCTIONS[function]
    if not known.fewest <= len(arguments) <= known.most:
        raise InvalidExpressionError(
            f"{function} takes {_counted(known)}, not {len(arguments)}", function=function
        )
    arguments = _checked(known, arguments)
    if function == "concat":  # a || b || c is one call
        arguments = [part for each in arguments for part in _concatenated(each)]
    made = Call(function, tuple(arguments))
    if all(isinstance(argument, Constant | Span) for argument in arguments):
        given = [each.value if isinstance(each, Constant) else each for each in arguments]
        value = known.apply(*given)
        if value is None:
            raise InvalidExpressionError(f"{function} of these has no value", function=function)
        return Constant(value)
    return checked_depth(made)


def _concatenated(tree: Tree) -> Sequence[Tree]:
    return tree.arguments if isinstance(tree, Call) and tree.function == "concat" else (tree,)


def checked_depth(tree: Tree) -> Tree:
    """The tree, unless it is too deep."""
    depth = depth_of(tree)
    if depth > MAX_DEPTH:
        raise NestingTooDeepError(
            f"the expression computes in more than {MAX_DEPTH} steps upon one another",
            limit=MAX_DEPTH,
            actual=depth,
        )
    return tree


def kinds_of(tree: Tree) -> Kinds:
    """The kinds that its value may be of."""
    if isinstance(tree, Constant):
        return frozenset({kind_of(tree.value)})
    if isinstance(tree, Call):
        function = FUNCTIONS[tree.function]
        return _common(tree.arguments) if function.result is None else function.result
    if isinstance(tree, Case):
        results = [result for _, result in tree.branches]
        return _common(results if tree.otherwise is None else [*results, tree.otherwise])
    if isinstance(tree, Each):
        return _LIST
    return _UNKNOWN if isinstance(tree, Input) else frozenset()


def _common(trees: Sequence[Tree]) -> Kinds:
    return _ANY.intersection(*map(kinds_of, trees))


def inputs_of_kind(tree: Tree, kind: Kind) -> frozenset[str]:
    """The attributes of which nothing but values of a kind will do where they stand."""
    found = {name for part in parts_of(tree) for name in inputs_of_kind(part, kind)}
    if isinstance(tree, Call):
        function = FUNCTIONS[tree.function]
        common = _common(tree.arguments) if function.alike else _ANY
        for position, argument in enumerate(tree.arguments):
            if isinstance(argument, Input) and function.parameter(position) & common == {kind}:
                found.add(argument.name)
    return frozenset(found)


def needed_of_kind(tree: Tree, kind: Kind) -> frozenset[str]:
    """The attributes without which it has no value, and with values of other kinds neither."""
    if not isinstance(tree, Call) or not FUNCTIONS[tree.function].is_strict:
        return frozenset()
    function = FUNCTIONS[tree.function]
    found = {name for argument in tree.arguments for name in needed_of_kind(argument, kind)}
    for position, argument in enumerate(tree.arguments):
        if isinstance(argument, Input) and function.parameter(position) == {kind}:
            found.add(argument.name)
    return frozenset(found)


def check_alike(what: str, trees: Sequence[Tree]) -> None:
    """Refuse results or arguments that cannot be of one kind."""
    common = _ANY
    for position, tree in enumerate(trees):
        kinds = kinds_of(tree)
        if not common & kinds:
            raise InvalidExpressionError(
                f"{what} is of one kind, and this is {_listed(kinds)}, not {_listed(common)}",
                function=what,
                argument=position,
            )
        common &= kinds


def _not_taken(name: str, wanted: Kinds, kinds: Kinds) -> str:
    message = f"{name} takes {_listed(wanted)} here, not {_listed(kinds)}"
    if name in {"+", "-"} and kinds == {Kind.TIMESTAMP}:
        return f"{message}; write {name} INTERVAL 7 DAYS beside a timestamp"
    return message


def _checked(function: Function, arguments: Sequence[Tree]) -> Sequence[Tree]:
    for position, argument in enumerate(arguments):
        if isinstance(argument, Span):
            if function.name == "shift" and position == 1:
                continue
            raise _refused(function, position, "an INTERVAL is only added to a timestamp")
        wanted, kinds = function.parameter(position), kinds_of(argument)
        if not wanted & kinds:
            raise _refused(function, position, _not_taken(function.name.split()[0], wanted, kinds))
    if function.alike:
        check_alike(function.name, arguments)
    if function.name == "size" and not isinstance(arguments[0], Input):
        raise _refused(function, 0, "size takes an attribute that is a list")
    if function.name == "date_trunc":
        return [_unit(function, arguments[0]), arguments[1]]
    if function.name == "ip_in":
        return [arguments[0], _network(function, arguments[1])]
    if function.name == "cesql":
        return _cesql(function, arguments[0])
    if function.name == "round" and len(arguments) == 2:
        digits = arguments[1]
        if not isinstance(digits, Constant) or type(digits.value) is not int:
            raise _refused(function, 1, "round takes a number of digits, such as 2")
        if digits.value == 0:
            return arguments[:1]
    return arguments


def _unit(function: Function, unit: Tree) -> Tree:
    name = unit.value if isinstance(unit, Constant) else None
    if not isinstance(name, str):
        raise _refused(function, 0, "date_trunc takes a unit such as 'HOUR' first")
    known = times.UNIT_ALIASES.get(name.upper(), name.upper())
    if known not in times.UNITS:
        close = suggest(name, times.UNITS)
        hint = f"did you mean {close}?" if close else f"there are {', '.join(times.UNITS)}"
        raise _refused(function, 0, f"there is no unit {name!r}; {hint}")
    return Constant(known)


def _network(function: Function, network: Tree) -> Tree:
    written = network.value if isinstance(network, Constant) else None
    if not isinstance(written, str):
        raise _refused(function, 1, "ip_in takes a network such as '10.0.0.0/8' here")
    known = addresses.canonical_network(written)
    if known is None:
        raise _refused(
            function,
            1,
            f"{shortened(written)} is no network, such as '10.0.0.0/8' or '2001:db8::/32'",
        )
    return Constant(known)


def _cesql(function: Function, text: Tree) -> Sequence[Tree]:
    """The text in its one spelling, and the attributes that it names."""
    from predicast.derived.cesql.texts import canonical  # a language of its own, seldom spoken

    written = text.value if isinstance(text, Constant) else None
    if not isinstance(written, str):
        raise _refused(function, 0, "cesql takes an expression such as 'hop < ttl' here")
    try:
        spelling, names = canonical(written)
    except ParseError as error:
        raise _refused(function, 0, f"in the text of cesql, {error.message}") from error
    return [Constant(spelling), *map(Input, names)]


def _refused(function: Function, position: int, why: str) -> InvalidExpressionError:
    return InvalidExpressionError(why, function=function.name, argument=position)


def _counted(function: Function) -> str:
    if function.most == _MANY:
        return f"{function.fewest} arguments or more"
    numbers = sorted({function.fewest, function.most})
    return " or ".join(map(str, numbers)) + (" arguments" if numbers != [1] else " argument")


def _listed(kinds: Kinds) -> str:
    return "a " + " or ".join(sorted(kind.value for kind in kinds)) if kinds else "an INTERVAL"
