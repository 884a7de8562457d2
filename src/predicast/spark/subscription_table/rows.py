"""Rows of a subscription table: what is in its columns, and what they say.

::

    id           string, not null   of the subscription
    owner        string             whose it is
    expression   string, not null   the ``where`` text, as it was given
    parameters   string             the values of the text's ``:names``, as a JSON object
    dialect      string             of the text, if it is not ``where``

Columns of strings, which whatever reads Delta tables can read, and SQL can search. A subscription
that was given as an object is written as text; as JSON (``{"any": …}``) where that text would not
read back as the same, so that nothing is ever lost in a table.

Tables that were made before there were dialects lack the last column, and get it when a row has
one. A file in which no row has one lacks it as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import starmap
from typing import TYPE_CHECKING, Final, NamedTuple

from predicast.engine import Entry, Subscribe
from predicast.engine.ids import check_id
from predicast.errors import LanguageError, PredicastError
from predicast.language import (
    event_from_json,
    event_to_json,
    parse_where,
    subscription_from_json,
    subscription_to_json,
    to_subscription,
    to_where,
)
from predicast.language.dialect_registry import stated_in
from predicast.language.reading import WHERE, ReadText, as_held
from predicast.model import Event

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from predicast.language import Readable
    from predicast.model import Subscription, Value

DIALECT: Final = "dialect"
COLUMNS: Final = ("id", "owner", "expression", "parameters", DIALECT)
REQUIRED: Final = ("id", "expression")
_JSON: Final = "{"  # no ``where`` text begins like this


class Row(NamedTuple):
    """A subscription as the table holds it; what another tool wrote may lack anything."""

    id: str | None
    owner: str | None
    expression: str | None
    parameters: str | None
    dialect: str | None = None


class InvalidRow(NamedTuple):
    """A row that is no subscription, and why; ``row`` counts from 0 within the file."""

    id: str | None
    expression: str | None
    error: str
    file: str
    row: int


def schema() -> pa.Schema:
    """The columns of a new table."""
    import pyarrow as pa

    return pa.schema(
        [pa.field(name, pa.string(), nullable=name not in REQUIRED) for name in COLUMNS]
    )


def table_of(rows: Iterable[Row]) -> pa.Table:
    """Rows as a file holds them."""
    import pyarrow as pa

    columns: list[list[str | None]] = [[] for _ in COLUMNS]
    for row in rows:
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    return pa.table([pa.array(column, pa.string()) for column in columns], list(COLUMNS))


def rows_of(table: pa.Table) -> list[Row]:
    """The rows of a file."""
    return list(starmap(Row, zip(*(column.to_pylist() for column in table.columns), strict=True)))


def row_of_entry(entry: Entry) -> Row:
    """The row of a subscription that an engine holds."""
    text = _written(entry.subscription) if entry.text is None else entry.text
    return Row(entry.id, entry.owner, text, _written_parameters(entry.parameters), entry.dialect)


def row_of_operation(given: Subscribe) -> Row:
    """The row of a new subscription."""
    parameters = _written_parameters(given.parameters)
    dialect = None if given.dialect == WHERE else given.dialect
    if isinstance(given.expression, ReadText):
        dialect = given.expression.dialect
    return Row(given.id, given.owner, _text(given.expression), parameters, dialect)


def operation_of(row: Row) -> Subscribe:
    """What subscribes to what the row says; an error says what is wrong with it."""
    check_id("id", row.id)
    if row.owner is not None:
        check_id("owner", row.owner)
    if row.expression is None:
        raise LanguageError("the expression is null")
    assert row.id is not None
    if row.parameters is not None:
        values = dict(event_from_json(row.parameters).items())
        said = row.expression, row.owner, values
        return Subscribe(row.id, *said, dialect=row.dialect)  # type: ignore[arg-type]
    expression: Readable = row.expression
    if row.dialect is None and row.expression.startswith(_JSON):
        expression = subscription_from_json(row.expression)
    return Subscribe(row.id, expression, row.owner, dialect=row.dialect)


def check_row(row: Row) -> None:
    """Refuse a row that is no subscription."""
    given = operation_of(row)
    stated_in(given.dialect, given.expression, given.parameters)


def _text(expression: Readable) -> str:
    expression = as_held(expression)
    if isinstance(expression, ReadText):
        return expression.text
    return expression if isinstance(expression, str) else _written(to_subscription(expression))


def _written(subscription: Subscription) -> str:
    """The text that reads back as the same, or JSON."""
    try:
        text = to_where(subscription)
        if parse_where(text) == subscription:
            return text
    except PredicastError:  # longer than a text may be, say
        pass
    return subscription_to_json(subscription)


def _written_parameters(parameters: Mapping[str, Value] | None) -> str | None:
    # Values are named like an event's, and JSON has a form for all that an event may have.
    return None if parameters is None else event_to_json(Event(parameters))
