"""Why a stream has stopped: what Spark says, as it says it, and what we make of it."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import PySparkException

from predicast.errors import DeliveryStoppedError, InvalidValueError, WorkerPythonError
from predicast.spark.delivery.running import started
from predicast.spark.delivery.stopped import told

CLASSIC = """[STREAM_FAILED] Query [id = 78, runId = 6e] terminated with exception: \
[FOREACH_BATCH_USER_FUNCTION_ERROR] An error occurred in the user provided function in foreach \
batch sink. Reason: An exception was raised by the Python Proxy. Return Message: \
Traceback (most recent call last):
  File "/lib/py4j/clientserver.py", line 644, in _call_proxy
    return_value = getattr(self.pool[obj_id], method)(*params)
                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/lib/predicast/spark/delivery/sinks.py", line 182, in commit
    self.receive(written.batch.number, written.frame())
%s SQLSTATE: 39000 SQLSTATE: XXKST
=== Streaming Query ===
Identifier: [id = 78, runId = 6e]

JVM stacktrace:
org.apache.spark.sql.streaming.StreamingQueryException: An exception was raised by the Python Proxy.
	at org.apache.spark.sql.execution.streaming.runtime.StreamExecution.run(StreamExecution.scala:3)
Caused by: py4j.Py4JException: Return Message: Traceback (most recent call last):
  File "/lib/py4j/clientserver.py", line 644, in _call_proxy
    return_value = getattr(self.pool[obj_id], method)(*params)
SomethingElse: later
"""

CONNECT = """[STREAM_FAILED] Query [id = a1, runId = 2a] terminated with exception: \
[PYTHON_EXCEPTION] [session: 57] [userId: ] Found error inside foreachBatch Python process: \
Traceback (most recent call last):
  File "/pyspark.zip/pyspark/sql/connect/streaming/worker/foreach_batch_worker.py", line 110, in go
  File "/pyspark.zip/pyspark/sql/connect/streaming/worker/foreach_batch_worker.py", line 72, in go
%s SQLSTATE: 38000 SQLSTATE: XXKST
=== Streaming Query ===
Identifier: [id = a1, runId = 2a]
"""

# What a worker raised, within what the driver's collect() made of it.
IN_WORKER = """pyspark.errors.exceptions.captured.PythonException: An exception was thrown from \
the Python worker:
Traceback (most recent call last):
  File "/pyspark.zip/pyspark/worker.py", line 1920, in read_udfs
    import pyarrow as pa
%s"""

# The interpreter is not there.
NOT_RUN = """py4j.protocol.Py4JJavaError: An error occurred while calling o62.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 1 \
times: java.io.IOException: Cannot run program "/no/python": error=2, No such file or directory
	at java.base/java.lang.ProcessBuilder.start(ProcessBuilder.java:1143)
Caused by: java.io.IOException: error=2, No such file or directory

Driver stacktrace:
"""

NOT_CONNECTED = """Python worker failed to connect back.

JVM stacktrace:
org.apache.spark.SparkException
	at org.apache.spark.api.python.PythonWorkerFactory.createSimpleWorker(Factory.scala:3)
"""


@pytest.mark.parametrize("around", [CLASSIC, CONNECT], ids=["classic", "connect"])
@pytest.mark.parametrize(
    "raised",
    [
        "KeyError: 'what it needs'\n",
        "ValueError: two\nlines\n",
        "    ~~^^^^\napp.Refused\n",
        "ModuleNotFoundErrorOfMine: no\n",
    ],
)
def test_the_cause_is_shown(around: str, raised: str) -> None:
    error = told(PySparkException(around % raised))
    assert isinstance(error, DeliveryStoppedError)
    cause = raised.removeprefix("    ~~^^^^\n").strip()
    assert str(error).startswith(f"the stream has stopped: {cause}\nWhat it has delivered is whole")


@pytest.mark.parametrize("around", [CLASSIC, CONNECT], ids=["classic", "connect"])
def test_so_is_that_of_a_worker(around: str) -> None:
    error = told(PySparkException(around % (IN_WORKER % "OSError: [Errno 5] of the disk\n")))
    assert str(error).startswith("the stream has stopped: OSError: [Errno 5] of the disk\n")


def test_a_cause_of_any_length_is_cut() -> None:
    error = told(PySparkException(CLASSIC % f"ValueError: {'long ' * 9_999}\n"))
    assert len(str(error)) < 1_500


def test_without_a_traceback_it_is_what_spark_says_first() -> None:
    error = told(PySparkException("[SOME_ERROR] the first line\nthe second\n\nJVM stacktrace:\nx"))
    assert str(error).startswith("the stream has stopped: [SOME_ERROR] the first line\nWhat it has")


def test_an_error_of_ours_stays_one() -> None:
    error = told(PySparkException(CLASSIC % "predicast.errors.InvalidValueError: price is NaN\n"))
    assert isinstance(error, InvalidValueError)


@pytest.mark.parametrize(
    "text",
    [
        CLASSIC % (IN_WORKER % "ModuleNotFoundError: No module named 'pyarrow'\n"),
        CONNECT % (IN_WORKER % "ModuleNotFoundError: No module named 'numpy'\n"),
        CONNECT % "ModuleNotFoundError: No module named 'predicast'\n",
        CLASSIC % NOT_RUN,
        '(java.io.IOException) Cannot run program "/no/python": error=2, No such file\n\nJVM stack',
    ],
)
def test_workers_of_another_python_are_told_where_to_find_ours(text: str) -> None:
    error = told(PySparkException(text))
    assert isinstance(error, WorkerPythonError)
    assert "No module named" in str(error) or 'Cannot run program "/no/python"' in str(error)
    assert "PYSPARK_PYTHON=" in str(error)


def test_a_module_that_the_drivers_python_lacks_is_another_matter() -> None:
    error = told(PySparkException(CLASSIC % "ModuleNotFoundError: No module named 'requests'\n"))
    assert isinstance(error, DeliveryStoppedError)
    assert "PYSPARK_PYTHON" not in str(error)


class Writer:
    """A stream that starts when it has been tried often enough."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)

    def start(self) -> None:
        answer = self.answers.pop(0)
        if answer is not None:
            raise PySparkException(answer)


def writer(*answers: str | None) -> Any:
    return Writer(*answers)


def test_a_stream_whose_python_came_too_late_is_started_again() -> None:
    tried = writer(NOT_CONNECTED, NOT_CONNECTED, None)
    started(tried)
    assert not tried.answers


def test_but_not_for_ever() -> None:
    tried = writer(*[NOT_CONNECTED] * 9)
    with pytest.raises(DeliveryStoppedError, match=r"overloaded.*PYSPARK_PYTHON="):
        started(tried)
    assert len(tried.answers) == 6


def test_and_not_for_another_reason() -> None:
    tried = writer("[PATH_NOT_FOUND] there is no such folder", None)
    with pytest.raises(DeliveryStoppedError, match="PATH_NOT_FOUND"):
        started(tried)
    assert len(tried.answers) == 1
