"""What workers run: memory is bounded by matches, not by events; and what they say if they can't.

But for the last test they run without Spark.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from predicast import spark as ps
from predicast.spark import workers
from predicast.spark.portable import portable
from predicast.spark.shipping import Source
from tests.other_python import python_without_predicast
from tests.spark.conftest import MODE


def test_pieces_follow_the_number_of_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_MATCHES", 1_000)
    monkeypatch.setattr(workers, "_FIRST_ROWS", 2)
    compiled = ps.compile({f"s{n}": "x > 0" for n in range(100)})
    reader = workers.AttributeReader((Source("x", 0, ()),), {})
    matching = workers.Matching(compiled.image, reader, 1, "left")
    hot, cold = pa.array([1] * 50), pa.array([0] * 50)
    batches = [pa.RecordBatch.from_arrays([values], ["k0"]) for values in (hot, cold, hot)]
    results = list(pickle.loads(pickle.dumps(matching))(batches))
    assert [result.num_rows for result in results[:6]] == [2, 10, 10, 10, 10, 8]
    assert pa.Table.from_batches(results).column(0).to_pylist() == [1] * 50 + [0] * 50 + [1] * 50
    assert sum(len(ids) for result in results for ids in result.column(1).to_pylist()) == 10_000
    assert results[6].num_rows == 10  # as before it was known that these match nothing
    assert results[7].num_rows == 40


def test_importing_the_package_imports_no_spark() -> None:
    code = "import sys, predicast.spark; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def ran_by(program: Path, matching: workers.Matching) -> subprocess.CompletedProcess[str]:
    function = cloudpickle.dumps(portable(matching))  # type: ignore[no-untyped-call]
    code = "import pickle, sys; print(list(pickle.load(sys.stdin.buffer)([])))"
    run = subprocess.run([program, "-c", code], input=function, capture_output=True, check=False)
    return subprocess.CompletedProcess(
        run.args, run.returncode, run.stdout.decode(), run.stderr.decode()
    )


def test_a_worker_without_predicast_says_what_to_set(tmp_path: Path) -> None:
    program, interpreter = python_without_predicast(tmp_path)
    compiled = ps.compile({"a": "x > 0"})
    matching = workers.Matching(compiled.image, workers.AttributeReader((), {}), 0, "left")
    run = ran_by(program, matching)
    assert run.returncode == 1
    last = run.stderr.splitlines()[-1]
    assert last.startswith("predicast.errors.WorkerPythonError: predicast cannot be used in")
    assert f"this Spark worker, {interpreter}: No module named 'predicast'." in last
    assert f"The driver runs in {sys.executable}." in last
    assert f"PYSPARK_PYTHON={sys.executable}" in last
    here = ran_by(Path(sys.executable), matching)
    assert (here.returncode, here.stdout) == (0, "[]\n")


_JOBS = """
import sys
from pyspark.sql import SparkSession
from predicast import spark as ps
from predicast.spark.java import ensure_java

ensure_java()
mode, folder = sys.argv[1:]
local = SparkSession.builder.remote if mode == "connect" else SparkSession.builder.master
spark = local("local[1]").getOrCreate()
events = spark.range(3)
events.write.parquet(f"{folder}/events")
stream = spark.readStream.schema(events.schema).parquet(f"{folder}/events")
query = ps.match(stream, {"a": "id > 0"}).writeStream.trigger(availableNow=True)
query = query.option("checkpointLocation", f"{folder}/checkpoint")
jobs = {
    "batch": lambda: ps.match(events, {"a": "id > 0"}).collect(),
    "explain": lambda: ps.explain(events, {"a": "id > 0"}, "a").collect(),
    "stream": lambda: query.start(f"{folder}/out", format="parquet").awaitTermination(),
}
for name, job in jobs.items():
    try:
        job()
    except Exception as error:
        print(name, next(line for line in str(error).splitlines() if "WorkerPython" in line))
spark.stop()
"""


def test_spark_passes_on_what_such_a_worker_says(tmp_path: Path) -> None:
    program, interpreter = python_without_predicast(tmp_path)
    run = subprocess.run(
        [sys.executable, "-c", _JOBS, MODE, str(tmp_path)],
        cwd=tmp_path,
        # A test of Spark's may start a Connect server beside another: it gets a port of its own.
        env=os.environ | {"PYSPARK_PYTHON": str(program), "SPARK_TESTING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = run.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["batch", "explain", "stream"], run.stderr[-2000:]
    for line in lines:
        assert f"this Spark worker, {interpreter}: No module named 'predicast'." in line
        assert f"PYSPARK_PYTHON={sys.executable}" in line
