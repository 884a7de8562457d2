"""Patterns that only a look at the whole word decides, asked of a few words each.

Where many regular expressions are asked of one word they are tried together (``regex_sets.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from predicast.matching.columnar.patterns.regex_sets import RegexSets, calls_for
from predicast.model.constraint import Constraint
from predicast.model.operators import Operator
from predicast.model.patterns import regex_test

_FEW: Final = 4  # expressions that are tried one by one as soon as a set of them
_BYTES_EACH: Final = 200  # a rough price of what Python holds


class Questions:
    """Patterns by their numbers; the same pattern on the same attribute is one question."""

    def __init__(self) -> None:
        self._ask: list[Callable[[bytes], bool]] = []
        self._known: dict[tuple[int, Operator, Any], int] = {}
        self._regexes: dict[int, dict[int, str]] = {}  # by attribute
        self._sets: dict[int, RegexSets] = {}  # made when they are first of use

    def add(self, attribute: int, pattern: Constraint) -> int:
        """The number of a pattern."""
        same = attribute, pattern.operator, pattern.operand
        number = self._known.setdefault(same, len(self._ask))
        if number == len(self._ask):
            self._ask.append(_question(pattern))
            if pattern.operator is Operator.MATCHES:
                self._regexes.setdefault(attribute, {})[number] = str(pattern.operand)
        return number

    def held(self, attribute: int, asked: set[int], word: bytes) -> list[int]:
        """What of all that is asked of a word holds."""
        found: list[int] = []
        regexes = self._regexes.get(attribute, {})
        if len(asked) > _FEW * max(calls_for(len(regexes)), 1):
            among = asked & regexes.keys()
            sets = self._sets_of(attribute)
            if len(among) > _FEW * sets.calls:
                found = [number for number in sets.held(word) if number in among]
                asked -= among
        return found + [number for number in asked if self._ask[number](word)]

    def _sets_of(self, attribute: int) -> RegexSets:
        sets = self._sets.get(attribute)
        if sets is None:
            sets = self._sets[attribute] = RegexSets(self._regexes.get(attribute, {}))
        return sets

    def nbytes(self) -> int:
        """A rough estimate of the memory."""
        return _BYTES_EACH * len(self._ask) + sum(each.nbytes() for each in self._sets.values())


def _question(pattern: Constraint) -> Callable[[bytes], bool]:
    """What says of the bytes of a string whether a pattern holds; RE2 reads bytes itself."""
    if pattern.operator is Operator.MATCHES:
        return regex_test(str(pattern.operand))
    return lambda raw: pattern.holds(raw.decode())
