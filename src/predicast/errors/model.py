"""What the model does not admit."""

from __future__ import annotations

from typing import Any

from predicast.errors.root import PredicastError


class ModelError(PredicastError, ValueError):
    """A value, event, constraint or interval that the model does not admit.

    ``event`` is its position where several events were given.
    """

    event: int | None


class InvalidValueError(ModelError):
    """Not an integer, finite float, decimal, string, boolean or timestamp."""

    attribute: str | None
    value: Any
    row: int | None


class InvalidIntervalError(ModelError):
    """An interval that is empty or whose ends cannot be compared."""

    attribute: str | None
    row: int | None


class InvalidEventError(ModelError):
    """An event whose attributes are misnamed, given twice or nested too deeply."""

    attribute: str | None


class InvalidConstraintError(ModelError):
    """A constraint whose operator does not go with its operand."""

    attribute: str | None
    operator: str | None
    row: int | None


class InvalidRdfError(ModelError):
    """RDF that cannot be read; the line and column are those of the text."""

    path: str | None
    line: int | None
    column: int | None


class InvalidEventGraphError(ModelError):
    """A graph without a home vertex, or with a statement that the ontology does not admit."""

    subject: str | None
    property: str | None
    object: str | None
