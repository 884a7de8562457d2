"""Subscriptions in shares: each process holds its own, and events visit all."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.broker.nats import NatsBackend, NatsOptions
from predicast.broker.nats.connection import Connection
from predicast.broker.nats.names import TenantNames
from predicast.broker.nats.shares import Answer, Shares, share_of
from predicast.broker.subscriptions import Matched, Subscriptions
from predicast.errors import BackendError, DuplicateIdError, ParseError
from predicast.protocol.records import Adjust, Definition, NewEvent, Put, RegistryOperation, Remove
from tests.nats_servers import NatsServer
from tests.unit.broker.nats.test_processes import TENANT, event


def test_an_event_is_matched_by_every_share(server: NatsServer, options: NatsOptions) -> None:
    async def run() -> None:
        running = [
            NatsBackend(server.url, options=replace(options, shares=3, share=n)) for n in range(3)
        ]
        for each in running:
            await each.start()
        wanted = Subscriptions()
        window = [Put(Definition(f"s{n}", "x < :most", parameters={"most": n})) for n in range(30)]
        await running[0].change(TENANT, window)
        wanted.apply(window)
        for each in running:
            await each.publish(TENANT, [event(0, x=99)])
        held = [len(each.subscriptions(TENANT)) for each in running]
        assert sum(held) == 30
        assert all(held)
        second: list[RegistryOperation] = [
            Adjust("s3", {"most": 100}),
            Remove("s20"),
            Adjust("s21", {"most": 0}),
        ]
        await running[1].change(TENANT, second)
        wanted.apply(second)
        for refused, error in (
            (Put(Definition("s5", "x = 1")), DuplicateIdError),
            (Put(Definition("new", "x =")), ParseError),
        ):
            with pytest.raises(error):
                await running[2].change(TENANT, [Remove("s7"), refused])
        for number in range(1, 12):
            given = event(number, x=3 * number)
            (receipt,) = await running[number % 3].publish(TENANT, [given])
            [matched] = wanted.match([given])
            found = await running[number % 3].recipients(TENANT, receipt.position)
            assert sorted(found) == matched.durable
        for each in running:
            await each.stop()

    asyncio.run(run())


def test_without_one_of_the_shares_nothing_is_taken(
    server: NatsServer, options: NatsOptions
) -> None:
    async def run() -> None:
        alone = NatsBackend(server.url, options=replace(options, shares=2, patience_s=5.0))
        await alone.start()
        with pytest.raises(BackendError, match="share 1"):
            await alone.publish(TENANT, [event(1, x=1)])
        assert await alone.events(TENANT) == []
        await alone.stop()

    asyncio.run(run())


@given(st.binary(max_size=60))
def test_a_question_that_is_none_is_refused(data: bytes) -> None:
    async def match(events: list[NewEvent]) -> list[Matched]:
        return [Matched([], []) for _ in events]

    async def reached(_: int) -> None:
        return

    connection = Connection("nats://127.0.0.1:1", NatsOptions(), "nobody")
    shares = Shares(connection, TenantNames("predicast", TENANT), match, reached)  # type: ignore[arg-type]
    assert isinstance(asyncio.run(shares.answer(data)), Answer)


@given(st.text(), st.integers(1, 9))
def test_every_id_has_one_share(id: str, shares: int) -> None:
    assert 0 <= share_of(id, shares) < shares
