"""A session, message by message, without a network."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.broker.backend import Start
from predicast.broker.session.requests import (
    AcknowledgeAll,
    AddIds,
    ChangeOne,
    GiveOneBack,
    PublishEvents,
    RunWindow,
)
from predicast.broker.session.session import Session
from predicast.broker.session.terms import ConnectionLimits, Permissions
from predicast.engine import Report
from predicast.errors import LimitReachedError, UnknownIdError
from predicast.protocol.frames import JSON, MSGPACK, Ping
from predicast.protocol.records import (
    BodyForm,
    Definition,
    Delivery,
    Put,
    Receipt,
    Settings,
    StoredEvent,
)


def session_of(**options: Any) -> Session:
    return Session(JSON, tenant="t", publisher="p", **options)


def say(session: Session, **frame: Any) -> list[Any]:
    session.receive(json.dumps(frame), 0.0)
    return session.requests()


def heard(session: Session) -> list[dict[str, Any]]:
    return [json.loads(message) for message in session.messages()]


def delivery(position: int, *ids: str, body: bytes = b'{"x": 1}') -> Delivery:
    event = StoredEvent(position, 1.5, f"e{position}", "q", BodyForm.JSON, body)
    return Delivery(event, ids)


def consuming(session: Session, *ids: str, durable: bool = True, credit: int = 10) -> None:
    [request] = say(session, type="consume", ids=list(ids))
    session.answer(request, list(ids) if durable else [])
    assert not say(session, type="credit", deliveries=credit)
    assert not heard(session)


def test_hello_is_answered_with_what_holds() -> None:
    session = session_of(limits=ConnectionLimits(batch=7))
    assert not say(session, type="hello", request=1, publisher="me")
    [welcome] = heard(session)
    assert (welcome["type"], welcome["request"], welcome["tenant"]) == ("welcome", 1, "t")
    assert (welcome["publisher"], welcome["limits"]["batch"]) == ("me", 7)


def test_events_are_read_and_receipts_are_sent() -> None:
    session = session_of()
    events = [{"body": {"price": 9.5}, "id": "a"}, {"body": {"x": {"$interval": {"lo": 1}}}}]
    [request] = say(session, type="publish", request=4, events=events)
    assert isinstance(request, PublishEvents)
    assert [each.id for each in request.events] == ["a", "p-1"]
    assert request.events[0].body == b'{"price": 9.5}'
    assert request.events[0].attributes == {"price": 9.5}
    assert [each.publisher for each in request.events] == ["p", "p"]
    session.answer(request, [Receipt(1, "a"), Receipt(2, "p-1", True)])
    assert heard(session) == [
        {"type": "published", "request": 4, "receipts": [[1, "a", False], [2, "p-1", True]]}
    ]


def test_events_without_ids_never_share_one() -> None:
    session = session_of()
    ids = []
    for _ in range(3):
        [request] = say(session, type="publish", events=[{"body": {}}, {"body": {}}])
        ids += [event.id for event in request.events]
    assert len(set(ids)) == 6


def test_ids_are_new_on_every_connection_whatever_it_calls_itself() -> None:
    ids = set()
    for lot in ("one", "other"):
        session = Session(JSON, tenant="t", publisher=lot)
        say(session, type="hello", publisher="shop-1")
        [request] = say(session, type="publish", events=[{"body": {}}])
        assert request.events[0].publisher == "shop-1"
        ids.add(request.events[0].id)
    assert len(ids) == 2


def test_one_bad_event_refuses_its_batch_and_says_which() -> None:
    session = session_of()
    assert not say(session, type="publish", request=9, events=[{"body": {}}, {"body": [1]}])
    [error] = heard(session)
    assert (error["type"], error["request"], error["error"]) == ("error", 9, "JsonFormError")
    assert "event 1" in error["message"]


def test_messagepack_carries_the_same() -> None:
    session = Session(MSGPACK, tenant="t", publisher="p")
    frame = {"type": "publish", "request": 1, "events": [{"body": b'{"x": 1}', "id": "a"}]}
    session.receive(msgspec.msgpack.encode(frame), 0.0)
    [request] = session.requests()
    assert isinstance(request, PublishEvents)
    assert request.events[0].body == b'{"x": 1}'
    session.receive(msgspec.msgpack.encode({"type": "consume", "ids": ["s"]}), 0.0)
    [add] = session.requests()
    session.answer(add, ["s"])
    session.receive(msgspec.msgpack.encode({"type": "credit", "deliveries": 1}), 0.0)
    session.deliver([delivery(3, "s")])
    [message] = session.messages()
    [sent] = msgspec.msgpack.decode(message)["batch"]
    assert (sent["body"], sent["subscriptions"]) == (b'{"x": 1}', ["s"])


def test_windows_come_as_they_were_sent() -> None:
    session = session_of()
    operations = [
        {"type": "put", "definition": {"id": "a", "expression": "x < 3"}, "replace": True},
        {"type": "adjust", "id": "b", "parameters": {"p": 1}},
        {"type": "remove", "id": "c"},
    ]
    [request] = say(session, type="window", request=2, operations=operations)
    assert isinstance(request, RunWindow)
    assert request.window[0] == Put(Definition("a", "x < 3"), True)
    session.answer(request, Report(3, 0, 0, 1, 2))
    [report] = heard(session)
    assert (report["given"], report["restructured"]) == (3, 2)


def test_a_refused_request_is_answered_by_the_name_of_its_error() -> None:
    session = session_of()
    [request] = say(session, type="change", request=5, id="a", expression="x < 3")
    assert request == ChangeOne(5, "a", {"expression": "x < 3"})
    session.refuse(request.request, UnknownIdError("there is no 'a'", id="a"))
    assert heard(session) == [
        {
            "type": "error",
            "request": 5,
            "error": "UnknownIdError",
            "message": "there is no 'a'",
            "fields": {"id": "a"},
        }
    ]


def test_nothing_is_taken_without_credit_or_a_subscription() -> None:
    session = session_of()
    say(session, type="credit", deliveries=5)
    assert session.room == 0
    [request] = say(session, type="consume", ids=["s"], start={"after": 3})
    assert request == AddIds(0, ["s"], Start(3))
    session.answer(request, ["s"])
    assert session.room == 5
    session.deliver([delivery(1, "s"), delivery(2, "s")])
    assert session.room == 3


def test_unacknowledged_deliveries_take_room_until_they_are_done() -> None:
    session = session_of(limits=ConnectionLimits(unacknowledged=2))
    consuming(session, "s")
    session.deliver([delivery(1, "s"), delivery(2, "s")])
    assert session.room == 0
    assert say(session, type="acknowledge", positions=[1]) == [AcknowledgeAll(0, {"s": [1]})]
    assert session.room == 1


def test_what_is_ephemeral_needs_no_acknowledgement() -> None:
    session = session_of(limits=ConnectionLimits(unacknowledged=1))
    consuming(session, "s", durable=False)
    session.deliver([delivery(1, "s"), delivery(2, "s")])
    assert session.room == 8
    assert not say(session, type="acknowledge", positions=[1], request=3)
    assert heard(session)[-1] == {"type": "done", "request": 3}


def test_acknowledgements_go_to_every_subscription_of_a_delivery_or_to_those_named() -> None:
    session = session_of()
    consuming(session, "a", "b")
    session.deliver([delivery(1, "a", "b"), delivery(2, "a"), delivery(3, "b")])
    named = say(session, type="acknowledge", positions=[1], subscriptions=["a"])
    assert named == [AcknowledgeAll(0, {"a": [1]})]
    [rest] = say(session, type="acknowledge", up_to=2)
    assert rest == AcknowledgeAll(0, {"b": [1], "a": [2]})
    assert not say(session, type="acknowledge", up_to=2)
    assert not say(session, type="acknowledge", positions=[17])


def test_giving_back_is_for_what_is_out() -> None:
    session = session_of()
    consuming(session, "a")
    session.deliver([delivery(1, "a")])
    back = {"type": "give_back", "position": 1, "subscription": "a", "delay": 2.0, "why": "full"}
    assert say(session, **back) == [GiveOneBack(0, "a", 1, 2.0, "full")]
    assert not say(session, **back)
    assert not say(session, **back | {"delay": -1.0})
    assert heard(session)[-1]["error"] == "ProtocolError"


def test_what_is_released_or_removed_is_not_read_any_more() -> None:
    session = session_of()
    consuming(session, "a", "b")
    session.deliver([delivery(1, "a", "b")])
    [request] = say(session, type="release", ids=["a"])
    session.answer(request)
    assert say(session, type="acknowledge", positions=[1]) == [AcknowledgeAll(0, {"b": [1]})]
    [window] = say(session, type="window", operations=[{"type": "remove", "id": "b"}])
    session.answer(window, Report(1, 0, 0, 0, 1))
    assert session.room == 0


def test_an_ephemeral_subscription_is_heard_from_its_window_on() -> None:
    session = session_of()
    definition = Definition("e", "x < 3", settings=Settings(durable=False))
    put = {"type": "put", "definition": msgspec.to_builtins(definition)}
    [window] = say(session, type="window", operations=[put])
    session.answer(window, Report(1, 0, 0, 0, 1))
    say(session, type="credit", deliveries=4)
    assert session.room == 4


def test_large_deliveries_are_cut_into_frames() -> None:
    session = session_of(limits=ConnectionLimits(delivery_bytes=100))
    consuming(session, "s")
    body = json.dumps({"text": "x" * 60}).encode()
    session.deliver([delivery(n, "s", body=body) for n in range(1, 4)])
    assert [len(frame["batch"]) for frame in heard(session)] == [1, 1, 1]


def test_drops_are_told() -> None:
    session = session_of()
    session.dropped({})
    session.dropped({"s": 3})
    assert heard(session) == [{"type": "dropped", "counts": {"s": 3}}]


@pytest.mark.parametrize(
    ("scopes", "frame", "needed"),
    [
        ({"subscribe"}, {"type": "publish", "events": [{"body": {}}]}, "publish"),
        ({"publish"}, {"type": "window", "operations": []}, "subscribe"),
        ({"publish"}, {"type": "consume", "ids": ["a"]}, "subscribe"),
        ({"publish"}, {"type": "explain", "id": "a", "event": {"body": {}}}, "subscribe"),
        ({"publish"}, {"type": "dry_run", "events": []}, "subscribe"),
        ({"publish"}, {"type": "find"}, "subscribe"),
        ({"publish"}, {"type": "watch"}, "subscribe"),
        (set(), {"type": "change", "id": "a", "expression": "x < 1"}, "subscribe"),
    ],
)
def test_scopes_are_required(scopes: set[str], frame: dict[str, Any], needed: str) -> None:
    session = session_of(permissions=Permissions(frozenset(scopes)))
    assert not say(session, request=1, **frame)
    [error] = heard(session)
    assert (error["error"], error["fields"]["scope"]) == ("NotAllowedError", needed)
    allowed = session_of(permissions=Permissions(frozenset({"admin"})))
    assert say(allowed, request=1, **frame)


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "publish", "events": [{"body": {}}] * 3},
        {"type": "dry_run", "events": [{"body": {}}] * 3},
        {"type": "dry_run", "events": [{"body": {}}] * 2, "most": 3},
        {"type": "window", "operations": [{"type": "remove", "id": "a"}] * 3},
        {"type": "consume", "ids": ["a", "b", "c"]},
        {"type": "credit", "deliveries": 3},
        {"type": "find", "most": 3},
        {"type": "find", "text": "x" * 500},
    ],
)
def test_what_is_over_a_limit_is_refused(frame: dict[str, Any]) -> None:
    limits = ConnectionLimits(
        frame_bytes=400, explanations=5, batch=2, operations=2, consumed=2, credit=2
    )
    session = session_of(limits=limits)
    assert not say(session, request=8, **frame)
    [error] = heard(session)
    assert error["error"] == "LimitReachedError"
    assert error["fields"]["actual"] > error["fields"]["limit"]
    assert session.room == 0


def test_a_rate_is_asked_for_before_events_are_taken() -> None:
    def spend(events: int, now: float) -> None:
        raise LimitReachedError("too many", what="events", limit=1, actual=events)

    session = session_of(permissions=Permissions(spend=spend))
    assert not say(session, type="publish", request=1, events=[{"body": {}}] * 2)
    assert heard(session)[0]["fields"]["actual"] == 2


def test_what_is_not_readable_is_answered_by_its_number_if_it_has_one() -> None:
    session = session_of()
    assert not say(session, type="publish", request=12, events=7)
    [error] = heard(session)
    assert (error["error"], error["request"]) == ("ProtocolError", 12)
    assert error["fields"]["field"] == "$.events"
    session.receive(b"{}", 0.0)
    assert "as text" in heard(session)[0]["message"]
    session.receive("\ud800", 0.0)
    assert heard(session)[0]["error"] == "ProtocolError"


EXAMPLES = [
    {"type": "hello", "request": 1, "publisher": "me"},
    {"type": "publish", "request": 2, "events": [{"body": {"x": 1}, "id": "a"}]},
    {"type": "window", "request": 3, "operations": [{"type": "remove", "id": "a"}]},
    {"type": "acknowledge", "up_to": 7},
    {"type": "give_back", "position": 1, "subscription": "s"},
    {"type": "credit", "deliveries": 3},
]


@st.composite
def spoilt(draw: st.DrawFn) -> bytes:
    message = bytearray(msgspec.msgpack.encode(draw(st.sampled_from(EXAMPLES))))
    if draw(st.booleans()):
        message = bytearray(json.dumps(draw(st.sampled_from(EXAMPLES))).encode())
    for _ in range(draw(st.integers(0, 3))):
        message[draw(st.integers(0, len(message) - 1))] = draw(st.integers(0, 255))
    return bytes(message[: draw(st.integers(0, len(message)))])


@given(st.lists(st.one_of(spoilt(), st.binary(max_size=60)), max_size=5))
def test_whatever_comes_a_session_answers_and_lives(messages: list[bytes]) -> None:
    for framing in (JSON, MSGPACK):
        session = Session(framing, tenant="t", publisher="p")
        for message in messages:
            text = message.decode(errors="surrogateescape")
            session.receive(text if framing.is_text else message, 0.0)
            session.requests()
            for answer in session.messages():
                framing.broker_frame(answer)
        ping = framing.encode(Ping(request=5))
        session.receive(ping.decode() if framing.is_text else ping, 0.0)
        [answer] = session.messages()
        assert framing.broker_frame(answer).request == 5


@pytest.mark.parametrize("framing", [JSON, MSGPACK], ids=["json", "msgpack"])
def test_deep_nesting_is_refused(framing: Any) -> None:
    session = Session(framing, tenant="t", publisher="p")
    deep = b'{"type":"publish","events":[{"body":' + b"[" * 100_000
    if not framing.is_text:
        deep = b"\x82\xa4type\xa7publish\xa6events\x91\x81\xa4body" + b"\x91" * 100_000
    session.receive(deep.decode() if framing.is_text else deep, 0.0)
    [answer] = session.messages()
    assert framing.broker_frame(answer).error == "ProtocolError"
