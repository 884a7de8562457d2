"""``predicast doctor --start`` really starts Spark, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.spark.conftest import rarely

pytestmark = pytest.mark.own_session


def test_doctor_starts_a_local_spark() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "predicast", "doctor", "--start"],
        env=os.environ | {"COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Spark starts" in run.stdout
    assert "a local session ran a job" in run.stdout, run.stdout
    assert run.returncode == 0
    assert run.stderr == ""


@rarely
def test_doctor_says_so_where_spark_does_not_work() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "predicast", "doctor", "--start"],
        env=os.environ | {"COLUMNS": "100", "PYSPARK_PYTHON": "/nonexistent/python"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "a local session ran a job" not in run.stdout
    assert "✗   Spark starts" in run.stdout
    assert run.returncode == 1
