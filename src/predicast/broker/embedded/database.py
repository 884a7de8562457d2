"""The SQLite file: its tables, and connections to it.

::

    about         what this file is, and the version of its form
    tenants       a number for each name; how many definitions it has
    definitions   durable subscriptions as they were asked for, by tenant and id
    changes       which ids each window touched since the newest snapshot of the tenant's engines
    snapshots     which files hold the engines, and up to which change
    chunks        events that were matched together: who matched, who published, bodies
    settlements   what became of deliveries since the queues were last written down
    checkpoints   which file has what waits for whom, and up to which event and settlement
    dead_letters  deliveries that were given up

The write-ahead log makes a transaction whole or nothing, and is put on disk before a commit returns
(``synchronous=FULL``). Readers see the last commit, and wait for nobody.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from predicast.broker.embedded.seals import damaged
from predicast.errors import BackendError, DamagedStoreError, SnapshotError, SnapshotNotSavedError

VERSION: Final = 2
FILE: Final = "broker.db"
POSITIONS: Final = 1 << 40  # a chunk's key is the tenant's number times this, plus its position

_TABLES: Final = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tenants (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, definitions INTEGER NOT NULL,
    seal INTEGER NOT NULL);
CREATE TABLE definitions (
    tenant INTEGER NOT NULL, id TEXT NOT NULL, owner TEXT, expression TEXT NOT NULL,
    since INTEGER NOT NULL, rest BLOB NOT NULL, seal INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)) WITHOUT ROWID;
CREATE INDEX definitions_by_owner ON definitions (tenant, owner, id)
    WHERE owner IS NOT NULL;
CREATE TABLE changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, ids BLOB NOT NULL,
    seal INTEGER NOT NULL);
CREATE INDEX changes_by_tenant ON changes (tenant, number);
CREATE TABLE snapshots (
    tenant INTEGER PRIMARY KEY, change INTEGER NOT NULL, flat TEXT, graphs TEXT,
    seal INTEGER NOT NULL);
CREATE TABLE chunks (
    key INTEGER PRIMARY KEY, before INTEGER NOT NULL, count INTEGER NOT NULL, at REAL NOT NULL,
    size INTEGER NOT NULL, matched_seal INTEGER NOT NULL, seal INTEGER NOT NULL,
    matched BLOB NOT NULL, names BLOB NOT NULL, bodies BLOB NOT NULL);
CREATE TABLE settlements (
    number INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, records BLOB NOT NULL,
    seal INTEGER NOT NULL);
CREATE INDEX settlements_by_tenant ON settlements (tenant, number);
CREATE TABLE checkpoints (
    tenant INTEGER PRIMARY KEY, position INTEGER NOT NULL, settlement INTEGER NOT NULL,
    events INTEGER NOT NULL, size INTEGER NOT NULL, file TEXT NOT NULL, checksum INTEGER NOT NULL,
    seal INTEGER NOT NULL);
CREATE TABLE dead_letters (
    number INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, id TEXT NOT NULL,
    position INTEGER NOT NULL, attempts INTEGER NOT NULL, reason TEXT NOT NULL, at REAL NOT NULL,
    seal INTEGER NOT NULL);
CREATE UNIQUE INDEX dead_letters_by_place ON dead_letters (tenant, id, position);
"""


def connect(path: Path, *, is_reader: bool = False) -> sqlite3.Connection:
    """A connection whose transactions are begun and ended by hand."""
    with told(path.name):
        # Only who writes may make the file: others must notice when it is not there.
        mode = "rw" if is_reader else "rwc"
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=60.0,
            cached_statements=256,
        )
        if is_reader:
            connection.execute("PRAGMA query_only = ON")
        return connection


def set_up(connection: sqlite3.Connection) -> None:
    """Have a connection write as it must."""
    connection.execute("PRAGMA page_size = 8192")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    # Pages go to the file in larger steps than by default: fewer are written twice.
    connection.execute("PRAGMA wal_autocheckpoint = 4000")
    connection.execute("PRAGMA journal_size_limit = 67108864")


def commits(connection: sqlite3.Connection, where: str) -> int:
    """How many transactions were committed."""
    with told(where):
        row = connection.execute("SELECT value FROM about WHERE name = 'commits'").fetchone()
    if row is None or not str(row[0]).isdecimal():
        damaged(where, "does not say how many commits it has")
    return int(row[0])


def flaws(connection: sqlite3.Connection) -> str | None:
    """What is wrong with the pages of the file, if anything is; reads all of it."""
    found = connection.execute("PRAGMA quick_check(1)").fetchone()
    return None if found == ("ok",) else str(found and found[0])


def prepare(connection: sqlite3.Connection, where: str) -> None:
    """Make a new file what it should be, and refuse one of another form."""
    with told(where):
        set_up(connection)
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if tables == 0:
            connection.executescript(f"BEGIN; {_TABLES}")
            connection.execute("INSERT INTO about VALUES ('version', ?)", (str(VERSION),))
            connection.execute("INSERT INTO about VALUES ('commits', '0')")
            connection.execute("COMMIT")
        found = connection.execute("SELECT value FROM about WHERE name = 'version'").fetchone()
    if found is None:
        damaged(where, "does not say which version it is of")
    if found[0] != str(VERSION):
        raise BackendError(
            f"{where} is of version {found[0]}, and this program reads version {VERSION}"
        )


@contextmanager
def told(where: str) -> Iterator[None]:
    """Turn what SQLite and the disk complain of into errors of ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise translated(error, where) from error
    except UnicodeDecodeError as error:  # what SQLite says of a text that is none
        raise DamagedStoreError(
            f"the store is damaged: {where} has no text", where=where
        ) from error
    except SnapshotNotSavedError as error:
        raise BackendError(f"the store cannot be used: {error}") from error
    except SnapshotError as error:
        raise DamagedStoreError(f"the store is damaged: {error}", where=where) from error
    except OSError as error:
        raise BackendError(f"the store cannot be used: {error}") from error


def translated(error: sqlite3.Error, where: str) -> BackendError:
    """An error of SQLite's, as one of ours."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    if primary in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_MISMATCH} or (
        isinstance(error, sqlite3.DatabaseError) and code is None
    ):
        return DamagedStoreError(
            f"the store is damaged: {where}: {error}; restore it from a copy", where=where
        )
    if primary == sqlite3.SQLITE_FULL:
        return BackendError(f"there is no room for what should be kept: {error}")
    if primary == sqlite3.SQLITE_ERROR and "no such" in str(error):
        return DamagedStoreError(f"the store is damaged: {where}: {error}", where=where)
    return BackendError(f"the store cannot be used: {error}")
