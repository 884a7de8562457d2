"""Bulk loading: seconds, memory, and the file, measured in a process of its own.

What a process holds besides cannot be told from what the engine holds, and memory that was freed
may stay with the process; so the measuring process does nothing else, and gives back what it can
before it looks. ``python -m bench.matchers.loading SUBSCRIPTIONS SEED MATCHER`` is that process.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import msgspec
import pyarrow as pa

from bench.matchers.ceem import ceem_workload
from bench.matchers.results import OURS, LoadResult
from bench.matchers.workload import ids
from bench.measuring.memory import peak_bytes, resident_bytes
from bench.measuring.timing import timed_on_the_clock
from predicast import Engine


def measure_load(subscriptions: int, *, seed: int = 0, ours: str = OURS) -> LoadResult:
    """CEEM experiment 1 from an Arrow table."""
    command = [sys.executable, "-m", "bench.matchers.loading", str(subscriptions), str(seed), ours]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the measuring process failed:\n{done.stderr}")
    return msgspec.json.decode(done.stdout, type=LoadResult)


def probe(subscriptions: int, seed: int, ours: str) -> LoadResult:
    """What the measuring process does."""
    _warm_up(seed, ours)
    before = resident_bytes()
    held = dict.fromkeys(ids(subscriptions).to_pylist(), 0)
    id_bytes = resident_bytes() - before
    assert len(held) == subscriptions
    del held
    before = resident_bytes()
    workload = ceem_workload("exp1", subscriptions, 10, seed)
    events, table = workload.events, workload.table()
    constraints = table.num_rows
    del workload  # it would be counted
    engine = Engine(matcher=ours)

    load_s, matches = timed_on_the_clock(partial(_loaded, engine, table, events))
    del table
    growth = resident_bytes() - before
    with tempfile.TemporaryDirectory(prefix="predicast-load-") as folder:
        path = Path(folder) / "engine"
        save_s, _ = timed_on_the_clock(lambda: engine.save(path))
        file_bytes = path.stat().st_size
        open_s, again = timed_on_the_clock(lambda: Engine.load(path).match_arrow(events).num_rows)
    assert again == matches, "the engine that was loaded differs from the one that was saved"
    return LoadResult(
        subscriptions=subscriptions,
        constraints=constraints,
        load_s=load_s,
        growth_bytes=growth,
        id_bytes=id_bytes,
        array_bytes=engine.statistics().get("bytes"),
        peak_bytes=peak_bytes(),
        save_s=save_s,
        open_s=open_s,
        file_bytes=file_bytes,
    )


def _loaded(engine: Engine, table: pa.Table, events: pa.RecordBatch) -> int:
    """Load, and match once, since a matcher may leave its work to the first event."""
    engine.subscribe_arrow(table)
    return int(engine.match_arrow(events).num_rows)


def _warm_up(seed: int, ours: str) -> None:
    """Compiled kernels and imports are no part of what a subscription takes."""
    workload = ceem_workload("exp1", 5_000, 10, seed)
    engine = Engine(matcher=ours)
    engine.warm_up()
    engine.subscribe_arrow(workload.table())
    engine.match_arrow(workload.events)


if __name__ == "__main__":
    count, seed, ours = sys.argv[1:]
    print(msgspec.json.encode(probe(int(count), int(seed), ours)).decode())
