"""What a window makes of definitions, and the log of which ids were touched."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from predicast.broker.embedded import dead_letters, definitions, settlement_log, tenants
from predicast.broker.embedded.definitions import Kept
from predicast.broker.embedded.journal import Kind, Settlement
from predicast.broker.embedded.seals import check, damaged, seal
from predicast.broker.subscriptions import next_revision
from predicast.errors import UnknownIdError
from predicast.protocol.records import Adjust, Definition, Put, RegistryOperation, Remove

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[str]).decode


class Outcome(NamedTuple):
    """What holds after a window, by id; ``renewed`` are not what they were but have their name."""

    after: dict[str, Kept | None]
    renewed: set[str]
    added: int  # rows


def carried_out(
    connection: sqlite3.Connection,
    tenant: int,
    window: Sequence[RegistryOperation],
    ephemeral: Mapping[str, Definition],
    since: int,
) -> Outcome:
    """What a window makes of the definitions, which engines have found to be in order."""
    looked_up = _looked_up(connection, tenant, window)
    before: dict[str, Kept | None] = {
        **{id: Kept(each, 0) for id, each in ephemeral.items()},
        **looked_up,
    }
    return _run(window, before, looked_up, since)


def of_ephemeral(
    window: Sequence[RegistryOperation], ephemeral: Mapping[str, Definition]
) -> Outcome:
    """What a window makes of subscriptions that are on no disk."""
    return _run(window, {id: Kept(each, 0) for id, each in ephemeral.items()}, {}, 0)


def write(
    connection: sqlite3.Connection, tenant: int, ids: Collection[str], outcome: Outcome
) -> tuple[int, int | None]:
    """Write down what holds now; the numbers of the change, and of the settlement if some ended."""
    rows, gone = [], []
    for id, kept in outcome.after.items():
        if kept is not None and kept.definition.settings.durable:
            rows.append(definitions.row_of(tenant, kept))
        else:
            gone.append(id)
    definitions.put(connection, rows)
    definitions.remove(connection, tenant, gone)
    tenants.count(connection, tenant, outcome.added)
    ended = [*{*gone, *outcome.renewed}]
    dead_letters.remove(connection, tenant, ended)
    settlement = None
    if ended:
        settlement = settlement_log.append(
            connection, tenant, [Settlement(Kind.ENDED, id, []) for id in ended]
        )
    return append(connection, tenant, ids), settlement


def append(connection: sqlite3.Connection, tenant: int, ids: Iterable[str]) -> int:
    """Log that these were touched; the number of the change."""
    number = 1 + max(
        connection.execute("SELECT coalesce(max(number), 0) FROM changes").fetchone()[0],
        connection.execute("SELECT coalesce(max(change), 0) FROM snapshots").fetchone()[0],
    )
    content = _encode([*ids])
    connection.execute(
        "INSERT INTO changes VALUES (?, ?, ?, ?)",
        (number, tenant, content, seal(number, tenant, content)),
    )
    return int(number)


def touched_after(
    connection: sqlite3.Connection, tenant: int, number: int
) -> Iterator[tuple[int, list[str]]]:
    """The ids of changes behind a number, in order."""
    rows = connection.execute(
        "SELECT number, ids, seal FROM changes WHERE tenant = ? AND number > ? ORDER BY number",
        (tenant, number),
    )
    for found, content, sealed in rows:
        where = f"the log of changes, record {found}"
        check(sealed, where, found, tenant, content)
        try:
            yield found, _decode(content)
        except msgspec.MsgspecError:
            damaged(where, "cannot be read")


def _looked_up(
    connection: sqlite3.Connection, tenant: int, window: Sequence[RegistryOperation]
) -> dict[str, Kept | None]:
    """Rows that the window may change; a new subscription has none."""
    wanted = dict.fromkeys(step.id for step in window if not isinstance(step, Put) or step.replace)
    found: dict[str, Kept | None] = {}
    if wanted:
        found |= definitions.by_id(definitions.find_all(connection, tenant, wanted))
    return found


def _run(
    window: Sequence[RegistryOperation],
    before: Mapping[str, Kept | None],
    rows: Mapping[str, Kept | None],
    since: int,
) -> Outcome:
    after: dict[str, Kept | None] = {}
    renewed: set[str] = set()
    for step in window:
        id = step.id
        held = after[id] if id in after else before.get(id)
        if isinstance(step, Remove):
            after[id] = None
            renewed.add(id)
        elif isinstance(step, Adjust):
            after[id] = _adjusted(held, step)
        else:
            after[id] = Kept(step.definition, since)
            if held is None:
                continue
            definition = next_revision(step.definition, held.definition)
            if held.definition.settings.durable is definition.settings.durable:
                after[id] = Kept(definition, held.since)
            else:
                after[id] = Kept(definition, since)
                renewed.add(id)
    added = sum(_is_row(kept) for kept in after.values()) - sum(
        rows.get(id) is not None for id in after
    )
    return Outcome(after, renewed, added)


def _is_row(kept: Kept | None) -> bool:
    return kept is not None and kept.definition.settings.durable


def _adjusted(held: Kept | None, step: Adjust) -> Kept:
    if held is None:  # what it was adjusted after was not written in the end
        raise UnknownIdError(f"there is no subscription {step.id!r}", id=step.id)
    definition = held.definition
    parameters = {**(definition.parameters or {}), **step.parameters}
    adjusted = msgspec.structs.replace(definition, parameters=parameters)
    return held._replace(definition=next_revision(adjusted, definition))
