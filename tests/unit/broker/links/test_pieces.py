"""What links are made of: first words, envelopes, wishes, the store; and what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.websockets import WebSocket, WebSocketState

from predicast.broker.links.carrying import arriving, is_carried, outgoing
from predicast.broker.links.connection import AcceptedConnection
from predicast.broker.links.inbox import Inbox
from predicast.broker.links.introduction import introduced, read_introduction, refused
from predicast.broker.links.junction import Junction
from predicast.broker.links.settings import MAX_EVENT_BYTES, LinkSettings, Parent
from predicast.broker.links.sqlite_store import SqliteLinkStore
from predicast.broker.links.store import Identity, Turn
from predicast.broker.links.wishes import LocalWishes
from predicast.broker.subscriptions import Subscriptions
from predicast.engine import Engine, Subscribe, Unsubscribe
from predicast.errors import (
    DamagedStoreError,
    InvalidOptionError,
    NotAllowedError,
    NotConnectedError,
    PredicastError,
    ProtocolError,
)
from predicast.protocol.records import BodyForm, Definition, Put, Remove, Settings, StoredEvent
from predicast.routing import Published
from predicast.routing.codec import decode, encode
from predicast.routing.journal import Entry
from predicast.routing.messages import Acknowledge, Announce, Events, Message

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text() | st.floats(),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(), parts, max_size=3),
    max_leaves=8,
)


def stored(body: bytes, form: BodyForm = BodyForm.JSON) -> StoredEvent:
    return StoredEvent(7, 1_700_000_000.5, "id-1", "somebody", form, body)


# First words.


def test_an_introduction_is_read_as_it_was_said() -> None:
    said = read_introduction(introduced("core", 3))
    assert (said.name, said.level) == ("core", 3)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (refused("NotAllowedError", "no"), NotAllowedError),
        (refused("BackendError", "no"), NotConnectedError),
        (b"", ProtocolError),
        (b"{}", ProtocolError),
        (b'{"link": 2, "name": "a"}', ProtocolError),
        (b'{"link": 1}', ProtocolError),
        (b'{"link": 1, "name": "a", "level": -1}', ProtocolError),
        (b" " * 20_000, ProtocolError),
    ],
)
def test_another_first_word_is_refused(data: bytes, error: type[PredicastError]) -> None:
    with pytest.raises(error):
        read_introduction(data)


@given(st.binary(max_size=60) | JSON.map(lambda each: repr(each).encode("utf-8", "replace")))
def test_no_first_word_does_harm(data: bytes) -> None:
    with pytest.raises((ProtocolError, NotAllowedError, NotConnectedError)):
        read_introduction(data)


# Envelopes.


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_a_body_arrives_as_it_was(attributes: dict[str, object]) -> None:
    body = msgspec.json.encode(attributes)
    published = outgoing(stored(body), "here")
    if published is None:
        return  # what no engine could read
    message = decode(encode(Events(1, 1, (published,))))
    assert isinstance(message, Events)
    made = arriving(message.events[0])
    assert (made.body, made.id, made.publisher, made.form) == (
        body,
        "id-1",
        "somebody",
        BodyForm.JSON,
    )
    assert (published.publisher, published.sequence) == ("here", 7)


@given(st.none() | st.binary(max_size=40))
def test_no_envelope_does_harm(envelope: bytes | None) -> None:
    published = Published("p", 1, {}, 0, b"{}", envelope)
    with pytest.raises(ProtocolError):
        arriving(published)


def test_graphs_and_what_is_too_large_stay() -> None:
    assert is_carried(stored(b"{}"))
    assert not is_carried(stored(b"<a> <b> <c> .", BodyForm.TURTLE))
    assert not is_carried(stored(b" " * (MAX_EVENT_BYTES + 1)))
    assert outgoing(stored(b"[1"), "here") is None


# Wishes.


def test_wishes_are_what_has_changed() -> None:
    held = Subscriptions()
    brief = Settings(durable=False)
    held.apply([Put(Definition("a", "x = 1"))])
    wishes = LocalWishes(held)
    assert list(wishes.whole()) == [Subscribe("durable/a", "x = 1")]
    assert not len(wishes)
    held.apply([Put(Definition("a", "x = 1", settings=brief), replace=True)])
    held.apply([Put(Definition("b", "x = :v", parameters={"v": 2}))])
    held.apply([Put(Definition("c", "x = 3")), Remove("c")])
    assert len(wishes)
    changes = wishes.changes()
    assert Unsubscribe("durable/a") in changes
    assert Subscribe("ephemeral/a", "x = 1") in changes
    assert {each.id for each in changes} == {"durable/a", "durable/b", "ephemeral/a"}
    assert wishes.changes() == []


def test_wishes_that_change_while_they_are_told() -> None:
    held = Subscriptions()
    held.apply([Put(Definition(id, "x = 1")) for id in "abcd"])
    wishes = LocalWishes(held)
    told = wishes.whole()
    first = next(told).id.removeprefix("durable/")
    gone, back, changed = sorted(set("abcd") - {first})
    held.apply([Remove(gone), Remove(back), Put(Definition(changed, "x = 2"), replace=True)])
    held.apply([Put(Definition("new", "x = 3"))])
    rest = list(told)
    assert rest == [Subscribe(f"durable/{changed}", "x = 2")]
    held.apply([Put(Definition(back, "x = 4"))])
    other = Engine()
    other.apply([Subscribe(f"durable/{first}", "x = 1"), *rest])
    other.apply(wishes.changes())
    assert {id: other.get(id).text for id in other} == {
        f"durable/{first}": "x = 1",
        f"durable/{changed}": "x = 2",
        f"durable/{back}": "x = 4",
        "durable/new": "x = 3",
    }
    held.apply([Remove(back)])
    assert wishes.changes() == [Unsubscribe(f"durable/{back}")]


def test_a_long_id_is_told_by_a_short_one() -> None:
    held = Subscriptions()
    held.apply([Put(Definition("a" * 1_024, "x = 1"))])
    [told] = LocalWishes(held).whole()
    assert len(told.id) < 100


# What is kept.


def with_store(folder: Path, test: Callable[[SqliteLinkStore], Awaitable[None]]) -> None:
    async def body() -> None:
        store = SqliteLinkStore(folder)
        try:
            await test(store)
        finally:
            await store.close()

    asyncio.run(body())


WHO = Identity("a", "a@1", 5, 2, {"ws://b": "b"})


def test_what_was_kept_is_there_again(tmp_path: Path) -> None:
    async def keep(store: SqliteLinkStore) -> None:
        assert (await store.load("t")).identity is None
        await store.begin_anew("t", WHO, 3)
        await store.keep("t", Turn(Entry(b"whole", is_whole=True), 3, [4, 6]))
        await store.keep("t", Turn(Entry(b"+more", is_whole=False), 5, [9]))
        await store.keep("u", Turn(Entry(b"other", is_whole=True), 1))

    async def look(store: SqliteLinkStore) -> None:
        kept = await store.load("t")
        assert (kept.identity, kept.journal, kept.passed_on) == (WHO, b"whole+more", 5)
        assert await store.arrived_among("t", [4, 5, 6, 7, 8, 9, 10]) == {6, 9}
        assert await store.arrived_among("t", []) == set()
        assert await store.tenants() == ["t"]
        await store.keep("t", Turn(Entry(b"anew", is_whole=True), 9))
        assert (await store.load("t")).journal == b"anew"

    with_store(tmp_path, keep)
    with_store(tmp_path, look)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "links.sqlite").write_bytes(b"no database at all" * 300)

    async def look(store: SqliteLinkStore) -> None:
        with pytest.raises(DamagedStoreError) as caught:
            await store.load("t")
        assert caught.value.where == "links.sqlite"

    with_store(tmp_path, look)


# Connections.


def test_a_connection_whose_other_end_is_gone_can_be_closed() -> None:
    async def gone(message: object = None) -> dict[str, str]:
        raise OSError("the other end is gone")  # as the server's socket says it

    def connection() -> AcceptedConnection:
        socket = WebSocket({"type": "websocket", "headers": []}, gone, gone)  # type: ignore[arg-type]
        socket.client_state = socket.application_state = WebSocketState.CONNECTED
        return AcceptedConnection(socket)

    async def test() -> None:
        with pytest.raises(NotConnectedError):
            await connection().send(b"x")
        with pytest.raises(NotConnectedError):
            await connection().receive()
        closed = connection()
        await closed.close()
        await closed.close()

    asyncio.run(test())


# Settings, and the junction by itself.


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"name": ""}, "name"),
        ({"retry_s": 0}, "retry_s"),
        ({"patience_s": -1}, "forget_after_s"),
        ({"max_waiting": 0}, "max_waiting"),
        ({"parents": (Parent("ws://a"), Parent("ws://a"))}, "parent"),
    ],
)
def test_settings_that_cannot_be_are_refused(options: dict[str, object], option: str) -> None:
    with pytest.raises(InvalidOptionError) as caught:
        LinkSettings(**options)  # type: ignore[arg-type]
    assert caught.value.option == option


def test_what_came_from_all_neighbours_is_taken_together_up_to_a_window() -> None:
    first = Events(1, 1, ()), Acknowledge(1, 1, 1), Announce(1, 2, ())
    then = Announce(1, 3, ()), Events(1, 4, ()), Events(1, 5, ())

    async def takes() -> list[list[tuple[Message, str]]]:
        inbox = Inbox()
        for message in (*first, *then):
            await inbox.put(message, "one" if isinstance(message, Events) else "other")
        return [inbox.take() for _ in range(4)]

    taken = asyncio.run(takes())
    assert [[message for message, _ in each] for each in taken] == [
        [*first],
        [*then[:1]],
        [*then[1:]],
        [],
    ]
    assert [name for _, name in taken[0]] == ["one", "other", "other"]


def test_what_arrives_is_acknowledged_when_it_is_kept_and_not_before() -> None:
    def junction(name: str, level: int, *candidates: str) -> Junction:
        options = LinkSettings().router_options(name, level=level, epoch=1, candidates=candidates)
        return Junction(options, f"{name}@1")

    core, leaf = junction("core", 0), junction("leaf", 1, "core")
    both = {"core": core, "leaf": leaf}

    def exchange() -> None:
        moved = True
        while moved:
            moved = False
            for name, each in both.items():
                while each.step(0.0):
                    moved = True
                for to, message in each.take_sends():
                    both[to].receive_all([(decode(encode(message)), name)], 0.0)
                    moved = True

    core.start([], 0.0)
    leaf.start([Subscribe("all", "n >= 0")], 0.0)
    exchange()
    event = outgoing(stored(b'{"n": 1}'), "core@1")
    assert event is not None
    core.publish([event], 0.0)
    exchange()
    assert [each.sequence for each in leaf.arrivals()] == [7]
    # The leaf's router has it, and keeps it until it is published there.
    assert leaf.router.statistics()["waiting"] == 1
    leaf.arrived(0.0)
    exchange()
    assert leaf.arrivals() == []
    assert leaf.router.statistics()["waiting"] == core.router.statistics()["waiting"] == 0
