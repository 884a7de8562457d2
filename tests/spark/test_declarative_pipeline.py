"""The example of a Declarative Pipeline, which only Spark Connect can run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.conftest import MODE

EXAMPLE = Path(__file__).parents[2] / "examples" / "declarative-pipeline"
TABLES = ("trades", "alerted", "alerted_as_they_come")

pytestmark = pytest.mark.skipif(
    MODE != "connect", reason="Spark runs Declarative Pipelines on Spark Connect alone"
)


@pytest.fixture
def cleared(spark: SparkSession) -> Iterator[SparkSession]:
    """A session without the example's tables, before and after."""
    for name in TABLES:
        spark.sql(f"DROP TABLE IF EXISTS {name}")
    yield spark
    for name in TABLES:
        spark.sql(f"DROP TABLE IF EXISTS {name}")


def test_the_example_runs(cleared: SparkSession, tmp_path: Path) -> None:
    # What `spark-pipelines run` does, in a session that goes on.
    from pyspark.pipelines.cli import load_pipeline_spec, register_definitions
    from pyspark.pipelines.spark_connect_graph_element_registry import (
        SparkConnectGraphElementRegistry,
    )
    from pyspark.pipelines.spark_connect_pipeline import (
        create_dataflow_graph,
        handle_pipeline_events,
        start_run,
    )

    path = EXAMPLE / "spark-pipeline.yml"
    spec = load_pipeline_spec(path)
    graph = create_dataflow_graph(
        cleared, default_catalog=None, default_database=None, sql_conf=None
    )
    registry = SparkConnectGraphElementRegistry(cleared, graph)
    register_definitions(path, registry, spec, cleared, graph)
    events = start_run(
        cleared,
        graph,
        full_refresh=[],
        full_refresh_all=True,
        refresh=[],
        dry=False,
        storage=tmp_path.as_uri(),
    )
    handle_pipeline_events(events)
    right = [(1, ["cheap", "computers"]), (2, []), (3, ["computers"])]
    for name in TABLES[1:]:
        found = cleared.table(name).collect()
        assert sorted((row.trade, row.alerts) for row in found) == right
