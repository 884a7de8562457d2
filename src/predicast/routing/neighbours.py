"""``Neighbours``: the interfaces of a broker; who comes and goes, and what each is told.

**The tree.** A broker attaches to the first candidate that answers. A parent's rank, its level and
name, is lower than its child's: both sides see to it, and so there is no circle, at no time. When
the parent falls silent the next candidate takes its place. The one before becomes a *former*
parent, which may have kept events for us: it is greeted until it answers or is forgotten, its
events are taken, and goodbye is said once the new parent's side knows all that we want. What it had
not acknowledged goes to the new one as well; repeats are told by publisher and sequence.

**Moving.** An event that passed a fork of the tree before our wishes came there by the new way is
still on its way to the former parent. So what we say to a new parent goes *through*: it is passed
on to all brokers, and on every stream it comes after such events. When it is settled they have
arrived at the former parent, which keeps them for us, and we may leave it.

**What they are told.** A window is made when the neighbour has taken the one before. Streams are in
order, so that an earlier one would be in force no sooner; until then what has changed is gathered,
and what has come and gone in between is never told. While a neighbour is away nothing piles up.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator

from predicast.errors import InterfaceRefusedError, UnknownInterfaceError
from predicast.routing import forwarding
from predicast.routing.announcing import Announcer
from predicast.routing.interface import Interface, Role
from predicast.routing.life import InterfaceState
from predicast.routing.link import Identity
from predicast.routing.messages import Hello, PeerKind
from predicast.routing.options import EPOCH_BITS, RouterOptions
from predicast.routing.settling import Settling
from predicast.routing.stream import Incoming
from predicast.routing.table import RoutingTable


class Neighbours:
    """The interfaces by name, and the parent among them."""

    def __init__(self, options: RouterOptions, table: RoutingTable) -> None:
        self.parent: Interface | None = None
        self.candidates = list(options.candidates)  # to be the parent
        self.settling = Settling()
        self.is_leaving = False
        self.next_epoch = (options.epoch << EPOCH_BITS) + 1
        self.dropped = 0  # events that found no room when they were released
        self.moved = 0  # how often another parent took the place of one that had been there
        self.by_name: dict[str, Interface] = {}
        self.touched: dict[str, Interface] = {}  # that may have something to say
        self.changed: dict[str, None] | None = None  # that are not as they were, once it is noted
        self._me = Identity(options.name, PeerKind.BROKER, options.level)
        self._options = options
        self._table = table
        self._timers: list[tuple[float, str]] = []
        self._scheduled: dict[str, float] = {}

    def __iter__(self) -> Iterator[Interface]:
        return iter(list(self.by_name.values()))

    def touch(self, interface: Interface) -> None:
        """It may have something to say, or another timer, at the end of the step."""
        self.touched[interface.peer] = interface
        self.note(interface)

    def note(self, interface: Interface) -> None:
        """It is not as it was when last written down."""
        if self.changed is not None:
            self.changed[interface.peer] = None

    def new_epoch(self) -> int:
        """The epoch of another stream, higher than all before."""
        self.next_epoch += 1
        return self.next_epoch - 1

    # Coming.

    def add(self, name: str, role: Role, now: float, *, through: bool = False) -> Interface:
        """A new interface; a broker is told everything first."""
        interface = Interface(self._me, name, role, self.new_epoch(), self._options, now)
        self.by_name[name] = interface
        if interface.is_broker:
            self._table.interest.listen(name)
            news = self._table.interest.take(name)
            window = interface.announcer.window(news, self._options.max_window)
            interface.say_whole(window, through=through)
        self.touch(interface)
        return interface

    def put_back(self, interface: Interface) -> None:
        """An interface of before a restart."""
        self.by_name[interface.peer] = interface
        if interface.role is Role.PARENT:
            self.parent = interface

    def check_newcomer(self, hello: Hello) -> None:
        """Refuse who cannot be a neighbour."""
        name, most = hello.sender, self._options.max_interfaces
        if hello.leaving or hello.answer:
            raise UnknownInterfaceError(f"nothing is known of {name!r}", interface=name)
        if self.is_leaving:
            raise InterfaceRefusedError(
                f"{self._me.name!r} is leaving; another broker is wanted", interface=name
            )
        if len(self.by_name) >= most:
            raise InterfaceRefusedError(f"there are {most} interfaces already", interface=name)

    def check_rank(self, hello: Hello, role: Role) -> None:
        """Refuse a parent that is not nearer to the core, and a child that is not farther."""
        if (hello.kind is PeerKind.HOST) != (role is Role.HOST):
            raise InterfaceRefusedError(
                f"{hello.sender!r} says that it is a {hello.kind}, and is known as a {role}",
                interface=hello.sender,
            )
        rank = hello.level, hello.sender
        mine = self._options.rank
        is_right = {Role.HOST: True, Role.CHILD: rank > mine}.get(role, rank < mine)
        if not is_right:
            raise InterfaceRefusedError(
                f"a parent's level and name are lower than its child's; {hello.sender!r} is of "
                f"level {hello.level}, {self._me.name!r} of level {self._me.level}",
                interface=hello.sender,
            )

    def begin_anew(self, interface: Interface, now: float, *, through: bool = False) -> None:
        """One of us has lost its memory of the other: another stream, with everything."""
        whole = None
        if interface.is_broker and not interface.is_ending:
            self._tell(interface)
            whole = interface.announcer.whole()
        interface.begin_anew(self.new_epoch(), whole, now, through=through)
        self.settling.moved(interface.peer, interface.peer, interface.outgoing.announced)
        self.touch(interface)

    def check_known(self, interface: Interface) -> None:
        """See whether it is known by now what is wanted there, and release what waited for that."""
        is_ready = interface.state is InterfaceState.ACTIVE and interface.incoming.is_whole
        if interface.is_known or not is_ready:
            return
        interface.is_known = True
        if interface is self.parent:
            for former in self.formers():
                former.is_ignored = True
                self.note(former)
                self._table.drop(former.peer)
        self.dropped += forwarding.release_held(self._table, interface, self._options)
        self.touch(interface)

    # Telling.

    def tell_news(self) -> None:
        """Tell each neighbour that can take it what has changed for it."""
        for name in self._table.interest.with_news():
            each = self.by_name[name]
            if each.is_broker and self._is_ready(each):
                self._tell(each)

    def _is_ready(self, interface: Interface) -> bool:
        """Whether a window would be taken at once; else it is better made later."""
        if interface.is_ending or interface.state is not InterfaceState.ACTIVE:
            return False
        return interface.outgoing.announced <= interface.outgoing.acknowledged

    def tell_through(self, source: Interface) -> None:
        """Pass on to all others what goes through, with what there is to tell."""
        for each in self.by_name.values():
            if each.is_broker and not each.is_ending and each is not source:
                self._tell(each, through=True)

    def _tell(self, interface: Interface, *, through: bool = False) -> None:
        news = self._table.interest.take(interface.peer)
        operations = interface.announcer.window(news, self._options.max_window)
        if operations or through:
            interface.outgoing.announce(operations, through=through)
            self.touch(interface)
        self.settling.told(interface.peer, interface.outgoing.announced)
        if self._is_settled(interface):  # there was nothing to tell, and no answer will come
            self.settled(self.settling.reached(interface.peer, interface.outgoing.settled))

    def to_settle(self, source: Interface) -> dict[str, float]:
        """What the others have to settle for all that a source has announced to be in force."""
        needed: dict[str, float] = {}
        for each in self.by_name.values():
            if each is source or not each.is_broker or each.is_ending:
                continue
            if not self._is_settled(each):
                needed[each.peer] = self._needed(each)
        return needed

    def _needed(self, interface: Interface) -> float:
        """What it has to settle for all that we want now; infinity until it is told."""
        if self._table.interest.has_news(interface.peer):
            return math.inf
        return interface.outgoing.announced

    def settled(self, names: list[str]) -> None:
        """The streams of these are settled farther than before."""
        for name in names:
            interface = self.by_name.get(name)
            if interface is not None:
                interface.owes_acknowledgement = True
                self.touch(interface)

    # Going.

    def formers(self) -> list[Interface]:
        """Former parents that are not forgotten."""
        return [each for each in self.by_name.values() if each.role is Role.FORMER]

    def closed(self, interface: Interface, now: float) -> None:
        """An interface was Closed."""
        self.touch(interface)
        if interface.role is Role.FORMER:
            interface.try_again(now)
        elif interface.role is Role.PARENT:
            interface.is_known = False
            self.leave_parent(now)
        elif not interface.takes_events:
            interface.held = []

    def leave_parent(self, now: float) -> None:
        """Attach to the next candidate, or try the same one again if there is no other."""
        before = self.parent
        assert before is not None
        name = self._next_candidate(before.peer)
        if name is None:
            before.try_again(now)
            return
        parent = self._new_parent(name, now)
        events = [event for event, _ in before.outgoing.kept_events()]
        parent.held = [*parent.held, *events, *before.held]
        parent.is_known = False
        before.held = []
        self.parent = parent
        self.settling.moved(before.peer, parent.peer, self._needed(parent))
        if not before.was_there:
            self.remove(before)
            return
        self.moved += 1
        before.role, before.leaving = Role.FORMER, True
        self.settling.forget(before.peer)  # it is not waited for on behalf of a former parent
        self.settled([before.peer])
        before.try_again(now)
        self.touch(before)

    def _new_parent(self, name: str, now: float) -> Interface:
        former = self.by_name.get(name)
        if former is None:
            return self.add(name, Role.PARENT, now, through=True)
        former.role, former.leaving = Role.PARENT, False
        if former.is_ignored or former.is_ending:
            # We do not know any more what it wants, but it may have kept something for us.
            former.is_ignored = False
            former.incoming = Incoming()
            self.come_back(former)
            self.begin_anew(former, now, through=True)
        else:
            self._tell(former, through=True)
            former.greet_again(now)
        self.touch(former)
        return former

    def come_back(self, interface: Interface) -> None:
        """A neighbour that was leaving is one again: goodbye was not meant."""
        interface.said_bye = interface.heard_bye = False
        if interface.is_broker:
            interface.is_known = False
            interface.announcer = Announcer()
            self._table.interest.listen(interface.peer)

    def _next_candidate(self, name: str) -> str | None:
        candidates = self.candidates
        begin = candidates.index(name) + 1 if name in candidates else 0
        for each in (*candidates[begin:], *candidates[:begin]):
            known = self.by_name.get(each)
            if each != name and (known is None or known.role is Role.FORMER):
                return each
        return None

    def let_go(self) -> None:
        """Say goodbye to former parents and, leaving, to the parent, where all is in order."""
        parent = self.parent
        if parent is not None and parent.is_known and self._is_settled(parent):
            for each in self.formers():
                self._say_bye(each)
        if self.is_leaving and parent is not None and len(self.by_name) == 1:
            self._say_bye(parent)
        for each in list(self.touched.values()):
            if each.heard_bye and each.is_drained:
                self._say_bye(each)

    def _is_settled(self, interface: Interface) -> bool:
        """Whether all that we want is in force there, and behind it."""
        outgoing = interface.outgoing
        has_news = self._table.interest.has_news(interface.peer)
        return not has_news and outgoing.settled >= outgoing.announced

    def _say_bye(self, interface: Interface) -> None:
        if not interface.said_bye:
            interface.said_bye = True
            interface.outgoing.say_bye()
            self.touch(interface)

    def heard_bye(self, interface: Interface) -> None:
        """The neighbour wants nothing any more but what was kept for it."""
        interface.heard_bye = True
        self._table.drop(interface.peer)
        self._table.interest.ignore(interface.peer)
        self.settled(self.settling.gone(interface.peer))

    def remove(self, interface: Interface) -> None:
        """Forget an interface, and all that it wanted."""
        del self.by_name[interface.peer]
        self.note(interface)
        self.touched.pop(interface.peer, None)
        self._scheduled.pop(interface.peer, None)
        self._table.drop(interface.peer)
        self._table.interest.ignore(interface.peer)
        self.settled(self.settling.gone(interface.peer))
        if interface is self.parent:
            self.parent = None

    def is_over(self, interface: Interface) -> bool:
        """Whether both sides have said goodbye, and heard it."""
        return interface.said_bye and interface.heard_bye and interface.is_drained

    # Timers.

    def schedule(self, interface: Interface) -> None:
        """Note when it wants to be called next, unless it is called before anyway."""
        due = self._due(interface)
        if due is not None and due < self._scheduled.get(interface.peer, math.inf):
            self._scheduled[interface.peer] = due
            heapq.heappush(self._timers, (due, interface.peer))

    def next_timer(self) -> float | None:
        """When the first one wants to be called."""
        while self._timers:
            at, name = self._timers[0]
            found = self.by_name.get(name)
            if found is not None and self._scheduled.get(name) == at:
                due = self._due(found)
                if due is not None and due <= at:
                    return at
                del self._scheduled[name]
                self.schedule(found)
            heapq.heappop(self._timers)
        return None

    def pop_due(self, now: float) -> Interface | None:
        """One that wanted to be called by now."""
        at = self.next_timer()
        if at is None or at > now:
            return None
        _, name = heapq.heappop(self._timers)
        del self._scheduled[name]
        return self.by_name[name]

    def is_forgotten(self, interface: Interface, now: float) -> bool:
        """Whether it has been Closed for too long; a parent is needed and never forgotten."""
        forget_at = self._forget_at(interface)
        return forget_at is not None and now >= forget_at

    def _forget_at(self, interface: Interface) -> float | None:
        if interface.state is not InterfaceState.CLOSED or interface is self.parent:
            return None
        return interface.closed_at + self._options.forget_after_s

    def _due(self, interface: Interface) -> float | None:
        due, forget_at = interface.due(), self._forget_at(interface)
        if due is None or forget_at is None:
            return forget_at if due is None else due
        return min(due, forget_at)
