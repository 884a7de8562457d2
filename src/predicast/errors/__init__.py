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
    │   ├── NotExpressibleError        dialect, part
    │   ├── NoTruthValueError (also a TypeError)
    │   └── UnknownDialectError        name, suggestion
    ├── LimitError (also a ValueError) limit, actual
    │   ├── TextTooLongError
    │   ├── NestingTooDeepError
    │   ├── TooManyClausesError        matcher, constraint (also an UnsupportedByMatcherError)
    │   ├── ListTooLongError
    │   ├── TooManyAlternativesError
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
    ├── RoutingError
    │   ├── DamagedStateError
    │   ├── ForeignPublisherError      publisher
    │   ├── InterfaceRefusedError      interface
    │   ├── MalformedMessageError      field (also a ValueError)
    │   ├── MessageTooLargeError       (also a LimitError)
    │   ├── OutOfOrderError            sequence, expected
    │   ├── TooManySubscriptionsError  (also a LimitError)
    │   ├── UnknownInterfaceError      interface (also a LookupError)
    │   └── WrongEpochError            epoch, expected
    ├── BrokerError
    │   ├── BackendError
    │   │   └── DamagedStoreError      where
    │   ├── ChangedMeanwhileError      id
    │   ├── HttpError                  status, allow
    │   ├── LimitReachedError          what, wait_s (also a LimitError)
    │   ├── NotAllowedError            scope
    │   ├── NotConnectedError          url
    │   └── ProtocolError              field (also a ValueError)
    └── InputFileError                 path, line

A message says what was wrong, where, and what would be right. The same facts are fields, so that
a program need not read prose; a field that does not apply is ``None``. Rows of tables count from 0.
A call that raises one of these has changed nothing. What is raised in a Spark worker reaches the
driver as text in Spark's own ``PythonException``.
"""

from predicast.errors.broker import (
    BackendError,
    BrokerError,
    ChangedMeanwhileError,
    DamagedStoreError,
    HttpError,
    LimitReachedError,
    NotAllowedError,
    NotConnectedError,
    ProtocolError,
)
from predicast.errors.engine import (
    DuplicateIdError,
    EngineError,
    InvalidIdError,
    InvalidSubscriptionError,
    NotCompiledError,
    TooManyClausesError,
    UnknownIdError,
    UnknownMatcherError,
    UnsupportedByMatcherError,
)
from predicast.errors.files import (
    ColumnClashError,
    DamagedSnapshotError,
    InputFileError,
    SnapshotError,
    SnapshotNotSavedError,
    SnapshotVersionError,
    TableError,
    UnknownColumnError,
    UnsupportedColumnError,
    UnsupportedTableError,
)
from predicast.errors.language import (
    InvalidExpressionError,
    InvalidParameterError,
    InvalidPatternError,
    JsonFormError,
    LanguageError,
    MissingParameterError,
    NotExpressibleError,
    NoTruthValueError,
    ParameterError,
    ParseError,
    UnknownClassError,
    UnknownDialectError,
    UnknownFunctionError,
    UnknownParameterError,
    UnsupportedSyntaxError,
)
from predicast.errors.limits import (
    GraphTooLargeError,
    IdsTooLargeError,
    LimitError,
    ListTooLongError,
    NestingTooDeepError,
    TextTooLongError,
    TooManyAlternativesError,
    WindowTooLargeError,
)
from predicast.errors.model import (
    InvalidConstraintError,
    InvalidEventError,
    InvalidEventGraphError,
    InvalidIntervalError,
    InvalidRdfError,
    InvalidValueError,
    ModelError,
)
from predicast.errors.pipeline import (
    DamagedCheckpointError,
    DamagedTableError,
    DeliveryStoppedError,
    InvalidSubscriptionsError,
    JavaNotFoundError,
    MissingEngineFileError,
    NotASubscriptionTableError,
    PipelineError,
    SinkError,
    SubscriptionTableError,
    TableBusyError,
    TableNotWrittenError,
    UnknownVersionError,
    WorkerPythonError,
)
from predicast.errors.root import (
    InvalidOptionError,
    PredicastError,
    shortened,
    suggest,
)
from predicast.errors.routing import (
    DamagedStateError,
    ForeignPublisherError,
    InterfaceRefusedError,
    MalformedMessageError,
    MessageTooLargeError,
    OutOfOrderError,
    RoutingError,
    TooManySubscriptionsError,
    UnknownInterfaceError,
    WrongEpochError,
)

__all__ = [
    "BackendError",
    "BrokerError",
    "ChangedMeanwhileError",
    "ColumnClashError",
    "DamagedCheckpointError",
    "DamagedSnapshotError",
    "DamagedStateError",
    "DamagedStoreError",
    "DamagedTableError",
    "DeliveryStoppedError",
    "DuplicateIdError",
    "EngineError",
    "ForeignPublisherError",
    "GraphTooLargeError",
    "HttpError",
    "IdsTooLargeError",
    "InputFileError",
    "InterfaceRefusedError",
    "InvalidConstraintError",
    "InvalidEventError",
    "InvalidEventGraphError",
    "InvalidExpressionError",
    "InvalidIdError",
    "InvalidIntervalError",
    "InvalidOptionError",
    "InvalidParameterError",
    "InvalidPatternError",
    "InvalidRdfError",
    "InvalidSubscriptionError",
    "InvalidSubscriptionsError",
    "InvalidValueError",
    "JavaNotFoundError",
    "JsonFormError",
    "LanguageError",
    "LimitError",
    "LimitReachedError",
    "ListTooLongError",
    "MalformedMessageError",
    "MessageTooLargeError",
    "MissingEngineFileError",
    "MissingParameterError",
    "ModelError",
    "NestingTooDeepError",
    "NoTruthValueError",
    "NotASubscriptionTableError",
    "NotAllowedError",
    "NotCompiledError",
    "NotConnectedError",
    "NotExpressibleError",
    "OutOfOrderError",
    "ParameterError",
    "ParseError",
    "PipelineError",
    "PredicastError",
    "ProtocolError",
    "RoutingError",
    "SinkError",
    "SnapshotError",
    "SnapshotNotSavedError",
    "SnapshotVersionError",
    "SubscriptionTableError",
    "TableBusyError",
    "TableError",
    "TableNotWrittenError",
    "TextTooLongError",
    "TooManyAlternativesError",
    "TooManyClausesError",
    "TooManySubscriptionsError",
    "UnknownClassError",
    "UnknownColumnError",
    "UnknownDialectError",
    "UnknownFunctionError",
    "UnknownIdError",
    "UnknownInterfaceError",
    "UnknownMatcherError",
    "UnknownParameterError",
    "UnknownVersionError",
    "UnsupportedByMatcherError",
    "UnsupportedColumnError",
    "UnsupportedSyntaxError",
    "UnsupportedTableError",
    "WindowTooLargeError",
    "WorkerPythonError",
    "WrongEpochError",
    "shortened",
    "suggest",
]
