"""Options that take one of a few words, and those that do not apply."""

from __future__ import annotations

from predicast.engine.choices import check_choice
from predicast.errors import InvalidOptionError

__all__ = ["check_choice", "refuse_options"]


def refuse_options(why: str, **given: object) -> None:
    """Refuse options that do not apply, of which all that are given have a value."""
    for option, value in given.items():
        if value is not None:
            raise InvalidOptionError(f"{option} does not apply: {why}", option=option)
