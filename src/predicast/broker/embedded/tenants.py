"""The table of tenants: a number for each name, and how many definitions it should have."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from predicast.broker.embedded.seals import check, damaged, seal


class TenantRow(NamedTuple):
    """One row."""

    number: int
    name: str
    definitions: int


def all_of(connection: sqlite3.Connection) -> list[TenantRow]:
    """Every tenant, by number."""
    rows = connection.execute("SELECT number, name, definitions, seal FROM tenants ORDER BY number")
    return [_read(row) for row in rows]


def add(connection: sqlite3.Connection, number: int, name: str) -> None:
    """Write down a tenant, unless it is."""
    found = connection.execute("SELECT 1 FROM tenants WHERE number = ?", (number,)).fetchone()
    if found is None:
        _write(connection, TenantRow(number, name, 0))


def count(connection: sqlite3.Connection, number: int, added: int) -> None:
    """Count definitions that were added, or removed."""
    if added:
        row = connection.execute(
            "SELECT number, name, definitions, seal FROM tenants WHERE number = ?", (number,)
        ).fetchone()
        if row is None:
            damaged(f"tenant {number}", "is not there")
        held = _read(row)
        _write(connection, held._replace(definitions=held.definitions + added))


def _write(connection: sqlite3.Connection, row: TenantRow) -> None:
    connection.execute("INSERT OR REPLACE INTO tenants VALUES (?, ?, ?, ?)", (*row, seal(*row)))


def _read(row: tuple[int, str, int, int]) -> TenantRow:
    check(row[3], f"tenant {row[0]}", *row[:3])
    return TenantRow(*row[:3])
