"""Whatever a neighbour sends: it is told what is wrong, and nothing has changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predicast.covering.widening import EVERYTHING
from predicast.engine import Change, Subscribe, Unsubscribe
from predicast.errors import (
    DamagedStateError,
    InvalidOptionError,
    MalformedMessageError,
    UnknownInterfaceError,
)
from predicast.language import parse_where
from predicast.model import Event
from predicast.routing import (
    Acknowledge,
    Announce,
    Bye,
    Events,
    Hello,
    KeepAlive,
    Message,
    PeerKind,
    Published,
    Refuse,
    Router,
    RouterOptions,
)
from tests.routing_network import QUICK, Network

HOST_EPOCH = 1 << 20


def broker(**options: Any) -> Router:
    """A core with one Active host, which has announced one subscription."""
    router = Router(RouterOptions(name="core", **{**QUICK, **options}))
    router.start(0.0)
    router.receive(Hello("host", PeerKind.HOST, HOST_EPOCH, durable=True), "host", 0.0)
    epoch = router._neighbours.by_name["host"].outgoing.epoch
    router.receive(
        Hello("host", PeerKind.HOST, HOST_EPOCH, epoch, durable=True, answer=True), "host", 0.0
    )
    router.receive(Announce(HOST_EPOCH, 1, (Subscribe("s", "x > 1"),)), "host", 0.0)
    assert router.statistics()["subscriptions"] == 1
    return router


def refusal(router: Router, message: Any, name: str = "host") -> str | None:
    """The error that a message is answered with, if nothing changes by it."""
    before = router.state()
    answers = [send.message for send in router.receive(message, name, 1.0)]
    refusals = [each.error for each in answers if isinstance(each, Refuse)]
    if refusals and refusals[0] not in CONSUMED:
        assert router.state() == before
    return refusals[0] if refusals else None


# Errors in what a message says, and not in the message: its turn in the stream is over.
CONSUMED = {
    "ParseError",
    "DuplicateIdError",
    "UnknownIdError",
    "TooManySubscriptionsError",
    "ForeignPublisherError",
}


def event(sequence: int = 1, publisher: str = "host") -> Published:
    return Published(publisher, sequence, Event({"x": 2}))


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (None, "MalformedMessageError"),
        ("subscribe", "MalformedMessageError"),
        (Announce(HOST_EPOCH, 2, ("price < 10",)), "MalformedMessageError"),  # type: ignore[arg-type]
        (Announce(HOST_EPOCH, 2, [Subscribe("t", "x > 1")]), "MalformedMessageError"),  # type: ignore[arg-type]
        (Announce(HOST_EPOCH, 0, ()), "MalformedMessageError"),
        (Announce(HOST_EPOCH, -1, ()), "MalformedMessageError"),
        (Announce(HOST_EPOCH, 1 << 70, ()), "MalformedMessageError"),
        (Announce("now", 2, ()), "MalformedMessageError"),  # type: ignore[arg-type]
        (
            Announce(HOST_EPOCH, 2, (Subscribe("t", "x is 1", dialect="wishes"),)),
            "MalformedMessageError",
        ),
        (Announce(HOST_EPOCH, 2, (Subscribe("", "x > 1"),)), "MalformedMessageError"),
        (Announce(HOST_EPOCH, 2, (Subscribe("t", "x" * 70_000),)), "TextTooLongError"),
        (Announce(HOST_EPOCH, 2, (Subscribe("t", "x >"),)), "ParseError"),
        (Announce(HOST_EPOCH, 2, (Subscribe("s", "x > 2"),)), "DuplicateIdError"),
        (Announce(HOST_EPOCH, 2, (Change("t", "x > 2"),)), "UnknownIdError"),
        (Announce(HOST_EPOCH, 2, (Unsubscribe("t"),)), "UnknownIdError"),
        (Announce(HOST_EPOCH, 200, ()), "OutOfOrderError"),
        (Announce(HOST_EPOCH + 1, 2, ()), "WrongEpochError"),
        (Announce(HOST_EPOCH - 1, 2, ()), "WrongEpochError"),
        (Events(HOST_EPOCH, 2, ({"x": 1},)), "MalformedMessageError"),  # type: ignore[arg-type]
        (Events(HOST_EPOCH, 2, (event(),), (("s",),)), "MalformedMessageError"),
        (Events(HOST_EPOCH, 2, (event(publisher="another"),)), "ForeignPublisherError"),
        (Events(HOST_EPOCH + 7, 2, (event(),)), "WrongEpochError"),
        (Acknowledge(1 << 62, 0, 0), "WrongEpochError"),
        (KeepAlive((1 << 20) + 1, 99, 0), "MalformedMessageError"),
        (Hello("host", PeerKind.HOST, HOST_EPOCH - 1), "WrongEpochError"),
        (Hello("host", PeerKind.HOST, HOST_EPOCH, 1 << 62), "WrongEpochError"),
        (Hello("host", PeerKind.BROKER, HOST_EPOCH + 9, level=3), "InterfaceRefusedError"),
        (Hello("another", PeerKind.HOST, HOST_EPOCH), "InterfaceRefusedError"),
        (Hello("host", PeerKind.HOST, 0), "MalformedMessageError"),
        (Bye(HOST_EPOCH, 0), "MalformedMessageError"),
    ],
    ids=repr,
)
def test_a_message_that_cannot_be_taken_is_refused_by_name(message: Any, error: str) -> None:
    assert refusal(broker(), message) == error


def test_what_is_refused_for_what_it_says_is_not_waited_for_again() -> None:
    router = broker()
    answers = router.receive(Announce(HOST_EPOCH, 2, (Subscribe("t", "x >"),)), "host", 1.0)
    refusals = [send.message for send in answers if isinstance(send.message, Refuse)]
    assert [each.sequence for each in refusals] == [2]
    assert router.statistics()["subscriptions"] == 1
    router.receive(Announce(HOST_EPOCH, 3, (Subscribe("t", "x > 2"),)), "host", 1.0)
    assert router.statistics()["subscriptions"] == 2


def test_errors_name_the_ids_of_the_neighbour_and_nobody_elses() -> None:
    router = broker()
    for sequence, operation in ((2, Subscribe("s", "x > 1")), (3, Unsubscribe("ss"))):
        answers = router.receive(Announce(HOST_EPOCH, sequence, (operation,)), "host", 1.0)
        (refused,) = [send.message for send in answers if isinstance(send.message, Refuse)]
        assert f"the id {operation.id!r}" in refused.reason
        assert "/" not in refused.reason


def test_a_replayed_message_is_acknowledged_again_and_not_taken_again() -> None:
    router = broker()
    before = router.state()
    answers = router.receive(Announce(HOST_EPOCH, 1, (Subscribe("s", "x > 1"),)), "host", 1.0)
    assert [send.message for send in answers] == [Acknowledge(HOST_EPOCH, 1, 1)]
    assert router.state() == before


def test_messages_out_of_order_are_taken_in_order() -> None:
    router = broker()
    late = Announce(HOST_EPOCH, 3, (Unsubscribe("t"),))
    early = Announce(HOST_EPOCH, 2, (Subscribe("t", "x > 5"),))
    answers = router.receive(late, "host", 1.0)
    assert [send.message for send in answers] == [Acknowledge(HOST_EPOCH, 1, 1)]
    answers = router.receive(early, "host", 1.0)
    assert [send.message for send in answers] == [Acknowledge(HOST_EPOCH, 3, 3)]
    assert router.statistics()["subscriptions"] == 1


def test_whoever_has_not_said_hello_is_unknown() -> None:
    router = broker()
    assert refusal(router, KeepAlive(1, 0, 0), "stranger") == "UnknownInterfaceError"
    assert refusal(router, Refuse("Error", "no"), "stranger") is None, "not answered, for ever"
    answer = Hello("stranger", PeerKind.HOST, 1, answer=True)
    assert refusal(router, answer, "stranger") == "UnknownInterfaceError"


def test_floods_are_refused() -> None:
    router = broker(max_subscriptions=3, max_window=5, max_events=2, max_interfaces=1)
    many = tuple(Subscribe(f"m{number}", "x > 1") for number in range(5))
    assert refusal(router, Announce(HOST_EPOCH, 2, many)) == "TooManySubscriptionsError"
    assert router.statistics()["subscriptions"] == 1
    assert refusal(router, Announce(HOST_EPOCH, 3, (*many, *many))) == "MessageTooLargeError"
    events = tuple(event(number) for number in range(3))
    assert refusal(router, Events(HOST_EPOCH, 3, events)) == "MessageTooLargeError"
    hello = Hello("another", PeerKind.HOST, 1)
    assert refusal(router, hello, "another") == "InterfaceRefusedError"


def test_a_child_is_farther_from_the_core_than_its_parent() -> None:
    router = Router(RouterOptions(name="m", level=3, **QUICK))
    for name, level in (("a", 2), ("l", 3), ("m", 3)):
        hello = Hello(name, PeerKind.BROKER, 1, level=level)
        assert refusal(router, hello, name) == "InterfaceRefusedError"
    assert refusal(router, Hello("n", PeerKind.BROKER, 1, level=3), "n") is None


def test_where_there_is_no_room_nothing_is_taken_and_nothing_lost() -> None:
    network = Network()
    network.broker("core", max_waiting=4)
    network.host("slow", "core")
    network.host("fast", "core")
    network.announce("slow", [Subscribe("s", "x > 0")])
    network.run(1.0)
    network.sever("slow", "core")
    for number in range(1, 8):
        network.publish("fast", [{"x": number}, {"x": number}])
        network.run(0.1)
    network.run(10.0)
    blocked = network.hosts["fast"].is_acknowledged
    assert network.routers["core"].statistics()["waiting"] == 4
    network.mend("slow", "core")
    network.run(20.0)
    assert (blocked, network.hosts["fast"].is_acknowledged) == (False, True)
    assert len(network.received("slow")) == 14


def test_a_child_that_never_says_what_it_wants_holds_nobody_up() -> None:
    network = Network()
    core = network.broker("core", max_waiting=4)
    network.host("one", "core")
    network.run(1.0)
    network.post("core", core.receive(Hello("rogue", PeerKind.BROKER, 1, level=1), "rogue", 1.0))
    network.publish("one", [{"x": number} for number in range(4)])
    network.run(1.0)
    assert core.statistics()["waiting"] == 4
    network.publish("one", [{"x": number} for number in range(4)])
    network.run(10.0)
    assert core.statistics()["waiting"] == 0
    assert network.hosts["one"].is_acknowledged


def test_who_is_not_durable_loses_what_comes_while_it_is_away() -> None:
    network = Network()
    network.broker("core")
    network.host("slow", "core", durable=False)
    network.host("fast", "core")
    network.announce("slow", [Subscribe("s", "x > 0")])
    network.run(1.0)
    network.sever("slow", "core")
    network.run(6.0)
    network.publish("fast", [{"x": 1}])
    network.run(1.0)
    assert network.hosts["fast"].is_acknowledged
    assert network.routers["core"].statistics()["dropped"] == 1


def test_options_and_states_that_cannot_be_are_refused() -> None:
    for wrong in (
        {"name": ""},
        {"slack": -1.0},
        {"ttl_s": 1.0},
        {"max_window": 0},
        {"epoch": 0},
        {"candidates": ("x",), "name": "x"},
        {"when_full": "explode"},
    ):
        with pytest.raises(InvalidOptionError):
            RouterOptions(**{"name": "core", **QUICK, **wrong})
    with pytest.raises(DamagedStateError):
        Router(RouterOptions(name="other", **QUICK), broker().state())
    with pytest.raises(MalformedMessageError):
        Published("", 1, Event({}))


def test_what_is_asked_of_a_router_is_checked_as_its_options_are() -> None:
    router = broker()
    for name in ("core", "", None):
        with pytest.raises(InvalidOptionError, match="names of other brokers"):
            router.offer_parent(name, 1.0)  # type: ignore[arg-type]
    assert router.parent is None
    assert router.is_attached
    with pytest.raises(UnknownInterfaceError, match="stranger"):
        router.sizes("stranger")


NUMBERS = st.sampled_from([-1, 0, 1, 2, 3, 64, 66, 1 << 20, (1 << 20) + 1, 1 << 62, 1 << 80])
TEXTS = st.sampled_from(["", "host", "other", "core", "x > 1", "x >", "s", "t"])
OPERATIONS = st.one_of(
    st.builds(Subscribe, TEXTS, TEXTS),
    st.builds(Change, TEXTS, TEXTS),
    st.builds(Unsubscribe, TEXTS),
    st.just("nothing"),
)
ANY_MESSAGE = st.one_of(
    st.builds(
        Hello,
        TEXTS,
        st.sampled_from(PeerKind),
        NUMBERS,
        NUMBERS,
        NUMBERS,
        NUMBERS,
        NUMBERS,
        st.booleans(),
        st.booleans(),
        st.booleans(),
    ),
    st.builds(Announce, NUMBERS, NUMBERS, st.lists(OPERATIONS, max_size=3).map(tuple)),
    st.builds(
        Events,
        NUMBERS,
        NUMBERS,
        st.lists(
            st.builds(event, st.integers(0, 5), st.sampled_from(["host", "x"])), max_size=2
        ).map(tuple),
    ),
    st.builds(Bye, NUMBERS, NUMBERS),
    st.builds(Acknowledge, NUMBERS, NUMBERS, NUMBERS),
    st.builds(KeepAlive, NUMBERS, NUMBERS, NUMBERS),
    st.builds(Refuse, st.sampled_from(["UnknownInterfaceError", "x"]), TEXTS, NUMBERS),
)


@given(
    st.lists(
        st.tuples(ANY_MESSAGE, st.sampled_from(["host", "other", "leaf"]), st.floats(0, 5)),
        max_size=25,
    )
)
@settings(max_examples=150)
def test_a_hostile_neighbour_brings_nobody_down_and_memory_stays_bounded(
    messages: list[tuple[Message, str, float]],
) -> None:
    router = broker(max_subscriptions=4, max_interfaces=3)
    now = 0.0
    for message, name, pause in messages:
        now += pause
        router.on_timer(now)
        router.receive(message, name, now)
        found = router.statistics()
        assert found["interfaces"] <= 3
        assert found["subscriptions"] <= 4 * 3
        assert Router(router.options, router.state()).state() == router.state()
    # Somebody else is served as ever.
    router.on_timer(now + 500.0)
    answers = router.receive(Hello("friend", PeerKind.HOST, 1, durable=True), "friend", now + 500.0)
    assert any(isinstance(send.message, Hello) for send in answers)


def test_a_broker_that_wants_too_much_is_sent_everything_and_nobody_behind_it_misses_any() -> None:
    network = Network()
    core = network.broker("core", max_subscriptions=3)
    network.broker("leaf", "core", level=1)
    network.host("below", "leaf")
    network.host("above", "core")
    network.announce("below", [Subscribe(f"s{number}", f"x = {number}") for number in range(5)])
    network.run(2.0)
    assert network.hosts["below"].is_settled
    assert (core.sizes("leaf").wanted, core.statistics()["refused"]) == (1, 1)
    # Whatever it says meanwhile; and after a restart it is the same.
    network.announce("below", [Unsubscribe("s0"), Change("s1", "x = 6"), Subscribe("s7", "x = 7")])
    network.run(2.0)
    network.crash("core")
    network.restart("core")
    core = network.routers["core"]
    network.run(2.0)
    network.publish("above", [{"x": number} for number in range(9)])
    network.run(2.0)
    assert [each.published.event.get("x") for each in network.delivered["below"]] == [2, 3, 4, 6, 7]
    # Announced anew, and little enough, it is known exactly again.
    network.announce("below", [Unsubscribe("s2"), Unsubscribe("s3")])
    network.run(2.0)
    assert core.sizes("leaf").wanted == 1
    network.crash("leaf")
    network.restart("leaf", forgets=True)
    network.run(5.0)
    assert {str(each) for each in core.wanted("leaf")} == {
        str(parse_where(text)) for text in ("x = 4", "x = 6", "x = 7")
    }


def test_a_broker_may_want_too_much_in_the_middle_of_telling_all() -> None:
    """What comes behind must not be taken for the whole."""
    network = Network()
    network.broker("core", max_subscriptions=4)
    network.broker("leaf", "core", level=1, max_window=2)
    network.host("below", "leaf", limits={"max_window": 2})
    network.announce("below", [Subscribe(f"s{number}", f"x = {number}") for number in range(8)])
    network.run(2.0)
    network.crash("core")
    network.restart("core", forgets=True)
    network.run(5.0)
    assert network.hosts["below"].is_settled
    assert network.routers["core"].wanted("leaf") == [EVERYTHING]


def test_who_is_known_by_a_star_is_a_host_like_any_other() -> None:
    network = Network()
    core = network.broker("core")
    network.host("one", "core")
    network.announce("one", [Subscribe("*", "x = 1")])
    network.announce("one", [Subscribe("s", "x = 2")])
    network.run(1.0)
    assert core.sizes("one").wanted == 2
