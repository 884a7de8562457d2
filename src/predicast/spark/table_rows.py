"""Rows of subscriptions that are compiled: read one by one, the valid ones told from the others.

They go in the order of their ids, so that the same table gives the same digest however Spark
happens to deliver its rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from predicast.engine import Engine, Subscribe
from predicast.engine.ids import check_id
from predicast.errors import (
    DuplicateIdError,
    InvalidOptionError,
    InvalidSubscriptionsError,
    LanguageError,
    PipelineError,
    PredicastError,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from predicast.graph import GraphEngine

OnInvalid: TypeAlias = Literal["raise", "drop", "quarantine"]
Read: TypeAlias = Callable[["TableRow"], Any]  # what a row states

_MAX_SHOWN: Final = 5  # invalid subscriptions spelt out in an error's message
_MAX_LISTED: Final = 1_000  # invalid subscriptions in an error's field
_WINDOW: Final = 8_192  # rows that are subscribed at a time where some are refused


class InvalidSubscription(NamedTuple):
    """A subscription that was left out, and why."""

    id: str | None
    expression: str | None
    error: str


def invalid_frame(
    invalid: tuple[InvalidSubscription, ...], session: SparkSession | None
) -> DataFrame:
    """Invalid subscriptions as a DataFrame of a session, or of the active one."""
    from pyspark.sql import SparkSession

    session = session or SparkSession.getActiveSession()
    if session is None:
        raise PipelineError(
            "there is no active Spark session to make a DataFrame with; "
            "invalid_rows has the same as Python objects"
        )
    return session.createDataFrame(list(invalid), "id string, expression string, error string")


class TableRow(NamedTuple):
    """A row as it was given, unread."""

    id: Any
    expression: Any
    owner: Any = None
    dialect: Any = None


def table_rows(
    subscriptions: Any,
    id: str,
    expression: str,
    owner: str | None,
    dialect_column: str | None = None,
) -> tuple[list[TableRow], SparkSession | None]:
    """The rows of a DataFrame, an engine or pairs, and the session of a DataFrame."""
    from pyspark.sql import DataFrame

    if isinstance(subscriptions, DataFrame):
        from predicast.spark.tables import chosen, rows_of

        columns = chosen(subscriptions, id, expression, owner, dialect_column).toArrow().columns
        return [TableRow(*row) for row in rows_of(columns)], subscriptions.sparkSession
    refuse_owner(owner)
    if dialect_column is not None:
        raise InvalidOptionError(
            "dialect_column names a column of a DataFrame", option="dialect_column"
        )
    if isinstance(subscriptions, Engine):
        return [
            TableRow(e.id, e.subscription, e.owner) for e in subscriptions.subscriptions()
        ], None
    return list(_pairs(subscriptions)), None


def refuse_owner(owner: str | None) -> None:
    """Refuse the name of a column where there is none."""
    if owner is not None:
        raise InvalidOptionError("owner names a column of a DataFrame", option="owner")


def _pairs(subscriptions: Any) -> Iterator[TableRow]:
    pairs = subscriptions.items() if isinstance(subscriptions, Mapping) else subscriptions
    try:
        for id, expression in pairs:
            yield TableRow(id, expression)
    except (TypeError, ValueError) as error:
        raise PipelineError(
            "subscriptions are a DataFrame, an Engine or (id, expression) pairs, "
            f"not {type(subscriptions).__name__} ({error})"
        ) from error


def fill(
    engine: Engine | GraphEngine, rows: list[TableRow], read: Read
) -> list[InvalidSubscription]:
    """Subscribe every valid row, in order of ids; return the others."""
    reading = TableRows(rows, read)
    try:
        engine.subscribe_many(Subscribe(row.id, stated, row.owner) for _, row, stated in reading)
    except PredicastError:  # the matcher's, of any one of them: which, and what of the others?
        valid = iter(reading)
        while window := list(islice(valid, _WINDOW)):
            operations = (Subscribe(row.id, stated, row.owner) for _, row, stated in window)
            report = engine.apply(operations, on_refusal="report")
            for refusal in report.refused:
                reading.refuse(window[refusal.position][0], refusal.error)
    return reading.refused()


class TableRows:
    """Rows in the order of their ids, read one by one: no more are held than are on their way."""

    def __init__(self, rows: list[TableRow], read: Read) -> None:
        rows.sort(key=lambda row: str(row.id))
        self._rows = rows
        self._read = read
        self._uses = Counter(row.id for row in rows if isinstance(row.id, str))
        self._invalid: dict[int, InvalidSubscription] = {}  # by position

    def __iter__(self) -> Iterator[tuple[int, TableRow, Any]]:
        """Each valid row with its position and what was read of it; the others are refused."""
        for position, row in enumerate(self._rows):
            try:
                self._check(row)
                read = self._read(row)
            except PredicastError as error:
                self.refuse(position, error)
            else:
                yield position, row, read

    def refused(self) -> list[InvalidSubscription]:
        """The rows that were set apart so far, in their order."""
        return [each for _, each in sorted(self._invalid.items())]

    def refuse(self, position: int, error: PredicastError) -> None:
        """Set a row apart, with the reason."""
        row = self._rows[position]
        id, text = _shown(row.id), _shown(row.expression)
        self._invalid[position] = InvalidSubscription(id, text, error.message)

    def _check(self, row: TableRow) -> None:
        check_id("id", row.id)
        uses = self._uses[row.id]
        if uses > 1:
            # A table has no order, so that none of them can be called the first.
            raise DuplicateIdError(f"{uses} subscriptions have the id {row.id!r}", id=row.id)
        if row.expression is None:
            raise LanguageError("the expression is null")
        if row.owner is not None:
            check_id("owner", row.owner)


def _shown(given: object) -> str | None:
    """What was given as a text that Spark can hold, whatever was in it."""
    return None if given is None else str(given).encode(errors="backslashreplace").decode()


def refusal(invalid: list[InvalidSubscription], count: int) -> InvalidSubscriptionsError:
    """The error about invalid ones among so many rows."""
    lines = [f"{len(invalid)} of {count} subscriptions cannot be compiled:"]
    lines += [f"  {e.id!r}: " + e.error.replace("\n", "\n    ") for e in invalid[:_MAX_SHOWN]]
    if len(invalid) > _MAX_SHOWN:
        lines.append(f"  ... and {len(invalid) - _MAX_SHOWN} more")
    lines.append("on_invalid='drop' leaves them out, on_invalid='quarantine' also lists them")
    return InvalidSubscriptionsError(
        "\n".join(lines), invalid=[(each.id, each.error) for each in invalid[:_MAX_LISTED]]
    )
