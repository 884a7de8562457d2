"""What seeds have found, each by name, in the smallest form that shows it."""

from __future__ import annotations

import pytest

from predicast.engine import Change, Subscribe, Unsubscribe
from predicast.language import parse_where
from predicast.model import Event
from predicast.routing import Announce, Message
from predicast.routing.codec import decode, encode
from predicast.routing.messages import Published
from predicast.routing.options import LinkOptions
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


@pytest.mark.parametrize("crashes", [False, True])
def test_a_broker_does_not_wait_for_itself_through_its_former_parent(crashes: bool) -> None:
    """Three brokers waited for each other in a circle; a subscription never came into force.

    What the moving broker wants goes to the new parent, the core, the former parent, and from there
    back to the one that moves. If that does not know its new parent yet, it must not wait for it.
    """
    network = LosingAnnounces()
    network.broker("core")
    network.broker("former", "core", level=1)
    network.broker("parent", "core", level=1)
    network.broker("moving", "former", "parent", level=2)
    host = network.host("below", "moving")
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
    if crashes:
        network.crash("moving")
        network.restart("moving")
    network.loses = False
    network.run(10.0)
    assert host.is_settled
    assert set(network.routers["moving"].interfaces()) == {"parent", "below"}


def test_what_was_sent_once_is_not_added_to() -> None:
    """Events that joined a message after a first attempt to send it were acknowledged unseen."""
    one, two, three = (Published("p", number, Event({"x": number})) for number in (1, 2, 3))
    stream = Outgoing(7, LinkOptions())
    stream.publish([one])
    assert [each.sequence for each in stream.ready(0.0)] == [1]
    stream.resume()  # the connection is lost, and with it what was on its way: or it was not
    stream.publish([two])
    stream.publish([three])
    assert [each.events for each in stream.ready(1.0)] == [(one,), (two, three)]
    stream.acknowledge(1, 0, 2.0)
    assert [event for event, _ in stream.kept_events()] == [two, three]


def test_what_was_sent_before_a_crash_is_not_added_to() -> None:
    one, two = (Published("p", number, Event({"x": number})) for number in (1, 2))
    before, stream = Outgoing(7, LinkOptions()), Outgoing(7, LinkOptions())
    before.publish([one])
    stream.next_sequence = before.next_sequence
    stream.restore(before.kept())
    stream.publish([two])
    assert [each.events for each in stream.ready(1.0)] == [(one,), (two,)]
