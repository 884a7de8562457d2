"""What workers run, without Spark: memory is bounded by matches, not by events."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pyarrow as pa
import pytest

from predicast import spark as ps
from predicast.spark import workers
from predicast.spark.shipping import Source


def test_pieces_follow_the_number_of_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_MATCHES", 1_000)
    monkeypatch.setattr(workers, "_FIRST_ROWS", 2)
    compiled = ps.compile({f"s{n}": "x > 0" for n in range(100)})
    reading = workers.Reading((Source("x", 0, ()),), {})
    matching = workers.Matching(compiled.image, reading, 1, "left")
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
