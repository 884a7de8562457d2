r"""``ShapePattern``: a shape as one regular expression, for texts that are like an earlier one.

To know the shape of any text it must be cut at its literals and what is left be looked up. Most
texts are like the one before them, and then a single match does both::

    symbol = '([^'\\]*)' AND price < ([0-9]{1,18})        groups: the literals, outline: known

It never decides what a text means: whatever matches would have been cut in the same places. So
nothing between the literals may have a quote in it, literals stand apart, strings have neither
escapes nor quotes inside, and an integer has few enough digits to be one of 64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from predicast.errors import ModelError
from predicast.language.where.shape import Convert, Shape, as_number, as_string
from predicast.model.outline import Outline, Stated

_new: Final = tuple.__new__
_INTEGER: Final = r"([0-9]{1,18})"
_NUMBER: Final = r"([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
_QUOTES: Final = re.compile("['\"`]")
_MOST_LITERALS: Final = 32  # compiling takes as long as reading many texts of that size
_LONGEST: Final = 1_024  # characters between them
_PATTERN_BYTES: Final = 3_000  # what a compiled expression takes, and
_LITERAL_BYTES: Final = 1_000  # for each group of it


class ShapePattern:
    """What texts of a shape look like whose literals have the types of an earlier one's."""

    __slots__ = ("_converters", "_match", "_outline", "_shape", "_types", "cost")

    cost: int  # for caches: roughly the bytes that it holds

    def __init__(self, shape: Shape, pattern: str, converters: list[Convert], of: Stated) -> None:
        self._shape = shape
        self._match = re.compile(pattern, re.DOTALL).fullmatch
        self._converters = converters
        self._outline: Outline = of.outline
        # Integers and strings without escapes are always that; a float may turn out to be 1.
        self._types: tuple[type, ...] | None = tuple(map(type, of.operands))
        if set(converters) <= {int, str} and set(self._types) <= {int, str}:
            self._types = None
        self.cost = _PATTERN_BYTES + 2 * len(pattern) + _LITERAL_BYTES * len(converters)
        self.cost += shape.cost + self._outline.cost

    def stated(self, text: str) -> Stated | None:
        """What a text states that is like the earlier one; ``None`` if it is not."""
        found = self._match(text)
        if found is None:
            return None
        try:
            values: list[Any] = [
                convert(literal)
                for convert, literal in zip(self._converters, found.groups(), strict=True)
            ]
            operands = self._shape.operands(values)
        except ModelError:
            return None  # the parser's error knows its place
        if self._types is not None and tuple(map(type, operands)) != self._types:
            return None
        # As Stated(...) does, without a call of Python's own.
        return _new(Stated, (self._outline, operands))


def pattern_of(shape: Shape, pieces: Sequence[str], stated: Stated) -> ShapePattern | None:
    """What texts look like that are like one cut into these pieces, literals in between.

    ``None`` if what they state is not a matter of the shape alone, or they may be cut otherwise.
    """
    between, literals = pieces[::2], pieces[1::2]
    if len(literals) > _MOST_LITERALS or sum(map(len, between)) > _LONGEST:
        return None
    if shape.may_differ or any(map(_QUOTES.search, between)) or "" in between[1:-1]:
        return None
    if any(literal[0] == "`" for literal in literals):
        return None
    pattern = re.escape(between[0])
    converters: list[Convert] = []
    for literal, convert, behind in zip(literals, shape.converters, between[1:], strict=True):
        group, own = _group(literal, convert)
        pattern += group + re.escape(behind)
        converters.append(own)
    return ShapePattern(shape, pattern, converters, stated)


def _group(literal: str, convert: Convert) -> tuple[str, Convert]:
    """The group for literals like this one, and what makes a value of what it holds."""
    quote = literal[0]
    if quote in "'\"":
        inside = rf"[^{quote}\\]*"
        if convert is as_string:
            return f"{quote}({inside}){quote}", str
        return f"({quote}{inside}{quote})", convert
    if not literal.isdigit():
        return _NUMBER, convert
    return _INTEGER, int if convert is as_number else convert
