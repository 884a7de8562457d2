"""The broker, the library and Spark on the same input, against brute force."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.differential.everywhere import run
from tests.thorough import LONG


@pytest.mark.parametrize("seed", range(100, 110 if LONG else 101))
def test_who_gets_an_event_is_the_same_everywhere(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    assert run(tmp_path, seed, 20 if LONG else 4, spark) > 500
