"""Subscriptions that cannot be read."""

from __future__ import annotations

from typing import Any

from predicast.errors.root import PredicastError


class LanguageError(PredicastError, ValueError):
    """A subscription that cannot be read."""


class ParseError(LanguageError):
    """Text that is not an expression of the dialect, with the place where it went wrong."""

    text: str | None
    line: int | None
    column: int | None
    hint: str | None


class ParameterError(ParseError):
    """The parameters of a text and the values given for them do not go together."""


class InvalidParameterError(ParameterError):
    """A value that cannot stand where the text has the parameter."""

    name: str | None
    attribute: str | None
    operator: str | None
    value: Any


class MissingParameterError(ParameterError):
    """Parameters of the text for which no value was given."""

    names: tuple[str, ...] | None


class UnknownParameterError(ParameterError):
    """A value for a parameter that the text does not have."""

    name: str | None
    suggestion: str | None


class InvalidPatternError(ParseError):
    """A graph pattern apart from the home vertex, or with a variable that is never bound."""

    variable: str | None


class UnknownClassError(ParseError):
    """A class, behind IS A, that the ontology does not have, or more than one of that name."""

    name: str | None
    suggestion: str | None


class UnknownFunctionError(ParseError):
    """A call of a function that the dialect does not have."""

    name: str | None
    suggestion: str | None


class UnsupportedSyntaxError(ParseError):
    """SQL that is well-formed but cannot be a subscription, such as a subquery."""


class UnknownDialectError(LanguageError):
    """A dialect that is not there, or not with these options."""

    name: str | None
    suggestion: str | None


class NotExpressibleError(LanguageError):
    """A subscription that cannot be said in a dialect; ``part`` is what of it cannot, as text."""

    dialect: str | None
    part: str | None


class InvalidExpressionError(LanguageError):
    """A function with arguments that it does not take; ``argument`` is the position, from 0.

    Where text says so, it is a ``ParseError`` that points at the argument instead.
    """

    function: str | None
    argument: int | None


class JsonFormError(LanguageError):
    """A JSON document that is not a subscription or an event; ``path`` leads to the spot."""

    path: str | None


class NoTruthValueError(LanguageError, TypeError):
    """An attribute or expression where Python wants true or false, as with and, or, not."""
