"""``kill -9`` loses nothing that somebody was told is kept."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from predicast.broker.embedded import EmbeddedBackend
from predicast.protocol import Definition, Put
from tests.thorough import LONG
from tests.unit.broker.embedded.stores import TENANT, started

ROOT = Path(__file__).parents[4]
LINES = 150  # that a process says before it is killed, something of every kind among them
KINDS = {"even", "subs", "done"}


def killed_run(folder: Path, first: int) -> list[str]:
    """What a process said until it was killed in the middle of its work."""
    command = [sys.executable, "-m", "tests.unit.broker.embedded.killed", str(folder), str(first)]
    paths = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        while len(lines) < LINES + 37 * first % 101 or not {line[:4] for line in lines} >= KINDS:
            lines.append(process.stdout.readline())
            assert lines[-1], "it has ended by itself"
        process.kill()
        lines += process.stdout.readlines()
    # The last line may be half of one.
    return [line.strip() for line in lines if line.endswith("\n")]


def test_kill_9(tmp_path: Path) -> None:
    promised: dict[str, set[int]] = {"event": set(), "subscription": set(), "done": set()}

    async def prepare() -> None:
        async with started(tmp_path) as backend:
            await backend.change(TENANT, [Put(Definition("all", "price < 10"))])

    async def checked() -> None:
        async with started(tmp_path) as backend:
            await check(backend)

    async def check(backend: EmbeddedBackend) -> None:
        kept = {each.position for each in await backend.events(TENANT, most=10**6)}
        assert promised["event"] <= kept
        found = {each.id for each in await backend.definitions(TENANT, most=10**6)}
        assert {f"s{number}" for number in promised["subscription"]} <= found
        assert len(backend.subscriptions(TENANT)) == len(found)
        consumer = await backend.consumer(TENANT)
        await consumer.add(["all"])
        waiting: set[int] = set()
        while deliveries := await consumer.take(1000, 0.05):
            waiting |= {each.event.position for each in deliveries}
        assert not waiting & promised["done"]
        assert kept - waiting >= promised["done"]
        lost = promised["event"] - waiting - promised["done"]
        # What was acknowledged, and not said any more, is done as well: one of each run.
        assert len(lost) <= run

    asyncio.run(prepare())
    for run in range(1, 13 if LONG else 3):
        lines = killed_run(tmp_path, 10**6 * run)
        assert lines[0] == "started"
        for line in lines[1:]:
            kind, *numbers = line.split()
            promised[kind].add(int(numbers[-1]))
        asyncio.run(checked())
    assert all(promised.values())
