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

    @property
    def kept(self) -> tuple[Numbered, ...]:
        """The messages that are not acknowledged."""
        return self.outgoing.kept


@dataclass(frozen=True, slots=True)
class InterfaceChange:
    """What has become of an interface: all that is small as it is now, of the rest what is new."""

    record: InterfaceRecord
    kept_from: int  # the messages of this sequence and later are those of the record
    held_from: int  # so many of the events that waited still do
    unwanted: tuple[str, ...]  # ids of what is wanted there no more
    untold: tuple[str, ...]  # ids of what it is told no more
    is_told_anew: bool  # all that it was told is in the record


@dataclass(frozen=True, slots=True)
class StateChange:
    """What a broker has to write down after a step."""

    next_epoch: int
    interfaces: tuple[InterfaceChange, ...]
    gone: tuple[str, ...]
    repeats: dict[str, tuple[int, ...]]  # sequences seen since

    @property
    def is_empty(self) -> bool:
        """Whether nothing has changed."""
        return not (self.interfaces or self.gone or self.repeats)


@dataclass(frozen=True, slots=True)
class RouterState:
    """A whole broker: its durable interfaces, and which events it has seen."""

    name: str
    next_epoch: int
    interfaces: tuple[InterfaceRecord, ...] = ()
    repeats: dict[str, tuple[int, ...]] = field(default_factory=dict)
