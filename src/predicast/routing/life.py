"""The life of an interface: a table of states, from which the documentation draws its picture.

Paper 4's states with the digest's repairs: what was Closed is Pending again first, and Active only
once the neighbour has acknowledged our hello. Events are sent while Active alone; before that they
wait.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class InterfaceState(StrEnum):
    """Where an interface is in its life."""

    PENDING = "Pending"  # greeted, not acknowledged yet
    ACTIVE = "Active"  # acknowledged
    CLOSED = "Closed"  # not heard of; kept for a while


class Happening(StrEnum):
    """What may happen to an interface."""

    HEARD = "a message comes"
    ACKNOWLEDGED = "our hello is acknowledged"
    RESTARTED = "a stream begins anew"
    SILENT = "the time to live is over"
    DETACHED = "the connection is lost"


_PENDING, _ACTIVE, _CLOSED = InterfaceState

LIFE: Final[dict[tuple[InterfaceState, Happening], InterfaceState]] = {
    (_PENDING, Happening.HEARD): _PENDING,
    (_PENDING, Happening.ACKNOWLEDGED): _ACTIVE,
    (_PENDING, Happening.RESTARTED): _PENDING,
    (_PENDING, Happening.SILENT): _CLOSED,
    (_PENDING, Happening.DETACHED): _CLOSED,
    (_ACTIVE, Happening.HEARD): _ACTIVE,
    (_ACTIVE, Happening.ACKNOWLEDGED): _ACTIVE,
    (_ACTIVE, Happening.RESTARTED): _PENDING,
    (_ACTIVE, Happening.SILENT): _CLOSED,
    (_ACTIVE, Happening.DETACHED): _CLOSED,
    (_CLOSED, Happening.HEARD): _PENDING,
    (_CLOSED, Happening.ACKNOWLEDGED): _PENDING,
    (_CLOSED, Happening.RESTARTED): _PENDING,
    (_CLOSED, Happening.SILENT): _CLOSED,
    (_CLOSED, Happening.DETACHED): _CLOSED,
}
