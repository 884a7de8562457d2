"""The table of deliveries that were given up. Their events are in the log, and go with it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from predicast.broker.embedded.seals import check, seal


class Grave(NamedTuple):
    """A delivery that was given up."""

    id: str
    position: int
    attempts: int
    reason: str
    at: float


def bury(connection: sqlite3.Connection, tenant: int, graves: Iterable[Grave]) -> None:
    """Write them down."""
    connection.executemany(
        "INSERT OR REPLACE INTO dead_letters (tenant, id, position, attempts, reason, at, seal) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        ((tenant, *grave, seal(tenant, *grave)) for grave in graves),
    )


def latest(
    connection: sqlite3.Connection, tenant: int, subscription: str | None, most: int
) -> list[Grave]:
    """The latest first."""
    condition = "" if subscription is None else "AND id = ?"
    rows = connection.execute(
        "SELECT id, position, attempts, reason, at, seal FROM dead_letters "  # noqa: S608
        f"WHERE tenant = ? {condition} ORDER BY number DESC LIMIT ?",
        (tenant, *(() if subscription is None else (subscription,)), most),
    )
    return [_read(tenant, row) for row in rows]


def at(connection: sqlite3.Connection, tenant: int, position: int) -> set[str]:
    """For which subscriptions the event at a position was given up."""
    rows = connection.execute(
        "SELECT id FROM dead_letters WHERE tenant = ? AND position = ?", (tenant, position)
    )
    return {id for (id,) in rows}


def dig_up(
    connection: sqlite3.Connection, tenant: int, id: str, positions: Sequence[int]
) -> list[int]:
    """Remove those that there are; which there were."""
    found = []
    for position in dict.fromkeys(positions):
        gone = connection.execute(
            "DELETE FROM dead_letters WHERE tenant = ? AND id = ? AND position = ?",
            (tenant, id, position),
        )
        if gone.rowcount:
            found.append(position)
    return found


def remove(connection: sqlite3.Connection, tenant: int, ids: Iterable[str]) -> None:
    """Forget those of subscriptions that have ended."""
    connection.executemany(
        "DELETE FROM dead_letters WHERE tenant = ? AND id = ?", ((tenant, id) for id in ids)
    )


def cut(connection: sqlite3.Connection, tenant: int, first: int) -> None:
    """Forget those whose events are gone."""
    connection.execute(
        "DELETE FROM dead_letters WHERE tenant = ? AND position < ?", (tenant, first)
    )


def _read(tenant: int, row: tuple[str, int, int, str, float, int]) -> Grave:
    grave = Grave(*row[:5])
    check(row[5], f"the dead letter of {grave.id!r} at {grave.position}", tenant, *grave)
    return grave
