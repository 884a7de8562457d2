"""What there is to see of a tenant's links: records, ready to be sent."""

from __future__ import annotations

import msgspec


class Traffic(msgspec.Struct):
    """What went over a link since the broker was started, on however many connections."""

    events_in: int = 0
    events_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0


class NeighbourStatus(msgspec.Struct, frozen=True):
    """One neighbour in the tree.

    ``wanted`` subscriptions are what it was heard to want, ``announced`` what it was told that
    others want; ``waiting`` events are not acknowledged by it.
    """

    name: str
    role: str
    state: str
    is_connected: bool
    wanted: int
    announced: int
    waiting: int
    traffic: Traffic
    refused: str | None = None  # the last thing that it did not take, and why


class ParentStatus(msgspec.Struct, frozen=True):
    """An address that is dialled, and who answers there or why nobody does."""

    url: str
    name: str | None
    is_connected: bool
    problem: str | None


class LinksStatus(msgspec.Struct, frozen=True):
    """A tenant's place in the tree.

    It ``is_attached`` when it knows what the rest of the tree wants, and ``is_settled`` when the
    rest of the tree knows all that is wanted here.
    """

    tenant: str
    name: str | None
    level: int | None
    parent: str | None
    is_attached: bool
    is_settled: bool
    passed_on: int  # position in the log up to which events were given to the tree
    neighbours: list[NeighbourStatus]
    parents: list[ParentStatus]
    counts: dict[str, int]
    problem: str | None = None
