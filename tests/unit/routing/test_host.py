"""Hosts: what their broker refuses, forgets, or sends although it cannot be taken."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predicast.engine import Change, Subscribe
from predicast.language import parse_where
from predicast.routing import Acknowledge, Announce, Events, Hello, Host, Message, Refuse
from tests.routing_network import Network
from tests.unit.routing.test_bad_input import ANY_MESSAGE, event


def test_each_part_of_a_large_window_is_refused_by_itself() -> None:
    """And a broker that has lost its memory is told what was not refused, and no more."""
    network = Network()
    network.broker("core")
    host = network.host("one", "core", limits={"max_window": 2})
    window = [Subscribe(f"s{number}", f"x = {number}") for number in range(4)]
    network.announce("one", [Subscribe("bad", "x >"), *window])
    network.run(1.0)
    assert [each.error for each in host.refusals()] == ["ParseError"]
    for forgets in (False, True):
        ids = [each.id for each in network.routers["core"]._table.statements("one")]
        assert ids == ["s1", "s2", "s3"]
        network.crash("core")
        network.restart("core", forgets=forgets)
        network.run(5.0)
    assert [each.id for each in network.routers["core"]._table.statements("one")] == ids


def test_what_a_forgetful_broker_refuses_is_refused_by_itself() -> None:
    network = Network()
    network.broker("core")
    host = network.host("one", "core")
    network.announce("one", [Subscribe("s", "x = 1")])
    network.run(1.0)
    network.sever("one", "core")
    network.announce("one", [Change("s", "x >")])
    network.announce("one", [Subscribe("t", "x = 2")])
    network.crash("core")
    network.restart("core", forgets=True)
    network.mend("one", "core")
    network.run(5.0)
    refused = [each.error for each in host.refusals()]
    assert [error for error in refused if error != "UnknownInterfaceError"] == ["ParseError"]
    assert host.settled == 3
    wanted = network.routers["core"]._table.statements("one")
    assert [(each.id, str(each.expression)) for each in wanted] == [
        ("s", str(parse_where("x = 1"))),
        ("t", str(parse_where("x = 2"))),
    ]


@pytest.mark.parametrize(
    "message",
    [
        None,
        "events",
        Events(1 << 20, 1, [event()]),  # type: ignore[arg-type]
        Events(1 << 20, 1, (event(),), ("s",)),  # type: ignore[arg-type]
        Events(1 << 20, 1, (event(),), (("s",), ("s",))),
        Events(1 << 20, 0, (event(),), (("s",),)),
        Acknowledge("now", 0, 0),  # type: ignore[arg-type]
        Announce(1 << 20, 1, None),  # type: ignore[arg-type]
        Hello("core", "broker", 1),  # type: ignore[arg-type]
    ],
    ids=repr,
)
def test_a_host_refuses_what_is_no_message(message: Any) -> None:
    host = Host("host", "core")
    host.start(0.0)
    (sent,) = host.receive(message, 0.0)
    assert isinstance(sent.message, Refuse)
    assert sent.message.error == "MalformedMessageError"
    assert host.deliveries() == []


@given(st.lists(st.tuples(ANY_MESSAGE, st.floats(0, 5)), max_size=25))
@settings(max_examples=150)
def test_a_hostile_broker_brings_no_host_down(messages: list[tuple[Message, float]]) -> None:
    host, now = Host("host", "core"), 0.0
    host.start(now)
    host.announce([Subscribe("s", "x > 1")], now)
    for message, pause in messages:
        now += pause
        host.on_timer(now)
        host.receive(message, now)
        assert len(host.deliveries()) <= len(messages) * 2
    assert host.next_timer() is not None
