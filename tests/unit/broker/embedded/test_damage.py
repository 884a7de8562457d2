"""A store that is damaged says so: it never answers with something else than was written."""

import asyncio
import os
import random
import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from predicast.broker.embedded import EmbeddedBackend, EmbeddedOptions, changes
from predicast.broker.embedded.queues import TenantQueues
from predicast.errors import BackendError, DamagedStoreError
from predicast.protocol import Definition, NewEvent, Put, Settings
from tests.small_disk import small_disk
from tests.thorough import LONG
from tests.unit.broker.embedded.stores import QUICK, TENANT, crashing, event, started

NO_ROOM = r"no room|cannot be used"
KEEP_ALL = EmbeddedOptions(tick=0.005, keep_for=None)


async def filled(backend: EmbeddedBackend) -> None:
    """Something of everything."""
    definitions = [
        Definition(f"s{n}", f"price < {n}", owner=f"o{n % 3}", settings=Settings(max_attempts=1))
        for n in range(60)
    ]
    await backend.change(TENANT, [Put(each) for each in definitions])
    for begin in range(0, 300, 10):
        await backend.publish(TENANT, [event(n, n % 50) for n in range(begin, begin + 10)])
    consumer = await backend.consumer(TENANT)
    await consumer.add(["s9", "s20"])
    for delivery in await consumer.take(20, 30):
        for id in delivery.subscriptions:
            await consumer.acknowledge(id, [delivery.event.position])
    (delivery,) = await consumer.take(1, 30)
    await consumer.give_back(delivery.subscriptions[0], delivery.event.position, 0.0, "no")


async def everything(backend: EmbeddedBackend) -> list[Any]:
    """All that a backend says of what it has."""
    return [
        await backend.tenants(),
        await backend.definitions(TENANT, most=1000),
        await backend.definitions(TENANT, owner="o1", most=1000),
        await backend.events(TENANT, most=1000),
        await backend.latest(TENANT, 5),
        await backend.dead_letters(TENANT),
        await backend.pending(TENANT),
        [await backend.recipients(TENANT, position) for position in range(1, 300, 29)],
        backend.subscriptions(TENANT).match([event(0, 30)]),
    ]


async def said_of(folder: Path) -> list[Any] | None:
    """What a damaged store says; nothing if it refuses."""
    try:
        async with started(folder, KEEP_ALL) as backend:
            return await everything(backend)
    except DamagedStoreError as error:
        return None if error.where else ["damaged, and nobody says where"]


