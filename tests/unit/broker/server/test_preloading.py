"""What the first requests take is there before they come."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import asyncio, json, sys
from predicast.broker.broker import Broker
from predicast.broker.embedded import EmbeddedBackend
from predicast.broker.server import app, preloading
from predicast.protocol.records import Definition, NewEvent

async def run(folder):
    async with Broker(EmbeddedBackend(folder)) as broker:
        tenant = broker.tenant()
        preloading.preload()
        there = {*sys.modules}
        await tenant.subscribe(Definition("cheap", "price < 10 AND symbol = 'IBM'"))
        event = {"price": 9.5, "symbol": "IBM"}
        await tenant.publish([NewEvent(json.dumps(event).encode(), event, "1", "p")])
        return sorted({*sys.modules} - there)

print(json.dumps(asyncio.run(run(sys.argv[1]))))
"""


def test_the_first_requests_import_next_to_nothing(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "data")],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},  # no thread imports what it takes meanwhile
    )
    imported = json.loads(run.stdout)
    assert not [name for name in imported if "." not in name], imported
