"""``Router``: a broker without its network, clock and disk.

Messages and the time go in; messages to send come out, each with its interface, and the time of the
next timer. Time is in seconds, by whatever clock never goes back. Interfaces go by the name of the
neighbour at their other end.

What a step returns may only be sent after the broker's state was made to last, if it is to survive
a crash: what has been acknowledged is in there. ``predicast.routing.journal`` writes down what a
step has changed; ``state()`` is the whole.

A step takes what came (``receive``, ``on_timer``), and then sees to what follows from it: the
neighbours are told what has changed for them, windows are settled, those who leave are let go, and
whatever interfaces have to say is gathered.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, NamedTuple

from predicast.errors import (
    DamagedStateError,
    InterfaceRefusedError,
    PredicastError,
    UnknownInterfaceError,
)
from predicast.routing.checking import check_message
from predicast.routing.interface import Interface, Role
from predicast.routing.life import Happening, InterfaceState
from predicast.routing.link import Identity
from predicast.routing.messages import (
    Acknowledge,
    Hello,
    KeepAlive,
    Message,
    PeerKind,
    Refuse,
    Send,
)
from predicast.routing.neighbours import Neighbours
from predicast.routing.noting import Noting
from predicast.routing.options import RouterOptions
from predicast.routing.repeats import Repeats
from predicast.routing.restoring import interface_of, is_kept, take_up_ids, whole_record_of
from predicast.routing.state import RouterState, StateChange
from predicast.routing.table import MatchingEngine, RoutingTable
from predicast.routing.taking import Taking

_COUNTED: Final = (
    "received",
    "repeated",
    "forwarded",
    "delivered",
    "unwanted",
    "dropped",
    "refused",
    "moved",
)


class InterfaceSizes(NamedTuple):
    """What one neighbour comes to: subscriptions each way, and events."""

    wanted: int
    announced: int
    waiting: int


class Router:
    """One broker of a tree: what its neighbours want, and what goes to whom."""

    def __init__(
        self,
        options: RouterOptions,
        state: RouterState | None = None,
        *,
        engine: MatchingEngine | None = None,
    ) -> None:
        """A new broker, or one that goes on where ``state`` was taken.

        ``engine``, an empty one, takes the place of the engine that the options describe: one of
        graphs, say, whose patterns are then passed on as they are.
        """
        self.options = options
        self._table = RoutingTable(options, engine)
        self._neighbours = Neighbours(options, self._table)
        self._repeats = Repeats(options.max_publishers, options.max_remembered)
        self._refused_count = 0
        self._now = -math.inf
        self._sends: list[Send] = []
        self._taking = Taking(options, self._table, self._neighbours, self._repeats, self._refuse)
        self._noting: Noting | None = None
        if state is not None:
            self._restore(state)

    # What there is.

    @property
    def name(self) -> str:
        """The broker's name."""
        return self.options.name

    @property
    def parent(self) -> str | None:
        """The broker that it is attached to, or tries to be."""
        parent = self._neighbours.parent
        return None if parent is None else parent.peer

    @property
    def is_attached(self) -> bool:
        """Whether it knows all that the parent's side wants; the core always does."""
        parent = self._neighbours.parent
        if parent is None:
            return not self._neighbours.candidates
        return parent.state is InterfaceState.ACTIVE and parent.is_known

    def interfaces(self) -> dict[str, tuple[Role, InterfaceState]]:
        """What each neighbour is, and how its interface does."""
        return {each.peer: (each.role, each.state) for each in self._neighbours}

    def wanted(self, interface: str) -> list[object]:
        """What is wanted at an interface: of the parent's, it is the upstream clip."""
        return [each.expression for each in self._table.statements(interface)]

    def announced(self, interface: str) -> list[object]:
        """What a neighbour has been told that others want: to the parent, the downstream union."""
        found = self._neighbours.by_name.get(interface)
        return [] if found is None else list(found.announcer.state().values())

    def sizes(self, interface: str) -> InterfaceSizes:
        """How much is wanted at an interface, was told it, and waits for it."""
        found = self._neighbours.by_name.get(interface)
        if found is None:
            raise UnknownInterfaceError(f"nothing is known of {interface!r}", interface=interface)
        return InterfaceSizes(self._table.held(interface), len(found.announcer), found.waiting)

    @property
    def is_gone(self) -> bool:
        """Whether a broker that leaves has nothing left to do."""
        return self._neighbours.is_leaving and not self._neighbours.by_name

    def statistics(self) -> dict[str, int]:
        """What is held, and the work done.

        ``received`` and ``repeated`` count events that came for the first time and again,
        ``forwarded`` and ``delivered`` those that went to brokers and hosts, ``dropped`` those that
        found no room. ``unwanted`` came from a broker and matched nothing here: the price of slack.
        ``moved`` counts how often it has gone from one parent to another.
        """
        counts = self._taking.counts.copy()
        counts["dropped"] += self._neighbours.dropped
        counts["refused"] = self._refused_count
        counts["moved"] = self._neighbours.moved
        return {
            "interfaces": len(self._neighbours.by_name),
            "subscriptions": len(self._table),
            "filters": len(self._table.interest),
            "announced": sum(len(each.announcer) for each in self._neighbours),
            "waiting": sum(each.waiting for each in self._neighbours),
            **{name: counts[name] for name in _COUNTED},
        }

    # The steps.

    def start(self, now: float) -> list[Send]:
        """Greet the first candidate and, after a restart, all neighbours of before."""
        self._begin(now)
        for each in self._neighbours:
            each.greet_again(self._now)
            self._neighbours.touch(each)
        self._seek_parent()
        return self._finish()

    def receive(self, message: Message, interface: str, now: float) -> list[Send]:
        """Take a message from a neighbour.

        A ``Hello`` from a neighbour that is not known makes an interface to it. Whatever is wrong
        with a message is told the neighbour in a ``Refuse``; nothing is raised.
        """
        return self.receive_all([(message, interface)], now)

    def receive_all(self, arrivals: Iterable[tuple[Message, str]], now: float) -> list[Send]:
        """Take messages from any neighbours in one step, in the order in which they came.

        Those of one neighbour take effect in the order of its stream; what different ones have to
        say is as good in any other order, so that events of all of them are matched together.
        """
        self._begin(now)
        for message, interface in arrivals:
            try:
                check_message(message, self.options)
                self._dispatch(message, interface)
            except PredicastError as error:
                self._refuse(interface, error)
        return self._finish()

    def offer_parent(self, name: str, now: float) -> list[Send]:
        """Here is a broker that it may attach to, after those that it knows of."""
        replace(self.options, candidates=(name,))  # which checks it
        self._begin(now)
        if name not in self._neighbours.candidates:
            self._neighbours.candidates.append(name)
        return self._finish()

    def attach(self, interface: str, now: float) -> list[Send]:
        """There is another connection: a neighbour that is known is greeted on it at once."""
        self._begin(now)
        found = self._neighbours.by_name.get(interface)
        if found is not None:
            found.greet_again(self._now)
            self._neighbours.touch(found)
        return self._finish()

    def detach(self, interface: str, now: float) -> list[Send]:
        """The connection is gone: the interface is Closed, without waiting for its time to live."""
        self._begin(now)
        found = self._neighbours.by_name.get(interface)
        if found is not None and found.state is not InterfaceState.CLOSED:
            found.happens(Happening.DETACHED, self._now)
            self._neighbours.closed(found, self._now)
        return self._finish()

    def leave(self, now: float) -> list[Send]:
        """Ask those below to go elsewhere, and leave the parent once they have."""
        self._begin(now)
        self._neighbours.is_leaving = True
        for each in self._neighbours:
            if each is not self._neighbours.parent:
                each.leaving = True
                self._send(each.peer, each.hello())
                self._neighbours.touch(each)
        return self._finish()

    def next_timer(self) -> float | None:
        """When ``on_timer`` wants to be called."""
        return self._neighbours.next_timer()

    def on_timer(self, now: float) -> list[Send]:
        """Do what is due: repetitions, signs of life, interfaces that have gone silent."""
        self._begin(now)
        interface = self._neighbours.pop_due(self._now)
        while interface is not None:
            self._on_timer(interface)
            interface = self._neighbours.pop_due(self._now)
        return self._finish()

    def _on_timer(self, interface: Interface) -> None:
        neighbours = self._neighbours
        if neighbours.is_forgotten(interface, self._now):
            neighbours.remove(interface)
            return
        before = interface.state
        for message in interface.on_timer(self._now):
            self._send(interface.peer, message)
        if interface.state is not before:
            neighbours.closed(interface, self._now)
        neighbours.touch(interface)

    def note_changes(self) -> None:
        """From now on note what ``changes`` is to say."""
        self._noting = Noting(self._neighbours, self._table, self._repeats)

    def changes(self) -> StateChange:
        """What has to survive a crash and has changed since this was asked last.

        The first time it is everything. ``predicast.routing.journal`` keeps it.
        """
        assert self._noting is not None, "note_changes comes first"
        return self._noting.take()

    def state(self) -> RouterState:
        """All that has to survive a crash."""
        return RouterState(
            self.name,
            self._neighbours.next_epoch,
            tuple(whole_record_of(each, self._table) for each in self._neighbours if is_kept(each)),
            self._repeats.state(),
        )

    # Messages.

    def _dispatch(self, message: Message, name: str) -> None:
        if isinstance(message, Hello | Refuse):
            self._taking.take_all()  # what came before may be of a stream that ends by this
        interface = self._neighbours.by_name.get(name)
        if isinstance(message, Hello):
            self._greeted(interface, message, name)
            return
        if interface is None:
            if isinstance(message, Refuse):
                return  # or two brokers would refuse each other's refusals for ever
            raise UnknownInterfaceError(f"{name!r} has not said hello", interface=name)
        self._neighbours.touch(interface)
        if isinstance(message, Acknowledge | KeepAlive):
            interface.acknowledged(message, self._now)
            moved = self._neighbours.settling.reached(name, interface.outgoing.settled)
            self._neighbours.settled(moved)
        elif isinstance(message, Refuse):
            self._refused(interface, message)
        else:
            interface.offered(message, self._now)
            self._taking.offer(interface)

    def _greeted(self, interface: Interface | None, hello: Hello, name: str) -> None:
        neighbours = self._neighbours
        if hello.sender != name:
            raise InterfaceRefusedError(
                f"{hello.sender!r} says hello where {name!r} is", interface=name
            )
        if interface is None:
            role = Role.HOST if hello.kind is PeerKind.HOST else Role.CHILD
            neighbours.check_newcomer(hello)
            neighbours.check_rank(hello, role)
            interface = neighbours.add(name, role, self._now)
        else:
            neighbours.check_rank(hello, interface.role)
        begins = interface.greeted(hello, self._now)
        interface.was_there = True
        comes_back = begins and interface.is_ending
        if comes_back:
            neighbours.come_back(interface)
        neighbours.touch(interface)
        if interface.role is Role.HOST:
            interface.durable = hello.durable
        if comes_back or interface.must_begin_anew(hello, begins):
            neighbours.begin_anew(interface, self._now)
        if begins:
            interface.announced_again = set() if hello.whole_at else None
            neighbours.settling.forget(name)
        if not hello.answer:
            self._send(name, interface.hello(answer=True))
        neighbours.check_known(interface)
        if hello.leaving and interface is neighbours.parent:
            neighbours.leave_parent(self._now)

    def _refused(self, interface: Interface, message: Refuse) -> None:
        if message.error != UnknownInterfaceError.__name__:
            return
        if interface.said_bye or interface.role is Role.FORMER:
            self._neighbours.remove(interface)  # there is nothing to be had any more
        else:
            interface.greet_again(self._now)

    # The beginning and the end of a step.

    def _begin(self, now: float) -> None:
        self._now = max(now, self._now)  # a clock that goes back is taken to stand still
        self._sends = []

    def _finish(self) -> list[Send]:
        neighbours = self._neighbours
        self._taking.offer_blocked()
        self._taking.take_all()
        neighbours.tell_news()
        neighbours.let_go()
        self._seek_parent()
        while neighbours.touched:
            _, interface = neighbours.touched.popitem()
            self._flush(interface)
            if not neighbours.touched:
                self._seek_parent()  # it may have been the parent that was let go
        return self._sends

    def _flush(self, interface: Interface) -> None:
        """Gather what an interface has to say, and forget it if that was the last."""
        settling = self._neighbours.settling
        interface.settled = settling.settled(interface.peer, interface.incoming.received)
        for message in interface.flush(self._now):
            self._send(interface.peer, message)
        if self._neighbours.is_over(interface):
            self._neighbours.remove(interface)
        else:
            self._neighbours.schedule(interface)

    def _seek_parent(self) -> None:
        neighbours = self._neighbours
        if neighbours.parent is None and not neighbours.is_leaving:
            for name in neighbours.candidates:
                if name not in neighbours.by_name:
                    neighbours.parent = neighbours.add(name, Role.PARENT, self._now)
                    return

    def _send(self, name: str, message: Message) -> None:
        self._sends.append(Send(name, message))

    def _refuse(self, name: str, error: PredicastError, sequence: int | None = None) -> None:
        self._refused_count += 1
        self._send(name, Refuse(type(error).__name__, error.message, sequence))

    # After a restart.

    def _restore(self, state: RouterState) -> None:
        if state.name != self.name:
            raise DamagedStateError(f"the state is that of {state.name!r}, not of {self.name!r}")
        neighbours = self._neighbours
        neighbours.next_epoch = max(neighbours.next_epoch, state.next_epoch)
        self._repeats.restore(state.repeats)
        me = Identity(self.name, PeerKind.BROKER, self.options.level)
        for record in state.interfaces:
            neighbours.put_back(interface_of(record, me, self.options, self._table))
        for record in state.interfaces:
            interface = neighbours.by_name[record.peer]
            if interface.role is not Role.HOST and not interface.is_ending:
                take_up_ids(interface, record, self._table, self.options)
        # Only now is it known what each of them has been told, and has to settle. Former parents
        # have nothing to wait for: all that came from them is settled in whatever was written.
        for interface in neighbours:
            if interface.settled < interface.incoming.received:
                needed = neighbours.to_settle(interface)
                if needed:
                    # The first that was not settled: those after it wait with it.
                    neighbours.settling.wait(interface.peer, interface.settled + 1, needed)
