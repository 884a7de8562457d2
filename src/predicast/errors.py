"""Every error that Predicast raises on purpose, in one tree.

::

    PredicastError
    ├── ModelError (also a ValueError) event
    │   ├── InvalidValueError          attribute, value, row
    │   ├── InvalidIntervalError       attribute, row
    │   ├── InvalidEventError          attribute
    │   ├── InvalidConstraintError     attribute, operator, row
    │   ├── InvalidRdfError            path, line, column
    │   └── InvalidEventGraphError     subject, property, object
    ├── LanguageError (also a ValueError)
    │   ├── ParseError                 text, line, column, hint
    │   │   ├── ParameterError
    │   │   │   ├── InvalidParameterError  name, attribute, operator, value
    │   │   │   ├── MissingParameterError  names
    │   │   │   └── UnknownParameterError  name, suggestion
    │   │   ├── InvalidPatternError    variable
    │   │   ├── UnknownClassError      name, suggestion
    │   │   ├── UnknownFunctionError   name, suggestion
    │   │   └── UnsupportedSyntaxError
    │   ├── InvalidExpressionError     function, argument
    │   ├── JsonFormError              path
    │   └── NoTruthValueError (also a TypeError)
    ├── LimitError (also a ValueError) limit, actual
    │   ├── TextTooLongError
    │   ├── NestingTooDeepError
    │   ├── TooManyClausesError        matcher, constraint (also an UnsupportedByMatcherError)
    │   ├── ListTooLongError
    │   ├── GraphTooLargeError
    │   ├── WindowTooLargeError
    │   └── IdsTooLargeError
    ├── EngineError
    │   ├── InvalidIdError             id
    │   ├── InvalidSubscriptionError   position
    │   ├── DuplicateIdError           id
    │   ├── UnknownIdError             id, suggestion (also a KeyError)
    │   ├── UnknownMatcherError        name, suggestion
    │   ├── UnsupportedByMatcherError  matcher, constraint
    │   └── NotCompiledError
    ├── InvalidOptionError             option (also a ValueError)
    ├── TableError
    │   ├── UnsupportedTableError      type (also a TypeError)
    │   ├── UnknownColumnError         column, subscription, suggestion
    │   ├── ColumnClashError           column, subscription
    │   └── UnsupportedColumnError     column, subscription, type
    ├── SnapshotError                  path
    │   ├── DamagedSnapshotError
    │   ├── SnapshotNotSavedError      errno (also an OSError)
    │   └── SnapshotVersionError       version
    ├── PipelineError
    │   ├── DamagedCheckpointError     path
    │   ├── DeliveryStoppedError
    │   ├── InvalidSubscriptionsError  invalid
    │   ├── JavaNotFoundError
    │   ├── MissingEngineFileError     path
    │   ├── SinkError                  path
    │   ├── SubscriptionTableError     path
    │   │   ├── DamagedTableError      file
    │   │   ├── NotASubscriptionTableError  column
    │   │   ├── TableBusyError
    │   │   ├── TableNotWrittenError   errno (also an OSError)
    │   │   └── UnknownVersionError    version (also a LookupError)
    │   └── WorkerPythonError          (also an ImportError)
    └── InputFileError                 path, line

A message says what was wrong, where, and what would be right. The same facts are fields, so that
a program need not read prose; a field that does not apply is ``None``. Rows of tables count from 0.
A call that raises one of these has changed nothing. What is raised in a Spark worker reaches the
driver as text in Spark's own ``PythonException``.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable
from functools import partial
from typing import Any, Final

_COMPARED: Final = 10_000  # characters in which a similar word is looked for: some milliseconds


class PredicastError(Exception):
    """The root: catch this to catch everything that Predicast refuses."""

    message: str

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        for name in self._field_names():
            setattr(self, name, fields.pop(name, None))
        assert not fields, f"{type(self).__name__} has no field {sorted(fields)}"

    @classmethod
    def _field_names(cls) -> list[str]:
        bases = [base for base in cls.__mro__ if issubclass(base, PredicastError)]
        names = [name for base in bases for name in inspect.get_annotations(base)]
        return [name for name in names if name != "message"]

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions travel between processes (Spark workers); fields must come along.
        fields = {name: getattr(self, name) for name in self._field_names()}
        return partial(type(self), **fields), (self.message,)


def suggest(word: str, known: Iterable[str]) -> str | None:
    """The known word that a reader most likely meant, or ``None``; also if there are too many."""
    by_folded: dict[str, str] = {}
    left = _COMPARED - len(word)
    for name in known:
        left -= len(name)
        if left < 0:
            return None
        by_folded[name.casefold()] = name
    close = difflib.get_close_matches(word.casefold(), by_folded, n=1)
    return by_folded[close[0]] if close else None


def shortened(value: object) -> str:
    """How a message shows a value of any length."""
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


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


class LimitError(PredicastError, ValueError):
    """Input beyond a limit that keeps time and memory bounded."""

    limit: int | None
    actual: int | None


class TextTooLongError(LimitError):
    """An expression with too many characters."""


class NestingTooDeepError(LimitError):
    """Parentheses, NOTs or nested objects past the limit."""


class ListTooLongError(LimitError):
    """A list of an event with more elements than one is allowed to have."""


class GraphTooLargeError(LimitError):
    """A graph, or a graph pattern, with more statements than one is allowed to have."""


class WindowTooLargeError(LimitError):
    """A window of more operations than one is allowed to hold."""


class IdsTooLargeError(LimitError):
    """Ids that together have more bytes than an answer can hold."""


class EngineError(PredicastError):
    """A request that the engine refuses."""


class InvalidIdError(EngineError, ValueError):
    """A subscription id or owner that is not a non-empty string, or is too long."""

    id: Any


class InvalidSubscriptionError(EngineError, ValueError):
    """Something that is not a subscription with its id, among many that are to be added."""

    position: int | None


class DuplicateIdError(EngineError, ValueError):
    """The id is taken; ``change`` replaces what it stands for."""

    id: str | None


class UnknownIdError(EngineError, KeyError):
    """No subscription has this id."""

    id: str | None
    suggestion: str | None


class UnknownMatcherError(EngineError, ValueError):
    """No matcher is registered under this name."""

    name: str | None
    suggestion: str | None


class UnsupportedByMatcherError(EngineError, ValueError):
    """The chosen matcher's structure cannot hold this subscription."""

    matcher: str | None
    constraint: str | None


