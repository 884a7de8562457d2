"""Errors by name: how a refusal travels, and how it becomes the same exception again.

An error is the name of its class in ``predicast.errors``, its message, and those of its fields that
are set. A name that this side does not know, because the other is newer, is a ``BrokerError``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from predicast import errors
from predicast.errors import BrokerError, PredicastError, shortened


class DescribedError(NamedTuple):
    """What is said of an error to the other side."""

    error: str
    message: str
    fields: dict[str, Any]


def described(error: PredicastError) -> DescribedError:
    """The error as it is sent; what JSON cannot hold is sent as it is shown."""
    fields = {
        name: msgspec.to_builtins(value, enc_hook=shortened)
        for name, value in vars(error).items()
        if name not in {"message", "__notes__"} and value is not None
    }
    return DescribedError(type(error).__name__, error.message, fields)


def raised(name: str, message: str, fields: Mapping[str, Any]) -> PredicastError:
    """The error that was sent, to be raised; fields that its class does not have are left out.

    >>> raised("UnknownIdError", "there is no subscription 'x'", {"id": "x", "colour": 1}).id
    'x'
    """
    kind = getattr(errors, name, None) if name in errors.__all__ else None
    if not (isinstance(kind, type) and issubclass(kind, PredicastError)):
        kind = BrokerError
    error = kind(message)
    for field, value in fields.items():
        if field != "message" and field in vars(error):
            setattr(error, field, value)
    return error
