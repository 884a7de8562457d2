"""Events from a file, matched batch by batch as they are read.

JSON Lines become events of the model and go through ``Engine.match_batch``; CSV and Parquet become
Arrow batches and go through ``Engine.match_arrow``. Either way memory is bounded by a batch, not by
the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from predicast import Engine, Event
from predicast.arrow import is_list
from predicast.cli.files.csv_batches import CsvFile
from predicast.cli.files.csv_types import shortened
from predicast.cli.files.json_lines import ONE_OBJECT_PER_LINE, Line, line_groups
from predicast.cli.files.matches import EventMatches, Matches, RowMatches
from predicast.cli.files.source import CELLS, Form, Source
from predicast.cli.files.stated_values import StatedValues
from predicast.errors import PredicastError, suggest
from predicast.language import event_from_json
from predicast.model.values import Kind

Report: TypeAlias = Callable[[int], None]
Note: TypeAlias = Callable[[str], None]

_BATCH_EVENTS: Final = 4_096
_BATCH_BYTES: Final = 32 * 2**20
_BATCH_ROWS: Final = 16_384
_SHOWN_NAMES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How to read events."""

    source: Source
    whole: bool = False  # keep columns that no subscription looks at, to show them
    stated: StatedValues = field(default_factory=StatedValues)

    def passes(self) -> int:
        """How many times the file is read from end to end."""
        return 2 if self.source.form in CELLS else 1

    def matches(
        self,
        engine: Engine,
        report: Report = lambda _done: None,
        note: Note = lambda _message: None,
    ) -> Iterator[Matches]:
        """The matches of all events of the file, in order.

        ``report`` is told the bytes read so far, ``note`` what the user should know.
        """
        if self.source.form is Form.JSON_LINES:
            yield from _from_json_lines(self, engine, report, note)
            return
        by_form = _from_csv if self.source.form in CELLS else _from_parquet
        with self.source.kept() as source:
            yield from by_form(replace(self, source=source), engine, report, note)


# JSON Lines.


def _from_json_lines(
    reader: Reader, engine: Engine, report: Report, note: Note
) -> Iterator[Matches]:
    source = reader.source
    first = 0
    unseen = set(reader.stated.types)
    attributes = engine.attributes()
    strangers = bool(attributes)
    for batch in _batches(source, report):
        lines = [line for line, _ in batch]
        events = [event for _, event in batch]
        if unseen or strangers:
            names = {name for event in events for name, _ in event.items()}
            unseen -= names
            strangers = strangers and attributes.isdisjoint(names)
        events = reader.stated.in_events(source, events, lines)
        yield EventMatches(first, events, engine.match_batch(events))
        first += len(events)
    if first and strangers:
        note(_strangers_note(source, attributes))
    for name in sorted(unseen) if first else ():
        note(f"{source.path} has no event with the attribute {name!r}, whose type was stated")


def _batches(source: Source, report: Report) -> Iterator[list[tuple[int, Event]]]:
    """Events with the numbers of their lines."""
    batch: list[tuple[int, Event]] = []
    size = 0
    with source.opened() as opened:
        for group in line_groups(source, opened):
            for line in group:
                batch.append((line.number, _event(source, line)))
                size += len(line.text)
                if len(batch) == _BATCH_EVENTS or size >= _BATCH_BYTES:
                    yield batch
                    batch, size = [], 0
            report(opened.position())
            if source.is_live and batch:
                yield batch
                batch, size = [], 0
    if batch:
        yield batch


def _event(source: Source, line: Line) -> Event:
    try:
        return event_from_json(line.text)
    except PredicastError as error:
        hint = "" if line.text.lstrip()[:1] == b"{" else f"; {ONE_OBJECT_PER_LINE}"
        raise source.refuse(error.message + hint, line.number) from error


# CSV.


def _from_csv(reader: Reader, engine: Engine, report: Report, note: Note) -> Iterator[Matches]:
    file = CsvFile(reader.source, reader.stated.nulls)
    reader.stated.check_names(reader.source, file.names)
    attributes = engine.attributes()
    columns = file.columns_among(attributes)
    found = file.types(columns, reader.stated.types, report)
    size = reader.source.size() or 0
    _note_strangers(reader.source, attributes, file.names, note)
    kinds = {name: column.type.kind for name, column in found.items() if column.type}
    for name, kind, wanted, count in _other_kinds(engine, kinds):
        why = ""
        for tried, (row, cell) in found[name].misfits.items():
            if tried.kind is wanted:
                why = f" ({cell!r} in line {file.line_of(row)})"
        note(_kinds_note(name, kind, why, wanted, count))
    types = {name: column.type for name, column in found.items()}
    batches = file.batches(
        types, file.names if reader.whole else [], lambda done: report(size + done)
    )
    yield from _from_batches(reader.source, engine, batches)


# Parquet.


