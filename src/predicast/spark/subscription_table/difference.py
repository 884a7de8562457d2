"""What changed between two versions of a table, in the engine's own unit of change.

Only the files that one of the versions has and the other has not are read: rows that are in both
were copied when a file was written anew, and cancel out. So the difference costs what changed, and
the rows that happen to lie in the same files, however large the table is. It is the same read
forwards and backwards.

What another tool wrote may have rows without ids, or several of one id. Then there is no telling
what became of what, and the difference is ``Unclear``: whoever wants to know reads the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from predicast.engine import Change, Operation, Unsubscribe
from predicast.spark.subscription_table.files import DataFile, DataFiles
from predicast.spark.subscription_table.log import Version
from predicast.spark.subscription_table.rows import Row, operation_of, rows_of


class Unclear(Exception):  # noqa: N818  # no error of anybody's who asks
    """Rows without ids, or several with one id."""


class RowChange(NamedTuple):
    """What became of one id; ``None`` where there is no such subscription."""

    id: str
    before: Row | None
    after: Row | None


def row_changes(files: DataFiles, before: Version, after: Version) -> list[RowChange]:
    """What became of each id that is not as it was, in the order of ids."""
    there, here = {*before.files}, {*after.files}
    old = _by_id(_rows(files, there - here))
    new = _by_id(_rows(files, here - there))
    return [
        RowChange(id, old.get(id), new.get(id))
        for id in sorted(old.keys() | new.keys())
        if old.get(id) != new.get(id)
    ]


def _rows(files: DataFiles, wanted: Iterable[DataFile]) -> Iterator[Row]:
    for each in wanted:
        yield from rows_of(files.read(each))


def _by_id(rows: Iterable[Row]) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for row in rows:
        if row.id is None or row.id in found:
            raise Unclear
        found[row.id] = row
    return found


def operations(changes: Iterable[RowChange]) -> list[Operation]:
    """The same as operations, which an engine can apply; an error if a row is no subscription."""
    found: list[Operation] = []
    for change in changes:
        before, after = change.before, change.after
        if after is None:
            found.append(Unsubscribe(change.id))
            continue
        subscribe = operation_of(after)
        if before is not None and before.owner == after.owner:
            found.append(Change(change.id, subscribe.expression, subscribe.parameters))
            continue
        if before is not None:
            found.append(Unsubscribe(change.id))
        found.append(subscribe)
    return found
