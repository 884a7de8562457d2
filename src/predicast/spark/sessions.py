"""A Spark of our own, for commands that are to run one; the pipeline itself never makes a session.

If the process has a session, that one is used and left running.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from predicast.errors import PipelineError
from predicast.spark.java import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTINGS: Final = {
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
}


@contextmanager
def session_of(
    name: str, master: str, remote: str | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """The session that there is, or one that ends with the block: local, or of a Spark Connect."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    # Without it workers run whatever `python3` is on the path, where Predicast may not be.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder
    chosen = dict(settings or {})
    if remote is not None:
        builder = builder.remote(remote)
    else:
        ensure_java()
        builder = builder.master(master)
        chosen = {"spark.app.name": name, **_SETTINGS, **chosen}
    for key, value in chosen.items():
        builder = builder.config(key, value)
    try:
        session = builder.getOrCreate()
    except PySparkException as error:
        raise PipelineError(f"Spark did not start: {error}") from error
    try:
        yield session
    finally:
        session.stop()
