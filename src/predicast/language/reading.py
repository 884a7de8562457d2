"""Whatever a caller may write a subscription as.

``to_subscription`` makes the object. ``stated_by`` makes an outline and operands, which is all
that an engine needs: a ``where`` text whose shape is known goes from its literals straight there,
without constraints in between, in some microseconds. Whoever reads many of them before handing them
on, to tell the good from the bad, hands on what ``stated_by`` made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from predicast.errors import LanguageError
from predicast.language.class_tests import names_classes
from predicast.language.derived_names import check_attributes, may_compute
from predicast.language.where import parse_where
from predicast.language.where.cache import outlined_where
from predicast.language.where.printer import expression_text
from predicast.model import And, Expression, Leaf, Not, Or, Subscription, Value, subscription_of
from predicast.model.outline import Stated, outlined

if TYPE_CHECKING:
    from predicast.language.parameters import Parametric

WHERE: Final = "where"  # the dialect that is meant where none is named
T = TypeVar("T")
# How queries of SPARQL and statement patterns begin.
_PATTERN: Final = re.compile(
    r"\s*(?:(?:ask|select|prefix|base)\b[^=]*[?{<]|\(\s*(?:_:|\?))", re.IGNORECASE
)


class ReadText(NamedTuple):
    """A text of a dialect, and what it states: who takes it need not know the dialect."""

    text: str
    dialect: str
    stated: Stated


Readable: TypeAlias = str | Expression | Subscription | Stated | ReadText


def looks_like_a_pattern(text: str) -> bool:
    """Whether a text that is no ``where`` text begins as graph patterns do: another language."""
    return _PATTERN.match(text) is not None


def as_held(expression: T) -> T | str:
    """What an engine holds of an expression: itself, or its text if it names classes.

    A text is read anew when the ontology changes; an expression has become clauses by then.
    """
    if isinstance(expression, str):  # most are, and there are many
        return expression
    if isinstance(expression, Leaf | Not | And | Or) and names_classes(expression):
        return expression_text(expression)
    return expression


def to_subscription(expression: Readable) -> Subscription:
    """The subscription stated by ``where`` text or built with ``attr``."""
    expression = as_held(expression)
    if isinstance(expression, str):
        return parse_where(expression)
    if isinstance(expression, Leaf | Not | And | Or):
        expression = subscription_of(expression)
    if isinstance(expression, Subscription):
        check_attributes(expression.constraints())
        return expression
    if isinstance(expression, ReadText):
        expression = expression.stated
    if isinstance(expression, Stated):
        return expression.subscription()
    raise LanguageError(
        'a subscription is text such as "price < 10", or built with attr(...), '
        f"not {type(expression).__name__}"
    )


def stated_by(
    expression: Readable, parameters: Mapping[str, Value] | None = None
) -> tuple[Stated, Parametric | None]:
    """What an expression states, with the values of its parameters if it has any."""
    if parameters is not None:
        if not isinstance(expression, str):
            raise LanguageError("only where text has parameters, such as :limit")
        from predicast.language.parameters import parametric

        template = parametric(expression)
        return template.fill(parameters), template
    if isinstance(expression, str):
        return outlined_where(expression), None
    if isinstance(expression, Stated):
        return expression, None
    if isinstance(expression, ReadText):
        return expression.stated, None
    if isinstance(expression, Subscription):
        return stated_by_object(expression), None
    return outlined(to_subscription(expression)), None


def stated_by_object(subscription: Subscription) -> Stated:
    """What a subscription that was built states; names of derived attributes are looked at."""
    stated = outlined(subscription)
    if may_compute(stated.outline):
        check_attributes(subscription.constraints())
    return stated
