"""What a pattern says: for each path the tests of which a value there is to pass one.

``$or`` makes several *branches* of a pattern, each of them paths with tests, of which one is to
match: every alternative with whatever stands beside it. A path that is given again, behind ``$or``
or within it, replaces what was said of it before, as it does in Event Ruler.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, NamedTuple, TypeAlias


class Kind(Enum):
    """The kinds of tests; the values are the words for them in patterns."""

    EQUALS = "exactly"  # a string, a number, a boolean, NULL; or None: a number too long for any
    PREFIX = "prefix"
    SUFFIX = "suffix"
    EQUALS_IGNORE_CASE = "equals-ignore-case"
    PREFIX_IGNORE_CASE = "prefix/equals-ignore-case"
    SUFFIX_IGNORE_CASE = "suffix/equals-ignore-case"
    WILDCARD = "wildcard"
    NUMERIC = "numeric"  # a Range
    CIDR = "cidr"
    EXISTS = "exists"
    ABSENT = "absent"
    ANYTHING_BUT = "anything-but"  # tests of one kind, none of which a value is to pass

    __hash__ = object.__hash__


class Null(Enum):
    """What null is in a pattern."""

    NULL = "null"


NULL: Final = Null.NULL


class Range(NamedTuple):
    """Numbers between two ends, either of which may be missing."""

    lower: Any = None
    lower_open: bool = False
    upper: Any = None
    upper_open: bool = False


class Test:
    """One thing that a value may be; read-only."""

    __slots__ = ("_hash", "kind", "operand")

    kind: Kind
    operand: Any

    def __init__(self, kind: Kind, operand: Any = None) -> None:
        self.kind, self.operand = kind, operand
        # Asked for often, by whoever remembers what tests come to.
        self._hash = hash((kind, type(operand), operand))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        # The type belongs to it: 1 and True are equal in Python, and not here.
        if not isinstance(other, Test):
            return NotImplemented
        same = self.kind is other.kind and type(self.operand) is type(other.operand)
        return same and bool(self.operand == other.operand)

    def __repr__(self) -> str:
        return f"Test({self.kind}, {self.operand!r})"


EXISTS: Final = Test(Kind.EXISTS)
ABSENT: Final = Test(Kind.ABSENT)

Branch: TypeAlias = dict[str, tuple[Test, ...]]  # by paths
