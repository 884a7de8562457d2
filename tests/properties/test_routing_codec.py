"""Messages come back from bytes as they were; whatever else comes is refused by name."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from predicast.engine import Change, Subscribe, Unsubscribe
from predicast.errors import (
    DamagedStateError,
    MalformedMessageError,
    MessageTooLargeError,
    RoutingError,
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
    RouterState,
)
from predicast.routing.codec import decode, encode
from predicast.routing.state_codec import state_from_bytes, state_to_bytes
from predicast.testing import strategies
from tests.routing_network import Faults, Network

EVENTS = b'{"type": "events", "epoch": 1, "sequence": 1, "events": [{"sequence": 1, %s}]}'
SUBSCRIBE = b'{"type": "announce", "operations": [{"type": "subscribe", "id": "s", "expression": '
NUMBERS = st.integers(0, 2**63 - 1)
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
EXPRESSIONS = st.one_of(st.just("price < 10 AND at > now()"), strategies.subscriptions())
OPERATIONS = st.one_of(
    st.builds(Subscribe, NAMES, EXPRESSIONS, replace=st.booleans()),
    st.builds(Subscribe, NAMES, st.just("x < :x"), st.none(), st.just({"x": 5})),
    st.builds(Change, NAMES, st.none() | EXPRESSIONS),
    st.builds(Unsubscribe, NAMES),
)
PUBLISHED = st.builds(Published, NAMES, NUMBERS, strategies.events(), st.integers(-(2**62), 2**62))
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(
        Hello,
        NAMES,
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
    st.builds(
        Announce, NUMBERS, NUMBERS, st.lists(OPERATIONS, max_size=3).map(tuple), st.booleans()
    ),
    st.builds(
        Events,
        NUMBERS,
        NUMBERS,
        st.lists(PUBLISHED, max_size=3).map(tuple),
        st.none() | st.lists(st.lists(NAMES, max_size=2).map(tuple), max_size=2).map(tuple),
    ),
    st.builds(Bye, NUMBERS, NUMBERS),
    st.builds(Acknowledge, NUMBERS, NUMBERS, NUMBERS),
    st.builds(KeepAlive, NUMBERS, NUMBERS, NUMBERS),
    st.builds(Refuse, NAMES, NAMES, st.none() | NUMBERS),
)

EVERY_OPERATION = (
    Subscribe("a", parse_where("x < 1")),
    Subscribe("b", "x > :least", None, {"least": 4}),
    Change("a", parse_where("x BETWEEN 1 AND 2")),
    Change("b", "x < :most", {"most": 4}),
    Change("b", None, {"most": 5}),
    Unsubscribe("a"),
)


@given(MESSAGES)
@example(Announce(1, 1, EVERY_OPERATION))
def test_a_message_comes_back_as_it_was(message: Message) -> None:
    assert decode(encode(message)) == message


@given(MESSAGES, st.data())
def test_damaged_bytes_are_a_message_or_refused(message: Message, data: st.DataObject) -> None:
    whole = bytearray(encode(message))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(whole) - 1))
        whole[place] = data.draw(st.integers(0, 255))
    with suppress(RoutingError):
        decode(bytes(whole[: data.draw(st.integers(0, len(whole)))]))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"type": "shout"}',
        b'{"type": "bye", "epoch": 1}',
        b'{"type": "bye", "epoch": "1", "sequence": 2}',
        b'{"type": "bye", "epoch": 1, "sequence": 2, "more": 3}',
        b'{"type": "announce", "epoch": 1, "sequence": 1, "operations": [{"type": "drop"}]}',
        EVENTS % b'"publisher": "p", "event": [1]',
        EVENTS % b'"publisher": "", "event": {}',
        b"[" * 100_000,
        SUBSCRIBE + b"[" * 50_000,
        b"\xff\xfe",
    ],
    ids=range(14),
)
def test_what_is_no_message_is_malformed(data: bytes) -> None:
    with pytest.raises(MalformedMessageError):
        decode(data)


def test_more_bytes_than_allowed_are_not_looked_at() -> None:
    with pytest.raises(MessageTooLargeError) as caught:
        decode(b"x" * 11, max_bytes=10)
    assert (caught.value.limit, caught.value.actual) == (10, 11)


def test_an_event_is_written_down_once() -> None:
    published = Published("p", 1, Event({"x": 1}))
    encode(Events(1, 1, (published,)))
    first = published.encoded
    encode(Events(2, 5, (published,)))
    assert first is not None
    assert published.encoded is first
    came = decode(encode(Events(1, 1, (published,))))
    assert isinstance(came, Events)
    assert came.events[0].encoded == first


def test_what_has_no_form_on_the_way_is_refused() -> None:
    odd: Any = object()
    with pytest.raises(MalformedMessageError):
        encode(Announce(1, 1, (Subscribe("s", odd),)))
    with pytest.raises(MalformedMessageError):
        encode(Events(1, 1, (Published("p", 1, odd),)))
    plain = Announce(1, 1, (Subscribe("s", parse_where("x > 1")),))
    assert decode(encode(plain)) == plain


@given(seed=st.integers(0, 2**32))
@settings(max_examples=5, phases=[Phase.generate])
def test_the_state_of_a_broker_comes_back_as_it_was(seed: int) -> None:
    network = Network(seed, Faults(loss=0.3, duplicate=0.2, delay_s=0.5))
    network.broker("core")
    network.broker("leaf", "core", level=1)
    network.host("one", "core")
    network.host("two", "leaf")
    network.announce("one", [Subscribe("s", "x > 1"), Subscribe("t", "y LIKE 'a%'")])
    for number in range(6):
        network.publish("two", [{"x": number}])
        network.run(0.3)
        for router in network.routers.values():
            state = router.state()
            assert state_from_bytes(state_to_bytes(state)) == state


def test_a_damaged_state_is_refused() -> None:
    whole = state_to_bytes(RouterState("core", 7, (), {"p": (1, 2)}))
    assert state_from_bytes(whole) == RouterState("core", 7, (), {"p": (1, 2)})
    for damaged in (b"", whole[:-1], whole[:-3] + b"9" + whole[-2:], b"x" + whole[1:]):
        with pytest.raises(DamagedStateError):
            state_from_bytes(damaged)
