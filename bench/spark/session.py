"""The Spark that benchmarks run in: two cores of this machine, unless told otherwise."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from predicast.spark.java import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def spark_session(cores: int = 2) -> Iterator[SparkSession]:
    """A session of its own, which ends with the block."""
    ensure_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{cores}]")
    for name in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        builder = builder.config(name, "false")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()
