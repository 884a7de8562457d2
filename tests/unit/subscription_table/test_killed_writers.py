"""Writers that are killed in the middle of a window: all of it is there afterwards, or nothing.

``PREDICAST_KILLS`` says how many are killed; ``make kill-writers`` kills some hundred.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from predicast import spark as ps

KILLS = int(os.environ.get("PREDICAST_KILLS", "4"))
SIZE = 20

# Window n replaces all that window n - 1 subscribed, half by changes. Each is told when it is done.
WRITER = """
import sys
from predicast import Change, Subscribe, Unsubscribe
from predicast import spark as ps

table, number, size = ps.SubscriptionTable(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
while True:
    number += 1
    window = [Subscribe(f"w{number}-{each}", f"x = {number}") for each in range(size)]
    if number > 1:
        window += [Unsubscribe(f"w{number - 1}-{each}") for each in range(size)]
        window += [Change(f"fixed-{each}", f"x = {number}") for each in range(size)]
    else:
        window += [Subscribe(f"fixed-{each}", f"x = {number}") for each in range(size)]
    table.apply(window)
    print(number, flush=True)
    if number % 5 == 0:
        table.engine()
"""


def killed_writer(path: Path, done: int, windows: int, wait_s: float) -> int:
    """Have a writer go on after window ``done``, kill it after some more; the last it told of."""
    command = [sys.executable, "-c", WRITER, str(path), str(done), str(SIZE)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        for _ in range(windows):
            done = int(process.stdout.readline())
        time.sleep(wait_s)  # so that it is killed anywhere in what comes next
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().split()
    return int(rest[-1]) if rest else done


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_window_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path, done = tmp_path / "table", 0
    chance = random.Random(7)
    for _ in range(KILLS):
        told = killed_writer(path, done, chance.randrange(3), chance.random() / 20)
        table = ps.SubscriptionTable(path)
        engine = table.engine()
        held = {id for id in engine if id.startswith("w")}
        done = max((int(id[1:].partition("-")[0]) for id in held), default=0)
        assert told <= done <= told + 1  # what was told is there; what was not, may be
        assert held == ({f"w{done}-{each}" for each in range(SIZE)} if done else set())
        if done:
            assert len(engine.match({"x": done})) == 2 * SIZE
        assert table.version == done
        assert len(table.at()) == len(engine)
