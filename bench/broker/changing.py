"""Whether a change holds for the next event: asked of a broker that holds many subscriptions."""

from __future__ import annotations

import time

import msgspec

from predicast.client import connect


class ChangesSeen(msgspec.Struct, frozen=True):
    """Changes, each with an event right behind it that only the changed subscription matches."""

    subscriptions: int
    changes: int
    seen: int  # whose event was delivered, and the event of the value before was not
    change_ms: float  # until it is acknowledged; the median
    delivery_ms: float  # from the publish behind it to the delivery; the median


async def changes_seen(port: int, subscriptions: int, changes: int) -> ChangesSeen:
    """Change a subscription's parameter again and again, and publish at once."""
    taken: list[float] = []
    delivered: list[float] = []
    seen = 0
    async with (
        connect(f"http://127.0.0.1:{port}") as client,
        await client.subscribe("changing = :place", parameters={"place": 0}) as stream,
    ):
        for place in range(1, changes + 1):
            began = time.perf_counter()
            await client.change(stream.id, parameters={"place": place})
            changed = time.perf_counter()
            stale, fresh = await client.publish([{"changing": place - 1}, {"changing": place}])
            delivery = await anext(stream)
            delivered.append(time.perf_counter() - changed)
            taken.append(changed - began)
            # Deliveries come in the order of positions: the stale one would have come first.
            seen += delivery.position == fresh.position != stale.position
    middle = changes // 2
    return ChangesSeen(
        subscriptions,
        changes,
        seen,
        round(1000 * sorted(taken)[middle], 2),
        round(1000 * sorted(delivered)[middle], 2),
    )
