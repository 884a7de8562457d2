"""``LinkStore``: what of a tenant's links survives a crash, and who keeps it.

A router's journal, how far the tenant's log was passed on, and which positions in it came over a
link and are passed on by nobody here. All that one turn has changed is kept in one act, before
anything that follows from it is sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from predicast.routing.journal import Entry


class Identity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who a linked tenant is to others.

    ``source`` names its log; ``epoch`` grows with every start. ``parents`` are the names of those
    that were spoken to, by their addresses.
    """

    name: str
    source: str
    epoch: int
    level: int
    parents: dict[str, str] = {}


@dataclass(slots=True)
class KeptLinks:
    """All that was kept of a tenant's links."""

    identity: Identity | None = None
    journal: bytes = b""
    passed_on: int = 0  # position in the log


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn has changed."""

    journal: Entry
    passed_on: int
    arrived: Sequence[int] = field(default=())  # positions that came over a link


class LinkStore(Protocol):
    """Keeps links. A call that returns has it kept."""

    async def load(self, tenant: str) -> KeptLinks:
        """What was kept; a ``DamagedStoreError`` if it cannot be read."""

    async def tenants(self) -> list[str]:
        """Those of which anything was kept."""

    async def identify(self, tenant: str, identity: Identity) -> None:
        """Who the tenant is from now on."""

    async def begin_anew(self, tenant: str, identity: Identity, passed_on: int) -> None:
        """The same, with nothing known of before."""

    async def keep(self, tenant: str, turn: Turn) -> None:
        """Keep what a turn has changed."""

    async def arrived_among(self, tenant: str, positions: Sequence[int]) -> set[int]:
        """Those of some positions, which grow, that came over a link."""

    async def close(self) -> None:
        """Let go of it."""
