"""Snapshots of a tenant's engines: files that are mapped into memory at the next start."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final, NamedTuple

from predicast.broker.embedded import changes
from predicast.broker.embedded.database import told
from predicast.broker.embedded.seals import check, damaged, seal
from predicast.broker.subscriptions import Subscriptions
from predicast.engine import Engine

FOLDER: Final = "snapshots"


class SnapshotRow(NamedTuple):
    """Which files hold the engines, up to which change."""

    change: int
    flat: str | None
    graphs: str | None


def save(folder: Path, tenant: int, change: int, held: Subscriptions) -> SnapshotRow:
    """Write the engines of durable subscriptions to files."""
    flat = graphs = None
    with told(FOLDER):
        folder.mkdir(exist_ok=True)
        if len(held.durable.flat):
            flat = f"{tenant}-{change}.flat"
            held.durable.flat.save(folder / flat)
        if held.durable.graphs is not None and len(held.durable.graphs):
            graphs = f"{tenant}-{change}.graphs"
            held.durable.graphs.save(folder / graphs)
    return SnapshotRow(change, flat, graphs)


def load(folder: Path, row: SnapshotRow, held: Subscriptions) -> list[str]:
    """Have engines be what the files say; ids that have to be read anew.

    These are patterns of graphs: what they mean depends on the ontology that the broker is given
    today, and a snapshot has that of its own day.
    """
    for name in row[1:]:
        if name is not None and not (folder / name).exists():
            damaged(f"{FOLDER}/{name}", "is not there")
    if row.flat is not None:
        held.durable.flat = Engine.load(folder / row.flat, on_invalid="absent")
    if row.graphs is not None:
        from predicast.graph import GraphEngine

        return [*GraphEngine.load(folder / row.graphs)]
    return []


def find(connection: sqlite3.Connection, tenant: int) -> SnapshotRow | None:
    """The newest one."""
    row = connection.execute(
        "SELECT change, flat, graphs, seal FROM snapshots WHERE tenant = ?", (tenant,)
    ).fetchone()
    if row is None:
        return None
    check(row[3], f"the snapshot of tenant {tenant}", tenant, *row[:3])
    return SnapshotRow(*row[:3])


def write(
    connection: sqlite3.Connection, tenant: int, row: SnapshotRow, suspects: set[str]
) -> None:
    """Begin with this one from now on; ids that it may have wrong are logged behind it."""
    columns = (tenant, *row)
    connection.execute(
        "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)", (*columns, seal(*columns))
    )
    connection.execute("DELETE FROM changes WHERE tenant = ? AND number <= ?", (tenant, row.change))
    if suspects:
        changes.append(connection, tenant, suspects)


def tidy(folder: Path, tenant: int, row: SnapshotRow | None) -> None:
    """Remove files of the tenant's that are not the newest."""
    keep = set() if row is None else {row.flat, row.graphs}
    if folder.exists():
        for path in folder.glob(f"{tenant}-*"):
            if path.name not in keep:
                path.unlink(missing_ok=True)
