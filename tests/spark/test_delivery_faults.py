"""A stream that is killed, or whose files are damaged: nothing is lost and nothing comes twice.

What is delivered equals what the engine says, or the stream stops with an error of ours. A few
faults are tried with the other tests, chosen by a seed; ``PREDICAST_FAULTS`` says how many drivers
are killed, and then all faults are tried (``make faults``).
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from predicast import Change, Engine
from predicast import spark as ps
from predicast.errors import DeliveryStoppedError, PredicastError, TableNotWrittenError
from predicast.spark.delivery import batch_log, sinks
from predicast.spark.delivery.batch_log import BatchLog, BatchRecord
from tests.small_disk import small_disk
from tests.spark.conftest import MODE

KILLS = int(os.environ.get("PREDICAST_FAULTS", "0"))

# On Connect each of their many streams starts a Python of its own, which takes a minute in all.
many_streams = pytest.mark.skipif(
    MODE == "connect" and not KILLS, reason="many streams: on Spark Connect in make faults"
)
SEED = 12
ROWS = 40


def chosen(every: list[Any], few: int) -> list[Any]:
    """All, or a few in their order."""
    if KILLS or len(every) <= few:
        return every
    picked = set(random.Random(SEED).sample(range(len(every)), few))
    return [each for place, each in enumerate(every) if place in picked]


class Stream:
    """Files of events, a table whose first subscription changes, and three sinks."""

    def __init__(self, folder: Path, shards: int = 0) -> None:
        self.folder = folder
        self.shards = shards
        self.events = folder / "events"
        self.checkpoint = folder / "checkpoint"
        self.held = folder / "table"
        self.files, self.delta, self.owned = (folder / name for name in ("a", "b", "c"))

    @property
    def table(self) -> ps.SubscriptionTable:
        return ps.SubscriptionTable(self.held)

    def set_up(self) -> None:
        self.events.mkdir(parents=True)
        self.table.subscribe_many({"moving": "x < 0", "even": "x IN (0, 2, 4, 6)"}, owner="ann")
        self.table.subscribe("x > 35", id="high", owner="bob")
        if self.shards:  # so many that a change is worth no other division
            self.table.subscribe_many((f"none {n}", f"x = {n + 50}") for n in range(20))

    def put(self, number: int) -> None:
        """One batch of events; ``x`` runs from 0 in each."""
        ids = range(number * ROWS, (number + 1) * ROWS)
        table = pa.table({"id": pa.array(ids), "x": pa.array([id % ROWS for id in ids])})
        draft = self.events / f".{number}"
        pq.write_table(table, draft)
        draft.rename(self.events / f"{number:03}.parquet")
        os.utime(self.events / f"{number:03}.parquet", (number + 1, number + 1))  # their order

    def change(self, limit: int) -> int:
        """Have one subscription match as many events of each batch; the version."""
        return self.table.apply([Change("moving", f"x < {limit}")]).version

    def start(self, spark: SparkSession, events: DataFrame | None = None) -> ps.RunningDelivery:
        reader = spark.readStream.schema("id bigint, x bigint").option("maxFilesPerTrigger", "1")
        return ps.deliver(
            reader.parquet(str(self.events)) if events is None else events,
            self.table,
            [
                self.files,
                ps.DeltaSink(self.delta),
                ps.ParquetSink(self.owned, by_owner=True),
            ],
            checkpoint=self.checkpoint,
            strategy=ps.Partition(self.shards) if self.shards else "auto",
            trigger={"availableNow": True},
        )

    def run(self, spark: SparkSession, events: DataFrame | None = None) -> None:
        assert self.start(spark, events).wait(300)

    def delivered(self) -> Iterator[list[tuple[int, str]]]:
        """What there is in each sink."""
        for path in (self.files, self.owned):
            files = [each for each in path.rglob("*.parquet") if "_drafts" not in each.parts]
            yield pairs([pq.ParquetFile(each).read() for each in files])
        exists = (self.delta / "_delta_log").exists()
        yield pairs([DeltaTable(self.delta).to_pyarrow_table()] if exists else [])

    def expected(self, versions: list[int]) -> list[tuple[int, str]]:
        """What batches should give, by the version that each was matched against."""
        found = []
        for number, version in enumerate(versions):
            engine: Engine = self.table.engine(version)
            for x in range(ROWS):
                found += [(number * ROWS + x, id) for id in engine.match({"x": x})]
        return found

    def check(self, versions: list[int]) -> None:
        expected = self.expected(versions)
        for found in self.delivered():
            assert found == expected


@pytest.fixture(params=[0, 3] if KILLS else [0], ids=lambda shards: f"{shards} shards")
def shards(request: pytest.FixtureRequest) -> int:
    """How many there are, 0 if subscriptions are replicated."""
    return int(request.param)


@pytest.fixture
def stream(shards: int, tmp_path: Path) -> Stream:
    made = Stream(tmp_path / "stream", shards)
    made.set_up()
    return made


def pairs(tables: list[pa.Table]) -> list[tuple[int, str]]:
    return sorted(
        pair
        for table in tables
        for pair in zip(table["id"].to_pylist(), table["subscription"].to_pylist(), strict=True)
    )


class Crash(Exception):  # noqa: N818  # nobody's error
    """The process ends here, as far as anybody can tell afterwards."""


class Crashes:
    """Ends a batch before or after one of the steps that leave something on disk."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._left: int | None = None
        self._after = False
        self.steps = 0
        for owner, name in (
            (batch_log, "write_atomically"),
            (sinks, "write_atomically"),
            (Path, "rename"),
            (DeltaTable, "create_write_transaction"),
        ):
            patch.setattr(owner, name, self._wrapped(getattr(owner, name)))
        begin = BatchLog.begin

        def begun(log: BatchLog, record: Any) -> None:
            self._left, self.steps = self._armed, 0
            begin(log, record)

        self._armed: int | None = None
        patch.setattr(BatchLog, "begin", begun)

    def arm(self, step: int | None, *, after: bool = False) -> None:
        """Crash at a step of the next batch that is new."""
        self._armed, self._after, self._left = step, after, None

    def _wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **options: Any) -> Any:
            self.steps += 1
            here = self._left == 0
            if self._left is not None:
                self._left -= 1
            if here and not self._after:
                raise Crash
            result = function(*args, **options)
            if here:
                raise Crash
            return result

        return run


