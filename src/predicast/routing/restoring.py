"""From interfaces to the records that survive a crash, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from predicast.engine import Subscribe
from predicast.routing.interface import Interface, Role
from predicast.routing.link import Identity
from predicast.routing.messages import Numbered, Published
from predicast.routing.options import RouterOptions
from predicast.routing.state import IncomingState, InterfaceRecord, OutgoingState
from predicast.routing.stream import Incoming
from predicast.routing.table import RoutingTable


def whole_record_of(interface: Interface, table: RoutingTable) -> InterfaceRecord:
    """What has to survive of an interface."""
    return record_of(
        interface,
        kept=interface.outgoing.kept(),
        wanted=table.statements(interface.peer),
        told=interface.announcer.state(),
        held=interface.held,
    )


def record_of(
    interface: Interface,
    *,
    kept: tuple[Numbered, ...],
    wanted: Sequence[Subscribe],
    told: dict[str, Any],
    held: Sequence[Published],
) -> InterfaceRecord:
    """The same, with so much of what is large."""
    outgoing, incoming = interface.outgoing, interface.incoming
    again = interface.announced_again
    return InterfaceRecord(
        interface.peer,
        interface.role,
        OutgoingState(
            outgoing.epoch,
            outgoing.next_sequence,
            outgoing.acknowledged,
            outgoing.settled,
            outgoing.announced,
            outgoing.whole_at,
            kept,
        ),
        IncomingState(incoming.epoch, incoming.received, interface.settled, incoming.whole_at),
        interface.is_known,
        interface.is_known_there,
        interface.was_there,
        interface.is_ignored,
        interface.leaving,
        interface.said_bye,
        interface.heard_bye,
        tuple(wanted),
        told,
        None if again is None else frozenset(again),
        tuple(held),
    )


def interface_of(
    record: InterfaceRecord, me: Identity, options: RouterOptions, table: RoutingTable
) -> Interface:
    """The interface of a record; its wishes are put into the table."""
    kept = record.outgoing
    interface = Interface(me, record.peer, record.role, kept.epoch, options, 0.0)
    outgoing = interface.outgoing
    outgoing.next_sequence = kept.next_sequence
    outgoing.acknowledged = kept.acknowledged
    outgoing.settled = kept.settled
    outgoing.announced = kept.announced
    outgoing.whole_at = kept.whole_at
    outgoing.restore(kept.kept)
    interface.incoming = Incoming(record.incoming.epoch, record.incoming.whole_at)
    interface.incoming.received = record.incoming.received
    interface.settled = record.incoming.settled
    interface.is_known = record.is_known
    interface.is_known_there = record.is_known_there
    interface.was_there = record.was_there
    interface.is_ignored = record.is_ignored
    interface.leaving = record.leaving
    interface.said_bye = record.said_bye
    interface.heard_bye = record.heard_bye
    interface.held = list(record.held)
    again = record.announced_again
    interface.announced_again = None if again is None else set(again)
    if record.wanted:
        table.run(record.peer, record.wanted, passed_on=record.role is not Role.HOST)
    return interface


def take_up_ids(
    interface: Interface, record: InterfaceRecord, table: RoutingTable, options: RouterOptions
) -> None:
    """What the neighbour was told keeps its ids; the news that are left are told."""
    interest = table.interest
    interest.listen(interface.peer)
    wishes = interest.take(interface.peer)
    news = interface.announcer.restore(record.told, wishes, options.absent)
    operations = interface.announcer.window(news, options.max_window)
    if operations and interface.is_broker:
        interface.outgoing.announce(operations)


def is_kept(interface: Interface) -> bool:
    """Whether an interface survives a crash."""
    return interface.durable or interface.role is not Role.HOST
