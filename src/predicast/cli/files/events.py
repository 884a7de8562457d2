"""Events from a file, matched batch by batch as they are read.

JSON Lines become mappings and go through ``Engine.match_batch``; CSV, Parquet and Arrow become
Arrow batches and go through ``Engine.match_arrow``. Either way memory is bounded by a batch, not by
the file. A dialect has a say in what the attributes of a JSON document are, and may have a form of
its own for files, which are read as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any, Final, TypeAlias

import pyarrow as pa

from predicast import Engine
from predicast.arrow import is_list
from predicast.cli.files.column_files import Report, column_file
from predicast.cli.files.csv_batches import CsvFile
from predicast.cli.files.csv_types import shortened
from predicast.cli.files.dialect_files import event_forms_with
from predicast.cli.files.iso_times import IsoTimes
from predicast.cli.files.json_values import OBJECTS, JsonText, value_groups
from predicast.cli.files.matches import EventMatches, Matches, RowMatches, brief, flat
from predicast.cli.files.source import CELLS, FORMS, Form, Source
from predicast.cli.files.stated_values import StatedValues
from predicast.engine.looking import compared_attributes, expected_kinds
from predicast.errors import (
    InputFileError,
    InvalidEventError,
    ModelError,
    PredicastError,
    suggest,
)
from predicast.language import Dialect, attributes_from_json, dialect_named
from predicast.language.json_form import decoded
from predicast.model.values import Kind

Note: TypeAlias = Callable[[str], None]
Attributes: TypeAlias = dict[str, Any]

_BATCH_EVENTS: Final = 4_096
_BATCH_BYTES: Final = 32 * 2**20
_SHOWN_NAMES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How to read events."""

    source: Source
    now: datetime | None = None  # when events arrive; None: as they are read
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
        if self.source.form in {Form.JSON_LINES, Form.OWN}:
            yield from _from_documents(self, engine, report, note)
            return
        by_form = _from_csv if self.source.form in CELLS else _from_columns
        with self.source.kept() as source:
            yield from by_form(replace(self, source=source), engine, report, note)

    def sample(self, engine: Engine, most: int) -> list[Attributes]:
        """The first events of the file, with all of their attributes, read as for a match."""
        with self.source.kept() as source:
            reader = replace(self, source=source)
            return list(islice(_SAMPLED[source.form](reader, engine), most))


def events_in(path: str, stated: Form | None = None, dialect: str | None = None) -> Source:
    """A file of events, which may be of a form of the dialect's own."""
    return Source.of(path, stated, known=event_forms_with(dialect, FORMS), dialect=dialect)


# JSON Lines, and what a dialect reads.


def _from_documents(
    reader: Reader, engine: Engine, report: Report, note: Note
) -> Iterator[Matches]:
    source = reader.source
    first = 0
    unseen = set(reader.stated.types)
    attributes = engine.attributes()
    strangers = bool(attributes)
    times = IsoTimes(engine, frozenset(reader.stated.types))
    compared = _Compared(engine)
    for batch in _batches(source, report):
        lines = [line for line, _ in batch]
        events = [event for _, event in batch]
        if unseen or strangers or compared:
            names = {name for event in events for name, _ in flat(event)}
            unseen -= names
            compared.see(names)
            strangers = strangers and attributes.isdisjoint(names)
        events = reader.stated.in_events(source, events, lines)
        events = times.in_events(events)
        yield EventMatches(first, events, _matched(reader, engine, events, lines), brief)
        first += len(events)
    if first and strangers:
        note(_strangers_note(source, attributes))
    for message in (*times.notes(), *(compared.notes(source) if first else ())):
        note(message)
    for name in sorted(unseen) if first else ():
        note(f"{source.path} has no event with the attribute {name!r}, whose type was stated")


def _json_sample(reader: Reader, engine: Engine) -> Iterator[Attributes]:
    times = IsoTimes(engine, frozenset(reader.stated.types))
    for batch in _batches(reader.source, lambda _done: None):
        lines, events = [line for line, _ in batch], [event for _, event in batch]
        yield from times.in_events(reader.stated.in_events(reader.source, events, lines))


def _matched(
    reader: Reader, engine: Engine, events: list[Attributes], lines: list[int]
) -> list[list[str]]:
    try:
        return engine.match_batch(events, now=reader.now)
    except ModelError as error:
        assert error.event is not None
        message = error.message.removeprefix(f"event {error.event}: ")
        raise _refused(reader.source, message, lines[error.event]) from error


