"""Subscriptions from a file: an id, what it states, perhaps an owner and values of parameters.

What is stated is text under ``expression`` or, in JSON Lines and YAML, the JSON form under
``subscription``; of the ``where`` dialect, of the one that ``dialect`` names, or of graph patterns.
Its parameters have their values under ``parameters``: an object, or its text where a file has
nothing but text. Other fields are ignored. An id must be there and be the only one of its kind; an
integer counts as its digits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from predicast import Engine, Subscribe
from predicast.cli.files.dialect_files import forms_with
from predicast.cli.files.queries import TextLines
from predicast.cli.files.rows import Columns, FileRow, rows
from predicast.cli.files.source import SUBSCRIPTION_FORMS, Form, Source
from predicast.engine.entry import Entry
from predicast.errors import InputFileError, ParseError, PredicastError, suggest
from predicast.language import Readable, subscription_from_document, to_subscription
from predicast.language.class_tests import reading_with
from predicast.language.dialect_registry import stated_in
from predicast.language.parameter_values import parameter_values
from predicast.language.reading import WHERE, looks_like_a_pattern, stated_by

if TYPE_CHECKING:
    from predicast.graph import GraphEngine, GraphPattern

_TOGETHER: Final = 8_192  # subscriptions that an engine gets at a time: quick, and little memory
_DOCUMENT: Final = "subscription"
_WITH_OBJECTS: Final = frozenset({Form.JSON_LINES, Form.YAML})  # what else has only cells
# The most likely mistake where neither is there.
_SUBSCRIPTIONS_FIRST: Final = "the first of the two files has subscriptions, with {!r} and {!r}"


class Fields(NamedTuple):
    """What the fields are called in the file."""

    id: str = "id"
    expression: str = "expression"
    owner: str = "owner"
    parameters: str = "parameters"
    dialect: str = "dialect"

    def columns(self) -> Columns:
        """What is read of a row."""
        required = {"id": self.id, "expression": self.expression}
        others = (self.owner, self.parameters, self.dialect)
        return Columns(required, others, _SUBSCRIPTIONS_FIRST.format(*self))


class Record(NamedTuple):
    """A subscription as the file has it; ``stated`` is not yet read."""

    id: str
    owner: str | None
    stated: Any
    line: int
    text_lines: TextLines | None = None
    parameters: Any = None  # not yet read, either
    dialect: str | None = None  # of the text, if it is not ``where``
    file: Source | None = None  # of a folder: the one that holds it

    @property
    def text(self) -> str | None:
        """The text that it states, if it is one."""
        return self.stated if isinstance(self.stated, str) else None


Read: TypeAlias = Callable[[Record, Fields], Any]


def subscriptions_in(path: str, stated: Form | None = None, dialect: str | None = None) -> Source:
    """A file of subscriptions; those that name no dialect are of this one."""
    known = forms_with(dialect, SUBSCRIPTION_FORMS)
    return Source.of(path, stated, known=known, dialect=dialect)


def load(
    engine: Engine | GraphEngine,
    source: Source,
    fields: Fields,
    *,
    read: Read | None = None,
    drop_invalid: bool = False,
    report: Callable[[int], None] = lambda _done: None,
    seen: dict[str, Record] | None = None,
) -> list[InputFileError]:
    """Subscribe all that the file holds; return why each of those that were dropped was.

    ``read`` makes of a record what the engine is to take: what the ``where`` dialect says, unless
    it is given. ``seen`` is told the records by their ids.
    """
    dropped = []
    vocabulary = engine.vocabulary if isinstance(engine, Engine) else None
    for group in _groups(records(source, fields, report)):
        if seen is not None:
            seen.update((record.id, record) for record in group)
        with reading_with(vocabulary):
            refused = _subscribe(engine, group, fields, read or _read)
        for position in sorted(refused):
            error = refused[position]
            why = refusal(source, group[position], error)
            if not drop_invalid:
                raise why from error
            dropped.append(why)
    return dropped


def _groups(records: Iterator[Record]) -> Iterator[list[Record]]:
    """So many at a time; where the file is broken, first those that stand before that place."""
    group: list[Record] = []
    try:
        for record in records:
            group.append(record)
            if len(group) == _TOGETHER:
                yield group
                group = []
    except InputFileError:
        yield group
        raise
    yield group


def _subscribe(
    engine: Engine | GraphEngine, group: list[Record], fields: Fields, read: Read
) -> dict[int, PredicastError]:
    """Subscribe those of a group that are valid; why the others are not, by position."""
    refused: dict[int, PredicastError] = {}
    valid: dict[int, Subscribe] = {}
    for position, record in enumerate(group):
        try:
            valid[position] = _operation(record, fields, read)
        except PredicastError as error:
            refused[position] = error
    try:
        engine.subscribe_many(valid.values())
    except PredicastError:  # of any one of them: which, and what of the others?
        report = engine.apply(valid.values(), on_refusal="report")
        positions = list(valid)
        refused |= {positions[each.position]: each.error for each in report.refused}
    return refused


def _operation(record: Record, fields: Fields, read: Read) -> Subscribe:
    """What subscribes to a record; what it states is read, so that an error is this record's."""
    values = parameter_values(record.parameters)
    _check_stated(record, fields)
    if record.dialect is not None:
        if read is _read:
            stated_in(record.dialect, record.stated, values)  # which is remembered
        return Subscribe(record.id, record.stated, record.owner, dialect=record.dialect)
    if values is None:
        return Subscribe(record.id, read(record, fields), record.owner)
    stated_by(record.stated, values)
    return Subscribe(record.id, record.stated, record.owner, values)


