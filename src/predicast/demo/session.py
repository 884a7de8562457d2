"""The demo's own Spark: two cores of this machine, and no word on the terminal.

The pipeline never makes a session; whoever runs it does, and here that is the demo. If the process
already has a session, that one is used and left running.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from predicast.errors import PipelineError
from predicast.spark.java import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTINGS: Final = {
    "spark.app.name": "predicast demo",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    # Small splits: more tasks than cores, so that the progress bar has steps to take.
    "spark.sql.files.maxPartitionBytes": "256k",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@contextmanager
def local_session(log: Path) -> Iterator[SparkSession]:
    """A session on ``local[2]`` for the length of the block; what Spark logs goes to a file."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    ensure_java()
    # Without it workers run whatever `python3` is on the path, where Predicast may not be.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]")
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    try:
        with _standard_error_to(log):
            session = builder.getOrCreate()
    except (PySparkException, Py4JError) as error:
        raise PipelineError(f"Spark did not start: {error} ({log} may say more)") from error
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def _standard_error_to(path: Path) -> Iterator[None]:
    """Let processes that are started in the block inherit a file as their standard error.

    Java prints a warning before Spark's logging is set up, and Python workers write to whatever
    Java has; the file descriptor is the only handle on all of them. This process has its own back
    after the block.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with path.open("wb") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
