"""The log of batches and Spark's checkpoint, without Spark: what is lost or damaged is noticed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from predicast.errors import DamagedCheckpointError
from predicast.spark.delivery import batch_log
from predicast.spark.delivery.batch_log import BatchLog, BatchRecord, Counts
from predicast.spark.delivery.checkpoint import Checkpoint

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def record(number: int, version: int = 5) -> BatchRecord:
    return BatchRecord(number, version, AT, f"digest-{number}")


def run(log: BatchLog, number: int) -> None:
    log.begin(record(number))
    log.finish(BatchRecord(number, 5, AT, f"digest-{number}", counts=Counts(10, 3, 1)))


def as_spark_does(path: Path, batches: int) -> None:
    """A checkpoint of a stream of files, after some batches."""
    (path / "metadata").write_text('{"id":"x"}', encoding="utf-8")
    for number in range(batches):
        for name, text in {
            f"offsets/{number}": f'v1\n{{"batchTimestampMs":{number}}}\n{{"logOffset":{number}}}',
            f"commits/{number}": 'v1\n{"nextBatchWatermarkMs":0}',
            f"sources/0/{number}": f'v1\n{{"path":"file:///{number}","batchId":{number}}}',
        }.items():
            file = path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    """A stream that has run three batches."""
    made = Checkpoint(tmp_path)
    log = made.opened_log()
    as_spark_does(tmp_path, 3)
    for number in range(3):
        run(log, number)
    return made


def test_what_is_noted_is_there_again(checkpoint: Checkpoint) -> None:
    log = checkpoint.opened_log()
    log.begin(record(3, version=9))
    again = BatchLog.read(checkpoint.log_folder)
    assert again.stream == log.stream
    assert again.find(3) == record(3, version=9)
    assert [each.finished for each in again.records] == [True, True, True, False]
    assert (again.batches, again.totals) == (3, Counts(30, 9, 3))
    assert again.find(4) is None


def test_a_log_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_log, "_KEPT", 2)
    log = BatchLog.created(tmp_path)
    for number in range(5):
        run(log, number)
    again = BatchLog.read(tmp_path)
    assert [each.batch for each in again.records] == [3, 4]
    assert (again.batches, again.totals.events) == (5, 50)


def test_a_batch_that_was_before_cannot_begin(checkpoint: Checkpoint) -> None:
    log = checkpoint.opened_log()
    with pytest.raises(DamagedCheckpointError, match=r"begins batch 2, and .* has batch 2 already"):
        log.begin(record(2))


@pytest.mark.parametrize("length", [0, 10, 200, -1])
def test_a_log_that_is_cut_short_is_refused(checkpoint: Checkpoint, length: int) -> None:
    path = checkpoint.log_folder / "deliveries.json"
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(DamagedCheckpointError, match="checksum is another; restore the checkpoint"):
        checkpoint.opened_log()


def test_a_log_of_another_format_is_refused(checkpoint: Checkpoint) -> None:
    body = b'{"stream": 3}'
    path = checkpoint.log_folder / "deliveries.json"
    path.write_bytes(batch_log._head(body) + b"\n" + body)
    with pytest.raises(DamagedCheckpointError, match="cannot be read"):
        checkpoint.opened_log()


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        ("predicast/deliveries.json", "there is no log of their deliveries"),
        ("metadata", "metadata cannot be read"),
        ("offsets/1", "offsets/1 cannot be read"),
        ("offsets/2", "batch 2 has begun, and offsets/2 is missing"),
        ("sources/0/1", "sources/0/1 is missing"),
        ("sources/0/2", "sources/0/2 is missing"),
    ],
)
def test_a_file_that_is_missing_is_noticed(checkpoint: Checkpoint, lost: str, message: str) -> None:
    (checkpoint.path / lost).unlink()
    with pytest.raises(DamagedCheckpointError, match=message):
        checkpoint.opened_log()


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        ("offsets/2", "offsets/2 is (cut short|damaged)"),
        ("sources/0/1", "sources/0/1 is damaged"),
        ("commits/2", "commits/2 is damaged"),
        ("metadata", "metadata is damaged"),
    ],
)
@pytest.mark.parametrize("length", [0, 3, -1])
def test_a_file_that_is_cut_short_is_noticed(
    checkpoint: Checkpoint, damaged: str, message: str, length: int
) -> None:
    path = checkpoint.path / damaged
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(DamagedCheckpointError, match=message):
        checkpoint.opened_log()


def test_a_log_that_is_behind_is_noticed(checkpoint: Checkpoint) -> None:
    """As if an older copy of it had been put back."""
    as_spark_does(checkpoint.path, 5)
    with pytest.raises(DamagedCheckpointError, match=r"has batch 4, and the log .* with batch 2"):
        checkpoint.opened_log()


def test_what_is_no_damage(checkpoint: Checkpoint) -> None:
    (checkpoint.path / "commits" / "2").unlink()  # the batch is repeated
    (checkpoint.path / "offsets" / "0").unlink()  # Spark removes old ones
    summed_up = checkpoint.path / "sources" / "0" / "1"
    summed_up.rename(summed_up.with_name("1.compact"))
    (checkpoint.path / "sources" / "0" / "0").unlink()
    assert checkpoint.opened_log().last == BatchLog.read(checkpoint.log_folder).last
    as_spark_does(checkpoint.path, 4)  # a batch that was about to begin
    assert checkpoint.opened_log().batches == 3


def test_a_stream_that_spark_has_just_begun_is_new(tmp_path: Path) -> None:
    as_spark_does(tmp_path, 1)
    checkpoint = Checkpoint(tmp_path)
    with pytest.raises(DamagedCheckpointError, match="there is no log"):
        checkpoint.check()
    assert checkpoint.opened_log(running=0).records == ()


def test_what_a_batch_holds_is_known_by_its_offsets(checkpoint: Checkpoint) -> None:
    path = checkpoint.path / "offsets" / "2"
    before = checkpoint.events_of(2)
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[1] = json.dumps({"batchTimestampMs": 99})
    path.write_text("\n".join(lines), encoding="utf-8")
    assert checkpoint.events_of(2) == before
    lines[2] = json.dumps({"logOffset": 99})
    path.write_text("\n".join(lines), encoding="utf-8")
    assert checkpoint.events_of(2) not in {before, None}
    assert checkpoint.events_of(3) is None
