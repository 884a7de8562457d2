"""What waits for whom, on disk: a checkpoint with a file of it, and the two logs behind.

After a crash a queue is what the file says, plus what chunks behind the checkpoint say that it
matched, less what settlements say was done. Which was first matters only where a queue began to
read the log (``Kind.STARTED``): what came before is not for it, and what came after is read, until
it is live.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from predicast.broker.embedded import backlog_files, chunks, settlement_log
from predicast.broker.embedded.backlog import Arrived, Backlog, Special, State
from predicast.broker.embedded.backlog_files import BacklogFile
from predicast.broker.embedded.journal import Kind, Settlement
from predicast.broker.embedded.queue import Queue
from predicast.broker.embedded.seals import check, seal


class Checkpoint(NamedTuple):
    """Up to which event and which settlement the file is, and what was kept then."""

    position: int
    settlement: int
    events: int
    size: int  # of their bodies
    file: BacklogFile | None  # there is none before the first checkpoint


class _Found:
    """A queue that settlements behind the checkpoint are about, as it is found again."""

    def __init__(self, state: State, arrived: list[int]) -> None:
        pending, special = state
        self.pending = {*pending}
        self.attempts = {} if special is None else special.attempts
        self.dropped = [] if special is None else [*special.dropped]
        self.cursor = None if special is None else special.cursor
        self.since = None if special is None else special.since
        self.arrived = arrived  # behind the checkpoint
        if self.cursor is None:
            self.pending.update(arrived)

    def settle(self, record: Settlement) -> None:
        """Take a record into account."""
        kind, positions = record.kind, record.positions
        if kind in {Kind.ACKNOWLEDGED, Kind.DEAD}:
            self.pending.difference_update(positions)
        elif kind == Kind.DROPPED:
            first, last = positions
            self.pending = {p for p in self.pending if not first <= p <= last}
            if self.dropped[-2:-1] == [first]:
                self.dropped[-1] = last
            else:
                self.dropped += positions
        elif kind == Kind.AGAIN:
            self.pending.update(positions)
        elif kind == Kind.STARTED:
            self.pending.clear()
            self.cursor, self.since = positions[0], record.since
        elif kind == Kind.FETCHED:
            self.cursor = positions[0]
            self.pending.update(positions[1:])
        elif kind == Kind.LIVE:
            self.cursor = self.since = None
            self.pending.update(p for p in self.arrived if p > positions[0])
        elif kind == Kind.ENDED:
            self.attempts, self.dropped = {}, []
            self.cursor = self.since = None
            self.pending = {*self.arrived}  # of the one that has the name now

    def state(self) -> State:
        """What became of it."""
        attempts = {p: count for p, count in self.attempts.items() if p in self.pending}
        return State(
            sorted(self.pending), _special(attempts, self.dropped, self.cursor, self.since)
        )


def recovered(
    connection: sqlite3.Connection,
    folder: Path,
    tenant: int,
    since_of: Callable[[Collection[str]], Mapping[str, int]],
) -> tuple[Backlog, int]:
    """What waits for whom, and the last settlement.

    ``since_of`` says from which position on subscriptions are what they are.
    """
    start = read_checkpoint(connection, tenant)
    backlog = Backlog()
    if start.file is not None:
        backlog = backlog_files.load(folder / backlog_files.FOLDER, start.file)
    arrived = [
        Arrived(matches.first, matches.ids)
        for matches in chunks.matches_after(connection, tenant, start.position)
    ]
    rows = [*settlement_log.records_after(connection, tenant, start.settlement)]
    if not arrived and not rows:
        return backlog, start.settlement
    records: defaultdict[str, list[Settlement]] = defaultdict(list)
    for _, some in rows:
        for record in some:
            records[record.id].append(record)
    captured = _settled(backlog, _apart(arrived, backlog, records), records, since_of)
    draft = backlog.draft(captured.items(), arrived, is_open=False)
    backlog.adopt(draft.merged())
    for id in records:
        if id not in captured:
            backlog.remove(id)
    return backlog, rows[-1][0] if rows else start.settlement


def _apart(
    arrived: Iterable[Arrived], backlog: Backlog, records: Mapping[str, object]
) -> Mapping[str, list[int]]:
    """What arrived for those who had nothing, or something of which has become something."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for first, matches in arrived:
        for place, ids in enumerate(matches, first):
            for id in ids:
                if id in records or id not in backlog:
                    found[id].append(place)
    return found


def _settled(
    backlog: Backlog,
    arrived: Mapping[str, list[int]],
    records: Mapping[str, list[Settlement]],
    since_of: Callable[[Collection[str]], Mapping[str, int]],
) -> dict[str, State]:
    """Of those of them who are still there, what they have now."""
    nothing = State((), None)
    settled: dict[str, State] = {}
    for id, since in since_of({*arrived, *records}).items():
        places = [place for place in arrived.get(id, ()) if place >= since]
        found = _Found(backlog.state(id) if id in backlog else nothing, places)
        for record in records.get(id, ()):
            found.settle(record)
        settled[id] = found.state()
    return settled


def captured(queue: Queue) -> State:
    """What a queue is now."""
    return State(
        queue.pending(), _special(queue.attempts(), queue.dropped, queue.cursor, queue.since)
    )


def _special(
    attempts: dict[int, int], dropped: list[int], cursor: int | None, since: float | None
) -> Special | None:
    if not attempts and not dropped and cursor is None:
        return None
    return Special(attempts, [*dropped], cursor, since)


def read_checkpoint(connection: sqlite3.Connection, tenant: int) -> Checkpoint:
    """The last one."""
    row = connection.execute(
        "SELECT position, settlement, events, size, file, checksum, seal FROM checkpoints "
        "WHERE tenant = ?",
        (tenant,),
    ).fetchone()
    if row is None:
        return Checkpoint(0, 0, 0, 0, None)
    check(row[6], f"the checkpoint of tenant {tenant}", tenant, *row[:6])
    position, settlement, events, size, name, checksum, _ = row
    return Checkpoint(position, settlement, events, size, BacklogFile(name, checksum))


def write(connection: sqlite3.Connection, tenant: int, checkpoint: Checkpoint) -> None:
    """Write a checkpoint, and forget the settlements before it."""
    write_checkpoint(connection, tenant, checkpoint)
    connection.execute(
        "DELETE FROM settlements WHERE tenant = ? AND number <= ?", (tenant, checkpoint.settlement)
    )


def write_checkpoint(connection: sqlite3.Connection, tenant: int, checkpoint: Checkpoint) -> None:
    """Write how far the file of what waits is."""
    assert checkpoint.file is not None
    row = (tenant, *checkpoint[:4], *checkpoint.file)
    connection.execute(
        "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*row, seal(*row))
    )
