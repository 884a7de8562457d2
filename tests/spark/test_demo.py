"""The demo at a hundredth of its size: the pipeline delivers what an engine says it should."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from rich.console import Console

from predicast import Engine
from predicast.demo import auction, flights, moving_objects, run, run_demo
from predicast.demo.live import PARTS, deliver_live
from predicast.demo.pipeline import deliver, write_inputs
from predicast.demo.world import Outcome, World
from predicast.errors import PipelineError
from predicast.spark import SubscriptionTable
from tests.spark.conftest import MODE

pytestmark = pytest.mark.skipif(MODE == "connect", reason="the demo starts classic Spark")

SCALE = 0.01
WORLDS = [flights.world, auction.world, moving_objects.world]

Make = Callable[[float], World]

each_world = pytest.mark.parametrize(
    "make", WORLDS, ids=lambda make: make.__module__.rpartition(".")[2]
)


def expected(world: World) -> set[tuple[int, str]]:
    """The matches of a world, by an engine without Spark."""
    engine = Engine()
    engine.subscribe_many(world.subscriptions.items())
    found = engine.match_arrow(world.events, intervals=world.intervals)
    events = world.events[world.event_id].take(found["event"])
    return set(zip(events.to_pylist(), found["subscription"].to_pylist(), strict=True))


def by_engine(world: World) -> Outcome:
    pairs = sorted(expected(world))
    columns = {
        world.event_id: [event for event, _ in pairs],
        "subscription": [id for _, id in pairs],
    }
    return Outcome(world, pa.table(columns), 1.0)


@each_world
def test_the_pipeline_delivers_what_the_engine_matches(
    spark: SparkSession, tmp_path: Path, make: Make
) -> None:
    world = make(SCALE)
    write_inputs(world, tmp_path)
    done: list[float] = []
    outcome = deliver(spark, world, tmp_path, done.append)

    pairs = outcome.deliveries.to_pydict()
    delivered = list(zip(pairs[world.event_id], pairs["subscription"], strict=True))
    assert len(delivered) == len(set(delivered)) == outcome.matches > 50
    assert set(delivered) == expected(world)
    assert all(0 <= part <= 1 for part in done)
    # A delivery carries the event.
    columns = pq.read_table(tmp_path / "deliveries").column_names
    assert columns == [*world.events.column_names, "subscription"]


def test_a_world_that_happens_is_delivered_as_it_changes(
    spark: SparkSession, tmp_path: Path
) -> None:
    world = auction.world(SCALE)
    done: list[float] = []
    live = deliver_live(spark, world, tmp_path / "live", done.append)
    table = SubscriptionTable(tmp_path / "live" / "subscriptions", create=False)
    assert [part.version for part in live.parts] == list(range(1, 1 + PARTS))
    assert all(part.changes > 1 for part in live.parts[1:])
    assert sum(part.events for part in live.parts) == world.events.num_rows
    right, first = set(), 0
    for part in live.parts:
        rows = world.events.slice(first, part.events)
        found = table.engine(part.version).match_arrow(rows)
        assert len(found) == part.matches
        events = rows[world.event_id].take(found["event"]).to_pylist()
        right |= set(zip(events, found["subscription"].to_pylist(), strict=True))
        first += part.events
    delivered = DeltaTable(tmp_path / "live" / "deliveries").to_pyarrow_table().to_pydict()
    pairs = list(zip(delivered[world.event_id], delivered["subscription"], strict=True))
    assert len(pairs) == len(right) > 20
    assert set(pairs) == right
    assert done[-1] == 1


@each_world
def test_a_world_is_the_same_every_time(make: Make) -> None:
    first, second = make(SCALE), make(SCALE)
    assert first.events.equals(second.events)
    assert first.subscriptions == second.subscriptions


@each_world
def test_the_explained_match_is_one(make: Make) -> None:
    outcome = by_engine(make(SCALE))
    explanation = outcome.explained()
    assert explanation is not None
    assert explanation.matched
    event, count = outcome.busiest()
    assert (event, explanation.id) in expected(outcome.world)
    assert count == outcome.by_event().max()


def test_the_year_is_complete_and_keeps_its_types() -> None:
    events = flights.world(1.0).events
    assert events.num_rows == 336_776
    assert events["dep_delay"].type == pa.int64()
    assert events["dep_delay"].null_count == 8_255  # cancelled
    assert events["tailnum"].null_count == 2_512
    assert events["dest_name"].null_count == events["airline"].null_count == 0
    first = events.slice(0, 1).to_pylist()[0]
    assert (first["carrier"], first["flight"], first["dest"]) == ("UA", 1545, "IAH")
    assert first["scheduled"].isoformat() == "2013-01-01T10:15:00+00:00"
    assert first["weather"]["temp"] == 39.02


def test_the_demo_leaves_a_table_a_picture_and_parquet(spark: SparkSession, tmp_path: Path) -> None:
    screen = io.StringIO()
    run_demo(tmp_path / "out", console=Console(file=screen, width=120), scale=SCALE)

    printed = screen.getvalue()
    assert "\x1b" not in printed  # no bar, no colour: this is not a terminal
    for make in WORLDS:
        outcome = by_engine(make(SCALE))
        row = next(line for line in printed.splitlines() if line.startswith(outcome.world.name))
        assert row.split()[1:4] == [
            f"{outcome.world.events.num_rows:,}",
            f"{len(outcome.world.subscriptions):,}",
            f"{outcome.matches:,}",
        ]
        most_matched = list(outcome.by_subscription().items())[:5]
        assert all(f"{count:,}  {id}" in printed for id, count in most_matched)
        folder = tmp_path / "out" / outcome.world.name / "deliveries"
        assert pq.read_table(folder).num_rows == outcome.matches
    assert (tmp_path / "out" / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert "</svg>" in (tmp_path / "out" / "demo.svg").read_text(encoding="utf-8")
    assert spark.range(3).count() == 3  # a session that was there before is left running


def test_the_tour_shows_code_that_works(spark: SparkSession, tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "tutorial" / "tour-of-the-demo.md"
    blocks = re.findall(
        r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    world = flights.world(SCALE)
    write_inputs(world, tmp_path / "out" / world.name)
    for block in blocks:
        exec(block.replace('"out/', f'"{tmp_path}/out/'), {"spark": spark})
    written = pq.read_table(tmp_path / "out" / world.name / "deliveries")
    assert written.num_rows == len(expected(world))


@pytest.mark.own_session
def test_the_program_says_nothing_but_its_report(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "predicast", "demo", "--scale", str(SCALE), "--out", "out"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "most matched" in ran.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_missing_package_is_named_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_NEEDED", ("json", "no_such_package"))
    with pytest.raises(PipelineError, match=r"needs no_such_package; predicast doctor"):
        run_demo(tmp_path / "out", console=Console(file=io.StringIO()))
    assert not (tmp_path / "out").exists()
