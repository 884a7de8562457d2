"""How a window of operations becomes a commit: collapsed, compared with the table, and written.

The window runs on an engine that holds no more than the subscriptions it names, as the table has
them: what is refused there is refused here, and what that engine says has changed is what is
written. So there is one set of rules for windows, and a change needs no engine of the whole table.

Files that hold a row which changes are written anew. New rows go into a file of their own; when
such small files become many, the commit that adds one more puts them together, at the price of at
most ``_MANY_SMALL`` of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from predicast.engine import Engine, Operation, Report
from predicast.errors import PredicastError
from predicast.model.vocabulary import Vocabulary
from predicast.spark.subscription_table.files import DataFile, DataFiles
from predicast.spark.subscription_table.rows import (
    Row,
    operation_of,
    row_of_entry,
    rows_of,
    table_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

_MANY_SMALL: Final = 16  # files of less than half their length that a table has at most, or so
_UNREADABLE: Final = "FALSE"  # stands for a row that is no subscription, until it is replaced

OnRefusal = Literal["raise", "report"]


class Found(NamedTuple):
    """What a version has of some ids: rows by id, and the files with such rows as they are."""

    rows: dict[str, list[Row]]
    tables: dict[DataFile, pa.Table]


class Rewriting(NamedTuple):
    """What a commit replaces: files that are gone, and all rows of those that come."""

    removed: list[DataFile]
    tables: list[pa.Table]


def find(files: DataFiles, held: Iterable[DataFile], ids: Iterable[str]) -> Found:
    """The rows of some ids; only files are opened that may hold one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ascending = sorted(ids)
    wanted = pa.array(ascending, pa.string())
    rows: dict[str, list[Row]] = {}
    tables: dict[DataFile, pa.Table] = {}
    for file in held:
        if not ascending or not file.may_hold(ascending):
            continue
        is_wanted = pc.is_in(files.read(file, ["id"])["id"], wanted)
        if not pc.any(is_wanted).as_py():
            continue
        tables[file] = table = files.read(file)
        for row in rows_of(table.filter(is_wanted)):
            assert row.id is not None
            rows.setdefault(row.id, []).append(row)
    return Found(rows, tables)


def named_by(operations: Iterable[Operation]) -> set[str]:
    """The ids that operations name, of those that could be one."""
    ids = (getattr(operation, "id", None) for operation in operations)
    return {id for id in ids if isinstance(id, str) and _is_text(id)}


def _is_text(id: str) -> bool:
    try:
        id.encode()
    except UnicodeEncodeError:
        return False
    return True


def net_effect(
    found: Found,
    operations: Sequence[Operation],
    on_refusal: OnRefusal,
    vocabulary: Vocabulary | None = None,
) -> tuple[dict[str, Row | None], Report]:
    """What becomes of the rows of each id that changes, by the engine's own rules."""
    engine = Engine(matcher="brute-force", ontology=vocabulary)
    for id, rows in found.rows.items():
        _hold(engine, id, rows)
    changes = engine.changes()
    report = engine.apply(operations, on_refusal=on_refusal)
    touched = dict.fromkeys(operation.id for operation in changes.take())
    effect = {id: row_of_entry(engine.get(id)) if id in engine else None for id in touched}
    return {id: row for id, row in effect.items() if _differs(found.rows.get(id), row)}, report


def _hold(engine: Engine, id: str, rows: Sequence[Row]) -> None:
    """Have the engine hold what the table has under an id, readable or not."""
    try:
        (row,) = rows
        engine.apply([operation_of(row)])
    except (ValueError, PredicastError):
        # It is there, so that nobody else can have the id, and can be changed or removed.
        engine.subscribe(_UNREADABLE, id=id)


def _differs(before: list[Row] | None, after: Row | None) -> bool:
    return (before or []) != ([] if after is None else [after])


def rewriting(
    files: DataFiles, held: Sequence[DataFile], found: Found, effect: Mapping[str, Row | None]
) -> Rewriting:
    """What to write so that the rows of these ids become what they are to be."""
    import pyarrow as pa
    import pyarrow.compute as pc

    gone = pa.array(effect, pa.string())
    new = {id: row for id, row in effect.items() if row is not None}
    result = Rewriting([], [])
    for file, table in found.tables.items():
        is_gone = pc.fill_null(pc.is_in(table["id"], gone), False)
        if not pc.any(is_gone).as_py():
            continue
        ids = table["id"].filter(is_gone).to_pylist()
        changed = [new.pop(id) for id in dict.fromkeys(ids) if id in new]
        kept = table.filter(pc.invert(is_gone))
        result.removed.append(file)
        result.tables.append(pa.concat_tables([kept, table_of(changed)]))
    if new:
        added = table_of(new.values())
        small = [file for file in held if file.is_small() and file not in result.removed]
        if len(small) >= _MANY_SMALL:
            added = pa.concat_tables([added, *map(files.read, small)])
            result.removed.extend(small)
        result.tables.append(added)
    return result
