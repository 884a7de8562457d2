"""What it means to be a backend of the broker, as tests.

Subclass it in a test module, say how a backend is made, and pytest runs the lot::

    class TestEmbedded(BackendConformance):
        @pytest.fixture
        def make(self, tmp_path):
            return lambda clock: EmbeddedBackend(tmp_path, clock=clock)

Within one test every backend that is made has the same place to keep things: when one is stopped
and another started, that is a restart. Where time cannot be passed in, override ``pass_time``.
"""

from __future__ import annotations

import asyncio

import pytest

from predicast.broker.backend import Backend, Start
from predicast.broker.tenant import Tenant, with_settings
from predicast.errors import (
    ChangedMeanwhileError,
    DuplicateIdError,
    ParseError,
    UnknownIdError,
)
from predicast.protocol.records import (
    Adjust,
    Definition,
    Put,
    RegistryOperation,
    Remove,
    Settings,
    Webhook,
    WhenFull,
)
from predicast.testing.backend_histories import History
from predicast.testing.backend_steps import (
    ACK_WAIT,
    LONG,
    SHORT,
    TENANT,
    BackendSteps,
    MakeBackend,
    event,
    started,
)
from predicast.testing.clocks import FakeClock

__all__ = ["BackendConformance", "MakeBackend", "event"]