class _Compared:
    """Attributes that are compared with each other, until all of them have been seen.

    Who forgets the quotes of a string compares with an attribute that no event has.
    """

    def __init__(self, engine: Engine) -> None:
        subscriptions = (each.subscription for each in engine.subscriptions())
        self._pairs = compared_attributes(subscriptions)
        vocabulary = engine.vocabulary
        # By each of them, the attributes that give it a value.
        self._unseen = {
            name: {name} if vocabulary is None else vocabulary.attribute_names(name)
            for pair in self._pairs
            for name in pair
        }

    def __bool__(self) -> bool:
        return bool(self._unseen)

    def see(self, names: Collection[str]) -> None:
        """Take in the names of attributes that events have."""
        for name in [each for each, given in self._unseen.items() if not given.isdisjoint(names)]:
            del self._unseen[name]

    def notes(self, source: Source) -> Iterator[str]:
        """What looks like a string without its quotes."""
        for left, right in self._pairs:
            for there, lacking in ((left, right), (right, left)):
                if there not in self._unseen and lacking in self._unseen:
                    yield (
                        f"{there!r} is compared with the attribute {lacking!r}, which "
                        f"{source.path} does not have; a string stands in quotes: '{lacking}'"
                    )


def _batches(source: Source, report: Report) -> Iterator[list[tuple[int, Attributes]]]:
    """Events with the numbers of their lines."""
    batch: list[tuple[int, Attributes]] = []
    size = 0
    read = _reading_by(source.dialect)
    if source.form is Form.OWN:
        yield from _own_batches(source, report)
        return
    with source.opened() as opened:
        for group in value_groups(source, opened):
            for value in group:
                batch.append((value.line, _event(source, value, read)))
                size += len(value.text)
                if len(batch) == _BATCH_EVENTS or size >= _BATCH_BYTES:
                    yield batch
                    batch, size = [], 0
            report(opened.position())
            if source.is_live and batch:
                yield batch
                batch, size = [], 0
    if batch:
        yield batch


def _own_batches(source: Source, report: Report) -> Iterator[list[tuple[int, Attributes]]]:
    """Events of a file in the dialect's own form; they are numbered, since they have no lines."""
    assert source.dialect is not None
    dialect = dialect_named(source.dialect)
    with source.opened() as opened:
        content = source.text_of(opened)
        report(opened.position())
    number = 0
    try:
        documents = enumerate(dialect.event_documents(content), 1)
        while some := list(islice(documents, _BATCH_EVENTS)):
            batch: list[tuple[int, Attributes]] = []
            for number, document in some:
                batch.append((number, dict(dialect.read_event(document))))  # number
            yield batch
    except PredicastError as error:
        raise _refused(source, error.message, number) from error


def _refused(source: Source, why: str, place: int) -> InputFileError:
    """The error of an event: by its line, or its number where a dialect has read the file."""
    if source.form is Form.OWN:
        return source.refuse(f"event {place}: {why}" if place else why)
    return source.refuse(why, place)


def attributes_of(text: str | bytes, name: str | None, *, own: bool = False) -> Attributes:
    """Those of an event in JSON, read by a dialect; or of the first in a file of its own form."""
    if not own:
        return _reading_by(name)(text)
    assert name is not None
    dialect, content = dialect_named(name), text if isinstance(text, str) else text.decode()
    for document in dialect.event_documents(content):
        return dict(dialect.read_event(document))
    raise InvalidEventError("there is no event")


def _reading_by(name: str | None) -> Callable[[str | bytes], Attributes]:
    """What makes attributes of a JSON document: a dialect, if it has something to say to it."""
    if name is None:
        return attributes_from_json
    dialect = dialect_named(name)
    if type(dialect).read_event is Dialect.read_event:
        return attributes_from_json
    return lambda text: dict(dialect.read_event(decoded(text)))


def _event(
    source: Source, value: JsonText, read: Callable[[str | bytes], Attributes]
) -> Attributes:
    try:
        return read(value.text)
    except PredicastError as error:
        hint = "" if value.text.lstrip()[:1] == b"{" else f"; {OBJECTS}"
        raise source.refuse(error.message + hint, value.line) from error


# CSV.