class TooManyClausesError(LimitError, UnsupportedByMatcherError):
    """A subscription whose normal form is too large for a matcher that needs clauses."""


class NotCompiledError(EngineError):
    """What matching needs could not be compiled; it works without, at a fraction of the speed."""


class InvalidOptionError(PredicastError, ValueError):
    """An option whose value is not one of those it takes, or does not go with another option."""

    option: str | None


class TableError(PredicastError):
    """A table, or a column of one, that cannot be used as it is."""


class UnsupportedTableError(TableError, TypeError):
    """An argument that is no table, or one that Arrow cannot read."""

    type: str | None


class UnknownColumnError(TableError, ValueError):
    """A name that no column has."""

    column: str | None
    subscription: str | None
    suggestion: str | None


class ColumnClashError(TableError, ValueError):
    """A name that two columns have, or that an added column would have too."""

    column: str | None
    subscription: str | None


class UnsupportedColumnError(TableError, ValueError):
    """A column whose type has no counterpart among the model's values."""

    column: str | None
    subscription: str | None
    type: str | None


class SnapshotError(PredicastError):
    """A saved engine that cannot be read, or one that cannot be saved."""

    path: str | None


class DamagedSnapshotError(SnapshotError):
    """The file is truncated, altered, or not a snapshot at all."""


class SnapshotNotSavedError(SnapshotError, OSError):
    """The file could not be written, or not read back; what was there before is untouched."""

    errno: int | None


class SnapshotVersionError(SnapshotError):
    """The file was written by a Predicast whose format is another."""

    version: int | None


class PipelineError(PredicastError):
    """A request that the Spark pipeline refuses."""


class DamagedCheckpointError(PipelineError):
    """A stream cannot go on: what it has to know of its last batches is lost or was changed."""

    path: str | None


class DeliveryStoppedError(PipelineError):
    """A stream has failed for a reason that is not ours; started again, it goes on where it was."""


class InvalidSubscriptionsError(PipelineError, ValueError):
    """Some subscriptions of a table cannot be compiled; ``invalid`` pairs ids with errors."""

    invalid: list[tuple[str | None, str]] | None


class MissingEngineFileError(PipelineError):
    """A file with compiled subscriptions is not on the host that needs it."""

    path: str | None


class JavaNotFoundError(PipelineError):
    """Spark needs Java 17 or 21 and there is none."""


class SinkError(PipelineError):
    """A sink that cannot take a batch, or that has the deliveries of another stream."""

    path: str | None


class SubscriptionTableError(PipelineError):
    """A table of subscriptions that cannot be read or written as it is."""

    path: str | None


class DamagedTableError(SubscriptionTableError):
    """A file of the table, or of its log, is missing or cannot be read."""

    file: str | None


class NotASubscriptionTableError(SubscriptionTableError):
    """There is no table, or one whose columns are not those of subscriptions."""

    column: str | None


class TableBusyError(SubscriptionTableError):
    """Others changed the table first, as often as it was tried; nothing was written."""


class TableNotWrittenError(SubscriptionTableError, OSError):
    """What was to be written could not be, for want of room say; the table is as it was."""

    errno: int | None


class UnknownVersionError(SubscriptionTableError, LookupError):
    """A version that the table does not have, or a time before its first."""

    version: int | None


class WorkerPythonError(PipelineError, ImportError):
    """A Spark worker runs in a Python that has no Predicast, or not all that it needs."""


class InputFileError(PredicastError, ValueError):
    """A file given on the command line that cannot be read; ``line`` counts from 1."""

    path: str | None
    line: int | None


__all__ = [  # noqa: PLE0604  # all that is drawn above
    "suggest",
    *(
        name
        for name, each in list(globals().items())
        if isinstance(each, type) and issubclass(each, PredicastError)
    ),
]
