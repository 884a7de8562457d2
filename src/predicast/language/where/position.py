"""Errors that point into a text, and those of parameters and classes in it."""

from __future__ import annotations

from predicast.errors import MissingParameterError, UnknownClassError
from predicast.errors.position import error_at

__all__ = ["error_at", "missing", "unknown_class_at"]


def unknown_class_at(text: str, offset: int, error: UnknownClassError) -> UnknownClassError:
    """The same error, about the place where the class is named."""
    name, suggestion = error.name, error.suggestion
    return error_at(
        UnknownClassError, text, offset, error.message, name=name, suggestion=suggestion
    )


def missing(text: str, places: dict[str, int]) -> MissingParameterError:
    """The error about parameters without a value, given where each of them first stands."""
    names = tuple(places)
    listed = ", ".join(f":{name}" for name in names)
    wanted = ", ".join(f'"{name}": ...' for name in names)
    message = f"the parameter {listed} needs a value"
    if len(names) > 1:
        message = f"the parameters {listed} need values"
    hint = f"parameters={{{wanted}}}"
    return error_at(
        MissingParameterError, text, min(places.values()), message, hint=hint, names=names
    )