def _from_parquet(reader: Reader, engine: Engine, report: Report, note: Note) -> Iterator[Matches]:
    with reader.source.opened() as opened:
        try:
            # Not pre-buffered: a row group may be as large as the file.
            file = pq.ParquetFile(opened.stream, pre_buffer=False)
            attributes = engine.attributes()
            leaves = dict(_leaves("", file.schema_arrow))
            _note_strangers(reader.source, attributes, leaves, note)
            reader.stated.check_names(reader.source, leaves)
            stated = {name: each.kind for name, each in reader.stated.types.items()}
            kinds = {name: kind for name, kind in leaves.items() if kind is not None} | stated
            for name, kind, wanted, count in _other_kinds(engine, kinds):
                note(_kinds_note(name, kind, "", wanted, count))
            columns = None if reader.whole else _columns(file.schema_arrow, attributes)
            batches = _row_batches(reader.source, file, columns, report)
            yield from _from_batches(
                reader.source, engine, reader.stated.in_batches(reader.source, batches)
            )
        except pa.ArrowException as error:
            raise reader.source.refuse(f"cannot be read as Parquet: {error}") from None


def _row_batches(
    source: Source, file: pq.ParquetFile, columns: list[str] | None, report: Report
) -> Iterator[pa.RecordBatch]:
    size = source.size() or 0
    total = max(file.metadata.num_rows, 1)
    done = 0
    for groups in _row_groups(file):
        for batch in file.iter_batches(_BATCH_ROWS, groups, columns):
            yield batch
            done += batch.num_rows
            report(size * done // total)


def _row_groups(file: pq.ParquetFile) -> Iterable[list[int]]:
    """All row groups together, unless Arrow cannot read across them: dictionaries in structs."""
    groups = range(file.num_row_groups)
    nested = any(
        pa.types.is_struct(each.type) and "dictionary<" in str(each.type)
        for each in file.schema_arrow
    )
    return ([group] for group in groups) if nested else [list(groups)]


def _columns(schema: pa.Schema, attributes: frozenset[str]) -> list[str]:
    """The columns that an attribute names, or some field inside of them."""
    heads = {".".join(a.split(".")[: n + 1]) for a in attributes for n in range(a.count(".") + 1)}
    return [name for name in schema.names if name in heads]


def _leaves(prefix: str, fields: pa.Schema | pa.StructType) -> Iterator[tuple[str, Kind | None]]:
    for each in fields:
        if pa.types.is_struct(each.type):
            yield from _leaves(f"{prefix}{each.name}.", each.type)
        else:
            yield prefix + each.name, _kind(each.type)


def _kind(type: pa.DataType) -> Kind | None:
    if pa.types.is_dictionary(type):
        type = type.value_type
    if pa.types.is_integer(type) or pa.types.is_floating(type):
        return Kind.NUMBER
    if pa.types.is_boolean(type):
        return Kind.BOOLEAN
    if pa.types.is_timestamp(type) or pa.types.is_date(type):
        return Kind.TIMESTAMP
    if is_list(type):
        return Kind.LIST
    return Kind.STRING if pa.types.is_string(type) or pa.types.is_large_string(type) else None


# What CSV and Parquet share.


def _from_batches(
    source: Source, engine: Engine, batches: Iterator[pa.RecordBatch]
) -> Iterator[Matches]:
    first = 0
    for batch in batches:
        try:
            table = engine.match_arrow(batch)
        except PredicastError as error:
            raise source.refuse(_placed(error, first, batch.num_rows)) from error
        yield RowMatches(first, batch, table)
        first += batch.num_rows


def _placed(error: PredicastError, first: int, count: int) -> str:
    """What was wrong, and in which row of the file, counted from 1."""
    row = getattr(error, "row", None)
    if row is None:
        return f"rows {first + 1} to {first + count}: {error.message}"
    return error.message.replace(f", row {row}: ", f", row {first + row + 1}: ", 1)


def _note_strangers(
    source: Source, attributes: frozenset[str], names: Collection[str], note: Note
) -> None:
    """Say so where an attribute that is no column looks like one, or none of them is a column."""
    alike = False
    for attribute in sorted(attributes.difference(names))[:100]:
        close = suggest(attribute, filter(None, names))
        if close and close not in attributes:
            note(f"{source.path} has no column {attribute!r}; is it {close!r}?")
            alike = True
    if attributes and not alike and attributes.isdisjoint(names):
        note(f"{_strangers_note(source, attributes)}; its columns are {_named(names)}")


def _strangers_note(source: Source, attributes: Collection[str]) -> str:
    return f"{source.path} has nothing that subscriptions look at, such as {_named(attributes)}"


def _named(names: Collection[str]) -> str:
    shown = [repr(shortened(name)) for name in sorted(names)[:_SHOWN_NAMES]]
    return ", ".join([*shown, "…"] if len(names) > _SHOWN_NAMES else shown)


def _other_kinds(
    engine: Engine, kinds: Mapping[str, Kind]
) -> Iterator[tuple[str, Kind, Kind, int]]:
    """Columns that constraints compare with another kind of value, and how many do."""
    wanted: Counter[tuple[str, Kind]] = Counter()
    for entry in engine.subscriptions():
        for constraint in entry.subscription.constraints():
            for part in constraint.plain():
                if part.kind is not None:
                    wanted[part.attribute, part.kind] += 1
    for (name, kind), count in wanted.items():
        if name in kinds and kinds[name] is not kind:
            yield name, kinds[name], kind, count


def _kinds_note(name: str, kind: Kind, why: str, wanted: Kind, count: int) -> str:
    constraints = "one constraint compares" if count == 1 else f"{count:,} constraints compare"
    return (
        f"column {name!r} holds {kind.value}s{why}; {constraints} it with a {wanted.value}, "
        "which never holds"
    )
