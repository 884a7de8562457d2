"""Clients of a broker: ``connect``, then subscribe, publish, change and explain.

::

    async with connect("http://localhost:8642") as client:
        await client.publish({"price": 9.5, "symbol": "IBM"})
        async for delivery in await client.subscribe("price < 10"):
            print(delivery.attributes)

``connect_sync`` is the same for programs without asyncio.
"""

from predicast.client.client import Client, connect
from predicast.client.received import ReceivedDelivery
from predicast.client.stream import Stream
from predicast.client.sync import SyncClient, SyncStream, connect_sync

__all__ = [
    "Client",
    "ReceivedDelivery",
    "Stream",
    "SyncClient",
    "SyncStream",
    "connect",
    "connect_sync",
]