@pytest.mark.skipif(MODE == "connect", reason="what is interrupted runs in the server there")
def test_a_batch_that_ends_at_any_step_is_repeated_and_is_there_once(
    spark: SparkSession, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    crashes = Crashes(monkeypatch)
    stream.put(0)
    versions = [stream.table.version]
    stream.run(spark)
    steps = crashes.steps
    assert steps >= 8  # the log three times, two folders of owners and one of all, two commits
    points = [(step, after) for step in range(steps) for after in (False, True)]
    for number, (step, after) in enumerate(chosen(points, 5), 1):
        stream.put(number)
        versions.append(stream.change(number))
        crashes.arm(step, after=after)
        with pytest.raises(DeliveryStoppedError, match="goes on with the batch that failed"):
            stream.run(spark)
        crashes.arm(None)
        later = stream.change(0)
        if (step, after) == (0, False):  # nothing was noted, so that the later one counts
            versions[-1] = later
            stream.run(spark)
    stream.run(spark)
    stream.check(versions)


def kill_workers(flag: str) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Passes events on; once, if there is a flag, it ends all workers of this Spark."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch
            try:
                Path(flag).unlink()
            except FileNotFoundError:
                continue
            daemon = os.getppid()
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    parent = int(
                        process.joinpath("stat").read_bytes().rpartition(b")")[2].split()[1]
                    )
                except (OSError, IndexError):
                    continue
                if parent == daemon and int(process.name) != os.getpid():
                    os.kill(int(process.name), signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)

    return run


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="workers are found in /proc")
@many_streams
def test_workers_that_are_killed(spark: SparkSession, stream: Stream, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    for number in range(3):
        stream.put(number)
    reader = spark.readStream.schema("id bigint, x bigint").option("maxFilesPerTrigger", "1")
    events = reader.parquet(str(stream.events)).mapInArrow(
        kill_workers(str(flag)), "id bigint, x bigint"
    )
    version = stream.table.version
    flag.touch()
    with pytest.raises(DeliveryStoppedError, match="deliver again with the same checkpoint"):
        stream.run(spark, events)
    assert not flag.exists()
    stream.change(5)
    stream.run(spark, events)
    stream.check([version, *[version + 1] * 2])


def damages(path: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    data = path.read_bytes()
    yield "missing", path.unlink
    yield "empty", lambda: path.write_bytes(b"")
    yield "cut short", lambda: path.write_bytes(data[: len(data) // 2])


@many_streams
def test_a_file_that_is_damaged_or_missing(
    spark: SparkSession, stream: Stream, tmp_path: Path
) -> None:
    """Of the checkpoint, the log, the table, and what is kept beside the table."""
    kept = tmp_path / "kept"
    versions = []
    for number in range(3):
        stream.put(number)
        versions.append(stream.change(number + 1))
        stream.run(spark)
    # The last batch was delivered, and Spark does not know.
    for file in ("2", ".2.crc"):
        (stream.checkpoint / "commits" / file).unlink()
    stream.put(3)
    versions.append(stream.change(9))
    expected = stream.expected(versions)
    # Nobody can tell a table that has lost its last commit from one that never had it.
    without_last = stream.expected([*versions[:-1], versions[-1] - 1])
    last_commit = Path(f"table/_delta_log/{versions[-1]:020}.json")
    stream.folder.rename(kept)
    files = sorted(
        path.relative_to(kept)
        for folder in (kept / "checkpoint", kept / "table")
        for path in folder.rglob("*")
        if path.is_file()
    )
    outcomes = []
    for name, which in chosen([(name, which) for name in files for which in range(3)], 8):
        shutil.copytree(kept, stream.folder)
        what, damage = list(damages(stream.folder / name))[which]
        damage()
        right = without_last if (name, what) == (last_commit, "missing") else expected
        try:
            stream.run(spark)
        except PredicastError as error:
            outcomes.append(f"{name} {what}: {error}")
            for found in stream.delivered():
                assert len(found) == len({*found}), outcomes[-1]
                assert {*found} <= {*right}, outcomes[-1]
        else:
            outcomes.append(f"{name} {what}: delivered")
            for found in stream.delivered():
                assert found == right, outcomes[-1]
        shutil.rmtree(stream.folder)
    assert any(outcome.endswith(": delivered") for outcome in outcomes)
    print(*outcomes, sep="\n")  # noqa: T201


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", "4m") as place:
        yield place


def fill(place: Path, left: int) -> Path:
    """A file that takes all the room of a disk but so many bytes."""
    filler = place / "filler"
    filler.write_bytes(b"")
    free = os.statvfs(place)
    with filler.open("r+b") as file:
        os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_frsize - left)
    return filler


@many_streams
def test_a_full_disk(spark: SparkSession, disk: Path, shards: int) -> None:
    """Wherever room ends, the stream stops with an error of ours; it goes on once there is some."""
    stream = Stream(disk / "stream", shards)
    stream.set_up()
    stream.put(0)
    stream.run(spark)
    versions = [stream.table.version]
    stopped = []
    for number, left in enumerate(chosen([0, 4, 8, 16, 24, 32, 48, 64, 96], 2), 1):
        stream.put(number)
        versions.append(stream.change(number))
        filler = fill(disk, left << 10)
        try:
            stream.run(spark)
        except PredicastError as error:
            stopped.append(f"{left} KB left: {error}")
        filler.unlink()
        stream.run(spark)
        stream.check(versions)
    assert any("No space left" in each and "make room" in each for each in stopped)
    print(*stopped, sep="\n")  # noqa: T201


@many_streams
@pytest.mark.parametrize("place", chosen(["sinks", "checkpoint", "table"], 1))
def test_a_full_disk_under_one_of_the_places(
    spark: SparkSession, disk: Path, tmp_path: Path, shards: int, place: str
) -> None:
    """The others have room: what they took before the batch failed is not taken twice."""
    stream = Stream(tmp_path / "stream", shards)
    if place == "sinks":
        stream.files, stream.delta, stream.owned = (disk / name for name in ("a", "b", "c"))
    elif place == "checkpoint":  # compiled subscriptions lie beside it
        stream.checkpoint = disk / "checkpoint"
    else:
        stream.held = disk / "table"
    stream.set_up()
    stream.put(0)
    stream.run(spark)
    versions = [stream.table.version]
    stream.put(1)
    if place == "table":
        filler = fill(disk, 0)
        with pytest.raises(TableNotWrittenError, match="No space left"):
            stream.change(7)
        stream.run(spark)  # it is only read
        versions.append(versions[0])
        stream.put(2)
    else:
        versions.append(stream.change(7))
        filler = fill(disk, 0)
        with pytest.raises(DeliveryStoppedError, match=r"No space left[^\n]*make room"):
            stream.run(spark)
    filler.unlink()
    if place == "table":
        versions.append(stream.change(7))
    stream.run(spark)
    stream.check(versions)


DRIVER = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession
from predicast.spark.java import ensure_java
from tests.spark.test_delivery_faults import Stream

ensure_java()
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
stream = Stream(Path(sys.argv[1]), int(sys.argv[2]))
delivery = stream.start(spark)
print("started", flush=True)
delivery.wait()
print("done", flush=True)
"""


@pytest.mark.own_session
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_drivers_that_are_killed(stream: Stream) -> None:
    chance = random.Random(SEED)
    files = 6 * (KILLS or 1)
    for number in range(files):
        stream.put(number)
    killed = 0
    records: dict[int, BatchRecord] = {}
    for _ in range(KILLS or 1):
        stream.change(chance.randrange(ROWS))
        killed += ran(stream, kill_after_s=chance.random() * 4)
        records |= records_of(stream)
    assert ran(stream, None) == 0
    records |= records_of(stream)
    assert sorted(records) == list(range(len(records)))
    assert all(record.finished for record in records.values())
    log = BatchLog.read(stream.checkpoint / "predicast")
    assert log.batches == len(records)
    assert log.totals.events == files * ROWS
    versions = versions_of_files(records)
    assert versions == sorted(versions)
    assert versions_of_commits(stream) == {n: record.version for n, record in records.items()}
    stream.check(versions)
    print(f"{killed} drivers killed, {len(records)} batches delivered")  # noqa: T201


def records_of(stream: Stream) -> dict[int, BatchRecord]:
    """The latest batches by their numbers; none where the driver was killed before the first."""
    folder = stream.checkpoint / "predicast"
    if not BatchLog.exists(folder):
        return {}
    return {record.batch: record for record in BatchLog.read(folder).records}


def versions_of_files(records: dict[int, BatchRecord]) -> list[int]:
    """The version that each file was matched against.

    A batch is one file, or two: Spark notes the next file before it notes the batch, and who is
    killed between the two finds both that file and another one for the batch.
    """
    versions: list[int] = []
    for _, record in sorted(records.items()):
        assert record.counts.events % ROWS == 0
        versions += [record.version] * (record.counts.events // ROWS)
    return versions


def versions_of_commits(stream: Stream) -> dict[int, int]:
    """The version of each batch that the commits of the Delta table name."""
    return {
        int(each["predicast.batch"]): int(each["predicast.version"])
        for each in DeltaTable(stream.delta).history()
        if "predicast.batch" in each
    }


def ran(stream: Stream, kill_after_s: float | None) -> int:
    """Run a driver, and kill it with all its processes; whether it had to be."""
    command = [sys.executable, "-c", DRIVER, str(stream.folder), str(stream.shards)]
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
    log = (stream.folder / "driver.log").open("ab")
    with (
        log,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment,
            cwd=Path(__file__).parents[2],
            start_new_session=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "started\n", log.name
            if kill_after_s is None:
                assert process.stdout.readline() == "done\n", log.name
                process.wait()
                return 0
            time.sleep(kill_after_s)
            return int(process.poll() is None)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
