"""Sinks, without Spark: a batch is there once and whole, whatever was left by who failed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from predicast import spark as ps
from predicast.errors import InvalidOptionError, SinkError
from predicast.spark.delivery.drafts import DraftFile
from predicast.spark.delivery.sinks import Batch, FunctionSink, Sink, Written, sinks_of

MAKERS = {
    "parquet": ps.ParquetSink,
    "by-owner": lambda path: ps.ParquetSink(path, by_owner=True),
    "delta": ps.DeltaSink,
}
Make = Callable[[Path], Sink]
all_sinks = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def no_frame() -> Any:
    raise AssertionError("nobody looks at it")


def written(sink: Sink, batch: Batch, values: list[int], **columns: Any) -> Written:
    """What workers would have written, and a file of an attempt that failed."""
    draft = sink.draft(batch, Path("nowhere"))
    folder = draft / "owner=ann" if sink.by_owner else draft
    folder.mkdir(exist_ok=True)
    table = pa.table({"x": values, **columns})
    files = []
    for name in ("part-1.parquet", "failed.parquet"):
        path = folder / name
        pq.write_table(table, path)
        size = path.stat().st_size
        files.append(DraftFile(0, path.relative_to(draft).as_posix(), len(values), size))
    return Written(batch, 3, draft, tuple(files[:1]), no_frame)


def values_in(path: Path) -> list[int]:
    if (path / "_delta_log").exists():
        return sorted(DeltaTable(path).to_pyarrow_table()["x"].to_pylist())
    files = [each for each in path.rglob("*.parquet") if "_drafts" not in each.parts]
    return sorted(value for file in files for value in pq.read_table(file)["x"].to_pylist())


@all_sinks
def test_a_batch_is_there_once(tmp_path: Path, make: Make) -> None:
    sink = make(tmp_path / "sink")
    sink.open("s")
    for number in (0, 2):
        batch = Batch("s", number)
        assert not sink.has(batch)
        sink.commit(written(sink, batch, [number, number + 10]))
        assert sink.has(batch)
    assert values_in(tmp_path / "sink") == [0, 2, 10, 12]
    assert not list(tmp_path.rglob("failed.parquet"))
    sink.open("s")
    assert sink.has(Batch("s", 2))
    assert not sink.has(Batch("s", 3))


@all_sinks
def test_what_a_failure_left_is_removed(tmp_path: Path, make: Make) -> None:
    sink = make(tmp_path / "sink")
    sink.open("s")
    first = written(sink, Batch("s", 0), [1])
    sink.open("s")
    assert not first.draft.exists()
    sink.commit(written(sink, Batch("s", 0), [1]))
    assert values_in(tmp_path / "sink") == [1]


@all_sinks
def test_a_batch_without_rows_leaves_nothing(tmp_path: Path, make: Make) -> None:
    sink = make(tmp_path / "sink")
    sink.open("s")
    batch = Batch("s", 0)
    draft = sink.draft(batch, tmp_path)
    sink.commit(Written(batch, 3, draft, (), no_frame))
    assert not draft.exists()
    assert not list(tmp_path.rglob("*.parquet"))


@all_sinks
def test_another_streams_is_refused(tmp_path: Path, make: Make) -> None:
    sink = make(tmp_path / "sink")
    sink.open("s")
    sink.commit(written(sink, Batch("s", 0), [1]))
    with pytest.raises(SinkError, match="deliveries of another stream"):
        sink.open("t")


def test_by_owner_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    """Some owners have the batch, others not; and none of them twice."""
    sink = ps.ParquetSink(tmp_path / "sink", by_owner=True)
    sink.open("s")
    batch = Batch("s", 0)
    sink.commit(written(sink, batch, [1]))
    (tmp_path / "sink" / "_predicast.json").write_text(
        '{"stream": "s", "batch": -1}', encoding="utf-8"
    )
    assert not sink.has(batch)
    again = written(sink, batch, [1])
    (again.draft / "owner=bob").mkdir()
    pq.write_table(pa.table({"x": [2]}), again.draft / "owner=bob" / "b.parquet")
    files = (*again.files, DraftFile(0, "owner=bob/b.parquet", 1, 1))
    sink.commit(again._replace(files=files))
    assert values_in(tmp_path / "sink") == [1, 2]
    assert sink.has(batch)


def test_a_folder_whose_owner_is_not_known_is_refused(tmp_path: Path) -> None:
    sink = ps.ParquetSink(tmp_path / "sink")
    sink.open("s")
    sink.commit(written(sink, Batch("s", 0), [1]))
    ownership = tmp_path / "sink" / "_predicast.json"
    ownership.write_text('{"stre', encoding="utf-8")
    with pytest.raises(SinkError, match="cannot be read"):
        sink.open("s")
    ownership.unlink()
    with pytest.raises(SinkError, match="is missing"):
        sink.open("s")


def test_streams_may_share_a_delta_table(tmp_path: Path) -> None:
    sink = ps.DeltaSink(tmp_path / "sink", shared=True)
    for stream in ("s", "t"):
        sink.open(stream)
        sink.commit(written(sink, Batch(stream, 0), [1]))
    assert values_in(tmp_path / "sink") == [1, 1]


def test_a_delta_table_says_which_batch_and_version_a_commit_was(tmp_path: Path) -> None:
    sink = ps.DeltaSink(tmp_path / "sink")
    sink.commit(written(sink, Batch("s", 7), [1]))
    commit = DeltaTable(tmp_path / "sink").history(1)[0]
    assert (commit["predicast.batch"], commit["predicast.version"]) == ("7", "3")


def test_a_delta_table_with_other_columns_is_refused(tmp_path: Path) -> None:
    sink = ps.DeltaSink(tmp_path / "sink")
    sink.commit(written(sink, Batch("s", 0), [1]))
    with pytest.raises(SinkError, match=r"has the columns x .*, and deliveries have x .*, y "):
        sink.commit(written(sink, Batch("s", 1), [1], y=["a"]))
    assert values_in(tmp_path / "sink") == [1]


def test_a_damaged_delta_table_is_refused(tmp_path: Path) -> None:
    sink = ps.DeltaSink(tmp_path / "sink")
    sink.commit(written(sink, Batch("s", 0), [1]))
    for entry in (tmp_path / "sink" / "_delta_log").iterdir():
        entry.unlink()
    with pytest.raises(SinkError, match="cannot be read as a Delta table"):
        sink.open("s")


def test_what_a_sink_may_be(tmp_path: Path) -> None:
    function: Any = lambda number, frame: None  # noqa: E731
    made = sinks_of("sink", [function, str(tmp_path), ps.DeltaSink(tmp_path)])
    # Those that know their batches come first, so that the others are seldom asked twice.
    assert made == (ps.ParquetSink(str(tmp_path)), ps.DeltaSink(tmp_path), FunctionSink(function))
    with pytest.raises(InvalidOptionError, match="sink is a sink such as"):
        sinks_of("sink", [3])  # type: ignore[list-item]
    with pytest.raises(InvalidOptionError, match="names no sink"):
        sinks_of("sink", [])
    with pytest.raises(InvalidOptionError, match="only a folder of a file system"):
        ps.DeltaSink("s3://bucket/table")
    with pytest.raises(InvalidOptionError, match="path of a folder"):
        ps.ParquetSink("")
    assert ps.ParquetSink("file:///a%20b")._root == Path("/a b")
    with pytest.raises(InvalidOptionError, match=r"kafka.bootstrap.servers"):
        ps.KafkaSink("topic", {}).open("s")
