"""The states of an interface: the table, and each repair of the paper by name."""

from __future__ import annotations

import pytest

from predicast.engine import Change, Subscribe, Unsubscribe
from predicast.routing import Router
from predicast.routing.interface import Role
from predicast.routing.life import LIFE, Happening, InterfaceState
from predicast.routing.messages import Announce, Events, KeepAlive
from tests.routing_network import Network

ACTIVE, PENDING, CLOSED = InterfaceState.ACTIVE, InterfaceState.PENDING, InterfaceState.CLOSED


def state(router: Router, name: str) -> InterfaceState:
    return router.interfaces()[name][1]


def pair() -> Network:
    """A core with a child, a host at each, and both attached."""
    network = Network()
    network.records = True
    network.broker("core")
    network.broker("leaf", "core", level=1)
    network.host("above", "core")
    network.host("below", "leaf")
    network.run(1.0)
    return network


def test_the_table_says_what_happens_in_every_state() -> None:
    assert LIFE.keys() == {(each, happening) for each in InterfaceState for happening in Happening}


def test_only_an_acknowledged_hello_makes_an_interface_active() -> None:
    into_active = {key for key, after in LIFE.items() if after is ACTIVE and key[0] is not ACTIVE}
    assert into_active == {(PENDING, Happening.ACKNOWLEDGED)}


def test_a_new_interface_is_pending_until_the_other_side_answers() -> None:
    network = Network()
    leaf = network.broker("leaf", "core", level=1)
    assert state(leaf, "core") is PENDING
    network.broker("core")
    network.run(1.0)
    assert state(leaf, "core") is ACTIVE
    assert network.routers["core"].interfaces() == {"leaf": (Role.CHILD, ACTIVE)}


def test_silence_closes_an_interface_and_keep_alives_do_not_let_it_come_to_that() -> None:
    network = pair()
    network.run(30.0)
    assert state(network.routers["core"], "leaf") is ACTIVE
    network.sever("core", "leaf")
    network.run(5.0)
    assert state(network.routers["core"], "leaf") is CLOSED
    assert state(network.routers["leaf"], "core") is CLOSED


def test_what_was_closed_is_pending_before_it_is_active() -> None:
    network = pair()
    core = network.routers["core"]
    core.detach("leaf", network.now)
    assert state(core, "leaf") is CLOSED
    link = network.routers["leaf"]._neighbours.by_name["core"]
    alive = KeepAlive(link.incoming.epoch, link.incoming.received, link.settled)
    sends = core.receive(alive, "leaf", network.now)
    assert state(core, "leaf") is PENDING
    network.post("core", sends)
    network.run(1.0)
    assert state(core, "leaf") is ACTIVE


def test_a_closed_interface_is_forgotten_and_with_it_what_was_wanted_there() -> None:
    network = pair()
    network.announce("below", [Subscribe("s", "x > 1")])
    network.run(1.0)
    network.crash("leaf")
    network.run(20.0)
    assert len(network.routers["core"].wanted("leaf")) == 1
    network.run(60.0)
    assert network.routers["core"].interfaces().keys() == {"above"}
    assert network.routers["core"].wanted("leaf") == []


def test_events_wait_while_an_interface_is_pending_and_are_matched_when_wishes_are_known() -> None:
    network = Network()
    network.broker("leaf", "core", level=1)
    network.host("below", "leaf")
    network.run(0.5)
    network.publish("below", [{"x": 1}, {"x": 5}])
    network.run(0.5)
    assert network.routers["leaf"].statistics()["waiting"] == 2
    network.broker("core")
    network.host("above", "core")
    network.announce("above", [Subscribe("s", "x > 3")])
    network.run(2.0)
    assert [each.published.event.get("x") for each in network.delivered["above"]] == [5]
    assert network.routers["leaf"].statistics()["waiting"] == 0


def test_epochs_and_sequences_survive_a_restart() -> None:
    network = pair()
    network.announce("below", [Subscribe("s", "x > 1")])
    network.run(1.0)
    before = network.routers["leaf"].state()
    network.crash("leaf")
    network.publish("above", [{"x": 2}])
    network.run(1.0)
    network.sent.clear()
    network.restart("leaf")
    network.run(2.0)
    after = network.routers["leaf"].state()
    assert [each.outgoing.epoch for each in after.interfaces] == [
        each.outgoing.epoch for each in before.interfaces
    ]
    assert network.received("below") == [("above", (1 << 20) + 1)]
    assert not [send for _, send in network.sent if isinstance(send.message, Announce)]


def test_windows_that_were_not_settled_before_a_crash_are_not_settled_by_it() -> None:
    network = pair()
    network.broker("twig", "leaf", level=2)
    network.host("far", "twig")
    network.run(1.0)
    network.sever("core", "leaf")
    for number in range(3):
        network.announce("far", [Subscribe(f"s{number}", f"x = {number}")])
        network.run(0.1)
    network.crash("leaf")
    network.restart("leaf")
    network.run(2.0)
    assert network.hosts["far"].settled == 0  # the core has heard of none
    network.mend("core", "leaf")
    network.run(5.0)
    assert network.hosts["far"].settled == 3


