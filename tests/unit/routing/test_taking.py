"""What comes from several neighbours in one step: matched together, each stream in its order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from predicast.engine import Engine, Subscribe, Unsubscribe
from predicast.model import Event
from predicast.routing import Host, Message, Router, RouterOptions, Send
from predicast.routing.messages import Events, Published
from predicast.routing.table import RoutingTable

HOSTS = ("a", "b", "c", "d")


class CountingEngine(Engine):
    """Notes how many events it is asked for at a time."""

    def __init__(self) -> None:
        super().__init__(matcher="brute-force")
        self.asked: list[int] = []

    def match_keys(self, events: Sequence[Event], **options: Any) -> Any:
        self.asked.append(len(events))
        return super().match_keys(events, **options)


class Star:
    """One broker and hosts around it; what they say waits until it is taken in one step."""

    def __init__(self, **options: Any) -> None:
        self.engine = CountingEngine()
        self.router = Router(RouterOptions(name="core", **options), engine=self.engine)
        self.router.start(0.0)
        self.hosts = {name: Host(name, "core") for name in HOSTS}
        self.waiting: list[tuple[Message, str]] = []
        self.refused: list[str] = []
        for name, host in self.hosts.items():
            self.says(name, host.start(0.0))
        self.settle()

    def says(self, name: str, sends: list[Send]) -> None:
        self.waiting += [(message, name) for _, message in sends]

    def step(self) -> None:
        """The broker takes all that waits; the hosts take what it says."""
        arrivals, self.waiting = self.waiting, []
        for name, message in self.router.receive_all(arrivals, 0.0):
            self.says(name, self.hosts[name].receive(message, 0.0))
            self.refused += [f"{name}: {each.error}" for each in self.hosts[name].refusals()]

    def settle(self) -> None:
        while self.waiting:
            self.step()

    def publishes(self, name: str, *values: int) -> None:
        self.says(name, self.hosts[name].publish([{"x": value} for value in values], 0.0))

    def heard(self, name: str) -> list[tuple[Any, tuple[str, ...]]]:
        delivered = self.hosts[name].deliveries()
        return [(each.published.event.get("x"), each.matched) for each in delivered]


def wanting(*texts: str, **options: Any) -> Star:
    """A broker whose host ``a`` wants these, as ``s0``, ``s1`` and so on."""
    star = Star(**options)
    window = [Subscribe(f"s{number}", text) for number, text in enumerate(texts)]
    star.says("a", star.hosts["a"].announce(window, 0.0))
    star.settle()
    star.engine.asked.clear()
    return star


def test_events_of_all_neighbours_are_one_question() -> None:
    star = wanting("x > 1", "x > 4")
    star.publishes("b", 1, 2)
    star.publishes("c", 3)
    star.publishes("d", 4, 5, 6)
    star.step()
    assert star.engine.asked == [6]
    both = ("s0", "s1")
    assert star.heard("a") == [(2, ("s0",)), (3, ("s0",)), (4, ("s0",)), (5, both), (6, both)]
    assert star.router.statistics()["received"] == 6


def test_nobody_hears_what_they_said_themselves() -> None:
    star = wanting("x > 1")
    star.says("b", star.hosts["b"].announce([Subscribe("mine", "x > 1")], 0.0))
    star.settle()
    star.publishes("a", 7)
    star.publishes("b", 8)
    star.step()
    assert star.heard("a") == [(8, ("s0",))]
    assert star.heard("b") == [(7, ("mine",))]


def test_what_is_wrong_with_one_message_is_not_the_others_fault() -> None:
    star = wanting("x > 1")
    star.publishes("b", 2)
    epoch = next(message.epoch for message, _ in star.waiting if isinstance(message, Events))
    star.waiting.append((Events(epoch, 1, (Published("b", 9, Event({"x": 9})),)), "c"))
    star.publishes("d", 3)
    star.step()
    assert star.heard("a") == [(2, ("s0",)), (3, ("s0",))]
    assert star.refused == ["c: ForeignPublisherError"]


def test_a_window_takes_effect_between_the_events_around_it() -> None:
    star = wanting("x > 1")
    star.publishes("b", 2)
    star.says("b", star.hosts["b"].announce([Subscribe("mine", "x = 3")], 0.0))
    star.says("b", star.hosts["b"].announce([Unsubscribe("mine")], 0.0))
    star.publishes("b", 4)
    star.publishes("c", 3)
    star.step()
    # What ``c`` says may be taken before or after any of it; what ``b`` says keeps its order.
    assert [value for value, _ in star.heard("a") if value != 3] == [2, 4]
    assert star.router.wanted("b") == []


def test_what_finds_no_room_waits_and_the_others_do_not() -> None:
    star = wanting("x > 1", max_waiting=3)
    for name in ("b", "c"):
        star.publishes(name, 2, 3)
    star.publishes("d", 1)
    star.router.receive_all(star.waiting, 0.0)
    star.waiting = []
    assert star.router.sizes("a").waiting == 2
    assert star.router.statistics()["received"] == 3


def test_a_window_gives_up_wishes_in_its_order_and_not_in_that_of_a_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or a seed would be replayed exactly only where strings have the same hashes."""
    table = RoutingTable(RouterOptions(name="core"))
    ids = [f"s{number}" for number in range(30)]
    table.run("a", [Subscribe(id, f"price < {number}") for number, id in enumerate(ids)])
    dropped: list[str] = []
    monkeypatch.setattr(table.interest, "drop", lambda _, given: dropped.append(given))
    table.run("a", [Unsubscribe(id) for id in ids])
    assert dropped == ids
