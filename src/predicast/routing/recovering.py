"""``Recovering``: a state, and what has changed since it was taken, put together again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from predicast.engine import Subscribe
from predicast.routing.messages import Numbered, Published
from predicast.routing.state import InterfaceChange, InterfaceRecord, RouterState, StateChange


@dataclass(slots=True)
class _Kept:
    """An interface's record, with what grows in forms that are cheap to change."""

    record: InterfaceRecord
    kept: list[Numbered]
    wanted: dict[str, Subscribe]
    told: dict[str, Any]
    held: list[Published]

    @classmethod
    def of(cls, record: InterfaceRecord) -> _Kept:
        wanted = {each.id: each for each in record.wanted}
        return cls(record, list(record.kept), wanted, dict(record.told), list(record.held))

    def whole(self) -> InterfaceRecord:
        outgoing = replace(self.record.outgoing, kept=tuple(self.kept))
        return replace(
            self.record,
            outgoing=outgoing,
            wanted=tuple(self.wanted.values()),
            told=self.told,
            held=tuple(self.held),
        )

    def apply(self, change: InterfaceChange) -> None:
        record = self.record = change.record
        acknowledged = record.outgoing.acknowledged
        before = [each for each in self.kept if acknowledged < each.sequence < change.kept_from]
        self.kept = [*before, *record.kept]
        for id in change.unwanted:
            self.wanted.pop(id, None)
        self.wanted.update({each.id: each for each in record.wanted})
        if change.is_told_anew:
            self.told = {}
        for id in change.untold:
            self.told.pop(id, None)
        self.told.update(record.told)
        self.held[change.held_from :] = record.held


class Recovering:
    """The state of a router, change by change."""

    def __init__(self, state: RouterState) -> None:
        self._name = state.name
        self._next_epoch = state.next_epoch
        self._interfaces = {each.peer: _Kept.of(each) for each in state.interfaces}
        self._repeats = dict(state.repeats)

    def apply(self, change: StateChange) -> None:
        """The next change."""
        self._next_epoch = change.next_epoch
        for peer in change.gone:
            self._interfaces.pop(peer, None)
        for each in change.interfaces:
            peer = each.record.peer
            if peer in self._interfaces:
                self._interfaces[peer].apply(each)
            else:
                self._interfaces[peer] = _Kept.of(each.record)
        for publisher, sequences in change.repeats.items():
            before = self._repeats.pop(publisher, ())  # whoever was heard of last stands last
            self._repeats[publisher] = (*before, *sequences)

    def state(self) -> RouterState:
        """The state after all changes so far."""
        interfaces = tuple(each.whole() for each in self._interfaces.values())
        return RouterState(self._name, self._next_epoch, interfaces, self._repeats)
