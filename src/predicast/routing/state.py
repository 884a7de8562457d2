"""``RouterState``: what of a router survives a crash. The caller keeps it, and hands it back.

A broker that is started with it goes on as if nothing but time had passed: its streams continue in
the same epochs, what was not acknowledged is sent again, and nobody is told anything anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from predicast.engine import Subscribe
from predicast.routing.interface import Role
from predicast.routing.messages import Numbered, Published


@dataclass(frozen=True, slots=True)
class OutgoingState:
    """How far a stream is that is sent, and what is not acknowledged."""

    epoch: int
    next_sequence: int
    acknowledged: int
    settled: int
    announced: int
    whole_at: int
    kept: tuple[Numbered, ...]


@dataclass(frozen=True, slots=True)
class IncomingState:
    """How far a stream is that is received."""

    epoch: int
    received: int
    settled: int
    whole_at: int


@dataclass(frozen=True, slots=True)
class InterfaceRecord:
    """One interface: its streams, what is wanted there, what it was told, what waits for it."""

    peer: str
    role: Role
    outgoing: OutgoingState
    incoming: IncomingState
    is_known: bool
    is_known_there: bool
    was_there: bool
    is_ignored: bool
    leaving: bool
    said_bye: bool
    heard_bye: bool
    wanted: tuple[Subscribe, ...]
    told: dict[str, Any]
    announced_again: frozenset[str] | None
    held: tuple[Published, ...]


@dataclass(frozen=True, slots=True)
class RouterState:
    """A whole broker: its durable interfaces, and which events it has seen."""

    name: str
    next_epoch: int
    interfaces: tuple[InterfaceRecord, ...] = ()
    repeats: dict[str, tuple[int, ...]] = field(default_factory=dict)
