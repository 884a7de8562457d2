"""Parametric subscriptions: ``where`` texts with named parameters in place of literals.

``x BETWEEN :x1 AND :x2 AND kind = :k`` is parsed once, whatever values it is filled with and
however often they change. Filling gives an outline and operands (``predicast.model.outline``),
without a constraint in between: the values are laid out in one list, from which the operands are
picked by position (``predicast.language.where.filling``).

Which values a test takes depends on their types alone, so a filling with types that were seen
before checks nothing but the values themselves (range, Unicode, patterns) and finds its outline in
a dictionary. That takes a few microseconds. Where something is wrong, the tests are made into
constraints one by one, in the order of the text, and the first that refuses tells what and where.

*The outline is the same for all values of the same types*: tests that happen to be equal, because
two parameters are, are all kept, where ``parse_where`` would keep one. Merged, they would have to
be told apart again when one of the values changes. What matches is the same.

A parameter is checked wherever the text has it, also in a part that ``AND FALSE`` makes void; it
needs a value there, after all.

Rejected: replacing parameters by literals in the text and parsing that, which quotes values only
to unquote them, and gives another outline when two values become equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import isfinite
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final

from predicast.bounded_cache import remembered
from predicast.errors import (
    MissingParameterError,
    ModelError,
    ParameterError,
    ParseError,
    UnknownClassError,
    UnknownParameterError,
    suggest,
)
from predicast.language.where.cache import MAX_TEXT, check_text
from predicast.language.where.filling import Filling, is_open
from predicast.language.where.position import missing
from predicast.language.where.shape import OUTLINES, estimate, in_places
from predicast.model import Kind, Value
from predicast.model.expression import leaves_of, mapped
from predicast.model.normal_form import normalised
from predicast.model.outline import OPERAND_TYPES, Outline, Stated, outline_of
from predicast.model.values import canonical_number, checked

_MAX_BYTES: Final = 32 << 20  # of texts that are remembered; a handful in practice
_COLON_NAME: Final = re.compile(r":[A-Za-z_]")
_HARD_TO_SCAN: Final = re.compile(r"\\|--|/\*|\{#")  # escapes and comments
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")


class Parametric:
    """A ``where`` text with named parameters; one is shared by all subscriptions with this text.

    >>> region = parametric("x BETWEEN :x1 AND :x2 AND kind = :k")
    >>> region.names
    ('x1', 'x2', 'k')
    >>> region.fill({"x1": 4.0, "x2": 9.5, "k": "tank"}).operands
    (4, 9.5, 'tank')
    >>> region.places()["x2"]
    (1,)
    """

    __slots__ = (
        *("_clauses", "_filling", "_operands", "_places"),
        *("cost", "names", "numeric", "text"),
    )

    text: str
    names: tuple[str, ...]  # in order of first appearance
    numeric: frozenset[str]  # the names that may be numbers
    cost: int  # for caches: roughly the bytes that it holds

    def __init__(self, text: str) -> None:
        check_text(text)
        from predicast.language.where.parser import parse  # sqlglot is slow to import

        node = parse(text, parameters=True)
        self.text = text
        self._clauses = normalised(node)
        stated = in_places(self._clauses)
        literals = {literal for test in stated for literal in test.literals}
        tests = [
            each
            for each in leaves_of(node)
            if is_open(each) or literals.intersection(each.literals)
        ]
        self._filling = filling = Filling(text, tests, stated)
        self.names = filling.names
        positions = [position for test in stated for position in filling.positions(test)]
        self._operands = _picker(positions)
        self._places = {
            name: None if number in filling.used_in_made else _occurrences(number, positions)
            for number, name in enumerate(self.names)
        }
        self.cost = filling.cost + estimate(text, stated)

    def fill(self, values: Mapping[str, Any]) -> Stated:
        """The subscription with these values, or a ``ParameterError`` that says what is wrong."""
        given = self._given(values)
        filling = self._filling
        try:
            laid_out: list[Any] = [_canonical(value) for value in given]
            key = filling, tuple(map(type, laid_out))
            try:
                outline: Outline | None = OUTLINES[key]
            except KeyError:
                outline = None
            if outline is None:
                filling.check(given)
            laid_out += filling.constants
            for make in filling.makers:
                laid_out.append(make(laid_out))
        except (ModelError, UnknownClassError) as error:
            filling.check(given)
            raise AssertionError("a filling failed that every test accepts") from error
        if outline is None:
            outline = OUTLINES.put(key, self._outlined(laid_out))
        return Stated(outline, self._operands(laid_out))

    def changed(self, outline: Outline, values: Mapping[str, Any]) -> dict[int, Value] | None:
        """What to write at which places of a filling with this outline, for some new values.

        ``None`` if that takes a filling with all the values: the outline becomes another one, a
        set or a pattern is to be made, or a value is wrong, which ``fill`` then explains.
        """
        self._check_mapping(values)
        written: dict[int, Value] = {}
        for name, value in values.items():
            try:
                places = self._places[name]
            except KeyError:
                raise self._unknown(name) from None
            if not places:
                return None
            try:
                operand = _canonical(value)
            except ModelError:
                return None
            if OPERAND_TYPES[type(operand)] is not outline.places[places[0]]:
                return None
            for place in places:
                written[place] = operand
        return written

    def places(self) -> Mapping[str, tuple[int, ...] | None]:
        """For each name, the places of every outline that hold its value as it is.

        ``None`` for a name that is part of a set, a LIKE pattern or a regular expression.
        """
        return MappingProxyType(self._places)

    def kinds(self) -> Mapping[str, frozenset[Kind]]:
        """For each name, the kinds of value that the text alone leaves it."""
        return MappingProxyType(self._filling.kinds)

    def _given(self, values: Mapping[str, Any]) -> list[Any]:
        """The values in the order of the names; neither more nor fewer."""
        self._check_mapping(values)
        if len(values) == len(self.names):
            try:
                return [values[name] for name in self.names]
            except KeyError:
                pass
        # A misspelt name is unknown and leaves another missing; the suggestion helps more.
        for name in values:
            if name not in self._places:
                raise self._unknown(name)
        raise self._missing(values)

    def _check_mapping(self, values: Any) -> None:
        if type(values) is not dict and not isinstance(values, Mapping):
            raise ParameterError(
                f'parameters are given as {{"name": value}}, not as {type(values).__name__}',
                text=self.text,
            )

    def _outlined(self, laid_out: list[Any]) -> Outline:
        slot = self._filling.slot
        clauses = tuple(
            [tuple([slot(test, laid_out) for test in each.tests]) for each in self._clauses]
        )
        if all(each.rest is None for each in self._clauses):
            return outline_of(clauses, ())
        rests = [
            None if rest is None else mapped(rest, lambda test: slot(test, laid_out))
            for _, rest in self._clauses
        ]
        return outline_of(clauses, tuple(rests))

    def _missing(self, values: Mapping[str, Any]) -> MissingParameterError:
        starts = self._filling.starts
        return missing(self.text, {name: starts[name] for name in self.names if name not in values})

    def _unknown(self, name: Any) -> UnknownParameterError:
        close = suggest(str(name), self.names)
        known = ", ".join(self.names)
        hint = f"did you mean {close}?" if close else f"it has {known or 'no parameters'}"
        return UnknownParameterError(
            f"the text has no parameter {name!r}; {hint}",
            text=self.text,
            hint=hint,
            name=name,
            suggestion=close,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parametric) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Parametric({self.text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return parametric, (self.text,)


def parametric(text: str) -> Parametric:
    """The text parsed, the same object while it is remembered; any thread may ask."""
    if not isinstance(text, str):
        raise ParseError(f"an expression is a string, not {type(text).__name__}")
    return _remembered(text)


_remembered = remembered(_MAX_BYTES, lambda _, parsed: parsed.cost)(Parametric)


def has_parameters(text: str) -> bool:
    """Whether the text seems to have parameters; never wrong if it says no.

    >>> has_parameters("a = :x"), has_parameters("a = 'urn:x' AND b > TIMESTAMP '2026-01-31 09:30'")
    (True, False)
    """
    if len(text) > MAX_TEXT or _COLON_NAME.search(text) is None:
        return False
    if _HARD_TO_SCAN.search(text) is None:
        return _COLON_NAME.search(_QUOTED.sub("''", text)) is not None
    from predicast.language.where.tokens import has_colon  # sqlglot is slow to import

    return has_colon(text)


def _canonical(value: Any) -> Value:
    """The value as a constraint would hold it; the usual ones without another call."""
    cls = type(value)
    if cls is float:
        if isfinite(value) and not value.is_integer():
            return value  # type: ignore[no-any-return]
        return canonical_number(checked("parameter", value))  # type: ignore[arg-type]
    if cls is str and value.isascii():
        return value  # type: ignore[no-any-return]
    canonical = checked("parameter", value)
    return canonical_number(canonical) if type(canonical) is float else canonical


def _picker(positions: list[int]) -> Callable[[list[Any]], tuple[Any, ...]]:
    if len(positions) > 1:
        return itemgetter(*positions)
    return lambda values: tuple([values[position] for position in positions])


def _occurrences(number: int, positions: list[int]) -> tuple[int, ...]:
    return tuple(place for place, position in enumerate(positions) if position == number)
