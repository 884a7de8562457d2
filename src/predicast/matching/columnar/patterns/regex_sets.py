"""Regular expressions on one attribute, tried a few hundred at a time by ``re2.Set``.

A set is one automaton for all its expressions, and reads a word once. It says "none" also when the
automaton has run out of memory; so each has the empty pattern as a sentinel, which is found in any
text, and where it is not, the expressions are tried one by one, then and ever after.

Cost: a call per word and set. Rejected: one set of all regular expressions, which does not compile
in 8 MB for 10,000.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import re2

from predicast.model.patterns import regex_test

_SET: Final = 256  # regular expressions; more would save calls, but states multiply
_SET_BYTES: Final = 1 << 23


def calls_for(regexes: int) -> int:
    """How many sets so many of them make."""
    return -(-regexes // _SET)


class RegexSets:
    """Finds which regular expressions occur in words, trying a few at a time."""

    def __init__(self, regexes: dict[int, str]) -> None:
        self._regexes = regexes
        self._tests = {number: regex_test(regex) for number, regex in regexes.items()}
        numbers = list(regexes)
        runs = [numbers[i : i + _SET] for i in range(0, len(numbers), _SET)]
        self._sets = [(self._set(run), run) for run in runs]
        # How many calls it takes to try all of them on a word.
        self.calls = sum(len(run) if made is None else 1 for made, run in self._sets)

    def __len__(self) -> int:
        return len(self._tests)

    def _set(self, numbers: list[int]) -> Any:
        """A set of these and then the sentinel, or none if they are too much for one."""
        options = re2.Options()
        options.log_errors = False
        options.max_mem = _SET_BYTES
        made = re2.Set.SearchSet(options)
        try:
            for number in numbers:
                made.Add(self._regexes[number])
            made.Add("")
            made.Compile()
        except re2.error:
            return None
        return made

    def held(self, word: bytes) -> list[int]:
        """The numbers of those that occur in a word."""
        return [n for which in range(len(self._sets)) for n in self._held(which, word)]

    def _held(self, which: int, word: bytes) -> Sequence[int]:
        made, numbers = self._sets[which]
        held = made and made.Match(word)
        if held and len(numbers) in held:
            return [numbers[place] for place in held if place < len(numbers)]
        if made is not None:
            self._sets[which] = None, numbers  # its automaton is too large: it would fail again
            self.calls += len(numbers)
        return [number for number in numbers if self._tests[number](word)]

    def nbytes(self) -> int:
        """A rough estimate: RE2 does not tell."""
        return len(self._tests) * 2_000
