"""One Spark session for the whole run: classic, or Connect if PREDICAST_TEST_SPARK says so.

The session's time zone is far from UTC and from that of most machines, so that a timestamp which
is shifted on its way through the pipeline is noticed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from predicast.spark.java import ensure_java
from tests.spark.early_worker import write_launcher

MODE = os.environ.get("PREDICAST_TEST_SPARK", "classic")

# What Spark Connect need not show again: each costs a minute of its own there, or half of one.
meaning = pytest.mark.skipif(
    MODE == "connect", reason="what expressions mean does not depend on how Spark is asked"
)
one_more_stream = pytest.mark.skipif(
    MODE == "connect", reason="a stream more; what is tried is the same there"
)

rarely = pytest.mark.skipif(
    "PREDICAST_FAULTS" not in os.environ, reason="a Spark of its own; make faults starts it"
)

# Jobs are tiny, in this process and in those that tests start: Java's second compiler takes a
# third of the processor time, and is never done before they are.
os.environ["SPARK_SUBMIT_OPTS"] = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    # No test fails because the machine is slow.
    " -Dspark.python.authenticate.socketTimeout=20m -Dspark.network.timeout=20m"
)

SETTINGS = {
    "spark.sql.session.timeZone": "Asia/Kolkata",
    "spark.sql.shuffle.partitions": "2",
    # Compiling small jobs to bytecode costs more than it saves.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Small batches, so that a DataFrame of some hundred rows arrives in several.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.spark)
        if MODE == "connect" and item.get_closest_marker("own_session"):
            item.add_marker(pytest.mark.skip(reason="has a session of its own; see classic Spark"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    ensure_java()
    # Workers run in this Python, whatever the machine calls python3.
    launcher = tmp_path_factory.mktemp("python") / "python"
    write_launcher(launcher)
    os.environ["PYSPARK_PYTHON"] = str(launcher)
    if MODE == "connect":
        os.environ["SPARK_TESTING"] = "1"  # a server on any free port rather than 15002, and no UI
        builder = SparkSession.builder.remote("local[2]")
    elif MODE == "classic":
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    else:
        raise ValueError(f"PREDICAST_TEST_SPARK is classic or connect, not {MODE!r}")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
