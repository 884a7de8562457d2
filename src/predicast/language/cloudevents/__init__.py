"""CloudEvents: their events, the filters of their Subscriptions API, and CESQL."""

from predicast.derived.cesql.errors import ErrorKind, EvaluationError
from predicast.derived.cesql.evaluation import evaluate
from predicast.language.cloudevents.events import (
    from_batch,
    from_binary,
    from_http,
    from_structured,
)

__all__ = [
    "ErrorKind",
    "EvaluationError",
    "evaluate",
    "from_batch",
    "from_binary",
    "from_http",
    "from_structured",
]
