"""Linked brokers: what is published at one is received at another, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from predicast.broker.links import Parent
from predicast.broker.links.settings import MAX_EVENT_BYTES
from predicast.errors import InvalidOptionError
from predicast.protocol.records import BodyForm, Definition, Delivery, NewEvent, Put
from predicast.routing import Announce, Message, Router, Send
from tests.unit.broker.links.brokers import TENANT, Tree, event, reader, received, run, until


def ids(deliveries: list[Delivery]) -> list[str]:
    return [each.event.id for each in deliveries]


SOON: dict[str, Any] = {"ttl_s": 1.5}  # after which silence is noticed


async def line(tree: Tree, **settings: Any) -> None:
    """A tree of three: the core in the middle of two leaves."""
    await tree.add("core", **settings)
    await tree.add("left", "core", **settings)
    await tree.add("right", "core", **settings)


def test_what_one_leaf_publishes_another_receives(tmp_path: Path) -> None:
    async def test(tree: Tree) -> None:
        await line(tree)
        left, right = tree.brokers["left"], tree.brokers["right"]
        await left.settled()
        await right.subscribe("few", "n >= 3")
        consumer = await reader(right, "few")
        await right.settled()
        await left.publish(range(5))
        assert ids(await received(consumer, 2)) == ["e3", "e4"]
        # Nothing that nobody wants was carried, and nothing was sent back.
        assert [each.id for each in await right.tenant.latest(10)] == ["e3", "e4"]
        core = tree.brokers["core"].links.status(TENANT)
        assert await tree.brokers["core"].tenant.latest(10) == []
        carried = {each.name: each.traffic.events_out for each in core.neighbours}
        assert carried["left"] == 0
        assert carried["right"] >= 2  # more where an acknowledgement was late
        assert [each.id for each in await left.tenant.latest(10)] == [f"e{n}" for n in range(5)]

    run(test, tmp_path)


def test_events_arrive_as_they_were_published(tmp_path: Path) -> None:
    cloud_event = b'{"specversion":"1.0","id":"7","source":"/a","type":"sold","data":{"n":5}}'
    odd = b'{"n": 5, "matrix": {"$interval": 3}, "note": null}'

    async def test(tree: Tree) -> None:
        await line(tree)
        left, right = tree.brokers["left"], tree.brokers["right"]
        await right.subscribe("plain", "n = 5")
        await right.subscribe("cloud", "data.n = 5")
        consumer = await reader(right, "plain", "cloud")
        await right.settled()
        await left.settled()
        await left.tenant.publish(
            [
                NewEvent(odd, {"n": 5}, "odd", "somebody"),
                NewEvent(cloud_event, {"data": {"n": 5}}, "7", "/a", BodyForm.CLOUDEVENT),
            ]
        )
        first, second = await received(consumer, 2)
        assert (first.event.id, first.event.publisher, first.event.body) == ("odd", "somebody", odd)
        assert (second.event.publisher, second.event.form) == ("/a", BodyForm.CLOUDEVENT)
        assert second.event.body == cloud_event
        assert second.subscriptions == ("cloud",)

    run(test, tmp_path)


def test_subscriptions_come_and_go(tmp_path: Path) -> None:
    async def test(tree: Tree) -> None:
        await line(tree)
        left, right = tree.brokers["left"], tree.brokers["right"]
        await left.settled()
        await right.subscribe("a", "n = 1", durable=False)
        consumer = await reader(right, "a")
        await right.settled()
        await left.publish([1])
        assert ids(await received(consumer, 1)) == ["e1"]
        await right.tenant.change("a", lambda _: {"expression": "n = 2"})
        await right.settled()
        await left.publish([1, 2], publisher="q")
        assert ids(await received(consumer, 1)) == ["e2"]
        await right.tenant.unsubscribe("a")
        await right.settled()
        await left.publish([2], publisher="r")
        await left.subscribe("here", "n = 9")
        await left.settled()  # so that whatever was to go has gone
        assert [each.id for each in await right.tenant.latest(10)] == ["e1", "e2"]

    run(test, tmp_path)


def test_a_middle_that_was_away_loses_nothing(tmp_path: Path) -> None:
    async def test(tree: Tree) -> None:
        await tree.add("core")
        middle = await tree.add("middle", "core")
        leaf = await tree.add("leaf", "middle")
        core = tree.brokers["core"]
        await leaf.subscribe("all", "n >= 0")
        await core.subscribe("all", "n >= 0")
        at_leaf, at_core = await reader(leaf, "all"), await reader(core, "all")
        await leaf.settled()
        await core.settled()
        await until(lambda: leaf.links.status(TENANT).is_attached, "attached")
        await core.publish(range(10))
        await middle.stop()
        await core.publish(range(10, 20))
        await leaf.publish(range(20, 30))
        await middle.start()
        await core.publish(range(30, 40))
        assert sorted(ids(await received(at_leaf, 40))) == sorted(f"e{n}" for n in range(40))
        assert sorted(ids(await received(at_core, 40))) == sorted(f"e{n}" for n in range(40))

    run(test, tmp_path)


def test_a_leaf_that_restarts_goes_on(tmp_path: Path) -> None:
    async def test(tree: Tree) -> None:
        await line(tree)
        left, right = tree.brokers["left"], tree.brokers["right"]
        await right.subscribe("all", "n >= 0")
        await right.settled()
        await left.settled()
        await right.stop()
        await left.publish(range(100))
        await right.start()
        await left.publish(range(100, 110))
        consumer = await reader(right, "all")
        assert ids(await received(consumer, 110)) == [f"e{n}" for n in range(110)]
        await right.stop()
        await right.start()
        await right.settled()
        assert len(await right.tenant.latest(1_000)) == 110

    run(test, tmp_path)


def test_a_partition_is_waited_for(tmp_path: Path) -> None:
    async def test(tree: Tree) -> None:
        await line(tree, **SOON)
        left, right = tree.brokers["left"], tree.brokers["right"]
        await right.subscribe("all", "n >= 0")
        consumer = await reader(right, "all")
        await right.settled()
        await left.settled()
        await tree.part("right", "core")
        await tree.part("left", "core")
        await left.publish(range(50))
        await right.publish(range(50, 60))
        await until(lambda: not left.links.status(TENANT).is_attached, "the parent is missed")
        tree.mend()
        assert sorted(ids(await received(consumer, 60))) == sorted(f"e{n}" for n in range(60))

    run(test, tmp_path)


def test_a_connection_that_says_nothing_is_given_up(tmp_path: Path) -> None:
    async def test(tree: Tree) -> None:
        await line(tree, **SOON)
        left, right = tree.brokers["left"], tree.brokers["right"]
        await right.subscribe("all", "n >= 0")
        consumer = await reader(right, "all")
        await right.settled()
        await left.settled()
        for each in right.pipes:
            each.is_stuck = True
            assert each.other is not None
            each.other.is_stuck = True
        await left.publish(range(5))
        await until(lambda: len(right.pipes) > 1, "silence is noticed")
        assert ids(await received(consumer, 5)) == [f"e{n}" for n in range(5)]

    run(test, tmp_path)


def test_another_parent_takes_the_place_of_a_lost_one(tmp_path: Path) -> None:
    async def test(tree: Tree) -> None:
        await tree.add("core")
        await tree.add("one", "core")
        await tree.add("two", "core")
        leaf = await tree.add("leaf", "one", "two")
        await leaf.subscribe("all", "n >= 0")
        consumer = await reader(leaf, "all")
        await leaf.settled()
        parents = leaf.links.status(TENANT).parents
        await until(lambda: all(each.name for each in leaf.links.status(TENANT).parents), "both")
        before = leaf.links.status(TENANT).parent
        assert before in {"one", "two"}, parents
        await tree.brokers["core"].publish(range(10))
        await tree.brokers[str(before)].stop()
        await until(lambda: leaf.links.status(TENANT).parent != before, "another parent")
        await leaf.settled()
        await tree.brokers["core"].publish(range(10, 20))
        await tree.brokers[str(before)].start()  # with what it had taken and not passed on
        assert sorted(ids(await received(consumer, 20))) == sorted(f"e{n}" for n in range(20))

    run(test, tmp_path)


def test_what_the_tree_cannot_take_waits_in_the_log(tmp_path: Path) -> None:
    async def test(tree: Tree) -> None:
        core = await tree.add("core", **SOON)
        leaf = await tree.add("leaf", "core", max_waiting=20, **SOON)
        await core.subscribe("all", "n >= 0")
        consumer = await reader(core, "all")
        await core.settled()
        await leaf.settled()
        await tree.part("leaf", "core")
        await until(lambda: not leaf.links.status(TENANT).is_attached, "the parent is missed")
        for begin in range(0, 2_000, 100):
            await leaf.publish(range(begin, begin + 100))
        status = leaf.links.status(TENANT)
        assert status.passed_on < 2_000
        # An interface for which nothing waits takes one message, however long it is.
        assert sum(each.waiting for each in status.neighbours) <= 512 + 20
        await leaf.stop()
        await leaf.start()
        tree.mend()
        assert ids(await received(consumer, 2_000)) == [f"e{n}" for n in range(2_000)]

    run(test, tmp_path)


def test_a_token_that_is_refused_is_told(tmp_path: Path) -> None:
    async def test(tree: Tree) -> None:
        tree.tokens["core"] = "secret"
        await tree.add("core")
        leaf = await tree.add("leaf", "core", token="wrong")
        await until(lambda: leaf.links.status(TENANT).parents[0].problem is not None, "told")
        status = leaf.links.status(TENANT)
        assert status.parents[0].problem == "the token is not known"
        assert not status.is_attached
        assert "secret" not in repr(leaf.settings)
        await leaf.publish([1])  # which it takes all the same

    run(test, tmp_path)


def test_brokers_in_a_circle_are_refused(tmp_path: Path) -> None:
    async def test(tree: Tree) -> None:
        one = await tree.add("one", "two")
        await tree.add("two", "one")
        why = "this broker has not found its own parent yet"
        await until(lambda: one.links.status(TENANT).parents[0].problem == why, "told")

    run(test, tmp_path)


def test_a_broker_whose_parent_moves_away_from_the_core_moves_along(tmp_path: Path) -> None:
    async def test(tree: Tree) -> None:
        core = await tree.add("core")
        middle = await tree.add("middle")
        leaf = await tree.add("leaf", "middle")
        await leaf.subscribe("all", "n >= 0")
        consumer = await reader(leaf, "all")
        await leaf.settled()
        assert leaf.links.status(TENANT).level == 1
        await middle.stop()
        middle.settings = replace(middle.settings, parents=(Parent("ws://core"),))
        await middle.start()
        await until(lambda: leaf.links.status(TENANT).level == 2, "moved")
        await leaf.settled()
        await core.settled()
        await until(lambda: leaf.links.status(TENANT).is_attached, "attached")
        await core.publish([1])
        assert ids(await received(consumer, 1)) == ["e1"]

    run(test, tmp_path)


def test_an_event_that_is_published_at_two_brokers_is_one(tmp_path: Path) -> None:
    async def test(tree: Tree) -> None:
        await line(tree)
        left, right = tree.brokers["left"], tree.brokers["right"]
        await right.subscribe("all", "n >= 0")
        consumer = await reader(right, "all")
        await right.settled()
        await left.settled()
        await right.tenant.publish([event(1)])
        await left.tenant.publish([event(1), event(2)])
        assert ids(await received(consumer, 2)) == ["e1", "e2"]

    run(test, tmp_path)


@pytest.mark.parametrize("url", ["core:port", "ftp://core", "ws://", ""])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InvalidOptionError, match="a broker's address is such as") as caught:
        Parent(url)
    assert caught.value.option == "parent"


def test_addresses_of_links() -> None:
    assert Parent("https://a.example").address == "wss://a.example/link"
    assert Parent("http://a.example:7400/x/").address == "ws://a.example:7400/x/link"
    assert Parent("ws://a.example/link").address == "ws://a.example/link"
    assert Parent("localhost:7400").address == "ws://localhost:7400/link"
    assert Parent("core").address == "ws://core:8642/link"


def test_a_broker_with_many_subscriptions_serves_others_while_it_joins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beats = 0
    taken: Counter[tuple[str, int]] = Counter()  # operations, by broker and beat
    receive_all = Router.receive_all

    def counted(self: Router, arrivals: Iterable[tuple[Message, str]], now: float) -> list[Send]:
        arrivals = list(arrivals)
        for message, _ in arrivals:
            if isinstance(message, Announce):
                taken[self.name, beats] += len(message.operations)
        return receive_all(self, arrivals, now)

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0)
            beats += 1

    async def steps(tree: Tree) -> None:
        core = await tree.add("core")
        leaf = await tree.add("leaf")
        many = [Put(Definition(f"s{n}", f"n = {n}")) for n in range(2_000)]
        await leaf.tenant.apply(many)
        await leaf.stop()
        monkeypatch.setattr(Router, "receive_all", counted)
        beating = asyncio.create_task(beat())
        leaf = await tree.add("leaf", "core")
        await leaf.settled()
        beating.cancel()
        assert sum(count for (name, _), count in taken.items() if name == "core") >= 2_000
        assert max(taken.values()) <= 100
        consumer = await reader(leaf, "s7")
        await core.publish([7])
        assert ids(await received(consumer, 1)) == ["e7"]

    run(steps, tmp_path)


def test_what_links_do_not_carry_is_counted(tmp_path: Path) -> None:
    async def steps(tree: Tree) -> None:
        core, leaf = await tree.add("core"), await tree.add("leaf", "core")
        await leaf.settled()
        text = "<https://a.example/x> <https://a.example/y> 1 ."
        graph = NewEvent(text.encode(), text, "graph", "p", BodyForm.TURTLE)
        await leaf.tenant.publish([graph, event(1, text="x" * MAX_EVENT_BYTES), event(2)])
        await until(
            lambda: leaf.links.status(TENANT).counts["stayed_local"] == 2, "both are counted"
        )
        assert leaf.links.statistics()["links_stayed_local"] == 2
        assert core.links.statistics()["links_stayed_local"] == 0

    run(steps, tmp_path)
