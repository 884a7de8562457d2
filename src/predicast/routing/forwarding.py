"""Forwarding: which events go to which interfaces, found before anything is changed.

An event goes to every other interface whose wishes it matches, and never back. What comes from the
parent's side, of a former parent too, goes down only: the rest of the tree has it already. Where
wishes are not known yet, all events wait, and are matched when they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
    """Where events go: to some matched, to some held back."""

    batches: dict[str, Batch]
    holding: list[Interface]  # all of the events, until it is known what is wanted there
    events: Sequence[Published]


def routes(
    table: RoutingTable,
    interfaces: Mapping[str, Interface],
    source: Interface,
    events: Sequence[Published],
) -> Routes:
    """Where events from one interface go."""
    from_above = source.role is Role.PARENT or source.role is Role.FORMER
    holding = [
        each
        for each in interfaces.values()
        if not each.is_known
        and each is not source
        and each.takes_events
        and not (from_above and each.role is Role.PARENT)
    ]
    table.check(events, wait=bool(holding))
    open_to = [
        each
        for each in interfaces.values()
        if each.is_known
        and each is not source
        and each.takes_events
        and not (from_above and each.role is Role.PARENT)
    ]
    found = table.match(events, [each.peer for each in open_to], _hosts(open_to))
    return Routes({name: Batch.of(events, found[name]) for name in found}, holding, events)


def _hosts(interfaces: Iterable[Interface]) -> set[str]:
    """Those that are told which of their subscriptions an event matches."""
    return {each.peer for each in interfaces if each.role is Role.HOST}


def has_room(found: Routes, interfaces: Mapping[str, Interface], options: LinkOptions) -> bool:
    """Whether all events find room where they must not be lost."""
    if options.when_full == "drop":
        return True
    most = options.max_waiting
    return all(
        not each.durable or each.waiting + more <= most or not each.waiting
        for each, more in _additions(found, interfaces)
    )


def send(found: Routes, interfaces: Mapping[str, Interface], options: LinkOptions) -> int:
    """Hand the events over; how many found no room, or nobody to wait for."""
    dropped = 0
    for each in found.holding:
        room = _room(each, len(found.events), options)
        each.held += found.events[:room]
        dropped += len(found.events) - room
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
    for each in found.holding:
        yield each, len(found.events)
    for name, batch in found.batches.items():
        yield interfaces[name], len(batch.events)


def _room(target: Interface, wanted: int, options: LinkOptions) -> int:
    """How many of so many events are kept for an interface."""
    if not target.keeps_events:
        return 0
    if target.durable and options.when_full == "wait":
        return wanted  # it was asked for before
    return max(0, min(wanted, options.max_waiting - target.waiting))
