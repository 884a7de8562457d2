"""``SqliteLinkStore``: links kept in a SQLite file of their own, beside what a backend keeps.

One thread of its own does all of it, so that waiting for the disk stops nobody. A commit is on the
disk when it returns (WAL with ``synchronous=FULL``).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from predicast.broker.links.store import Identity, KeptLinks, Turn
from predicast.errors import BackendError, DamagedStoreError

_FILE: Final = "links.sqlite"
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS identity (tenant TEXT PRIMARY KEY, identity BLOB, passed_on INTEGER);
CREATE TABLE IF NOT EXISTS journal (
    number INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT, entry BLOB
);
CREATE INDEX IF NOT EXISTS journal_of_tenant ON journal (tenant, number);
CREATE TABLE IF NOT EXISTS arrived (
    tenant TEXT, position INTEGER, PRIMARY KEY (tenant, position)
) WITHOUT ROWID;
"""

T = TypeVar("T")


class SqliteLinkStore:
    """Links in the file of a data folder."""

    def __init__(self, folder: str | Path) -> None:
        self._path = Path(folder) / _FILE
        self._thread = ThreadPoolExecutor(1, "predicast-links")
        self._connection: sqlite3.Connection | None = None

    async def load(self, tenant: str) -> KeptLinks:
        """What was kept of a tenant's links."""
        return await self._run(partial(self._load, tenant))

    async def tenants(self) -> list[str]:
        """Those of which anything was kept."""
        return await self._run(self._tenants)

    async def identify(self, tenant: str, identity: Identity) -> None:
        """Who the tenant is from now on."""
        await self._run(partial(self._identify, tenant, identity))

    async def begin_anew(self, tenant: str, identity: Identity, passed_on: int) -> None:
        """The same, with nothing known of before."""
        await self._run(partial(self._begin_anew, tenant, identity, passed_on))

    async def keep(self, tenant: str, turn: Turn) -> None:
        """Keep what a turn has changed."""
        await self._run(partial(self._keep, tenant, turn))

    async def arrived_among(self, tenant: str, positions: Sequence[int]) -> set[int]:
        """Those of some positions that came over a link."""
        return await self._run(partial(self._arrived_among, tenant, positions))

    async def close(self) -> None:
        """Let go of the file."""
        await self._run(self._close)
        self._thread.shutdown()

    # In the thread.

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._tried, work)

    def _tried(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except sqlite3.OperationalError as error:
            raise BackendError(f"links cannot be kept in {_FILE}: {error}") from error
        except (sqlite3.DatabaseError, msgspec.DecodeError, UnicodeError) as error:
            raise DamagedStoreError(
                f"{_FILE} cannot be read ({error}); without it the broker joins its tree anew",
                where=_FILE,
            ) from error

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            made = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
            made.execute("PRAGMA journal_mode=WAL")
            made.execute("PRAGMA synchronous=FULL")
            made.executescript(_SCHEMA)
            self._connection = made
        return self._connection

    def _load(self, tenant: str) -> KeptLinks:
        database = self._opened()
        row = database.execute(
            "SELECT identity, passed_on FROM identity WHERE tenant = ?", (tenant,)
        ).fetchone()
        if row is None:
            return KeptLinks()
        entries = database.execute(
            "SELECT entry FROM journal WHERE tenant = ? ORDER BY number", (tenant,)
        )
        journal = b"".join(entry for (entry,) in entries)
        return KeptLinks(msgspec.json.decode(row[0], type=Identity), journal, row[1])

    def _tenants(self) -> list[str]:
        rows = self._opened().execute("SELECT tenant FROM identity ORDER BY tenant")
        return [tenant for (tenant,) in rows]

    def _identify(self, tenant: str, identity: Identity) -> None:
        self._opened().execute(
            "INSERT INTO identity VALUES (?, ?, 0) "
            "ON CONFLICT (tenant) DO UPDATE SET identity = excluded.identity",
            (tenant, msgspec.json.encode(identity)),
        )

    def _begin_anew(self, tenant: str, identity: Identity, passed_on: int) -> None:
        database = self._opened()
        with _Transaction(database):
            for table in ("identity", "journal", "arrived"):
                database.execute(f"DELETE FROM {table} WHERE tenant = ?", (tenant,))  # noqa: S608
            database.execute(
                "INSERT INTO identity VALUES (?, ?, ?)",
                (tenant, msgspec.json.encode(identity), passed_on),
            )

    def _keep(self, tenant: str, turn: Turn) -> None:
        database = self._opened()
        with _Transaction(database):
            if turn.journal.is_whole:
                database.execute("DELETE FROM journal WHERE tenant = ?", (tenant,))
            if turn.journal.data:
                database.execute(
                    "INSERT INTO journal (tenant, entry) VALUES (?, ?)", (tenant, turn.journal.data)
                )
            database.executemany(
                "INSERT OR IGNORE INTO arrived VALUES (?, ?)",
                [(tenant, position) for position in turn.arrived],
            )
            database.execute(
                "DELETE FROM arrived WHERE tenant = ? AND position <= ?", (tenant, turn.passed_on)
            )
            database.execute(
                "UPDATE identity SET passed_on = ? WHERE tenant = ?", (turn.passed_on, tenant)
            )

    def _arrived_among(self, tenant: str, positions: Sequence[int]) -> set[int]:
        if not positions:
            return set()
        rows = self._opened().execute(
            "SELECT position FROM arrived WHERE tenant = ? AND position BETWEEN ? AND ?",
            (tenant, positions[0], positions[-1]),
        )
        return {position for (position,) in rows}

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class _Transaction:
    """All of it or nothing, begun for writing."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def __enter__(self) -> None:
        self._database.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self._database.execute("COMMIT" if kind is None else "ROLLBACK")
