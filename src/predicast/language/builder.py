"""``attr``: subscriptions written as Python expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any, NoReturn

from predicast.derived import Constant, Input, Span, Tree, call
from predicast.errors import LanguageError, NoTruthValueError
from predicast.language.class_tests import checked_class, class_test, names_classes
from predicast.language.derived_names import expression_of, list_attribute
from predicast.language.where.printer import DERIVED, expression_text
from predicast.language.where.printer import name as written_name
from predicast.language.where.scalar_text import name_of, text_of
from predicast.model import (
    Constraint,
    Expression,
    Leaf,
    LikePattern,
    Operator,
    subscription_of,
)
from predicast.model.constraint import checked_name
from predicast.model.elements import ELEMENT
from predicast.model.expression import COMBINE
from predicast.model.values import checked, quote


def attr(name: str) -> Attribute:
    """An attribute to compare, or to compute with.

    >>> from predicast.language import parse_where, to_subscription
    >>> built = attr("x").between(0, 10) & (attr("kind") == "tank")
    >>> to_subscription(built) == parse_where("x BETWEEN 0 AND 10 AND kind = 'tank'")
    True
    >>> built = attr("price") * attr("qty") > 100
    >>> to_subscription(built) == parse_where("price * qty > 100")
    True
    """
    return Attribute(Input(checked_name(name)))


def expr(text: str) -> Attribute:
    """An expression over attributes to compare, as ``where`` text has it.

    >>> from predicast.language import parse_where, to_subscription
    >>> to_subscription(expr("lower(city)") == "rome") == parse_where("lower(city) = 'rome'")
    True
    """
    return Attribute(expression_of(DERIVED + text))


class Attribute:
    """Comparisons with it make expressions, which combine with ``&``, ``|`` and ``~``."""

    __slots__ = ("_name", "_tree")

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._name = name_of(tree)

    def __repr__(self) -> str:
        if isinstance(self._tree, Input):
            return f"attr({self._tree.name!r})"
        return f"expr({text_of(self._tree)!r})"

    def _is(self, operator: Operator, operand: Any = None) -> Expression:
        return Leaf(Constraint(self._name, operator, operand))

    def _compared(self, function: str, left: Tree, right: Tree) -> Expression:
        """The comparison of two attributes, which is true or false of an event."""
        return Leaf(Constraint(name_of(call(function, [left, right])), Operator.EQ, True))

    def _with(self, function: str, other: Any, *, mirrored: bool = False) -> Attribute:
        if isinstance(other, Attribute):
            right = other._tree
        elif isinstance(other, timedelta) and function in {"+", "-"} and not mirrored:
            span = Span(0, other // timedelta(microseconds=1))
            return Attribute(call("shift", [self._tree, -span if function == "-" else span]))
        else:
            right = Constant(checked("operand", other))
        sides = [right, self._tree] if mirrored else [self._tree, right]
        return Attribute(call(function, sides))

    def __add__(self, other: Any) -> Attribute:
        return self._with("+", other)

    def __radd__(self, other: Any) -> Attribute:
        return self._with("+", other, mirrored=True)

    def __sub__(self, other: Any) -> Attribute:
        return self._with("-", other)

    def __rsub__(self, other: Any) -> Attribute:
        return self._with("-", other, mirrored=True)

    def __mul__(self, other: Any) -> Attribute:
        return self._with("*", other)

    def __rmul__(self, other: Any) -> Attribute:
        return self._with("*", other, mirrored=True)

    def __truediv__(self, other: Any) -> Attribute:
        return self._with("/", other)

    def __rtruediv__(self, other: Any) -> Attribute:
        return self._with("/", other, mirrored=True)

    def __mod__(self, other: Any) -> Attribute:
        return self._with("%", other)

    def __rmod__(self, other: Any) -> Attribute:
        return self._with("%", other, mirrored=True)

    def __neg__(self) -> Attribute:
        return Attribute(call("negative", [self._tree]))

    def __eq__(self, value: object) -> Expression:  # type: ignore[override]
        if isinstance(value, Attribute):
            return self._compared("=", self._tree, value._tree)
        return self._is(Operator.EQ, value)

    def __ne__(self, value: object) -> Expression:  # type: ignore[override]
        if isinstance(value, Attribute):
            return ~self._compared("=", self._tree, value._tree)
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
        if isinstance(value, Attribute):
            return self._compared("<", self._tree, value._tree)
        return self._is(Operator.LT, value)

    def __le__(self, value: Any) -> Expression:
        if isinstance(value, Attribute):
            return self._compared("<=", self._tree, value._tree)
        return self._is(Operator.LE, value)

    def __gt__(self, value: Any) -> Expression:
        if isinstance(value, Attribute):
            return self._compared("<", value._tree, self._tree)
        return self._is(Operator.GT, value)

    def __ge__(self, value: Any) -> Expression:
        if isinstance(value, Attribute):
            return self._compared("<=", value._tree, self._tree)
        return self._is(Operator.GE, value)

    def between(self, lo: Any, hi: Any) -> Expression:
        """From ``lo`` to ``hi``, both included."""
        return self._is(Operator.BETWEEN, (lo, hi))

    def isin(self, values: Iterable[Any]) -> Expression:
        """One of the values."""
        return self._is(Operator.IN, values)

    def is_a(self, name: str) -> Expression:
        """A class of the engine's ontology, or one below it: ``x IS A 'Computer'``.

        Which names that are, the engine knows that it is subscribed to, and follows when its
        ontology changes. Its subscription therefore is a text, as ``Entry.text`` shows.
        """
        return class_test(f"{written_name(self._name)} IS A {quote(checked_class(name))}")

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

    def __getitem__(self, name: str) -> Attribute:
        """A field of it: ``attr("order")["total"]`` is ``attr("order.total")``."""
        if not isinstance(self._tree, Input):
            raise LanguageError(f"{self!r} is computed, and has no field {name!r}")
        return attr(f"{self._tree.name}.{checked_name(name)}")

    # Without this, Python would try to iterate over fields called 0, 1, 2, ...
    __iter__ = None

    def has(self, value: Any) -> Expression:
        """A list with this value in it.

        >>> from predicast.language import parse_where, to_subscription
        >>> to_subscription(attr("tags").has("a")) == parse_where("array_contains(tags, 'a')")
        True
        """
        return self.has_some(lambda element: element == value)

    def has_one_of(self, values: Iterable[Any]) -> Expression:
        """A list with one of these values in it."""
        return self.has_some(lambda element: element.isin(values))

    def has_some(self, condition: Callable[[Attribute], Expression]) -> Expression:
        """A list with an element for which the condition is true.

        >>> from predicast.language import parse_where, to_subscription
        >>> built = attr("items").has_some(lambda i: (i["price"] < 10) & (i["kind"] == "book"))
        >>> text = "exists(items, i -> i.price < 10 AND i.kind = 'book')"
        >>> to_subscription(built) == parse_where(text)
        True
        """
        return self._has(condition(attr(ELEMENT)))

    def has_only(self, condition: Callable[[Attribute], Expression]) -> Expression:
        """A list for all of whose elements the condition is true: ``forall``."""
        return ~self._has(~condition(attr(ELEMENT)))

    def _has(self, condition: Expression) -> Expression:
        if names_classes(condition):
            text = expression_text(condition)
            return class_test(f"exists({written_name(self._name)}, {ELEMENT} -> {text})")
        wanted = subscription_of(condition)
        return Leaf(Constraint(list_attribute(self._name, wanted), Operator.HAS, wanted))

    def exists(self) -> Expression:
        """The event has the attribute."""
        return self._is(Operator.EXISTS)

    def is_absent(self) -> Expression:
        """The event lacks the attribute."""
        return self._is(Operator.ABSENT)
