"""What workers run: memory is bounded, whatever matches; and what they say if they can't.

But for the last test they run without Spark.
"""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from predicast import Engine
from predicast import spark as ps
from predicast.spark import answers, workers
from predicast.spark.answers import Asked, Bounds
from predicast.spark.portable import portable
from predicast.spark.shipping import Source
from tests.other_python import python_without_predicast
from tests.spark.conftest import MODE, rarely


def matched(
    compiled: ps.CompiledSubscriptions, batches: list[pa.RecordBatch], bounds: Bounds
) -> list[pa.RecordBatch]:
    """What a worker makes of batches of events with one attribute, ``x``."""
    reader = workers.AttributeReader((Source("x", 0, ()),), {})
    matching = workers.Matching(compiled.image, reader, (0,), "left", Asked({}), bounds)
    return list(pickle.loads(pickle.dumps(matching))(batches))


def events(*values: list[int]) -> list[pa.RecordBatch]:
    return [pa.RecordBatch.from_arrays([pa.array(each)], ["k0"]) for each in values]


def test_matches_are_counted_where_there_may_be_too_many() -> None:
    """However few matched before: all that came after them used to be matched at once."""
    compiled = ps.compile({f"s{n}": "x > 5" for n in range(100)})
    batches = events([0] * 64 + [10] * 100)
    results = matched(compiled, batches, Bounds(unasked=1_000, matches=1_000, id_bytes=1 << 20))
    made = [sum(map(len, result.column(1).to_pylist())) for result in results]
    assert [result.num_rows for result in results] == [74, *[10] * 9]
    assert made == [1_000] * 10
    assert [row for each in results for row in each.column(0).to_pylist()] == [0] * 64 + [10] * 100


def test_nothing_is_counted_where_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the batch before had too many: then the next is looked at first."""
    compiled = ps.compile({f"s{n:02}": f"x > {n}" for n in range(50)})
    counted: list[int] = []
    count = Engine.count_arrow

    def noted(engine: Engine, batch: pa.RecordBatch, **options: Any) -> Any:
        counted.append(batch.num_rows)
        return count(engine, batch, **options)

    monkeypatch.setattr(Engine, "count_arrow", noted)
    values = [[3] * 10, [50] * 11, [4] * 12, [5] * 13]
    results = matched(compiled, events(*values), Bounds(unasked=100, matches=100))
    assert counted == [11, 12]
    ids = [row for each in results for row in each.column(1).to_pylist()]
    assert ids == compiled.engine().match_batch({"x": x} for each in values for x in each)


def test_rows_need_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = ps.compile({f"s{n:02}": f"x > {n}" for n in range(50)})
    monkeypatch.setattr(answers.IdOrder, "sorted", None)  # whoever sorts, fails
    reader = workers.AttributeReader((Source("x", 0, ()),), {})
    asked = Asked({}, in_order=False)
    matching = workers.Matching(compiled.image, reader, (0,), "inner", asked)
    (result,) = matching(events([7]))
    assert {*result.column(1)[0].as_py()} == {f"s{n:02}" for n in range(7)}


def test_a_set_of_values_is_counted_in_bounded_memory() -> None:
    compiled = ps.compile({f"s{n}": f"x IN (7, 8, {n}) OR x > 1000" for n in range(50)})
    batches = events([7, 0, 49, 2_000] * 25)
    bounds = Bounds(unasked=0, matches=120, id_bytes=1 << 20)
    results = matched(compiled, batches, bounds)
    ids = [row for each in results for row in each.column(1).to_pylist()]
    assert ids == compiled.engine().match_batch({"x": x} for x in [7, 0, 49, 2_000] * 25)
    assert max(sum(map(len, each.column(1).to_pylist())) for each in results) <= 120


def test_what_leaves_at_a_time_is_bounded_by_bytes_of_ids() -> None:
    """More than 2 GB of ids fit into no array: pieces were at least 64 events, whatever ids."""
    long = {f"{n:03}".ljust(400, "-"): "x > 5" for n in range(100)}
    compiled = ps.compile(long)
    results = matched(compiled, events([10] * 64), Bounds(id_bytes=100_000))
    assert [result.num_rows for result in results] == [2] * 32  # 40,000 bytes each
    assert all(ids == sorted(long) for each in results for ids in each.column(1).to_pylist())


def test_an_event_is_never_divided() -> None:
    compiled = ps.compile({f"s{n:03}": "x > 5" for n in range(100)})
    for bounds in (Bounds(id_bytes=1), Bounds(unasked=0, matches=1)):
        results = matched(compiled, events([10, 0, 10]), bounds)
        assert [len(ids) for each in results for ids in each.column(1).to_pylist()] == [100, 0, 100]


@pytest.mark.parametrize("how", ["inner", "left", "anti"])
def test_ids_are_sorted_in_whatever_order_they_came(how: str) -> None:
    chance = random.Random(3)
    ids = [chance.choice(["s", "é", "\U0001f600", "Z"]) + str(n) for n in range(200)]
    engine = Engine()
    engine.subscribe_many((id, f"x > {chance.randrange(100)}") for id in ids)
    for id in ids[:20]:  # keys that stand for nothing, and one that is used again
        engine.unsubscribe(id)
    engine.subscribe("x < 3", id="last")
    values = [chance.randrange(-5, 110) for _ in range(60)]
    reader = workers.AttributeReader((Source("x", 0, ()),), {})
    bounds = Bounds(unasked=0, matches=500, id_bytes=900)
    matching = workers.Matching(ps.compile(engine).image, reader, (0,), how, Asked({}), bounds)
    table = pa.Table.from_batches(matching(events(values[:30], values[30:])))
    expected = [(x, engine.match({"x": x})) for x in values]
    if how == "anti":
        assert table.column(0).to_pylist() == [x for x, found in expected if not found]
        return
    found = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    assert found == [(x, right) for x, right in expected if right or how == "left"]


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
    reader = workers.AttributeReader((), {})
    matching = workers.Matching(compiled.image, reader, (), "left", Asked({}))
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


@rarely
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