def _from_csv(reader: Reader, engine: Engine, report: Report, note: Note) -> Iterator[Matches]:
    file = CsvFile(reader.source, reader.stated.nulls)
    reader.stated.check_names(reader.source, file.names)
    attributes = engine.attributes()
    columns = file.columns_among(attributes)
    found = file.types(columns, reader.stated.types, report)
    size = reader.source.size() or 0
    _note_strangers(reader.source, attributes, file.names, note)
    _note_compared(reader.source, engine, file.names, note)
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
    yield from _from_batches(reader, engine, batches)


def _csv_sample(reader: Reader, engine: Engine) -> Iterator[Attributes]:
    file = CsvFile(reader.source, reader.stated.nulls)
    columns = file.columns_among(engine.attributes())
    found = file.types(columns, reader.stated.types, lambda _done: None)
    types = {name: column.type for name, column in found.items()}
    for batch in file.batches(types, file.names, lambda _done: None):
        yield from batch.to_pylist()


# Parquet and Arrow.


def _column_sample(reader: Reader, _engine: Engine) -> Iterator[Attributes]:
    with column_file(reader.source) as file:
        for batch in reader.stated.in_batches(reader.source, file.batches()):
            yield from batch.to_pylist()


def _from_columns(reader: Reader, engine: Engine, report: Report, note: Note) -> Iterator[Matches]:
    with column_file(reader.source, report) as file:
        attributes = engine.attributes()
        leaves = dict(_leaves("", file.schema))
        _note_strangers(reader.source, attributes, leaves, note)
        _note_compared(reader.source, engine, leaves, note)
        reader.stated.check_names(reader.source, leaves)
        stated = {name: each.kind for name, each in reader.stated.types.items()}
        kinds = {name: kind for name, kind in leaves.items() if kind is not None} | stated
        for name, kind, wanted, count in _other_kinds(engine, kinds):
            note(_kinds_note(name, kind, "", wanted, count))
        columns = None if reader.whole else _columns(file.schema, attributes)
        batches = reader.stated.in_batches(reader.source, file.batches(columns))
        yield from _from_batches(reader, engine, batches)


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


# What CSV, Parquet and Arrow share.


def _from_batches(
    reader: Reader, engine: Engine, batches: Iterator[pa.RecordBatch]
) -> Iterator[Matches]:
    first = 0
    for batch in batches:
        try:
            table = engine.match_arrow(batch, now=reader.now)
        except PredicastError as error:
            raise reader.source.refuse(_placed(error, first, batch.num_rows)) from error
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
    alike = set[str]()
    for attribute in sorted(attributes.difference(names))[:100]:
        close = suggest(attribute, filter(None, names))
        if close and close not in attributes and close not in alike:
            note(f"{source.path} has no column {attribute!r}; is it {close!r}?")
            alike.add(close)
    if attributes and not alike and attributes.isdisjoint(names):
        note(f"{_strangers_note(source, attributes)}; its columns are {_named(names)}")


def _note_compared(source: Source, engine: Engine, names: Collection[str], note: Note) -> None:
    compared = _Compared(engine)
    compared.see(names)
    for message in compared.notes(source):
        note(message)


def _strangers_note(source: Source, attributes: Collection[str]) -> str:
    return f"{source.path} has nothing that subscriptions look at, such as {_named(attributes)}"


def _named(names: Collection[str]) -> str:
    shown = [repr(shortened(name)) for name in sorted(names)[:_SHOWN_NAMES]]
    return ", ".join([*shown, "…"] if len(names) > _SHOWN_NAMES else shown)


def _other_kinds(
    engine: Engine, kinds: Mapping[str, Kind]
) -> Iterator[tuple[str, Kind, Kind, int]]:
    """Columns that constraints compare with another kind of value, and how many do."""
    for (name, kind), count in expected_kinds(engine).items():
        if name in kinds and kinds[name] is not kind:
            yield name, kinds[name], kind, count


def _kinds_note(name: str, kind: Kind, why: str, wanted: Kind, count: int) -> str:
    constraints = "one constraint compares" if count == 1 else f"{count:,} constraints compare"
    return (
        f"column {name!r} holds {kind.value}s{why}; {constraints} it with a {wanted.value}, "
        "which never holds"
    )


_SAMPLED: Final[dict[Form, Callable[[Reader, Engine], Iterator[Attributes]]]] = {
    Form.JSON_LINES: _json_sample,
    Form.OWN: _json_sample,
    Form.CSV: _csv_sample,
    Form.TSV: _csv_sample,
    Form.PARQUET: _column_sample,
    Form.ARROW: _column_sample,
}
