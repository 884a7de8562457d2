"""From the name of a derived attribute to its expression, and back.

Derived attributes are told from others by their names alone (``where/scalar_text.py``), so that
constraints, tables, files and the wire carry them like any other. Here the names are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from predicast.bounded_cache import remembered
from predicast.derived import Each, Input, Tree, call
from predicast.derived.tree import Constant, Span
from predicast.errors import InvalidExpressionError, LanguageError, ParseError
from predicast.language.where.printer import DERIVED
from predicast.model import Constraint, Subscription
from predicast.model.operators import ELEMENTS, JOINED
from predicast.model.outline import Outline

# With no backslash but that of a quote.
_CESQL: Final = re.compile(r"cesql\('((?:[^'\\]|\\')*)'\)")
_OF_ELEMENTS: Final = ELEMENTS | JOINED  # what may be about elements
_MAX_BYTES: Final = 8 << 20  # of expressions that are remembered: some thousands of them


def is_derived(attribute: str) -> bool:
    """Whether a name is that of a derived attribute."""
    return attribute.startswith(DERIVED)


@remembered(_MAX_BYTES, lambda arguments, _: 1_000 + 100 * len(arguments[0]))
def expression_of(attribute: str) -> Tree:
    """The expression of a derived attribute, by its name."""
    text = attribute.removeprefix(DERIVED)
    tree = _cesql_of(text) or _read(text)
    if isinstance(tree, Constant | Span):
        raise ParseError(f"{text!r} names no attribute", text=text)
    return tree


def _read(text: str) -> Tree:
    from predicast.language.where.parser import parse_scalar  # sqlglot is slow to import

    return parse_scalar(text)


def _cesql_of(text: str) -> Tree | None:
    """A text of CESQL as its dialect writes it: there may be thousands, and parsing is slow."""
    written = _CESQL.fullmatch(text)
    if written is None:
        return None
    try:
        return call("cesql", [Constant(written[1].replace("\\'", "'"))])
    except InvalidExpressionError:
        return None  # the parser says where it is wrong


def canonical_attribute(attribute: str) -> str:
    """The one name of an attribute, be it derived; a name that cannot be read is refused.

    >>> canonical_attribute("=PRICE*(qty)"), canonical_attribute("=x"), canonical_attribute("x")
    ('=PRICE * qty', 'x', 'x')
    """
    if not is_derived(attribute):
        return attribute
    from predicast.language.where.scalar_text import name_of

    return name_of(expression_of(attribute))


def list_attribute(name: str, wanted: Subscription) -> str:
    """The name of a list whose elements are to match a subscription.

    It says what is computed from the elements, if that is what the subscription looks at.
    """
    from predicast.language.where.scalar_text import name_of

    computed = {each: expression_of(each) for each in wanted.attributes() if is_derived(each)}
    tree = expression_of(name) if is_derived(name) else Input(name)
    if not isinstance(tree, Input | Each):
        raise LanguageError(f"{name!r} is computed, and no list")
    if computed:
        return name_of(Each(tree.name, tuple(sorted(computed.items()))))
    return name_of(Input(tree.name))


def list_name(attribute: str) -> str:
    """The name of the list itself, whatever is computed from its elements."""
    from predicast.language.where.scalar_text import name_of

    tree = expression_of(attribute) if is_derived(attribute) else None
    return name_of(Input(tree.name)) if isinstance(tree, Each) else attribute


@remembered(_MAX_BYTES, lambda arguments, _: arguments[0].cost)
def may_compute(outline: Outline) -> bool:
    """Whether a subscription of this outline may look at a derived attribute, be it of elements."""
    operators = {slot.operator for slot in outline.slots()}
    return not operators.isdisjoint(_OF_ELEMENTS) or any(map(is_derived, outline.attributes()))


def check_attributes(constraints: Iterable[Constraint]) -> None:
    """Refuse names of derived attributes that are not written in their one way.

    And conditions on the elements of what is no list, or on what is computed from elements where
    the list's name does not say so: neither text nor JSON could state them.
    """
    for constraint in constraints:
        if is_derived(constraint.attribute):
            canonical = canonical_attribute(constraint.attribute)
            if canonical != constraint.attribute:
                raise LanguageError(
                    f"the attribute {constraint.attribute!r} is written {canonical!r}"
                )
        if constraint.operator in _OF_ELEMENTS:
            for part in constraint.plain():
                if isinstance(part.operand, Subscription):
                    _check_list(part.attribute, part.operand)


def _check_list(attribute: str, wanted: Subscription) -> None:
    check_attributes(wanted.constraints())
    named = list_attribute(attribute, wanted)
    if not {*_computed_from(named)} <= {*_computed_from(attribute)}:
        raise LanguageError(f"the attribute {attribute!r} of this condition is written {named!r}")


def _computed_from(attribute: str) -> Iterable[str]:
    """What is computed from the elements of a list, by name."""
    tree = expression_of(attribute) if is_derived(attribute) else None
    return [name for name, _ in tree.computed] if isinstance(tree, Each) else ()
