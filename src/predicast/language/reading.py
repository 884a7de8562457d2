"""``to_subscription``: whatever a caller may write a subscription as."""

from __future__ import annotations

from typing import TypeAlias

from predicast.errors import LanguageError
from predicast.language.where import parse_where
from predicast.model import And, Expression, Leaf, Not, Or, Subscription, subscription_of

Readable: TypeAlias = str | Expression | Subscription


def to_subscription(expression: Readable) -> Subscription:
    """The subscription stated by ``where`` text or built with ``attr``."""
    if isinstance(expression, str):
        return parse_where(expression)
    if isinstance(expression, Leaf | Not | And | Or):
        return subscription_of(expression)
    if isinstance(expression, Subscription):
        return expression
    raise LanguageError(
        'a subscription is text such as "price < 10", or built with attr(...), '
        f"not {type(expression).__name__}"
    )