def test_a_broker_that_forgets_everything_is_told_again_and_tells_again() -> None:
    network = pair()
    network.announce("below", [Subscribe("s", "x > 1")])
    network.announce("above", [Subscribe("t", "x > 2")])
    network.run(1.0)
    network.crash("leaf")
    network.restart("leaf", forgets=True)
    network.run(3.0)
    assert len(network.routers["leaf"].wanted("core")) == 1
    assert len(network.routers["core"].wanted("leaf")) == 1
    network.publish("above", [{"x": 2}])
    network.run(1.0)
    assert len(network.received("below")) == 1


def test_an_event_never_goes_back_to_where_it_came_from() -> None:
    network = pair()
    network.announce("below", [Subscribe("s", "x > 1")])
    network.announce("above", [Subscribe("t", "x > 1")])
    network.run(1.0)
    network.sent.clear()
    network.publish("below", [{"x": 2}])
    network.run(1.0)
    ways = [(sender, to) for sender, (to, each) in network.sent if isinstance(each, Events)]
    assert ways == [("below", "leaf"), ("leaf", "core"), ("core", "above")]
    assert network.received("below") == []


def test_an_event_that_nobody_wants_stays_at_its_broker() -> None:
    network = pair()
    network.announce("above", [Subscribe("t", "x > 1")])
    network.run(1.0)
    network.publish("below", [{"x": 0}])
    network.run(1.0)
    assert network.routers["core"].statistics()["received"] == 0


def test_a_moving_region_travels_as_one_change() -> None:
    network = pair()
    network.announce("below", [Subscribe("area", "x BETWEEN 0 AND 10")])
    network.run(1.0)
    network.sent.clear()
    network.announce("below", [Change("area", "x BETWEEN 5 AND 15")])
    network.run(1.0)
    told = [
        each.operations
        for sender, (_, each) in network.sent
        if sender == "leaf" and isinstance(each, Announce)
    ]
    assert [[type(operation) for operation in window] for window in told] == [[Change]]


def test_unsubscribing_brings_back_what_was_covered() -> None:
    network = pair()
    network.announce("below", [Subscribe("wide", "x < 20"), Subscribe("narrow", "x < 10")])
    network.run(1.0)
    assert len(network.routers["core"].wanted("leaf")) == 1
    network.announce("below", [Unsubscribe("wide")])
    network.run(1.0)
    network.publish("above", [{"x": 5}, {"x": 15}])
    network.run(1.0)
    assert [each.matched for each in network.delivered["below"]] == [("narrow",)]


@pytest.mark.parametrize(("first", "second"), [("core", "spare"), ("spare", "core")])
def test_a_lost_parent_leads_to_the_next_candidate(first: str, second: str) -> None:
    network = Network()
    network.broker("core")
    network.broker("spare", "core", level=1)
    network.broker("leaf", first, second, level=2)
    network.host("below", "leaf")
    network.host("above", "core")
    network.announce("below", [Subscribe("s", "x > 1")])
    network.run(2.0)
    assert network.hosts["below"].is_settled
    assert network.routers["leaf"].parent == first
    network.sever(first, "leaf")
    network.publish("above", [{"x": 2}])
    network.run(20.0)
    assert network.routers["leaf"].parent == second
    assert network.routers["leaf"].is_attached
    assert network.received("below") == [], "the former parent has it"
    network.publish("above", [{"x": 3}])
    network.run(2.0)
    assert [sequence & 0xFF for _, sequence in network.received("below")] == [2]
    network.mend(first, "leaf")
    network.run(20.0)
    assert [sequence & 0xFF for _, sequence in network.received("below")] == [2, 1]
    assert network.routers["leaf"].interfaces().keys() == {second, "below"}


def test_a_broker_that_leaves_sends_its_children_elsewhere_first() -> None:
    network = Network()
    network.broker("core")
    network.broker("middle", "core", level=1)
    network.broker("leaf", "middle", "core", level=2)
    network.host("below", "leaf")
    network.host("above", "core")
    network.announce("below", [Subscribe("s", "x > 1")])
    network.run(2.0)
    network.post("middle", network.routers["middle"].leave(network.now))
    network.publish("above", [{"x": 2}])
    network.run(5.0)
    assert network.routers["middle"].is_gone
    assert network.routers["leaf"].parent == "core"
    network.publish("above", [{"x": 3}])
    network.run(2.0)
    assert [sequence & 0xFF for _, sequence in network.received("below")] == [1, 2]
    assert network.routers["core"].interfaces().keys() == {"leaf", "above"}


def test_a_host_that_leaves_takes_its_wishes_along() -> None:
    network = pair()
    network.announce("below", [Subscribe("s", "x > 1")])
    network.run(1.0)
    network.post("below", network.hosts["below"].leave(network.now))
    network.run(2.0)
    assert network.hosts["below"].is_gone
    assert network.routers["leaf"].interfaces().keys() == {"core"}
    assert network.routers["core"].wanted("leaf") == []


def test_a_restart_settles_nothing_that_was_not_settled_before() -> None:
    """What a child had announced counted as settled, because events had come after it."""
    network = Network()
    network.broker("core")
    network.broker("middle", "core", level=1)
    network.host("below", "middle")
    network.run(1.0)
    network.sever("core", "middle")
    network.announce("below", [Subscribe("s", "x > 1")])
    network.publish("below", [{"x": 2}])
    network.run(6.0)
    network.crash("middle")
    network.restart("middle")
    network.run(2.0)
    early = network.hosts["below"].is_settled
    network.mend("core", "middle")
    network.run(10.0)
    assert (early, network.hosts["below"].is_settled) == (False, True)
