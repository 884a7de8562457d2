"""Reads event patterns into branches: which texts are patterns is as Event Ruler has it.

What is refused is raised with the way that leads to it, positions of members from the outside, and
becomes an error about a line and a column where the text is known (``parse_pattern``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from predicast.errors import LimitError, NestingTooDeepError, ParseError, suggest
from predicast.language.eventbridge import values
from predicast.language.eventbridge.pattern import ABSENT, EXISTS, NULL, Branch, Kind, Range, Test
from predicast.language.json_text import (
    MAX_DEPTH,
    Members,
    Numeral,
    place_of,
    read_json,
)
from predicast.language.where.position import error_at

MAX_BRANCHES: Final = 1_000  # that $or makes of one pattern, as in EventBridge
OR: Final = "$or"
_RESERVED: Final = frozenset(
    (
        *("exactly", "equals-ignore-case", "prefix", "suffix", "anything-but", "exists"),
        *("wildcard", "numeric", "cidr", "=", "<", "<=", ">", ">=", "regex", "not-wildcard"),
        *("not-equals-ignore-case", "date-after", "date-on-or-after", "date-before"),
        *("date-on-or-before", "in-date-range", "ip-address-in-range", "ip-address-not-in-range"),
    )
)


class RefusedError(Exception):
    """What a pattern may not say, and the way that leads there."""

    def __init__(
        self, message: str, way: Sequence[int], *, hint: str | None = None, at_name: bool = False
    ) -> None:
        super().__init__(message)
        self.message, self.way, self.hint, self.at_name = message, (*way,), hint, at_name


def parse_pattern(text: str, reader: PatternReader, what: str = "pattern") -> list[Branch]:
    """The branches of a text, or an error about a place in it."""
    tree = read_json(text, what)
    try:
        return reader.branches(tree)
    except RefusedError as refused:
        place = place_of(text, refused.way, at_name=refused.at_name)
        raise error_at(ParseError, text, place, refused.message, hint=refused.hint) from None


class PatternReader:
    """Reads the tree of a pattern."""

    def branches(self, tree: Any) -> list[Branch]:
        """The branches of a pattern, of which one is to match."""
        if not isinstance(tree, Members):
            raise RefusedError(
                "a pattern is an object", (), hint='write {"source": ["aws.ec2"]}, for instance'
            )
        found: list[Branch] = [{}]
        self._object(tree, "", [], found, within_or=False)
        return found

    def _object(
        self, members: Members, prefix: str, way: list[int], found: list[Branch], *, within_or: bool
    ) -> None:
        """Add what an object says to every branch, which ``$or`` makes more of."""
        if not members:
            raise RefusedError("an object without fields says nothing", way)
        if len(way) > MAX_DEPTH:
            raise NestingTooDeepError(
                f"the pattern nests deeper than {MAX_DEPTH} objects", limit=MAX_DEPTH
            )
        for position, (name, value) in enumerate(members):
            here = [*way, position]
            if name == OR:
                self._alternatives(value, prefix, here, found)
                continue
            if within_or and name in _RESERVED:
                raise RefusedError(
                    f"{name!r} is a word for tests, and within {OR} no name of a field",
                    here,
                    at_name=True,
                )
            if not name:
                raise RefusedError("a field has a name", here, at_name=True)
            if isinstance(value, Members):
                self._object(value, f"{prefix}{name}.", here, found, within_or=within_or)
            elif type(value) is list:
                tests = self._tests(value, here)
                for branch in found:
                    branch.pop(prefix + name, None)
                    branch[prefix + name] = tests
            else:
                raise RefusedError(
                    f"{name!r} must be an object or an array",
                    here,
                    hint=f'write {{"{name}": [...]}} with the values that match in the array',
                )

    def _alternatives(self, value: Any, prefix: str, way: list[int], found: list[Branch]) -> None:
        if type(value) is not list or not all(isinstance(each, Members) for each in value):
            raise RefusedError(f"behind {OR} stands an array of objects", way)
        if len(value) < 2:
            raise RefusedError(f"{OR} takes two objects or more", way)
        before, found[:] = list(found), []
        for position, members in enumerate(value):
            more = [dict(branch) for branch in before]
            self._object(members, prefix, [*way, position], more, within_or=True)
            found += more
            if len(found) > MAX_BRANCHES:
                raise LimitError(
                    f"{OR} makes more than {MAX_BRANCHES} combinations of this pattern",
                    limit=MAX_BRANCHES,
                    actual=len(found),
                )

    def _tests(self, values_: list[Any], way: list[int]) -> tuple[Test, ...]:
        if not values_:
            raise RefusedError("an empty array matches nothing, and is not allowed", way)
        return tuple(self._test(value, [*way, position]) for position, value in enumerate(values_))

    def _test(self, value: Any, way: list[int]) -> Test:
        if isinstance(value, Numeral):
            return Test(Kind.EQUALS, values.number(value))
        if isinstance(value, str) or value is None or isinstance(value, bool):
            return Test(Kind.EQUALS, NULL if value is None else value)
        if isinstance(value, Members):
            return self._expression(value, way)
        raise RefusedError("a value to match is a string, a number, true, false or null", way)

    def _expression(self, members: Members, way: list[int]) -> Test:
        if not members:
            raise RefusedError("an object in an array names a test", way, hint=_LISTED)
        word, operand = members[0]
        read = _EXPRESSIONS.get(word)
        if read is None:
            close = suggest(word, _EXPRESSIONS)
            hint = f"did you mean {close!r}?" if close else _LISTED
            raise RefusedError(f"there is no test {word!r}", [*way, 0], hint=hint, at_name=True)
        found = read(self, operand, [*way, 0])
        _only(members, way)
        return found

    # The tests, each by its word.

    def _exactly(self, operand: Any, way: list[int]) -> Test:
        return Test(Kind.EQUALS, _string("exactly", operand, way))

    def _prefix(self, operand: Any, way: list[int]) -> Test:
        return self._end("prefix", operand, way)

    def _suffix(self, operand: Any, way: list[int]) -> Test:
        return self._end("suffix", operand, way)

    def _end(self, word: str, operand: Any, way: list[int]) -> Test:
        """What stands at one of the ends, with case or without."""
        if not isinstance(operand, Members):
            return Test(Kind(word), _string(word, operand, way))
        inner = operand[0][0] if operand else None
        if inner != "equals-ignore-case":
            raise RefusedError(
                f"{word} takes a string, or equals-ignore-case with one",
                [*way, 0] if inner else way,
            )
        literal = _string(inner, operand[0][1], [*way, 0])
        _only(operand, way)
        return Test(Kind(f"{word}/{inner}"), literal)

    def _ignore_case(self, operand: Any, way: list[int]) -> Test:
        return Test(Kind.EQUALS_IGNORE_CASE, _string("equals-ignore-case", operand, way))

    def _wildcard(self, operand: Any, way: list[int]) -> Test:
        literal = _string("wildcard", operand, way)
        parts = values.wildcard_parts(literal)
        if isinstance(parts, str):
            raise RefusedError(parts, way)
        return Test(Kind.WILDCARD, literal)

    def _cidr(self, operand: Any, way: list[int]) -> Test:
        literal = _string("cidr", operand, way)
        ends = values.network(literal)
        if isinstance(ends, str):
            raise RefusedError(ends, way)
        return Test(Kind.CIDR, ends)

    def _exists(self, operand: Any, way: list[int]) -> Test:
        if not isinstance(operand, bool):
            raise RefusedError("exists takes true or false", way)
        return EXISTS if operand else ABSENT

    def _numeric(self, operand: Any, way: list[int]) -> Test:
        if type(operand) is not list:
            raise RefusedError("numeric takes an array", way, hint=_RANGES)
        if len(operand) not in {2, 4}:
            raise RefusedError("numeric takes one comparison or two", way, hint=_RANGES)
        first, *others = [*self._comparisons(operand, way)]
        word, lower = first
        if not others:
            if word == "=":
                return Test(Kind.EQUALS, lower)
            return Test(Kind.NUMERIC, Range(**_ENDS[word](lower)))
        second, upper = others[0]
        if word not in {">", ">="} or second not in {"<", "<="}:
            at = [*way, 0 if word not in {">", ">="} else 2]
            raise RefusedError("two comparisons are > or >= and then < or <=", at, hint=_RANGES)
        if lower >= upper:
            raise RefusedError("the lower end of a range is less than the upper one", [*way, 3])
        return Test(Kind.NUMERIC, Range(**_ENDS[word](lower), **_ENDS[second](upper)))

    def _comparisons(self, operand: list[Any], way: list[int]) -> Iterator[tuple[str, int | float]]:
        for position in range(0, len(operand), 2):
            word, numeral = operand[position : position + 2]
            if type(word) is not str or word not in {"=", *_ENDS}:
                raise RefusedError(
                    "a comparison is one of = < <= > >=", [*way, position], hint=_RANGES
                )
            yield word, self.comparable(f"the value of {word}", numeral, [*way, position + 1])

    def comparable(self, what: str, numeral: Any, way: list[int]) -> int | float:
        """A number that can be compared."""
        if not isinstance(numeral, Numeral):
            raise RefusedError(f"{what} is a number", way)
        found = values.comparable(numeral)
        if found is None:
            raise RefusedError(
                f"the number {numeral[:40]} cannot be compared",
                way,
                hint="it is out of the range of a float, or has more digits than that holds",
            )
        return found

    def _anything_but(self, operand: Any, way: list[int]) -> Test:
        if isinstance(operand, Members):
            return self._anything_but_expression(operand, way)
        many = type(operand) is list
        given = operand if many else [operand]
        if not given:
            raise RefusedError("anything-but takes one value or more", way)
        tests, kinds = [], set()
        for position, value in enumerate(given):
            here = [*way, position] if many else way
            if isinstance(value, Numeral):
                tests.append(Test(Kind.EQUALS, self.comparable("a value", value, here)))
            elif isinstance(value, str):
                tests.append(Test(Kind.EQUALS, value))
            else:
                raise RefusedError("anything-but takes strings or numbers", here)
            kinds.add(isinstance(value, Numeral))
            if len(kinds) > 1:
                raise RefusedError("anything-but takes strings or numbers, not both", here)
        return Test(Kind.ANYTHING_BUT, tuple(dict.fromkeys(tests)))

    def _anything_but_expression(self, members: Members, way: list[int]) -> Test:
        word = members[0][0] if members else None
        read = _NEGATED.get(word or "")
        if read is None:
            close = suggest(word or "", _NEGATED)
            hint = f"did you mean {close!r}?" if close else f"there are {', '.join(_NEGATED)}"
            raise RefusedError(
                f"anything-but takes no {word!r}" if word else "anything-but takes a test",
                [*way, 0] if word else way,
                hint=hint,
                at_name=bool(word),
            )
        operand, inner = members[0][1], [*way, 0]
        many = type(operand) is list
        given = operand if many else [operand]
        if not given:
            raise RefusedError("anything-but takes one value or more", inner)
        tests = []
        for position, value in enumerate(given):
            here = [*inner, position] if many else inner
            if isinstance(value, Members):
                _string(word or "", value, here)
            found = read(self, value, here)
            if not found.operand and found.kind in {Kind.PREFIX, Kind.SUFFIX}:
                raise RefusedError(f"an empty {word} is one of every string", here)
            tests.append(found)
        _only(members, way)
        return Test(Kind.ANYTHING_BUT, tuple(dict.fromkeys(tests)))


_ENDS: Final[dict[str, Callable[[Any], dict[str, Any]]]] = {
    ">": lambda value: {"lower": value, "lower_open": True},
    ">=": lambda value: {"lower": value},
    "<": lambda value: {"upper": value, "upper_open": True},
    "<=": lambda value: {"upper": value},
}
_RANGES: Final = 'write {"numeric": [">", 0]} or {"numeric": [">", 0, "<=", 5]}'
_Read = Callable[[PatternReader, Any, list[int]], Test]
_EXPRESSIONS: Final[dict[str, _Read]] = {
    "anything-but": PatternReader._anything_but,
    "cidr": PatternReader._cidr,
    "equals-ignore-case": PatternReader._ignore_case,
    "exactly": PatternReader._exactly,
    "exists": PatternReader._exists,
    "numeric": PatternReader._numeric,
    "prefix": PatternReader._prefix,
    "suffix": PatternReader._suffix,
    "wildcard": PatternReader._wildcard,
}
_NEGATED: Final = {
    word: _EXPRESSIONS[word] for word in ("equals-ignore-case", "prefix", "suffix", "wildcard")
}
_LISTED: Final = f"there are {', '.join(_EXPRESSIONS)}"


def _string(word: str, operand: Any, way: list[int]) -> str:
    if isinstance(operand, Numeral) or not isinstance(operand, str):
        raise RefusedError(f"{word} takes a string", way)
    return operand


def _only(members: Members, way: list[int]) -> None:
    if len(members) > 1:
        raise RefusedError("a test has one name", [*way, 1], at_name=True)
