"""The table of definitions: durable subscriptions as they were asked for.

They stay on disk, and are looked up when somebody asks: engines know what is stated, and nothing
here is needed to match. ``since`` is the position from which on a subscription is the one it is:
what was matched before by one of the same name is not for it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from predicast.broker.embedded.seals import check, damaged, seal
from predicast.protocol.records import DEFAULT_SETTINGS, Definition, Settings

_COLUMNS: Final = "id, owner, expression, since, rest, seal"


class _Rest(msgspec.Struct, frozen=True, omit_defaults=True, array_like=True):
    """What is not searched for."""

    dialect: str
    parameters: dict[str, Any] | None
    settings: Settings | None
    created: float
    revision: int


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(_Rest).decode
_SINK: Final = _encode("sink")  # as it stands in a row whose settings have one


class Kept(NamedTuple):
    """A definition, and since which position it is this one."""

    definition: Definition
    since: int


Row = tuple[int, str, str | None, str, int, bytes, int]


def row_of(tenant: int, kept: Kept) -> Row:
    """The row of a definition."""
    definition, since = kept
    settings = definition.settings
    rest = _encode(
        _Rest(
            definition.dialect,
            definition.parameters,
            None if settings == DEFAULT_SETTINGS else settings,
            definition.created,
            definition.revision,
        )
    )
    columns = (tenant, definition.id, definition.owner, definition.expression, since, rest)
    return (*columns, seal(*columns))


def put(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Write rows, in the place of those with their ids."""
    connection.executemany("INSERT OR REPLACE INTO definitions VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def remove(connection: sqlite3.Connection, tenant: int, ids: Iterable[str]) -> None:
    """Remove rows."""
    connection.executemany(
        "DELETE FROM definitions WHERE tenant = ? AND id = ?", ((tenant, id) for id in ids)
    )


def find(connection: sqlite3.Connection, tenant: int, id: str) -> Kept | None:
    """The definition with this id."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM definitions WHERE tenant = ? AND id = ?",  # noqa: S608
        (tenant, id),
    ).fetchone()
    return None if row is None else _read(tenant, row)


def find_all(connection: sqlite3.Connection, tenant: int, ids: Iterable[str]) -> Iterator[Kept]:
    """Those of the definitions that there are."""
    for row in _rows_of(connection, tenant, ids):
        yield _read(tenant, row)


def terms_of(
    connection: sqlite3.Connection, tenant: int, ids: Iterable[str]
) -> Iterator[tuple[str, Settings, int]]:
    """How subscriptions are served, and since which position, of those that there are."""
    for id, owner, expression, since, rest, sealed in _rows_of(connection, tenant, ids):
        where = f"the definition of {id!r}"
        check(sealed, where, tenant, id, owner, expression, since, rest)
        yield id, _rest(rest, where).settings or DEFAULT_SETTINGS, since


def since_of(connection: sqlite3.Connection, tenant: int, ids: Iterable[str]) -> dict[str, int]:
    """Since which position subscriptions are what they are, of those that there are."""
    return {id: since for id, _, since in terms_of(connection, tenant, ids)}


def search(
    connection: sqlite3.Connection,
    tenant: int,
    *,
    owner: str | None,
    text: str | None,
    after: str | None,
    most: int,
) -> list[Definition]:
    """Those of the owner whose id or expression has the text in it, by id, after that one."""
    conditions, values = ["tenant = ?", "id > ?"], [tenant, after or ""]
    if owner is not None:
        conditions.append("owner = ?")
        values.append(owner)
    if text:
        conditions.append("(instr(id, ?) OR instr(expression, ?))")
        values += [text, text]
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM definitions WHERE {' AND '.join(conditions)} "  # noqa: S608
        "ORDER BY id LIMIT ?",
        (*values, most),
    )
    return [_read(tenant, row).definition for row in rows]


def with_sinks(connection: sqlite3.Connection, tenant: int) -> list[Definition]:
    """Those whose deliveries are sent somewhere.

    SQLite looks for the name of the field: to read a million rows would take seconds.
    """
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM definitions WHERE tenant = ? AND instr(rest, ?)",  # noqa: S608
        (tenant, _SINK),
    )
    found = [_read(tenant, row).definition for row in rows]
    return [each for each in found if each.settings.sink is not None]


def count(connection: sqlite3.Connection, tenant: int) -> int:
    """How many there are."""
    found = connection.execute("SELECT count(*) FROM definitions WHERE tenant = ?", (tenant,))
    return int(found.fetchone()[0])


def settings_interned() -> Callable[[Settings], Settings]:
    """Equal settings as one object: most subscriptions have the same few."""
    known: dict[bytes, Settings] = {}
    encode = msgspec.msgpack.Encoder().encode

    def interned(settings: Settings) -> Settings:
        if settings == DEFAULT_SETTINGS:
            return DEFAULT_SETTINGS
        if len(known) > 1000:
            known.clear()
        return known.setdefault(encode(settings), settings)

    return interned


def by_id(found: Iterable[Kept]) -> Mapping[str, Kept]:
    """Definitions by their ids."""
    return {kept.definition.id: kept for kept in found}


def _rows_of(connection: sqlite3.Connection, tenant: int, ids: Iterable[str]) -> sqlite3.Cursor:
    return connection.execute(
        f"SELECT {_COLUMNS} FROM definitions "  # noqa: S608
        "WHERE tenant = ? AND id IN (SELECT value FROM json_each(?))",
        (tenant, json.dumps([*ids])),
    )


def _read(tenant: int, row: tuple[Any, ...]) -> Kept:
    id, owner, expression, since, rest, found = row
    where = f"the definition of {id!r}"
    check(found, where, tenant, id, owner, expression, since, rest)
    read = _rest(rest, where)
    return Kept(
        Definition(
            id,
            expression,
            read.dialect,
            read.parameters,
            owner,
            read.settings or DEFAULT_SETTINGS,
            read.created,
            read.revision,
        ),
        since,
    )


def _rest(content: bytes, where: str) -> _Rest:
    try:
        return _decode(content)
    except msgspec.MsgspecError:
        damaged(where, "cannot be read")
