"""The examples of documents that need a Spark session."""

from __future__ import annotations

from doctest import ELLIPSIS
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from sybil import Sybil

from tests.page_examples import PageExamples
from tests.spark.conftest import MODE

ROOT = Path(__file__).resolve().parents[2]
STREAMS = {
    "docs/how-to/deliver-a-stream.md",
    "docs/how-to/detect-with-sigma-rules.md",
    "docs/how-to/keep-subscriptions-in-a-table.md",
}
DOCUMENTS = [
    *sorted(STREAMS),
    "docs/how-to/match-dataframes.md",
    "docs/how-to/match-graphs.md",
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_examples_run(spark: SparkSession, document: str) -> None:
    if MODE == "connect" and document in STREAMS:
        pytest.skip("test_deliver.py has streams on Spark Connect, each with a Python of its own")
    parser = PageExamples(doctest_optionflags=ELLIPSIS)
    parsed = Sybil(parsers=[parser], path=str(ROOT)).parse(ROOT / document)
    parsed.namespace["spark"] = spark
    examples = list(parsed.examples())
    assert examples
    for example in examples:
        example.evaluate()
