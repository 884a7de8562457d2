"""Forwarding: which events go to which interfaces, found before anything is changed.

An event goes to every other interface whose wishes it matches, and never back. What comes from the
parent's side, of a former parent too, goes down only: the rest of the tree has it already. Where
wishes are not known yet, all events wait, and are matched when they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from predicast.routing.interface import Interface, Role
from predicast.routing.messages import Published
from predicast.routing.options import LinkOptions
from predicast.routing.table import RoutingTable, Wanted


@dataclass(slots=True)
class Batch:
    """Events for one interface; for a host, each with the ids that it matches there."""

    events: list[Published]
    matched: list[tuple[str, ...]]

    @classmethod
    def of(cls, events: Sequence[Published], wanted: Wanted) -> Batch:
        """What is wanted of these events."""
        return cls([events[position] for position in wanted.events], wanted.ids)


@dataclass(slots=True)
class Routes:
    """Where events go: to some matched, to some held back until it is known what they want."""

    batches: dict[str, Batch]
    held: dict[str, list[Published]]
    unwanted: int  # came from a broker, and go nowhere


def routes(
    table: RoutingTable,
    interfaces: Mapping[str, Interface],
    sources: Sequence[Interface],
    arrived: Sequence[Sequence[Published]],
) -> Routes:
    """Where events from some interfaces go."""
    taking = [each for each in interfaces.values() if each.takes_events]
    held = {
        each.peer: [
            event
            for source, events in zip(sources, arrived, strict=True)
            if _may_go(source, each)
            for event in events
        ]
        for each in taking
        if not each.is_known
    }
    events = [event for each in arrived for event in each]
    table.check(events, wait=bool(held))
    open_to = [each for each in taking if each.is_known]
    sizes = list(map(len, arrived))
    may_go = np.array([[_may_go(source, each) for source in sources] for each in open_to], np.bool_)
    found = table.match(
        events,
        [each.peer for each in open_to],
        _hosts(open_to),
        np.repeat(may_go.reshape(len(open_to), len(sources)), sizes, axis=1),
    )
    goes = np.repeat([source.role is Role.HOST for source in sources], sizes)
    for wanted in found.values():
        goes[wanted.events] = True
    return Routes(
        {name: Batch.of(events, wanted) for name, wanted in found.items()},
        {name: waiting for name, waiting in held.items() if waiting},
        0 if held else len(events) - int(np.count_nonzero(goes)),
    )


def _may_go(source: Interface, target: Interface) -> bool:
    if target is source:
        return False
    is_up = target.role is Role.PARENT
    return not (is_up and (source.role is Role.PARENT or source.role is Role.FORMER))


def _hosts(interfaces: Iterable[Interface]) -> set[str]:
    """Those that are told which of their subscriptions an event matches."""
    return {each.peer for each in interfaces if each.role is Role.HOST}


def has_room(
    found: Routes, interfaces: Mapping[str, Interface], options: LinkOptions, *, alone: bool
) -> bool:
    """Whether all events find room where they must not be lost.

    The events of one message, ``alone``, do so in any case where nothing waits.
    """
    if options.when_full == "drop":
        return True
    most = options.max_waiting
    return all(
        not each.durable or each.waiting + more <= most or (alone and not each.waiting)
        for each, more in _additions(found, interfaces)
    )


def send(found: Routes, interfaces: Mapping[str, Interface], options: LinkOptions) -> int:
    """Hand the events over; how many found no room, or nobody to wait for."""
    dropped = 0
    for name, events in found.held.items():
        room = _room(interfaces[name], len(events), options)
        interfaces[name].held += events[:room]
        dropped += len(events) - room
    for name, batch in found.batches.items():
        dropped += hand_over(interfaces[name], batch, options)
    return dropped


def hand_over(target: Interface, batch: Batch, options: LinkOptions) -> int:
    """Hand events to one interface; how many were dropped."""
    room = _room(target, len(batch.events), options)
    if room:
        matched = batch.matched[:room] if target.role is Role.HOST else None
        target.outgoing.publish(batch.events[:room], matched)
    return len(batch.events) - room


def release_held(table: RoutingTable, target: Interface, options: LinkOptions) -> int:
    """What waited for an interface, now that its wishes are known; how many were dropped."""
    held, target.held = target.held, []
    found = table.match(held, [target.peer], _hosts([target])).get(target.peer)
    return 0 if found is None else hand_over(target, Batch.of(held, found), options)


def _additions(
    found: Routes, interfaces: Mapping[str, Interface]
) -> Iterable[tuple[Interface, int]]:
    for name, events in found.held.items():
        yield interfaces[name], len(events)
    for name, batch in found.batches.items():
        yield interfaces[name], len(batch.events)


def _room(target: Interface, wanted: int, options: LinkOptions) -> int:
    """How many of so many events are kept for an interface."""
    if not target.keeps_events:
        return 0
    if target.durable and options.when_full == "wait":
        return wanted  # it was asked for before
    return max(0, min(wanted, options.max_waiting - target.waiting))
