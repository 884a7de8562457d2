"""What seeds have found, each by name, in the smallest form that shows it."""

from __future__ import annotations

import pytest

from predicast.engine import Change, Subscribe, Unsubscribe
from predicast.language import parse_where
from predicast.model import Event
from predicast.routing import Announce, Bye, Events, Message, Router
from predicast.routing.codec import decode, encode
from predicast.routing.messages import Published
from predicast.routing.options import LinkOptions
from predicast.routing.state import IncomingState
from predicast.routing.stream import Outgoing
from tests.routing_network import Network


def test_a_change_travels_as_bytes() -> None:
    """A field of raw JSON or nothing was read as nothing, and a subscription refused."""
    window = Announce(
        7,
        3,
        (
            Subscribe("a", parse_where("x < 1")),
            Change("a", parse_where("x BETWEEN 1 AND 2")),
            Change("a", "x > :least", {"least": 4}),
            Change("a", None, {"least": 5}),
            Unsubscribe("a"),
        ),
    )
    assert decode(encode(window)) == window


class LosingAnnounces(Network):
    """Loses what one broker announces to another, for as long as it is asked to."""

    losing = ("parent", "moving")
    loses = True

    def _arrive(self, sender: str, receiver: str, message: Message) -> None:
        if self.loses and isinstance(message, Announce) and (sender, receiver) == self.losing:
            return
        super()._arrive(sender, receiver, message)


def circle_through_a_former_parent() -> LosingAnnounces:
    """A broker that has moved, does not know its new parent yet, and still hears the former one."""
    network = LosingAnnounces()
    network.broker("core")
    network.broker("former", "core", level=1)
    network.broker("parent", "core", level=1)
    network.broker("moving", "former", "parent", level=2)
    network.host("below", "moving")
    network.host("above", "core")
    network.announce("below", [Subscribe("s", "x > 1")])
    network.announce("above", [Subscribe("t", "x < 1")])
    network.run(1.0)
    network.sever("former", "moving")
    network.run(4.0)
    assert network.routers["moving"].parent == "parent"
    network.mend("former", "moving")
    network.announce("below", [Subscribe("u", "x > 7 AND y = 1")])
    network.run(2.0)
    assert "former" in network.routers["moving"].interfaces()
    return network


@pytest.mark.parametrize("crashes", [False, True])
def test_a_broker_does_not_wait_for_itself_through_its_former_parent(crashes: bool) -> None:
    """Three brokers waited for each other in a circle; a subscription never came into force.

    What the moving broker wants goes to the new parent, the core, the former parent, and from there
    back to the one that moves. If that does not know its new parent yet, it must not wait for it.
    """
    network = circle_through_a_former_parent()
    if crashes:
        network.crash("moving")
        network.restart("moving")
    network.loses = False
    network.run(10.0)
    assert network.hosts["below"].is_settled
    assert set(network.routers["moving"].interfaces()) == {"parent", "below"}


def test_what_a_former_parent_has_said_is_settled_in_every_state_that_is_written() -> None:
    """Or the broker would wait for itself again after a restart."""
    network = circle_through_a_former_parent()
    kept = incoming(network.routers["moving"], "former")
    assert kept.settled == kept.received > 1


def test_whoever_becomes_a_former_parent_is_kept_waiting_no_longer() -> None:
    """What it had announced before the move waited for others, and would have for ever."""
    network = LosingAnnounces()
    network.losing = ("moving", "child")
    network.broker("core")
    network.broker("parent", "core", level=1)
    network.broker("moving", "core", "parent", level=2)
    network.broker("child", "moving", level=3)
    network.host("above", "core")
    network.run(1.0)
    network.announce("above", [Subscribe("t", "x < 1")])
    network.run(0.5)
    before = incoming(network.routers["moving"], "core")
    assert before.settled < before.received, "the child has not heard of it"
    network.sever("core", "moving")
    network.run(4.0)
    assert network.routers["moving"].parent == "parent"
    after = incoming(network.routers["moving"], "core")
    assert after.settled == after.received
    network.crash("moving")
    network.restart("moving")
    after = incoming(network.routers["moving"], "core")
    assert after.settled == after.received


class LosingGoodbyes(Network):
    """Loses what the core says in goodbye, for as long as it is asked to."""

    loses = True

    def _arrive(self, sender: str, receiver: str, message: Message) -> None:
        if self.loses and isinstance(message, Bye) and sender == "core":
            return
        super()._arrive(sender, receiver, message)


def test_a_broker_that_falls_while_it_leaves_finds_a_parent_again() -> None:
    """It had said goodbye, and heard it after the restart: then it hung from nobody for ever."""
    network = LosingGoodbyes()
    network.broker("core")
    network.broker("leaf", "core", level=1)
    network.run(1.0)
    network.post("leaf", network.routers["leaf"].leave(network.now))
    network.run(0.3)
    network.crash("leaf")
    network.restart("leaf")
    network.loses = False
    network.run(10.0)
    assert network.routers["leaf"].is_attached


def incoming(router: Router, peer: str) -> IncomingState:
    (kept,) = (each.incoming for each in router.state().interfaces if each.peer == peer)
    return kept


def sent(stream: Outgoing) -> list[tuple[Published, ...]]:
    """The events of all messages that go out now."""
    return [each.events for each in stream.ready(1.0) if isinstance(each, Events)]


def test_what_was_sent_once_is_not_added_to() -> None:
    """Events that joined a message after a first attempt to send it were acknowledged unseen."""
    one, two, three = (Published("p", number, Event({"x": number})) for number in (1, 2, 3))
    stream = Outgoing(7, LinkOptions())
    stream.publish([one])
    assert [each.sequence for each in stream.ready(0.0)] == [1]
    stream.resume()  # the connection is lost, and with it what was on its way: or it was not
    stream.publish([two])
    stream.publish([three])
    assert sent(stream) == [(one,), (two, three)]
    stream.acknowledge(1, 0, 2.0)
    assert [event for event, _ in stream.kept_events()] == [two, three]


def test_what_was_sent_before_a_crash_is_not_added_to() -> None:
    one, two = (Published("p", number, Event({"x": number})) for number in (1, 2))
    before, stream = Outgoing(7, LinkOptions()), Outgoing(7, LinkOptions())
    before.publish([one])
    stream.next_sequence = before.next_sequence
    stream.restore(before.kept())
    stream.publish([two])
    assert sent(stream) == [(one,), (two,)]
