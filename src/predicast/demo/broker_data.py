"""The worlds as a broker's data: ``predicast serve`` opens the folder, and has something to show.

All subscriptions are in it, and the first events of each world, matched and waiting for whoever
reads them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from predicast.broker import Broker
from predicast.broker.embedded import EmbeddedBackend
from predicast.demo.world import World
from predicast.language.json_form import attributes_from_json, event_to_json
from predicast.model import Event, Interval
from predicast.protocol import Definition, NewEvent, Put

EVENTS: Final = 960  # of each world: of the objects that move, four reports of each


def write_broker_data(worlds: Sequence[World], folder: Path, most: int = EVENTS) -> None:
    """Subscribe and publish; what an earlier run has left there is replaced or known already."""
    asyncio.run(_write(worlds, folder, most))


async def _write(worlds: Sequence[World], folder: Path, most: int) -> None:
    async with Broker(EmbeddedBackend(folder)) as broker:
        tenant = broker.tenant()
        for world in worlds:
            await tenant.apply([Put(each, replace=True) for each in definitions(world)])
            await tenant.publish(list(first_events(world, most)))


def definitions(world: World) -> Iterator[Definition]:
    """A world's subscriptions, each of the owner that its id begins with."""
    for id, text in world.subscriptions.items():
        yield Definition(id, text, owner=id.partition("-")[0])


def first_events(world: World, most: int) -> Iterator[NewEvent]:
    """A world's first events, named so that a second run is known for a repeat."""
    for row in world.events.slice(0, most).to_pylist():
        name = f"{world.name}-{row.pop(world.event_id)}"
        body = event_to_json(Event(_with_intervals(row, world))).encode()
        yield NewEvent(body, attributes_from_json(body), name, world.name)


def _with_intervals(row: dict[str, Any], world: World) -> dict[str, Any]:
    for name, ends in world.intervals.items():
        row[name] = Interval(*(row.pop(end) for end in ends))
    return row
