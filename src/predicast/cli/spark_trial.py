"""A trial of Spark: start a local session in another process, and run one small job.

In another process, so that a Spark that hangs or crashes does not take the caller along, its log
does not land on the screen, and no JVM is left behind.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

TIMEOUT_S: Final = 180

# They would make it a client of a Spark elsewhere.
_REMOTE: Final = {"SPARK_REMOTE", "SPARK_LOCAL_REMOTE", "SPARK_CONNECT_MODE_ENABLED"}

# The job sends rows through a Python worker and Arrow, as the pipeline does.
_PROGRAM: Final = """
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[1]").appName("predicast doctor")
spark = builder.config("spark.ui.enabled", "false").getOrCreate()
rows = spark.range(1000).mapInArrow(lambda batches: batches, "id long").count()
spark.stop()
assert rows == 1000, rows
print("works")
"""


class Trial(NamedTuple):
    """Whether it worked, and if not, the last words of its log."""

    worked: bool
    last_words: str


def try_spark(java_home: Path) -> Trial:
    """Start Spark on this Java."""
    with tempfile.TemporaryDirectory(prefix="predicast-doctor-") as folder:
        try:
            run = subprocess.run(
                [sys.executable, "-c", _PROGRAM],
                cwd=folder,  # Spark leaves files in the folder it is started from
                env=_environment(java_home),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Trial(False, f"no answer within {TIMEOUT_S} seconds")
    lines = [line for line in run.stderr.splitlines() if line.strip()]
    return Trial(run.returncode == 0 and "works" in run.stdout, lines[-1] if lines else "")


def _environment(java_home: Path) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if name not in _REMOTE}
    # Without it the workers would be whatever python3 is on PATH.
    ours.setdefault("PYSPARK_PYTHON", sys.executable)
    return ours | {"JAVA_HOME": str(java_home)}