class BackendConformance(BackendSteps):
    """Tests that every backend passes."""

    steps: int = 60  # of a random history

    @pytest.fixture
    def make(self) -> MakeBackend:
        """How a backend is made."""
        raise NotImplementedError("a conformance test says how its backend is made")

    # Subscriptions.

    def test_definitions_are_kept_and_found(self, make: MakeBackend) -> None:
        async def run(backend: Backend) -> None:
            wanted = [
                Definition("a", "price < 10", owner="ann", created=5.0),
                Definition("b", "price < :most", parameters={"most": 3}, owner="bob"),
                Definition("c", "size = 4", owner="ann", settings=Settings(max_pending=7)),
            ]
            await backend.change(TENANT, [Put(each) for each in wanted])
            for each in wanted:
                assert await backend.definition(TENANT, each.id) == each
            assert await backend.definitions(TENANT) == wanted
            assert await backend.definitions(TENANT, owner="ann") == [wanted[0], wanted[2]]
            assert await backend.definitions(TENANT, text="price") == wanted[:2]
            assert await backend.definitions(TENANT, after="a", most=1) == [wanted[1]]
            assert await backend.definitions(TENANT, owner="ann", after="a") == [wanted[2]]
            assert len(backend.subscriptions(TENANT)) == 3
            with pytest.raises(UnknownIdError):
                await backend.definition(TENANT, "d")

        self.run(make, run)

    @pytest.mark.parametrize(
        ("last", "error"),
        [
            (Put(Definition("new", "price <")), ParseError),
            (Put(Definition("a", "price < 1")), DuplicateIdError),
            (Remove("nobody"), UnknownIdError),
            (Adjust("nobody", {"most": 1}), UnknownIdError),
        ],
        ids=["text", "taken", "remove", "adjust"],
    )
    def test_a_refused_window_leaves_nothing(
        self, make: MakeBackend, last: RegistryOperation, error: type[Exception]
    ) -> None:
        async def run(backend: Backend) -> None:
            kept = Definition("a", "price < :most", parameters={"most": 9})
            await backend.change(TENANT, [Put(kept)])
            window: list[RegistryOperation] = [
                Put(Definition("c", "price < 4")),
                Adjust("a", {"most": 1}),
                last,
            ]
            with pytest.raises(error):
                await backend.change(TENANT, window)
            assert await backend.definitions(TENANT) == [kept]
            assert await self.taken_for(backend, ["a"], [5]) == [("a", 5)]

        self.run(make, run)

    def test_a_change_made_from_what_no_longer_holds_is_refused(self, make: MakeBackend) -> None:
        async def run(backend: Backend) -> None:
            for durable in (True, False):
                settings = Settings(durable=durable)
                first = Definition("a", "price < 9", settings=settings)
                second = Definition("a", "price < 5", settings=settings, revision=2)
                await backend.change(TENANT, [Put(first)])
                await backend.change(TENANT, [Put(second, replace=True, over=1)])
                late = Definition("a", "price < 99", settings=settings, revision=2)
                with pytest.raises(ChangedMeanwhileError, match="'a' was changed"):
                    await backend.change(TENANT, [Put(late, replace=True, over=1)])
                with pytest.raises(UnknownIdError):
                    await backend.change(
                        TENANT, [Put(Definition("b", "price < 5"), replace=True, over=1)]
                    )
                assert await backend.definitions(TENANT) == [second]
                await backend.change(TENANT, [Remove("a")])

        self.run(make, run)

    def test_changes_at_once_undo_nothing_of_each_other(self, make: MakeBackend) -> None:
        async def run(backend: Backend) -> None:
            tenant = Tenant(TENANT, backend, FakeClock())
            await tenant.subscribe(Definition("a", "price < 9"))
            await asyncio.gather(
                tenant.change("a", lambda _: {"expression": "price < 5"}),
                tenant.change("a", lambda _: {"owner": "ann"}),
                tenant.change("a", lambda before: with_settings(before, paused=True)),
                tenant.change("a", lambda before: with_settings(before, max_pending=7)),
            )
            held = await tenant.definition("a")
            assert (held.expression, held.owner, held.revision) == ("price < 5", "ann", 5)
            assert (held.settings.paused, held.settings.max_pending) == (True, 7)

        self.run(make, run)

    def test_the_next_event_is_matched_by_what_holds(self, make: MakeBackend) -> None:
        async def run(backend: Backend) -> None:
            await backend.change(
                TENANT, [Put(Definition("a", "price < :most", parameters={"most": 3}))]
            )
            consumer = await self.consumer(backend, ["a"])
            await self.publish(backend, [5])
            report = await backend.change(TENANT, [Adjust("a", {"most": 8})])
            assert report.given == 1
            await self.publish(backend, [5])
            changed = await backend.definition(TENANT, "a")
            assert (changed.parameters, changed.revision) == ({"most": 8}, 2)
            replaced = Definition("a", "price > 100")
            await backend.change(TENANT, [Put(replaced, replace=True)])
            assert (await backend.definition(TENANT, "a")).revision == 3
            await self.publish(backend, [5, 200])
            assert await self.positions(consumer, 2) == [2, 4]
            await backend.change(TENANT, [Remove("a")])
            assert await backend.definitions(TENANT) == []
            await self.publish(backend, [300])
            assert await consumer.take(10, SHORT) == []

        self.run(make, run)

    def test_what_waits_ends_with_its_subscription(self, make: MakeBackend) -> None:
        async def run(backend: Backend) -> None:
            await backend.change(TENANT, [Put(Definition("a", "price < 10"))])
            await self.publish(backend, [1, 2])
            assert await backend.pending(TENANT, ["a"]) == {"a": 2}
            await backend.change(TENANT, [Remove("a")])
            assert await backend.pending(TENANT) == {}
            await backend.change(TENANT, [Put(Definition("a", "price < 10"))])
            await self.publish(backend, [3])
            consumer = await self.consumer(backend, ["a"])
            assert await self.positions(consumer, 1) == [3]
            with pytest.raises(UnknownIdError):
                await consumer.add(["b"])

        self.run(make, run)

    # Events.

    def test_positions_grow_and_repeats_are_told(self, make: MakeBackend) -> None:
        async def run(backend: Backend) -> None:
            first = await backend.publish(TENANT, [event(1, 5), event(2, 6), event(1, 5)])
            assert [each.is_repeat for each in first] == [False, False, True]
            assert first[0].position == first[2].position < first[1].position
            again = await backend.publish(TENANT, [event(2, 6)])
            assert again == [first[1]._replace(is_repeat=True)]
            other = event(2, 6)._replace(publisher="another")
            (fresh,) = await backend.publish(TENANT, [other])
            assert not fresh.is_repeat
            assert fresh.position > first[1].position
            assert await backend.publish(TENANT, []) == []

        self.run(make, run)

    def test_events_are_kept(self, make: MakeBackend) -> None:
        async def run(backend: Backend, clock: FakeClock) -> None:
            begin = clock.wall()
            await self.publish(backend, [1, 2])
            await self.pass_time(clock, 2.0)
            await self.publish(backend, [3])
            kept = await backend.events(TENANT)
            assert [each.body for each in kept] == [
                b'{"price": 1}',
                b'{"price": 2}',
                b'{"price": 3}',
            ]
            assert [each.publisher for each in kept] == ["shop"] * 3
            assert await backend.events(TENANT, after=kept[0].position, most=1) == kept[1:2]
            assert await backend.events(TENANT, since=kept[0].at) == kept
            assert await backend.events(TENANT, since=kept[0].at + 1.0) == kept[2:]
            assert await backend.latest(TENANT, 2) == kept[1:]
            assert await backend.latest(TENANT, 10) == kept
            assert kept[0].at >= begin - 60

        self.run_timed(make, run)

    # Deliveries.

    def test_an_event_comes_once_for_all_subscriptions_of_a_consumer(
        self, make: MakeBackend
    ) -> None:
        async def run(backend: Backend) -> None:
            await self.subscribe(backend, a=10, b=100, c=1000)
            consumer = await self.consumer(backend, ["a", "b"])
            await self.publish(backend, [5, 50, 500])
            got = await self.taken(consumer, 2)
            assert [sorted(each.subscriptions) for each in got] == [["a", "b"], ["b"]]
            assert [each.event.body for each in got] == [b'{"price": 5}', b'{"price": 50}']
            assert [each.attempt for each in got] == [1, 1]
            await consumer.remove(["b"])
            await self.publish(backend, [6])
            (last,) = await self.taken(consumer, 1)
            assert last.subscriptions == ("a",)

        self.run(make, run)

    def test_take_gives_what_is_there_in_order_and_waits_for_the_first(
        self, make: MakeBackend
    ) -> None:
        async def run(backend: Backend) -> None:
            await self.subscribe(backend, a=1000)
            await self.publish(backend, [*range(10)])
            consumer = await self.consumer(backend, ["a"])
            first = await consumer.take(4, LONG)
            assert 1 <= len(first) <= 4
            rest = await self.taken(consumer, 10 - len(first))
            positions = [each.event.position for each in (*first, *rest)]
            assert positions == sorted(set(positions))
            assert await consumer.take(4, SHORT) == []
            waiting = asyncio.create_task(consumer.take(4, LONG))
            await self.publish(backend, [11])
            assert len(await waiting) == 1

        self.run(make, run)

    def test_what_is_acknowledged_does_not_come_again(self, make: MakeBackend) -> None:
        async def run(backend: Backend, clock: FakeClock) -> None:
            await self.subscribe(backend, a=1000)
            await self.publish(backend, [1, 2, 3, 4])
            consumer = await self.consumer(backend, ["a"])
            got = [each.event.position for each in await self.taken(consumer, 4)]
            await consumer.acknowledge("a", [got[1], got[1], 10**9])
            await consumer.acknowledge_all({"a": [got[0], got[0]], "nobody": [got[2]]})
            await self.pass_time(clock, 2 * ACK_WAIT)
            again = await self.taken(consumer, 2)
            assert [(each.event.position, each.attempt) for each in again] == [
                (got[2], 2),
                (got[3], 2),
            ]
            assert await backend.recipients(TENANT, got[0]) == {"a": "acknowledged"}
            assert await backend.recipients(TENANT, got[2]) == {"a": "delivered"}
            assert await backend.pending(TENANT) == {"a": 2}

        self.run_timed(make, run)

    def test_the_longest_queues_come_first(self, make: MakeBackend) -> None:
        async def run(backend: Backend) -> None:
            await self.subscribe(backend, a=2, b=4, c=3, d=0)
            await self.publish(backend, [1, 2, 3])
            assert await backend.longest(TENANT, 5) == (3, {"b": 3, "c": 2, "a": 1})
            assert [*(await backend.longest(TENANT, 2)).waiting] == ["b", "c"]
            consumer = await self.consumer(backend, ["b"])
            await self.taken(consumer, 3)
            await consumer.acknowledge_up_to("b", 10**9)
            assert await backend.longest(TENANT, 1) == (2, {"c": 2})

        self.run(make, run)

    def test_what_was_never_delivered_cannot_be_acknowledged(self, make: MakeBackend) -> None:
        async def run(backend: Backend) -> None:
            await self.subscribe(backend, a=1000)
            receipts = await self.publish(backend, [1, 2])
            consumer = await self.consumer(backend, ["a"])
            await consumer.acknowledge("a", receipts)
            await consumer.acknowledge_up_to("a", receipts[-1])
            assert await backend.recipients(TENANT, receipts[0]) == {"a": "waiting"}
            assert await self.positions(consumer, 2) == receipts

        self.run(make, run)

    def test_what_fails_too_often_is_a_dead_letter(self, make: MakeBackend) -> None:
        async def run(backend: Backend, clock: FakeClock) -> None:
            await self.subscribe(backend, settings=Settings(ack_wait=ACK_WAIT, max_attempts=2), a=9)
            (position,) = await self.publish(backend, [1])
            consumer = await self.consumer(backend, ["a"])
            await self.taken(consumer, 1)
            await consumer.give_back("a", position, 0.0, "no")
            (again,) = await self.taken(consumer, 1)
            assert again.attempt == 2
            await consumer.give_back("a", position, 0.0, "never")
            (dead,) = await backend.dead_letters(TENANT)
            assert (dead.event.position, dead.subscription) == (position, "a")
            assert (dead.attempts, dead.reason) == (2, "never")
            assert await backend.recipients(TENANT, position) == {"a": "dead"}
            assert await backend.dead_letters(TENANT, subscription="b") == []
            assert await backend.try_again(TENANT, "a", [position, position + 1]) == 1
            (once_more,) = await self.taken(consumer, 1)
            assert once_more.event.position == position
            assert await backend.dead_letters(TENANT) == []

        self.run_timed(make, run)

    def test_those_with_sinks_are_found_among_all(self, make: MakeBackend) -> None:
        async def run(backend: Backend) -> None:
            await self.subscribe(backend, settings=Settings(sink=Webhook("https://a.b/")), a=9)
            alike = Definition("b", "x < :sink", parameters={"sink": 9})
            await backend.change(TENANT, [Put(alike)])
            assert [each.id for each in await backend.with_sinks(TENANT)] == ["a"]

        self.run(make, run)

    def test_a_delay_is_waited_for(self, make: MakeBackend) -> None:
        async def run(backend: Backend, clock: FakeClock) -> None:
            await self.subscribe(backend, a=1000)
            (position,) = await self.publish(backend, [1])
            consumer = await self.consumer(backend, ["a"])
            await self.taken(consumer, 1)
            await consumer.give_back("a", position, 1.0, "busy")
            assert await consumer.take(1, SHORT) == []
            await self.pass_time(clock, 1.5)
            assert await self.positions(consumer, 1) == [position]

        self.run_timed(make, run)

    def test_several_consumers_share_a_subscription(self, make: MakeBackend) -> None:
        async def run(backend: Backend) -> None:
            await self.subscribe(backend, a=1000)
            one, other = await self.consumer(backend, ["a"]), await self.consumer(backend, ["a"])
            sent = await self.publish(backend, [*range(6)])
            mine = [each.event.position for each in await one.take(3, LONG)]
            rest = await self.positions(other, 6 - len(mine))
            assert sorted(mine + rest) == sent
            await one.close()
            back = await self.positions(other, len(mine))
            assert back == mine

        self.run(make, run)

    def test_a_paused_subscription_keeps_what_it_matches(self, make: MakeBackend) -> None:
        async def run(backend: Backend) -> None:
            paused = Definition("a", "price < 10", settings=Settings(paused=True))
            await backend.change(TENANT, [Put(paused)])
            consumer = await self.consumer(backend, ["a"])
            sent = await self.publish(backend, [1, 2])
            assert await consumer.take(2, SHORT) == []
            resumed = Definition("a", "price < 10", revision=2)
            await backend.change(TENANT, [Put(resumed, replace=True)])
            assert await self.positions(consumer, 2) == sent

        self.run(make, run)

    @pytest.mark.parametrize("when_full", WhenFull)
    def test_a_full_queue_drops_and_tells(self, make: MakeBackend, when_full: WhenFull) -> None:
        async def run(backend: Backend) -> None:
            settings = Settings(max_pending=2, when_full=when_full)
            await self.subscribe(backend, settings=settings, a=1000)
            sent = []
            for price in range(5):
                sent += await self.publish(backend, [price])
            kept = sent[3:] if when_full is WhenFull.DROP_OLDEST else sent[:2]
            assert await backend.pending(TENANT) == {"a": 2}
            consumer = await self.consumer(backend, ["a"])
            assert await self.positions(consumer, 2) == kept
            assert consumer.take_drops() == {"a": 3}
            assert consumer.take_drops() == {}
            for position in sent:
                (state,) = (await backend.recipients(TENANT, position)).values()
                assert state == ("delivered" if position in kept else "dropped")

        self.run(make, run)

    def test_ephemeral_subscriptions_end_with_their_consumer(self, make: MakeBackend) -> None:
        async def run(backend: Backend) -> None:
            await self.subscribe(backend, settings=Settings(durable=False), a=1000)
            await self.publish(backend, [1])
            consumer = await self.consumer(backend, ["a"])
            (position,) = await self.publish(backend, [2])
            assert await self.positions(consumer, 1) == [position]
            assert await backend.recipients(TENANT, position) == {}
            await consumer.close()
            assert "a" not in backend.subscriptions(TENANT)

        self.run(make, run)

    def test_replay(self, make: MakeBackend) -> None:
        async def run(backend: Backend, clock: FakeClock) -> None:
            await self.subscribe(backend, a=10)
            sent = await self.publish(backend, [1, 50, 2])
            await self.pass_time(clock, 2.0)
            sent += await self.publish(backend, [3, 70])
            consumer = await self.consumer(backend, ["a"])
            for position in await self.positions(consumer, 3):
                await consumer.acknowledge("a", [position])
            wider = Definition("a", "price < 60", revision=2)
            await backend.change(TENANT, [Put(wider, replace=True)])
            await consumer.add(["a"], Start(after=sent[0]))
            assert await self.positions(consumer, 3) == [sent[1], sent[2], sent[3]]
            (late,) = await backend.latest(TENANT, 1)
            await consumer.add(["a"], Start(since=late.at))
            assert await self.positions(consumer, 1) == [sent[3]]
            sent += await self.publish(backend, [4])
            assert await self.positions(consumer, 1) == [sent[5]]
            assert await consumer.take(1, SHORT) == []

        self.run_timed(make, run)

    # Tenants.

    def test_tenants_know_nothing_of_each_other(self, make: MakeBackend) -> None:
        async def run(backend: Backend) -> None:
            await self.subscribe(backend, a=10)
            await backend.change("other", [Put(Definition("a", "price > 10"))])
            consumer = await self.consumer(backend, ["a"])
            await self.publish(backend, [1, 2])
            (receipt,) = await backend.publish("other", [event(1, 50)])
            assert not receipt.is_repeat
            assert await self.positions(consumer, 2)
            assert await consumer.take(1, SHORT) == []
            assert await backend.pending("other") == {"a": 1}
            assert [each.body for each in await backend.events("other")] == [b'{"price": 50}']
            assert sorted(await backend.tenants()) == [TENANT, "other"]
            assert await backend.definitions("third") == []
            assert all(value >= 0 for value in backend.statistics(TENANT).values())
            assert all(value >= 0 for value in backend.statistics().values())

        self.run(make, run)

    # Restarts.

    def test_everything_is_there_after_a_restart(self, make: MakeBackend) -> None:
        clock = FakeClock()

        async def before() -> list[int]:
            async with started(make, clock) as backend:
                await self.subscribe(backend, a=10, b=100)
                await self.subscribe(backend, settings=Settings(durable=False), gone=100)
                sent = await self.publish(backend, [1, 2, 50])
                consumer = await self.consumer(backend, ["a", "b"])
                await self.taken(consumer, 3)
                await consumer.acknowledge("a", sent[:1])
                await consumer.acknowledge_up_to("b", sent[1])
                return sent

        async def after(sent: list[int]) -> None:
            async with started(make, clock) as backend:
                assert [each.id for each in await backend.definitions(TENANT)] == ["a", "b"]
                assert await backend.pending(TENANT) == {"a": 1, "b": 1}
                assert [each.position for each in await backend.events(TENANT)] == sent
                (repeat,) = await backend.publish(TENANT, [event(1, 1)])
                assert repeat.is_repeat
                assert repeat.position == sent[0]
                consumer = await self.consumer(backend, ["a", "b"])
                got = await self.taken(consumer, 2)
                assert [(each.event.position, each.subscriptions) for each in got] == [
                    (sent[1], ("a",)),
                    (sent[2], ("b",)),
                ]
                (fresh,) = await self.publish(backend, [3])
                assert fresh > sent[-1]

        sent = asyncio.run(before())
        asyncio.run(after(sent))

    @pytest.mark.parametrize("seed", range(3))
    def test_any_history(self, make: MakeBackend, seed: int) -> None:
        history = History(seed, lambda clock: started(make, clock), self.pass_time)
        asyncio.run(history.run(self.steps))