def subscribes(
    source: Source, fields: Fields, report: Callable[[int], None] = lambda _done: None
) -> Iterator[Subscribe]:
    """What subscribes to each that the file holds, with its text; the first bad one is refused."""
    for record in records(source, fields, report):
        try:
            operation = _operation(record, fields, _read)
        except PredicastError as error:
            raise refusal(source, record, error) from error
        text = record.text
        yield operation if text is None else replace(operation, expression=text)


def find(source: Source, fields: Fields, id: str) -> Entry:
    """The one subscription with this id; the others need not even be readable."""
    found = find_record(source, fields, id)
    try:
        return entry_of(found, fields)
    except PredicastError as error:
        raise refusal(source, found, error) from error


def entry_of(record: Record, fields: Fields) -> Entry:
    """A record as an engine would tell of it."""
    _check_stated(record, fields)
    values = parameter_values(record.parameters)
    if values is not None or record.dialect is not None:
        stated = stated_in(record.dialect, record.stated, values)
        said = record.text, values, record.dialect
        return Entry(record.id, stated.subscription(), record.owner, *said)
    subscription = to_subscription(_read(record, fields))
    return Entry(record.id, subscription, record.owner, record.text)


def find_record(source: Source, fields: Fields, id: str) -> Record:
    """The record of this id, not yet read."""
    found: Record | None = None
    others: list[str] = []
    for record in records(source, fields):
        if record.id == id:
            found = record
        elif len(others) < 10_000:  # enough for a hint
            others.append(record.id)
    if found is None:
        close = suggest(id, others)
        hint = f"; did you mean {close!r}?" if close else ""
        raise source.refuse(f"no subscription has the id {id!r}{hint}")
    return found


def read_pattern(record: Record, fields: Fields) -> str | GraphPattern:
    """What the record states of graphs: a text, which is the engine's to read, or the JSON form."""
    if isinstance(record.stated, dict):
        import msgspec

        from predicast.graph import pattern_from_json

        return pattern_from_json(msgspec.json.encode(record.stated))
    if not isinstance(record.stated, str):
        raise InputFileError(f"there is no {fields.expression!r}", line=record.line)
    return record.stated


def refusal(source: Source, record: Record, error: PredicastError) -> InputFileError:
    """What is wrong with a record, and where."""
    source = record.file or source
    line, why = record.line, error.message
    if record.text_lines is not None and isinstance(error, ParseError) and error.line is not None:
        # The line of a text that stands in the file as it is, is one of the file.
        line = record.text_lines.of(error.line)
        why = why.removeprefix(f"line {error.line}, ")
    return source.refuse(f"subscription {record.id!r}: {why}", line)


