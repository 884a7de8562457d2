"""``Noting``: what of a router has changed since it was last asked, to be written down.

Interfaces that a step has touched are looked at, and no others. Of what is small all is taken: a
few numbers and flags. Of what grows, the table above all, those who hold it note what has become of
it meanwhile: ids of subscriptions, messages from a sequence on, events that came to wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from predicast.routing.announcing import Announcer
from predicast.routing.interface import Interface
from predicast.routing.messages import Published
from predicast.routing.neighbours import Neighbours
from predicast.routing.repeats import Repeats
from predicast.routing.restoring import is_kept, record_of
from predicast.routing.state import InterfaceChange, StateChange
from predicast.routing.table import RoutingTable


@dataclass(frozen=True, slots=True)
class _Known:
    """What an interface had when it was last noted."""

    announcer: Announcer
    held: list[Published]
    held_count: int


class Noting:
    """Takes what has changed, from the moment on in which it was made."""

    def __init__(self, neighbours: Neighbours, table: RoutingTable, repeats: Repeats) -> None:
        self._neighbours = neighbours
        self._table = table
        self._repeats = repeats
        self._known: dict[str, _Known] = {}
        neighbours.changed = dict.fromkeys(neighbours.by_name)

    def take(self) -> StateChange:
        """What has changed since this was asked last; at first, everything."""
        neighbours, found, gone = self._neighbours, [], []
        changed, neighbours.changed = neighbours.changed, {}
        for peer in changed or ():
            interface = neighbours.by_name.get(peer)
            if interface is not None and is_kept(interface):
                found.append(self._change(interface))
                continue
            self._table.changed(peer)
            if self._known.pop(peer, None) is not None:
                gone.append(peer)
        return StateChange(
            neighbours.next_epoch, tuple(found), tuple(gone), self._repeats.changed()
        )

    def _change(self, interface: Interface) -> InterfaceChange:
        known = self._known.get(interface.peer)
        wanted, unwanted = self._table.changed(interface.peer)
        kept_from, kept = interface.outgoing.changed()
        told = interface.announcer.changed()
        held_from = 0
        if known is None:
            wanted, unwanted = self._table.statements(interface.peer), []
            kept_from, kept = 1, interface.outgoing.kept()
        elif known.held is interface.held:
            held_from = known.held_count  # a list is added to, or another takes its place
        is_told_anew = told is None or known is None or known.announcer is not interface.announcer
        ids: dict[str, Any] = interface.announcer.state() if is_told_anew else told or {}
        self._known[interface.peer] = _Known(
            interface.announcer, interface.held, len(interface.held)
        )
        return InterfaceChange(
            record_of(
                interface,
                kept=kept,
                wanted=wanted,
                told={id: said for id, said in ids.items() if said is not None},
                held=interface.held[held_from:],
            ),
            kept_from,
            held_from,
            tuple(unwanted),
            tuple(id for id, said in ids.items() if said is None),
            is_told_anew,
        )
