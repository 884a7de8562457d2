"""What changed between two versions of a table, in the engine's own unit of change.

Only the files that one of the versions has and the other has not are read: rows that are in both
were copied when a file was written anew, and cancel out. So the difference costs what changed, and
the rows that happen to lie in the same files, however large the table is. It is the same read
forwards and backwards.

What another tool wrote may have rows without ids, or several of one id. Then there is no telling
what became of what, and the difference is ``Unclear``: whoever wants to know reads the whole. Rows
of no subscription are less of a nuisance: for an engine they are not there (``for_engine``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from predicast.engine import Change, Operation, Unsubscribe
from predicast.errors import PredicastError
from predicast.language.class_tests import reading_with
from predicast.model.vocabulary import Vocabulary
from predicast.spark.subscription_table.files import DataFile, DataFiles
from predicast.spark.subscription_table.log import Version
from predicast.spark.subscription_table.rows import (
    Row,
    check_row,
    operation_of,
    rows_of,
    table_of,
)

if TYPE_CHECKING:
    import pyarrow as pa


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
    old, new = _rows(files, there - here), _rows(files, here - there)
    old_keys, new_keys = _keys(old), _keys(new)
    was, is_now = _by_id(_others(old, old_keys, new_keys)), _by_id(_others(new, new_keys, old_keys))
    return [RowChange(id, was.get(id), is_now.get(id)) for id in sorted(was.keys() | is_now.keys())]


def rows_between(before: Version, after: Version) -> int:
    """How many rows a comparison of two versions reads."""
    return sum(file.rows or 0 for file in {*before.files} ^ {*after.files})


def _rows(files: DataFiles, wanted: Iterable[DataFile]) -> pa.Table:
    """All rows of some files, of which each has an id of its own."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = pa.concat_tables([table_of(()), *map(files.read, wanted)])
    if pc.count_distinct(rows["id"], mode="only_valid").as_py() < len(rows):
        raise Unclear
    return rows


def _keys(rows: pa.Table) -> pa.Array:
    """A text for each row that only an equal row has: what is in its columns, and how long it is.

    Most rows are the same in both versions; no Python object is made of those.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = []
    for column in rows.columns:
        length = pc.fill_null(pc.binary_length(column), -1)
        parts += [length.cast(pa.large_string()), pc.fill_null(column, "").cast(pa.large_string())]
    return pc.binary_join_element_wise(*parts, pa.scalar(" ", pa.large_string()))


def _others(rows: pa.Table, keys: pa.Array, theirs: pa.Array) -> pa.Table:
    """The rows that the other version does not have."""
    import pyarrow.compute as pc

    return rows.filter(pc.invert(pc.is_in(keys, theirs)))


def _by_id(rows: pa.Table) -> dict[str, Row]:
    return {row.id: row for row in rows_of(rows) if row.id is not None}


class Holding(Protocol):
    """An engine, or several that are one to others."""

    @property
    def vocabulary(self) -> Vocabulary | None: ...

    def __contains__(self, id: object, /) -> bool: ...


def for_engine(
    engine: Holding, changes: Iterable[RowChange], errors: Mapping[str, str]
) -> tuple[list[RowChange], dict[str, str]]:
    """What changes for an engine that goes without the rows of no subscription.

    ``errors`` says of those it goes without why, by id. Given back is the same as it is afterwards.
    """
    clear: list[RowChange] = []
    errors_after = dict(errors)
    for change in changes:
        id, before, after = change
        # What is mended may have been there twice, and what is new may be there already.
        if id in errors or (before is None and id in engine):
            raise Unclear
        if after is not None:
            try:
                with reading_with(engine.vocabulary):
                    check_row(after)
            except PredicastError as error:
                errors_after[id], after = error.message, None
        if before is not None or after is not None:
            clear.append(RowChange(id, before, after))
    return clear, errors_after


def joined(before: Mapping[str, RowChange], step: Iterable[RowChange]) -> dict[str, RowChange]:
    """What changed in two steps, by id, less what is as it was."""
    changes = dict(before)
    for id, old, new in step:
        first = changes[id].before if id in changes else old
        if first == new:
            del changes[id]
        else:
            changes[id] = RowChange(id, first, new)
    return changes


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
            said = subscribe.expression, subscribe.parameters, subscribe.dialect
            found.append(Change(change.id, *said))
            continue
        if before is not None:
            found.append(Unsubscribe(change.id))
        found.append(subscribe)
    return found
