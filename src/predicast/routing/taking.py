"""``Taking``: what the streams of all interfaces bring, each in its own order.

Streams know nothing of each other, so that what is next on one may be taken before or after what is
next on another. Of all that came in a step, the events that stand first on their streams are
matched together, which costs little more than matching one of them; then come the windows behind
them, and the events behind those.

What cannot be taken together, because there is no room or something is wrong, is taken message by
message: only what is at fault is refused, and only who has no room has to wait.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from predicast.errors import ForeignPublisherError, PredicastError
from predicast.routing import forwarding
from predicast.routing.interface import Interface, Role
from predicast.routing.messages import Announce, Bye, Events
from predicast.routing.neighbours import Neighbours
from predicast.routing.options import RouterOptions
from predicast.routing.repeats import Repeats
from predicast.routing.table import RoutingTable, as_replacing

Refusing: TypeAlias = Callable[[str, PredicastError, int], None]

_TOGETHER: Final = 1_024  # events; more are no cheaper, and all of their matches are held at once


class _Arrived(NamedTuple):
    """A message with events, and where it came from."""

    source: Interface
    message: Events


class Taking:
    """Streams with something to take, and what is counted of it."""

    def __init__(
        self,
        options: RouterOptions,
        table: RoutingTable,
        neighbours: Neighbours,
        repeats: Repeats,
        refuse: Refusing,
    ) -> None:
        """``refuse`` is told the interface, what is wrong, and the number of the message."""
        self.counts: Counter[str] = Counter()
        self._options = options
        self._table = table
        self._neighbours = neighbours
        self._repeats = repeats
        self._refuse = refuse
        self._offered: dict[str, Interface] = {}  # that may have something to take
        self._blocked: dict[str, Interface] = {}  # whose next message finds no room

    def offer(self, interface: Interface) -> None:
        """A message of its stream has come."""
        self._offered[interface.peer] = interface

    def offer_blocked(self) -> None:
        """There may be room by now for those that found none."""
        blocked, self._blocked = self._blocked, {}
        for name, interface in blocked.items():
            if name in self._neighbours.by_name:
                self._neighbours.touch(interface)
                self.offer(interface)

    def take_all(self) -> None:
        """Take what is next on the streams, as far as it is there and finds room."""
        offered = self._offered
        while offered:
            for group in self._groups():
                self._take_group(group)
            for name, interface in list(offered.items()):
                if name not in self._blocked and self._take_up_to_events(interface):
                    continue
                del offered[name]
                self._neighbours.check_known(interface)

    # Events.

    def _groups(self) -> Iterator[list[_Arrived]]:
        """The events that stand first on all streams, as many at a time as are matched together."""
        group: list[_Arrived] = []
        count = 0
        for interface in self._offered.values():
            for message in interface.incoming.next_events():
                if group and count + len(message.events) > _TOGETHER:
                    yield group
                    group, count = [], 0
                group.append(_Arrived(interface, message))
                count += len(message.events)
        if group:
            yield group

    def _take_group(self, group: list[_Arrived]) -> None:
        if self._blocked:
            group = [each for each in group if each.source.peer not in self._blocked]
        if len(group) > 1:
            try:
                if self._take_together(group):
                    return
            except PredicastError:
                pass  # it is found out below whose fault it is
        for each in group:
            if each.source.peer not in self._blocked:
                self._take_alone(each)

    def _take_alone(self, arrived: _Arrived) -> None:
        source, message = arrived
        try:
            is_taken = self._take_together([arrived])
        except PredicastError as error:
            # It is of no use to send it again: its turn is over.
            self._refuse(source.peer, error, message.sequence)
            source.taken()
            return
        if not is_taken:
            self._blocked[source.peer] = source

    def _take_together(self, group: Sequence[_Arrived]) -> bool:
        """Take all of these, or none if they find no room."""
        by_name, counts = self._neighbours.by_name, self.counts
        for source, message in group:
            if source.role is Role.HOST:
                _check_publisher(source.peer, message)
        new = self._repeats.new([message.events for _, message in group])
        sources = [source for source, _ in group]
        found = forwarding.routes(self._table, by_name, sources, new)
        if not forwarding.has_room(found, by_name, self._options, alone=len(group) == 1):
            return False
        for (source, message), events in zip(group, new, strict=True):
            self._repeats.note(events)
            counts["received"] += len(events)
            counts["repeated"] += len(message.events) - len(events)
            source.taken()
        for name, batch in found.batches.items():
            to_host = by_name[name].role is Role.HOST
            counts["delivered" if to_host else "forwarded"] += len(batch.events)
        counts["unwanted"] += found.unwanted
        counts["dropped"] += forwarding.send(found, by_name, self._options)
        for name in found.held:
            self._neighbours.note(by_name[name])
        for name in found.batches:
            self._neighbours.touch(by_name[name])
        return True

    # Windows, and goodbyes.

    def _take_up_to_events(self, interface: Interface) -> bool:
        """Take what is next until it is events; whether it is."""
        message = interface.incoming.next()
        while message is not None and not isinstance(message, Events):
            try:
                self._take_other(interface, message)
            except PredicastError as error:
                self._refuse(interface.peer, error, message.sequence)
            interface.taken()
            message = interface.incoming.next()
        return message is not None

    def _take_other(self, interface: Interface, message: Announce | Bye) -> None:
        if isinstance(message, Bye):
            self._neighbours.heard_bye(interface)
        else:
            self._take_announce(interface, message)

    def _take_announce(self, interface: Interface, message: Announce) -> None:
        if interface.is_ignored or interface.heard_bye:
            return
        try:
            self._run(interface, message)
        except PredicastError as error:
            if interface.role is Role.HOST:
                raise
            # A broker speaks for others, who are not asked again. What exactly they want is not
            # known any more, so that everything goes there, until all is announced anew.
            self._refuse(interface.peer, error, message.sequence)
            self._table.want_everything(interface.peer)
            interface.announced_again = None
        # What a former parent wants, the new one is told from its own side. To wait for that here
        # would be to wait for ourselves: both of them wait for what we settle.
        if interface.role is Role.FORMER:
            return
        if message.through:
            self._neighbours.tell_through(interface)
        # The others are told at the end of the step, of all windows at once.
        needed = self._neighbours.to_settle(interface)
        if needed:
            self._neighbours.settling.wait(interface.peer, message.sequence, needed)

    def _run(self, interface: Interface, message: Announce) -> None:
        """Have the neighbour want what the window says."""
        again, operations = interface.announced_again, list(message.operations)
        if again is not None:
            operations = [as_replacing(each) for each in operations]
            again |= {each.id for each in operations}
            if message.sequence >= interface.incoming.whole_at:
                interface.announced_again = None
                operations += self._table.all_but(interface.peer, again)
        passed_on = interface.role is not Role.HOST
        if again is None and passed_on and self._table.wants_everything(interface.peer):
            return
        self._table.run(interface.peer, operations, passed_on=passed_on)


def _check_publisher(host: str, message: Events) -> None:
    for each in message.events:
        if each.publisher != host:
            raise ForeignPublisherError(
                f"{host!r} publishes under the name of {each.publisher!r}",
                publisher=each.publisher,
            )
