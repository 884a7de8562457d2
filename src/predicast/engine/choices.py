"""Options that take one of a few words."""

from __future__ import annotations

from collections.abc import Sequence

from predicast.errors import InvalidOptionError, suggest


def check_choice(option: str, value: object, choices: Sequence[str]) -> None:
    """Refuse a value that is none of the choices."""
    if value in choices:
        return
    close = suggest(str(value), choices)
    hint = f"; did you mean {close!r}?" if close else ""
    listed = ", ".join(map(repr, choices))
    raise InvalidOptionError(f"{option} is one of {listed}, not {value!r}{hint}", option=option)
