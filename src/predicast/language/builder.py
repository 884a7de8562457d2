"""``attr``: subscriptions written as Python expressions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from predicast.errors import LanguageError, NoTruthValueError
from predicast.model import Constraint, Expression, Leaf, LikePattern, Operator
from predicast.model.constraint import checked_name
from predicast.model.expression import COMBINE


def attr(name: str) -> Attribute:
    """An attribute to compare.

    >>> from predicast.language import parse_where, to_subscription
    >>> built = attr("x").between(0, 10) & (attr("kind") == "tank")
    >>> to_subscription(built) == parse_where("x BETWEEN 0 AND 10 AND kind = 'tank'")
    True
    """
    return Attribute(name)


class Attribute:
    """Comparisons with it make expressions, which combine with ``&``, ``|`` and ``~``."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = checked_name(name)

    def __repr__(self) -> str:
        return f"attr({self._name!r})"

    def _is(self, operator: Operator, operand: Any = None) -> Expression:
        return Leaf(Constraint(self._name, operator, operand))

    def __eq__(self, value: object) -> Expression:  # type: ignore[override]
        return self._is(Operator.EQ, value)

    def __ne__(self, value: object) -> Expression:  # type: ignore[override]
        return self._is(Operator.NE, value)

    __hash__ = None  # type: ignore[assignment]  # == makes an expression, so no set can hold it

    def __bool__(self) -> NoReturn:
        # Without this, `attr("premium") and ...` would be the second condition alone.
        raise NoTruthValueError(
            f"{self!r} has no truth value before there is an event: compare it, such as "
            f"{self!r} == True, and combine comparisons with & | ~ instead of and, or, not"
        )

    def __contains__(self, value: object) -> NoReturn:
        raise NoTruthValueError(
            f"{self!r} holds nothing before there is an event: write {self!r}.contains(...) "
            f"for a part of a string, {self!r}.isin([...]) for one of several values"
        )

    def _not_combined(self, *_: object) -> NoReturn:
        # An attribute by itself; or & and | without parentheses: `x > 1 & y < 2` is 1 & y.
        raise LanguageError(f"{COMBINE}, not {self!r} by itself")

    __and__ = __rand__ = __or__ = __ror__ = __invert__ = _not_combined

    def __lt__(self, value: Any) -> Expression:
        return self._is(Operator.LT, value)

    def __le__(self, value: Any) -> Expression:
        return self._is(Operator.LE, value)

    def __gt__(self, value: Any) -> Expression:
        return self._is(Operator.GT, value)

    def __ge__(self, value: Any) -> Expression:
        return self._is(Operator.GE, value)

    def between(self, lo: Any, hi: Any) -> Expression:
        """From ``lo`` to ``hi``, both included."""
        return self._is(Operator.BETWEEN, (lo, hi))

    def isin(self, values: Iterable[Any]) -> Expression:
        """One of the values."""
        return self._is(Operator.IN, values)

    def startswith(self, prefix: str) -> Expression:
        """A string that begins so."""
        return self._is(Operator.PREFIX, prefix)

    def endswith(self, suffix: str) -> Expression:
        """A string that ends so."""
        return self._is(Operator.SUFFIX, suffix)

    def contains(self, part: str) -> Expression:
        """A string with this part somewhere."""
        return self._is(Operator.CONTAINS, part)

    def like(self, pattern: str, *, escape: str = "\\") -> Expression:
        """SQL's LIKE: ``%`` is any run of characters, ``_`` any one."""
        return self._is(Operator.LIKE, LikePattern(pattern, escape))

    def matches(self, pattern: str) -> Expression:
        """A string in which the RE2 regular expression occurs."""
        return self._is(Operator.MATCHES, pattern)

    def exists(self) -> Expression:
        """The event has the attribute."""
        return self._is(Operator.EXISTS)

    def is_absent(self) -> Expression:
        """The event lacks the attribute."""
        return self._is(Operator.ABSENT)
