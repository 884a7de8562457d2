"""A version of a table read from end to end: an engine of its rows, and those that are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from predicast.engine import Engine, Subscribe
from predicast.errors import DuplicateIdError, InvalidSubscriptionsError, PredicastError
from predicast.spark.subscription_table.files import DataFiles
from predicast.spark.subscription_table.log import Version
from predicast.spark.subscription_table.rows import InvalidRow, Row, operation_of, rows_of

_WINDOW: Final = 8_192  # rows that are subscribed at a time where some are refused
_MAX_SHOWN: Final = 5  # invalid rows spelt out in an error's message
_MAX_LISTED: Final = 1_000  # invalid rows in an error's field


class Placed(NamedTuple):
    """A row, and where it is; positions count from 0 within the file."""

    row: Row
    file: str
    position: int


def placed_rows(files: DataFiles, version: Version) -> list[Placed]:
    """All rows of a version, in the order of ids: so the same rows make the same engine."""
    found = [
        Placed(row, file.path, position)
        for file in version.files
        for position, row in enumerate(rows_of(files.read(file)))
    ]
    found.sort(key=lambda placed: (placed.row.id or "", placed.file, placed.position))
    return found


def fill(engine: Engine, placed: Sequence[Placed]) -> list[InvalidRow]:
    """Subscribe every row that is a subscription, and give back the others."""
    try:
        engine.subscribe_many(operation_of(each.row) for each in placed)
    except PredicastError:  # of any one of them: which, and what of the others?
        return _fill_apart(engine, placed)
    return []


def _fill_apart(engine: Engine, placed: Sequence[Placed]) -> list[InvalidRow]:
    invalid: list[InvalidRow] = []
    valid = _valid(placed, invalid)
    while window := list(islice(valid, _WINDOW)):
        report = engine.apply((each for _, each in window), on_refusal="report")
        invalid += [
            _invalid(window[refusal.position][0], refusal.error) for refusal in report.refused
        ]
    return invalid


def _valid(
    placed: Sequence[Placed], invalid: list[InvalidRow]
) -> Iterator[tuple[Placed, Subscribe]]:
    uses = Counter(each.row.id for each in placed if each.row.id is not None)
    for each in placed:
        id = each.row.id
        try:
            if id is not None and uses[id] > 1:
                # A table has no order, so that none of them can be called the first.
                raise DuplicateIdError(f"{uses[id]} rows have the id {id!r}", id=id)
            yield each, operation_of(each.row)
        except PredicastError as error:
            invalid.append(_invalid(each, error))


def located(files: DataFiles, version: Version, errors: Mapping[str, str]) -> list[InvalidRow]:
    """The rows of these ids, which are no subscriptions for the reasons given by id."""
    wanted = sorted(errors)
    return [
        InvalidRow(row.id, row.expression, errors[row.id], file.path, position)
        for file in version.files
        if wanted and file.may_hold(wanted)
        for position, row in enumerate(rows_of(files.read(file)))
        if row.id is not None and row.id in errors
    ]


def _invalid(placed: Placed, error: PredicastError) -> InvalidRow:
    row, file, position = placed
    return InvalidRow(row.id, row.expression, error.message, file, position)


def refusal(path: str, version: int, invalid: Sequence[InvalidRow]) -> InvalidSubscriptionsError:
    """The error of a table with rows that are no subscriptions."""
    count = f"{len(invalid)} row" + ("s" if len(invalid) > 1 else "")
    lines = [f"version {version} of the subscription table {path} has {count} of no subscription:"]
    lines += [
        f"  {each.id!r} ({each.file}, row {each.row}): " + each.error.replace("\n", "\n    ")
        for each in invalid[:_MAX_SHOWN]
    ]
    if len(invalid) > _MAX_SHOWN:
        lines.append(f"  ... and {len(invalid) - _MAX_SHOWN} more")
    lines.append(
        "change or unsubscribe them; on_invalid='quarantine' leaves them out and lists them"
    )
    return InvalidSubscriptionsError(
        "\n".join(lines), invalid=[(each.id, each.error) for each in invalid[:_MAX_LISTED]]
    )
