"""``Interface``: a broker's end of a link, with what is wanted there and what waits for it."""

from __future__ import annotations

from enum import StrEnum

from predicast.routing.announcing import Announcer
from predicast.routing.life import InterfaceState
from predicast.routing.link import Identity, Link
from predicast.routing.messages import Published
from predicast.routing.options import LinkOptions


class Role(StrEnum):
    """What the neighbour is to us."""

    PARENT = "parent"
    CHILD = "child"
    HOST = "host"
    FORMER = "former parent"  # has events for us, perhaps, and is told nothing any more


class Interface(Link):
    """One neighbour of a broker.

    While a neighbour's wishes are not *known*, all events wait for it, and are matched when they
    are. Of a neighbour that was known and is away, what it wanted when last heard of decides; but
    for a parent, whose side of the tree may have changed in every way meanwhile.
    """

    def __init__(
        self,
        me: Identity,
        peer: str,
        role: Role,
        epoch: int,
        options: LinkOptions,
        now: float,
    ) -> None:
        super().__init__(me, peer, epoch, options, now)
        self.role = role
        self.is_known = role is Role.HOST
        self.was_there = False  # whether it has ever answered, and may have kept something for us
        self.is_ignored = False  # a former parent whose wishes the new parent's have replaced
        self.held: list[Published] = []  # events that wait until its wishes are known
        self.announced_again: set[str] | None = None  # ids, while all are announced anew
        self.announcer = Announcer()

    @property
    def is_broker(self) -> bool:
        """Whether it is told what others want."""
        return self.role is Role.PARENT or self.role is Role.CHILD

    @property
    def is_ending(self) -> bool:
        """Whether one side has said goodbye."""
        return self.said_bye or self.heard_bye

    @property
    def takes_events(self) -> bool:
        """Whether events go there at all.

        A child that went away before it had said what it wants is owed nothing: whatever is settled
        behind it was settled by another way.
        """
        if self.role is Role.FORMER or self.is_ending:
            return False
        is_gone = self.state is InterfaceState.CLOSED
        return self.is_known or self.role is not Role.CHILD or not is_gone

    @property
    def waiting(self) -> int:
        """How many events wait to be sent or acknowledged."""
        return self.outgoing.events + len(self.held)

    @property
    def keeps_events(self) -> bool:
        """Whether events are kept for it, or lost while it is away."""
        return self.durable or self.state is not InterfaceState.CLOSED