@pytest.fixture(scope="module", params=["stopped", "killed"])
def whole(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> tuple[Path, list[Any]]:
    folder = tmp_path_factory.mktemp("whole") / "store"

    async def run() -> list[Any]:
        begun = crashing if request.param == "killed" else started
        async with begun(folder, KEEP_ALL) as backend:
            await filled(backend)
        copy = folder.with_name("copy")
        shutil.copytree(folder, copy)
        async with started(copy, KEEP_ALL) as backend:
            return await everything(backend)

    return folder, asyncio.run(run())


def files_of(folder: Path) -> list[Path]:
    return sorted(
        path.relative_to(folder)
        for path in folder.rglob("*")
        if path.is_file() and path.stat().st_size and not path.name.endswith("-shm")
    )


@pytest.mark.parametrize("seed", range(400 if LONG else 12))
def test_a_flipped_bit_is_found_or_does_no_harm(
    whole: tuple[Path, list[Any]], tmp_path: Path, seed: int
) -> None:
    folder, expected = whole
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    source = random.Random(seed)
    for path in files_of(folder):
        content = bytearray((copy / path).read_bytes())
        content[source.randrange(len(content))] ^= 1 << source.randrange(8)
        (copy / path).write_bytes(content)
        said = asyncio.run(said_of(copy))
        assert said is None or said == expected, path
        shutil.rmtree(copy)
        shutil.copytree(folder, copy)


@pytest.mark.parametrize("part", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_found(
    whole: tuple[Path, list[Any]], tmp_path: Path, part: float
) -> None:
    folder, expected = whole
    largest = max(files_of(folder), key=lambda path: (folder / path).stat().st_size)
    for number, path in enumerate(files_of(folder)):
        copy = tmp_path / str(number)
        shutil.copytree(folder, copy)
        content = (copy / path).read_bytes()
        (copy / path).write_bytes(content[: int(len(content) * part)])
        said = asyncio.run(said_of(copy))
        # Pages that are in the log behind the file are not missed in the file.
        assert said is None or said == expected, path
        if path == largest:
            assert said is None


def test_files_that_are_gone_are_missed(whole: tuple[Path, list[Any]], tmp_path: Path) -> None:
    folder, _ = whole
    for number, path in enumerate(files_of(folder)):
        if path.name == "mark":
            continue
        copy = tmp_path / str(number)
        shutil.copytree(folder, copy)
        (copy / path).unlink()
        assert asyncio.run(said_of(copy)) is None, path


def fill(path: Path) -> None:
    """Leave no room on a disk."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT)
    with suppress(OSError):
        while True:
            os.write(file, bytes(4096))
    os.close(file)


def test_no_room_is_told_and_harms_nothing(tmp_path: Path) -> None:
    async def run(folder: Path) -> None:
        ballast = folder / "ballast"
        async with started(folder / "store") as backend:
            await backend.change(TENANT, [Put(Definition("a", "price < 10"))])
            (kept,) = await backend.publish(TENANT, [event(1, 1)])
            fill(ballast)
            body = b'{"price": 1, "note": "%s"}' % (b"x" * 200_000)
            large = NewEvent(body, {"price": 1}, "2", "shop")
            with pytest.raises(BackendError, match=NO_ROOM):
                await backend.publish(TENANT, [large])
            many = [Put(Definition(f"b{n}", "price < 10")) for n in range(2000)]
            with pytest.raises(BackendError, match=NO_ROOM):
                await backend.change(TENANT, many)
            assert [each.id for each in await backend.definitions(TENANT)] == ["a"]
            assert len(backend.subscriptions(TENANT)) == 1
            assert [each.position for each in await backend.events(TENANT)] == [kept.position]
            ballast.unlink()
            (receipt,) = await backend.publish(TENANT, [large])
            assert not receipt.is_repeat
            await backend.change(TENANT, many)
            assert await backend.pending(TENANT) == {"a": 2}
        async with started(folder / "store") as backend:
            assert len(backend.subscriptions(TENANT)) == 2001
            assert await backend.pending(TENANT) == {"a": 2}

    with small_disk(tmp_path / "disk", "4m") as folder:
        asyncio.run(run(folder))


def test_a_change_that_was_not_written_takes_no_later_one_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = changes.write

    def one_fails(connection: Any, tenant: int, ids: Any, outcome: changes.Outcome) -> Any:
        """Also when it is tried alone, because others were in its transaction."""
        kept = outcome.after["a"]
        if kept is not None and kept.definition.expression == "price < 5":
            raise BackendError("no room")
        return write(connection, tenant, ids, outcome)

    async def run() -> None:
        async with started(tmp_path) as backend:
            await backend.change(TENANT, [Put(Definition("a", "price < 1"))])
            monkeypatch.setattr(changes, "write", one_fails)
            refused, kept = await asyncio.gather(
                backend.change(TENANT, [Put(Definition("a", "price < 5"), replace=True)]),
                backend.change(TENANT, [Put(Definition("a", "price < 9"), replace=True)]),
                return_exceptions=True,
            )
            assert isinstance(refused, BackendError)
            assert not isinstance(kept, BaseException)
            assert (await backend.definition(TENANT, "a")).expression == "price < 9"
            (matched,) = backend.subscriptions(TENANT).match([event(1, 7)])
            assert list(matched.durable) == ["a"]

    asyncio.run(run())


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    import sqlite3

    async def run() -> None:
        async with started(tmp_path, QUICK):
            pass
        with sqlite3.connect(tmp_path / "broker.db") as connection:
            connection.execute("UPDATE about SET value = '99' WHERE name = 'version'")
        connection.close()
        with pytest.raises(BackendError, match="version 99"):
            async with started(tmp_path, QUICK):
                pass

    asyncio.run(run())


async def publish_for_ever(backend: EmbeddedBackend) -> None:
    for number in count():
        await backend.publish(TENANT, [event(number, 1)])
        await asyncio.sleep(0.001)


def test_a_folder_that_is_removed_keeps_nobody_waiting(tmp_path: Path) -> None:
    async def run() -> None:
        async with started(tmp_path / "store") as backend:
            await backend.change(TENANT, [Put(Definition("a", "price < 10"))])
            shutil.rmtree(tmp_path / "store")
            async with asyncio.timeout(30):
                with pytest.raises(BackendError):
                    await publish_for_ever(backend)

    asyncio.run(run())


def test_what_goes_wrong_after_a_commit_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with started(tmp_path) as backend:
            await backend.change(TENANT, [Put(Definition("a", "price < 10"))])

            def broken(*_: object) -> None:
                raise DamagedStoreError("no queue", where="queues")

            with monkeypatch.context() as patch:
                patch.setattr(TenantQueues, "deliver", broken)
                async with asyncio.timeout(30):
                    with pytest.raises(DamagedStoreError, match="no queue"):
                        await backend.publish(TENANT, [event(1, 1)])
            with pytest.raises(DamagedStoreError, match="no queue"):
                await backend.publish(TENANT, [event(2, 1)])
        async with started(tmp_path) as backend:
            assert await backend.pending(TENANT) == {"a": 1}

    asyncio.run(run())
