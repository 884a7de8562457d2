"""String patterns: what SQL's LIKE and RE2 regular expressions are made of.

``LIKE`` matches the whole string (``predicast.model.like``), ``matches`` (SQL's RLIKE) any part of
it. Regular expressions run on RE2, whose time is linear in the text: a backtracking engine would
let one subscription stop the whole system.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import re2

from predicast.bounded_cache import remembered

ANY_RUN: Final = object()
ANY_ONE: Final = object()

# RE2 compiles to a program; this bounds the memory of one hostile pattern.
_MAX_PROGRAM_BYTES: Final = 1 << 20


_MAX_BYTES: Final = 192 << 20  # of compiled patterns that are remembered: some 80,000 short ones
# What a pattern takes by itself, and for each instruction of its program (both measured).
_PATTERN_BYTES: Final = 1_800
_INSTRUCTION_BYTES: Final = 40


class PatternError(ValueError):
    """The pattern's syntax is wrong; callers say in which constraint."""


@dataclass(frozen=True, slots=True, order=True)
class LikePattern:
    """A LIKE pattern and its escape character (``""`` for none)."""

    pattern: str
    escape: str = "\\"

    def parts(self) -> Iterator[str | object]:
        """Literal runs, ``ANY_RUN`` for ``%`` and ``ANY_ONE`` for ``_``, in order."""
        literal: list[str] = []
        characters = iter(self.pattern)
        for character in characters:
            if character == self.escape:
                escaped = next(characters, "")
                if escaped not in {"%", "_", self.escape} or not escaped:
                    raise PatternError(
                        f"the escape {self.escape!r} must precede %, _ or itself, "
                        f"not {escaped or 'the end of the pattern'!r}"
                    )
                literal.append(escaped)
            elif character in "%_":
                if literal:
                    yield "".join(literal)
                    literal.clear()
                yield ANY_RUN if character == "%" else ANY_ONE
            else:
                literal.append(character)
        if literal:
            yield "".join(literal)


def _options() -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_PROGRAM_BYTES
    options.never_capture = True  # nobody asks what a group matched, and remembering that is slow
    return options


class StringTest:
    """A compiled pattern: says of a string, or of its bytes, whether it matches."""

    __slots__ = ("_find", "cost")

    cost: int  # for caches: roughly the bytes that it holds

    def __init__(self, compiled: Any, find: Callable[[str | bytes], Any]) -> None:
        self._find = find
        self.cost = _PATTERN_BYTES + _INSTRUCTION_BYTES * compiled.programsize

    def __call__(self, text: str | bytes) -> bool:
        return self._find(text) is not None


@remembered(_MAX_BYTES, lambda _, test: test.cost)
def regex_test(pattern: str) -> StringTest:
    """A function that says whether the regular expression occurs in a string."""
    compiled = _compiled(pattern)
    return StringTest(compiled, compiled.search)


def _compiled(pattern: str) -> Any:
    try:
        return re2.compile(pattern, _options())
    except re2.error as error:
        reason = error.args[0]
        if isinstance(reason, bytes):
            reason = reason.decode(errors="replace")
        raise PatternError(str(reason)) from None