def _check_stated(record: Record, fields: Fields) -> None:
    if record.stated is None:
        raise InputFileError(f"there is no {fields.expression!r}", line=record.line)


def _read(record: Record, fields: Fields) -> Readable:
    """What the record states, read: an error is this record's."""
    if isinstance(record.stated, dict):
        return subscription_from_document(record.stated)
    _check_stated(record, fields)
    try:
        stated, _ = stated_by(record.stated)
    except ParseError as error:
        if looks_like_a_pattern(record.stated):
            error.message += "\n  it looks like a graph pattern; if events are graphs, say --graphs"
        raise
    return stated


def records(
    source: Source, fields: Fields, report: Callable[[int], None] = lambda _done: None
) -> Iterator[Record]:
    """All subscriptions of the file, their ids checked, what they state not yet."""
    places: dict[str, tuple[str, int]] = {}
    for row in rows(source, fields.columns(), report):
        file = row.file or source
        record = _record(file, row, fields)
        place = file.path, record.line
        before, line = places.setdefault(record.id, place)
        if (before, line) != place:
            where = f"{file.counted} {line}" + ("" if before == file.path else f" of {before}")
            raise file.refuse(f"the id {record.id!r} was given before, in {where}", record.line)
        yield record


def _record(source: Source, row: FileRow, fields: Fields) -> Record:
    id = _id(source, row, fields)
    owner = row.values.get(fields.owner)
    if owner is not None:
        owner = _name(owner)
        if owner is None:
            raise source.refuse("an owner is a non-empty string or an integer", row.line)
    stated = row.values.get(fields.expression)
    dialect = _dialect(source, row, fields)
    if source.form in _WITH_OBJECTS and row.values.get(_DOCUMENT) is not None:
        if stated is not None:
            raise source.refuse(f"give {fields.expression!r} or {_DOCUMENT!r}, not both", row.line)
        stated = row.values[_DOCUMENT]
        if not isinstance(stated, dict):
            raise source.refuse(f"{_DOCUMENT!r} is an object: the JSON form", row.line)
        dialect = None
    elif dialect is not None and isinstance(stated, dict | list):
        stated = json.dumps(stated)  # of a dialect whose texts are JSON
    elif isinstance(stated, dict):
        raise source.refuse(
            f"{fields.expression!r} is text; the JSON form goes under {_DOCUMENT!r}", row.line
        )
    given = row.values.get(fields.parameters)
    return Record(id, owner, stated, row.line, row.text_lines, given, dialect, row.file)


def _id(source: Source, row: FileRow, fields: Fields) -> str:
    given = row.values.get(fields.id)
    id = _name(given)
    if id is not None:
        return id
    if given is None:
        hint = _hint_without_id(source, row, fields)
        raise source.refuse(f"there is no {fields.id!r}{hint}", row.line)
    raise source.refuse(f"an id is a non-empty string or an integer, not {given!r}", row.line)


def _hint_without_id(source: Source, row: FileRow, fields: Fields) -> str:
    """The most likely mistake where a row has no id."""
    close = suggest(fields.id, (name for name in row.values if name))
    if close and close != fields.id:
        return f"; is it {close!r}? Then say --id {close}"
    if fields.expression in row.values or _DOCUMENT in row.values:
        return ""
    if source.dialect is not None:
        own = "--subscriptions-format own"
        return f"; if the file is a text of the dialect {source.dialect!r}, say {own}"
    return f"; {_SUBSCRIPTIONS_FIRST.format(*fields)}"


def _dialect(source: Source, row: FileRow, fields: Fields) -> str | None:
    """The dialect of a record's text, if it is not ``where``."""
    named = row.values.get(fields.dialect)
    if named is None:
        named = source.dialect
    elif not isinstance(named, str):
        raise source.refuse(f"a dialect is named by text, not by {named!r}", row.line)
    return None if named == WHERE else named


def _name(value: Any) -> str | None:
    """An id or owner as a string, if it can be one."""
    if type(value) is int:
        return str(value)
    return value if isinstance(value, str) and value else None
