"""Why a stream has stopped, in words: from what Spark says to an error of ours.

Spark's message has the cause in the middle: the query's numbers before it, the calls on the way to
it, and its plan and Java's stack behind it, each of them longer than what somebody has to know.
"""

from __future__ import annotations

import re
from typing import Final

from predicast import errors
from predicast.errors import DeliveryStoppedError, PredicastError, WorkerPythonError
from predicast.spark.portable import python_remedy

_SHOWN: Final = 1_000  # characters of a cause; some print all the rows that they choked on
_NO_ROOM: Final = "No space left on device"
_NOT_CONNECTED: Final = "Python worker failed to connect back"
_OURS: Final = re.compile(r"predicast\.errors\.(\w+): (.*?)(?:\n\n|\n?\s*$|\n\s+at )", re.DOTALL)
_BEHIND: Final = re.compile(r"\n=== Streaming Query ===|\n+JVM stacktrace:|\n+Driver stacktrace:")
# The last call of a traceback: what was raised there is the next line.
_CALL: Final = re.compile(r'^  File ".*", line \d+.*\n(?: {4}.*\n)*(?=\S)', re.MULTILINE)
_AFTER_CAUSE: Final = re.compile(r"\n\s*SQLSTATE: |\n\s+at |\nCaused by: ")
_IN_WORKER: Final = ("from the Python worker", "inside foreachBatch Python process")
_OTHER_PYTHON: Final = re.compile(
    r'ModuleNotFoundError: |ImportError: |.*Cannot run program "', re.DOTALL
)


def told(error: Exception) -> PredicastError:
    """The error of ours that ended a query, or one that says what to do about Spark's own."""
    text = str(error)
    found = _OURS.findall(text)
    for name, message in reversed(found):
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and issubclass(kind, PredicastError):
            return kind(message.strip())
    said = _BEHIND.split(text.strip(), maxsplit=1)[0]
    cause = _cause(said)
    if is_not_connected(error):
        return DeliveryStoppedError(
            f"the stream has stopped: {_NOT_CONNECTED} within the ten seconds that Spark "
            "gives it. Either the machine is overloaded, and it is to be delivered again with "
            f"the same checkpoint; or that Python cannot import PySpark. {python_remedy()}"
        )
    if _is_of_worker(said) and _OTHER_PYTHON.match(cause):
        return WorkerPythonError(
            f"a Spark worker has stopped the stream: {cause}. {python_remedy()}"
        )
    if _NO_ROOM in text:
        cause = f"{_NO_ROOM}, of the sinks, the checkpoint or Spark's own; make room ({cause})"
    return DeliveryStoppedError(
        f"the stream has stopped: {cause}\nWhat it has delivered is whole; deliver again with the "
        "same checkpoint, and it goes on with the batch that failed"
    )


def is_not_connected(error: Exception) -> bool:
    """Whether Spark did not wait until a Python that it had started was there."""
    return _NOT_CONNECTED in str(error)


def _is_of_worker(said: str) -> bool:
    return any(each in said for each in _IN_WORKER) or "Cannot run program" in said


def _cause(said: str) -> str:
    """What was raised, by the innermost traceback; without any, the first line."""
    *_, end = (0, *(call.end() for call in _CALL.finditer(said)))
    cause = _AFTER_CAUSE.split(said[end:], maxsplit=1)[0] if end else said.partition("\n")[0]
    cause = cause.strip()
    return cause if len(cause) <= _SHOWN else cause[:_SHOWN] + " ..."
