"""Many expressions at once: to groups of subscriptions that are alike.

A ``where`` text whose shape is known goes from its literals straight into columns, without
constraints in between; everything else is read as it always is and taken apart. A million texts
of a few shapes take some microseconds each and leave a few arrays behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from predicast.errors import LanguageError, PredicastError
from predicast.language.reading import Readable, to_subscription
from predicast.language.where.cache import outlined_where
from predicast.model import Value
from predicast.model.outline import Stated, outlined

if TYPE_CHECKING:
    import numpy as np

    from predicast.language.parameters import Parametric
    from predicast.model.alike import Alike


def alike_from_pairs(
    pairs: Iterable[tuple[Any, Readable]],
) -> tuple[list[Any], list[tuple[np.ndarray, Alike]]]:
    """The ids of (id, expression) pairs as given, and groups of positions and subscriptions."""
    from predicast.model.alike import Gathering

    ids = []
    gathering = Gathering()
    for position, (id, expression) in enumerate(pairs):
        ids.append(id)
        try:
            (outline, operands), _ = stated_by(expression)
        except PredicastError as error:
            error.add_note(f"in the subscription {id!r}")
            raise
        gathering.add(position, outline, operands)
    return ids, gathering.groups()


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
    return outlined(to_subscription(expression)), None
