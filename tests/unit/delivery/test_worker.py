"""What workers write, without Spark: every event is delivered or a dead letter, and counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from predicast import Engine
from predicast import spark as ps
from predicast.errors import InvalidValueError, SinkError
from predicast.spark.answers import Asked, Bounds
from predicast.spark.delivery.drafts import Draft, owner_folder
from predicast.spark.delivery.job import Job
from predicast.spark.delivery.worker import Delivering, DeliveringShards, RoutingDeliveries
from predicast.spark.shipping import Source
from predicast.spark.workers import AttributeReader


def engine() -> Engine:
    made = Engine()
    made.subscribe("x < 3", id="low", owner="ann")
    made.subscribe("x IN (1, 7)", id="some", owner="b/c=d")
    made.subscribe("x >= 8", id="high")
    made.subscribe("x IS NULL", id="none")
    return made


def batch(values: list[Any], unreadable: list[str | None] | None = None) -> pa.RecordBatch:
    """Events with an ``x``, a time in some zone, and what the source could not read."""
    rows = len(values)
    return pa.RecordBatch.from_pydict(
        {
            "k0": pa.array(range(rows), pa.int64()),
            "k1": pa.array(range(rows), pa.timestamp("us", tz="Asia/Kolkata")),
            "k2": pa.array(unreadable or [None] * rows, pa.string()),
            "k3": pa.array(values, pa.float64()),
        }
    )


def passed(
    compiled: ps.CompiledSubscriptions, job: Job, batches: list[pa.RecordBatch]
) -> list[dict[str, Any]]:
    """What tasks say when Spark has them deliver batches."""
    placement = compiled.placement
    if placement.router is None:
        return rows(Delivering(compiled.image, job)(batches))
    routed = list(RoutingDeliveries(placement.router, job)(batches))
    images = tuple(shard.image for shard in placement.shards)
    sent = [visits(piece) for piece in routed]
    return rows(DeliveringShards(images, job)(sent))


def rows(batches: Iterator[pa.RecordBatch]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in batch.to_pylist()]


def visits(piece: pa.RecordBatch) -> pa.RecordBatch:
    """Each event once for every shard that it visits, as Spark makes them of lists."""
    place = piece.schema.get_field_index("shards")
    numbers = piece.column(place)
    once = piece.remove_column(place).take(pc.list_parent_indices(numbers))
    return once.append_column("shard", pc.list_flatten(numbers))


Ran: TypeAlias = tuple[dict[str, Any], list[pa.Table]]
Run: TypeAlias = Callable[..., Ran]


@pytest.fixture(params=["replicate", ps.Partition(shards=3)], ids=["replicated", "in shards"])
def run(request: pytest.FixtureRequest) -> Run:
    """Has batches delivered, wherever subscriptions are held: what comes of them is the same."""
    return partial(delivered, ps.compile(engine(), strategy=request.param))


def delivered(
    compiled: ps.CompiledSubscriptions,
    drafts: list[Draft],
    batches: list[pa.RecordBatch],
    **changes: Any,
) -> Ran:
    """What tasks say in sum, and the rows of each draft."""
    for draft in drafts:
        Path(draft.folder).mkdir(parents=True, exist_ok=True)
    options: dict[str, Any] = {
        "names": ("n", "at", "bad"),
        "delivered": (0, 1),
        "unreadable": 2,
        "output": "rows",
        "asked": Asked({}),
        "sets_apart": any(draft.content == "dead letters" for draft in drafts),
    }
    job = Job(
        reader=AttributeReader((Source("x", 3, ()),), {}),
        drafts=tuple(drafts),
        **options | changes,
    )
    told = passed(compiled, job, batches)
    summary = {name: sum((row[name] for row in told), type(told[0][name])()) for name in told[0]}
    tables = []
    for position, draft in enumerate(drafts):
        files = [each for each in summary["files"] if each["draft"] == position]
        read = [pq.ParquetFile(f"{draft.folder}/{each['name']}").read() for each in files]
        assert [each["rows"] for each in files] == [table.num_rows for table in read]
        written = {str(path) for path in Path(draft.folder).rglob("*.parquet")}
        assert written == {f"{draft.folder}/{each['name']}" for each in files}
        tables.append(pa.concat_tables(read) if read else pa.table({}))
    return summary, tables


def expected(values: list[float]) -> list[tuple[int, str]]:
    made = engine()
    return [
        (row, id) for row, x in enumerate(values) if math.isfinite(x) for id in made.match({"x": x})
    ]


def pairs(table: pa.Table) -> list[tuple[int, str]]:
    if not table.column_names:
        return []  # no file
    return sorted(zip(table["n"].to_pylist(), table["subscription"].to_pylist(), strict=True))


VALUES = [0.0, math.nan, 1.0, 7.0, math.inf, math.nan, 8.0, 5.0]


def test_every_event_is_delivered_or_a_dead_letter(run: Run, tmp_path: Path) -> None:
    drafts = [
        Draft(str(tmp_path / "deliveries"), "deliveries"),
        Draft(str(tmp_path / "dead"), "dead letters"),
    ]
    unreadable = [None] * 7 + ["{"]
    summary, (deliveries, dead) = run(drafts, [batch(VALUES, unreadable)])
    assert pairs(deliveries) == expected(VALUES)
    assert deliveries.schema.field("at").type == pa.timestamp("us", tz="UTC")
    reasons = dict(zip(dead["n"].to_pylist(), dead["reason"].to_pylist(), strict=True))
    assert reasons == {
        1: "attribute 'x': nan is not finite; use null for no value",
        4: "attribute 'x': inf is not finite; use null for no value",
        5: "attribute 'x': nan is not finite; use null for no value",
        7: "the source could not read it: '{'",
    }
    assert dead.column_names == ["n", "at", "bad", "reason"]
    assert (summary["events"], summary["matches"], summary["dead_letters"]) == (8, 5, 4)
    most = {each["id"]: each["matches"] for each in summary["most_matched"]}
    assert most == {"low": 2, "some": 2, "high": 1}


@pytest.mark.parametrize("bad", [(), (0,), (63,), range(64), range(0, 64, 3)])
def test_halves_find_exactly_what_is_wrong(run: Run, tmp_path: Path, bad: Any) -> None:
    values = [math.nan if row in bad else float(row % 10) for row in range(64)]
    drafts = [Draft(str(tmp_path / "a"), "deliveries"), Draft(str(tmp_path / "b"), "dead letters")]
    # Bounds so small that a batch is matched in many pieces, some of which raise.
    _, (deliveries, dead) = run(
        drafts, [batch(values)], bounds=Bounds(unasked=0, matches=3, id_bytes=10)
    )
    assert pairs(deliveries) == expected(values)
    assert ([] if not bad else dead["n"].to_pylist()) == list(bad)


@pytest.mark.parametrize(("on_invalid", "found"), [("absent", [0, 1, 2]), ("skip", [0, 2])])
def test_without_dead_letters_the_policy_decides(
    run: Run, tmp_path: Path, on_invalid: Any, found: list[int]
) -> None:
    drafts = [Draft(str(tmp_path / "deliveries"), "deliveries")]
    summary, (deliveries,) = run(drafts, [batch([0.0, math.nan, 2.0])], asked=Asked({}, on_invalid))
    assert sorted(deliveries["n"].to_pylist()) == found
    assert (summary["invalid"], summary["dead_letters"]) == (1, 0)


def test_without_dead_letters_what_is_wrong_is_raised(run: Run, tmp_path: Path) -> None:
    drafts = [Draft(str(tmp_path / "deliveries"), "deliveries")]
    with pytest.raises(InvalidValueError, match="row 1: nan is not finite"):
        run(drafts, [batch([0.0, math.nan])])
    with pytest.raises(InvalidValueError, match="the source could not read an event: 'x'"):
        run(drafts, [batch([0.0, 1.0], [None, "x"])])


def test_dead_letters_that_are_where_they_belong_already(run: Run, tmp_path: Path) -> None:
    """A batch is repeated: its dead letters were taken, its deliveries were not."""
    drafts = [Draft(str(tmp_path / "deliveries"), "deliveries")]
    summary, (deliveries,) = run(drafts, [batch([0.0, math.nan], [None, None])], sets_apart=True)
    assert pairs(deliveries) == [(0, "low")]
    assert (summary["events"], summary["dead_letters"]) == (2, 1)


def test_owners_have_folders_of_their_own(run: Run, tmp_path: Path) -> None:
    drafts = [Draft(str(tmp_path / "d"), "deliveries", by_owner=True)]
    _, (deliveries,) = run(drafts, [batch([1.0, 9.0]), batch([7.0])])
    assert sorted(deliveries["subscription"].to_pylist()) == ["high", "low", "some", "some"]
    folders = {path.name for path in (tmp_path / "d").iterdir()}
    assert folders == {"owner=ann", "owner=b%2Fc%3Dd", "owner=__HIVE_DEFAULT_PARTITION__"}
    (some,) = (tmp_path / "d" / "owner=b%2Fc%3Dd").iterdir()
    assert pq.ParquetFile(some).read()["n"].to_pylist() == [0, 0]


def test_an_owner_that_no_folder_can_be_called_is_refused() -> None:
    with pytest.raises(SinkError, match="too long for the name of a folder"):
        owner_folder("x" * 300)


def test_lists_of_ids(tmp_path: Path) -> None:
    drafts = [Draft(str(tmp_path / "d"), "deliveries")]
    whole = ps.compile(engine(), strategy="replicate")
    batches = [batch([1.0, 5.0, 9.0]), batch([5.0])]
    _, (deliveries,) = delivered(whole, drafts, batches, output="array")
    assert deliveries.select(["n", "subscriptions"]).to_pylist() == [
        {"n": 0, "subscriptions": ["low", "some"]},
        {"n": 2, "subscriptions": ["high"]},
    ]


def test_many_deliveries_of_one_event_are_made_in_parts(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from predicast.spark.delivery import drafts as writing
    from predicast.spark.delivery import worker

    monkeypatch.setattr(worker, "_ROWS", 3)
    monkeypatch.setattr(writing, "_GROUP_ROWS", 4)
    monkeypatch.setattr(writing, "_BUFFERED_ROWS", 5)
    values = [float(row % 10) for row in range(40)]
    drafts = [
        Draft(str(tmp_path / "flat"), "deliveries"),
        Draft(str(tmp_path / "owned"), "deliveries", by_owner=True),
    ]
    _, (flat, owned) = run(drafts, [batch(values[:25]), batch(values[25:])])
    rows = [(row % 25, id) for row, id in expected(values)]  # each batch counts its own
    assert pairs(flat) == pairs(owned) == sorted(rows)


def test_no_event_no_file(run: Run, tmp_path: Path) -> None:
    drafts = [Draft(str(tmp_path / "d"), "deliveries")]
    summary, _ = run(drafts, [batch([5.0])])
    assert summary["files"] == []
    assert summary["events"] == 1
    assert run(drafts, [])[0]["events"] == 0
