"""Chunks: events that were matched together, in one row.

A row has who matched, who published, and the bodies as they came, with checksums; what waits for
whom is found again by reading the first of these only. Every row says which position was the last
before it, so that one that is missing is noticed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from predicast.broker.embedded.database import POSITIONS
from predicast.broker.embedded.seals import check, damaged, seal
from predicast.protocol.records import BodyForm, NewEvent, StoredEvent

_encode: Final = msgspec.msgpack.Encoder().encode
_matched: Final = msgspec.msgpack.Decoder(list[list[str]]).decode
_names: Final = msgspec.msgpack.Decoder(list[tuple[str, str, str]]).decode
_bodies: Final = msgspec.msgpack.Decoder(list[bytes]).decode


class Chunk(NamedTuple):
    """A chunk that was encoded, for a place that it will be given."""

    first: int
    events: int
    at: float
    size: int  # of the bodies
    matched: bytes
    names: bytes
    bodies: bytes


class Matches(NamedTuple):
    """Whom the events of a chunk are for."""

    first: int
    ids: list[list[str]]


def encoded(
    first: int, at: float, events: Sequence[NewEvent], matched: Sequence[Sequence[str]]
) -> Chunk:
    """Events that were matched."""
    bodies = [event.body for event in events]
    return Chunk(
        first,
        len(events),
        at,
        sum(map(len, bodies)),
        _encode(matched),
        _encode([(event.id, event.publisher, event.form) for event in events]),
        _encode(bodies),
    )


def insert(connection: sqlite3.Connection, tenant: int, chunk: Chunk) -> None:
    """Write a chunk behind the others."""
    first, count, at, size, matched, names, bodies = chunk
    key = tenant * POSITIONS + first
    before = last_position(connection, tenant)
    head = (key, before, count, at, size)
    connection.execute(
        "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*head, seal(*head, matched), seal(*head, names, bodies), matched, names, bodies),
    )


def last_position(connection: sqlite3.Connection, tenant: int) -> int:
    """The position of the last event that there is, or was when others were cut."""
    row = connection.execute(
        "SELECT key, count FROM chunks WHERE key < ? ORDER BY key DESC LIMIT 1",
        ((tenant + 1) * POSITIONS,),
    ).fetchone()
    if row is None or row[0] < tenant * POSITIONS:
        return 0
    return int(row[0]) % POSITIONS + int(row[1]) - 1


def events_after(
    connection: sqlite3.Connection,
    tenant: int,
    after: int,
    *,
    since: float | None = None,
    most: int,
) -> list[StoredEvent]:
    """Kept events, by position: behind that one, and not before that time."""
    found: list[StoredEvent] = []
    for events in _chunks(connection, tenant, after, since):
        found += [event for event in events if event.position > after]
        if len(found) >= most:
            break
    return found[:most]


def latest(connection: sqlite3.Connection, tenant: int, most: int) -> list[StoredEvent]:
    """The last events that are kept, by position."""
    found: list[StoredEvent] = []
    rows = connection.execute(
        "SELECT key, before, count, at, size, seal, names, bodies FROM chunks "
        "WHERE key >= ? AND key < ? ORDER BY key DESC",
        (tenant * POSITIONS, (tenant + 1) * POSITIONS),
    )
    for row in rows:
        found = _events(row) + found
        if len(found) >= most:
            break
    return found[-most:] if most > 0 else []


def chunk_with(connection: sqlite3.Connection, tenant: int, position: int) -> list[StoredEvent]:
    """The events of the chunk that has the position, or none."""
    row = connection.execute(
        "SELECT key, before, count, at, size, seal, names, bodies FROM chunks "
        "WHERE key <= ? AND key >= ? ORDER BY key DESC LIMIT 1",
        (tenant * POSITIONS + position, tenant * POSITIONS),
    ).fetchone()
    return [] if row is None else _events(row)


def matches_of(connection: sqlite3.Connection, tenant: int, position: int) -> list[str] | None:
    """The durable subscriptions that the event at the position matched; nothing if it is gone."""
    row = connection.execute(
        "SELECT key, before, count, at, size, matched_seal, matched FROM chunks "
        "WHERE key <= ? AND key >= ? ORDER BY key DESC LIMIT 1",
        (tenant * POSITIONS + position, tenant * POSITIONS),
    ).fetchone()
    if row is None:
        return None
    matches = _read_matches(row)
    place = position - matches.first
    return matches.ids[place] if place < len(matches.ids) else None


def matches_after(connection: sqlite3.Connection, tenant: int, after: int) -> Iterator[Matches]:
    """Whom events are for, by chunk, from the chunk behind a position on; all must be there."""
    rows = connection.execute(
        "SELECT key, before, count, at, size, matched_seal, matched FROM chunks "
        "WHERE key > ? AND key < ? ORDER BY key",
        (tenant * POSITIONS + after, (tenant + 1) * POSITIONS),
    )
    last = None
    for row in rows:
        matches = _read_matches(row)
        if last is not None and row[1] != last:
            damaged(f"the chunk at {matches.first}", f"follows {row[1]}, which is not there")
        last = matches.first + len(matches.ids) - 1
        yield matches


def totals_after(connection: sqlite3.Connection, tenant: int, position: int) -> tuple[int, int]:
    """How many events there are behind a position, and the bytes of their bodies."""
    events, size = connection.execute(
        "SELECT coalesce(sum(count), 0), coalesce(sum(size), 0) FROM chunks "
        "WHERE key > ? AND key < ?",
        (tenant * POSITIONS + position, (tenant + 1) * POSITIONS),
    ).fetchone()
    return events, size


def names_before_end(
    connection: sqlite3.Connection, tenant: int, most: int
) -> list[tuple[int, str, str]]:
    """Position, id and publisher of the last events, in order: at least so many, if there are."""
    found: list[list[tuple[int, str, str]]] = []
    total = 0  # no objects are made of events: there are tens of thousands, at every start
    rows = connection.execute(
        "SELECT key, before, count, at, size, seal, names, bodies FROM chunks "
        "WHERE key >= ? AND key < ? ORDER BY key DESC",
        (tenant * POSITIONS, (tenant + 1) * POSITIONS),
    )
    for row in rows:
        first, named, _ = _read_events(row)
        found.append([(first + place, id, who) for place, (id, who, _) in enumerate(named)])
        total += len(named)
        if total >= most:
            break
    return [name for part in reversed(found) for name in part]


def oldest(connection: sqlite3.Connection, tenant: int) -> Iterator[tuple[int, int, float, int]]:
    """First position, count, time and size of chunks, the oldest first."""
    rows = connection.execute(
        "SELECT key, count, at, size FROM chunks WHERE key >= ? AND key < ? ORDER BY key",
        (tenant * POSITIONS, (tenant + 1) * POSITIONS),
    )
    for key, count, at, size in rows:
        yield key % POSITIONS, count, at, size


def cut(connection: sqlite3.Connection, tenant: int, first: int) -> None:
    """Remove all chunks before the one that begins at this position."""
    connection.execute(
        "DELETE FROM chunks WHERE key >= ? AND key < ?",
        (tenant * POSITIONS, tenant * POSITIONS + first),
    )


def _chunks(
    connection: sqlite3.Connection, tenant: int, after: int, since: float | None
) -> Iterator[list[StoredEvent]]:
    low = tenant * POSITIONS
    begin = connection.execute(
        "SELECT key FROM chunks WHERE key <= ? AND key >= ? ORDER BY key DESC LIMIT 1",
        (low + after + 1, low),
    ).fetchone()
    condition = "" if since is None else "AND at >= ?"
    rows = connection.execute(
        "SELECT key, before, count, at, size, seal, names, bodies FROM chunks "  # noqa: S608
        f"WHERE key >= ? AND key < ? {condition} ORDER BY key",
        (
            low + after + 1 if begin is None else begin[0],
            low + POSITIONS,
            *(() if since is None else (since,)),
        ),
    )
    last = None
    for row in rows:
        if since is None and last is not None and row[1] != last:
            damaged(f"the chunk at {row[0] % POSITIONS}", f"follows {row[1]}, which is not there")
        last = row[0] % POSITIONS + row[2] - 1
        yield _events(row)


def _events(row: tuple[Any, ...]) -> list[StoredEvent]:
    first, named, bodies = _read_events(row)
    at = row[3]
    try:
        texts = _bodies(bodies)
        return [
            StoredEvent(first + place, at, id, publisher, BodyForm(form), body)
            for place, ((id, publisher, form), body) in enumerate(zip(named, texts, strict=True))
        ]
    except (msgspec.MsgspecError, ValueError):
        damaged(f"the chunk at {first}", "cannot be read")


def _read_events(row: tuple[Any, ...]) -> tuple[int, list[tuple[str, str, str]], bytes]:
    """The first position of a chunk, the names of its events, and their bodies as they are kept."""
    key, before, count, at, size, found, names, bodies = row
    first = key % POSITIONS
    where = f"the chunk at {first}"
    check(found, where, key, before, count, at, size, names, bodies)
    try:
        return first, _names(names), bodies
    except msgspec.MsgspecError:
        damaged(where, "cannot be read")


def _read_matches(row: tuple[Any, ...]) -> Matches:
    key, before, count, at, size, found, matched = row
    where = f"whom the chunk at {key % POSITIONS} is for"
    check(found, where, key, before, count, at, size, matched)
    try:
        return Matches(key % POSITIONS, _matched(matched))
    except msgspec.MsgspecError:
        damaged(where, "cannot be read")
