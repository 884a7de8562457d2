"""What type a column of a CSV file has.

A CSV file has no types; a column gets the first of these that *every* cell in it fits:

=============  ===================================================================================
type           cells
=============  ===================================================================================
``boolean``    ``true`` and ``false``, also as ``True``, ``TRUE``, …
``integer``    digits, perhaps a minus sign; no leading zero; within 64 bits
``float``      a decimal number, perhaps with an exponent; finite; no leading zero; an integer among
               them must be one that a float holds exactly
``timestamp``  ``2026-01-31``, ``2026-01-31 09:30``, ``2026-01-31T09:30:00.5+02:00``; without a zone
               in UTC
``string``     anything
=============  ===================================================================================

So one cell that does not fit makes the whole column strings: ``007`` and ``12a`` stay what they
are. Empty cells are absent and fit every type. Cells are taken as they stand, spaces included.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from predicast.model.values import Kind, microseconds


class CsvType(enum.StrEnum):
    """The types, in the order in which they are tried."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    FLOAT = "float"
    TIMESTAMP = "timestamp"
    STRING = "string"

    @property
    def kind(self) -> Kind:
        """What its values compare with."""
        return Kind.NUMBER if self in {CsvType.INTEGER, CsvType.FLOAT} else Kind(self.value)


_INTEGER: Final = r"-?(?:0|[1-9][0-9]*)"
_DATE: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ZONE: Final = r"(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)"
_TIME: Final = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
_PATTERNS: Final = {
    CsvType.BOOLEAN: r"(?i:true|false)",
    CsvType.INTEGER: _INTEGER,
    CsvType.FLOAT: r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?",
    CsvType.TIMESTAMP: f"{_DATE}(?:[ T]{_TIME}{_ZONE}?)?",
}
_LONG_INTEGER: Final = r"\A-?[0-9]{16,}\z"  # fifteen digits are exact in any float
_FIRST: Final = microseconds(datetime.min.replace(tzinfo=UTC))
_LAST: Final = microseconds(datetime.max.replace(tzinfo=UTC))


def misfit(kind: CsvType, cells: pa.Array) -> int | None:
    """The first cell that is not of this type, or ``None`` if they all are."""
    if kind is CsvType.STRING:
        return None
    shaped = pc.match_substring_regex(cells, rf"\A(?:{_PATTERNS[kind]})\z")
    unshaped = pc.index(shaped, pa.scalar(False)).as_py()
    if unshaped >= 0:
        cells = cells.slice(0, unshaped)  # an earlier one may be of the right shape only
    if not _converts(kind, cells):
        return next(i for i in range(len(cells)) if not _converts(kind, cells.slice(i, 1)))
    return unshaped if unshaped >= 0 else None


def timestamps_among(texts: list[str]) -> dict[str, datetime]:
    """The texts that are timestamps, as these."""
    cells = pa.array(texts, pa.string())
    shaped = pc.match_substring_regex(cells, rf"\A(?:{_PATTERNS[CsvType.TIMESTAMP]})\z")
    cells = cells.filter(shaped)
    if not _converts(CsvType.TIMESTAMP, cells):  # a thirteenth month, perhaps
        pieces = [cells.slice(place, 1) for place in range(len(cells))]
        cells = pa.concat_arrays(
            [pa.array([], pa.string()), *(e for e in pieces if _converts(CsvType.TIMESTAMP, e))]
        )
    found = convert(CsvType.TIMESTAMP, cells)
    return dict(zip(cells.to_pylist(), found.to_pylist(), strict=True))


def convert(kind: CsvType, cells: pa.Array) -> pa.Array:
    """Cells that all fit, as values of the type."""
    return _CONVERSIONS[kind](cells)


def _converts(kind: CsvType, cells: pa.Array) -> bool:
    try:
        values = convert(kind, cells)
    except pa.ArrowInvalid:
        return False
    if kind is CsvType.FLOAT:
        return bool(pc.all(pc.is_finite(values), min_count=0).as_py()) and _exact(cells)
    if kind is CsvType.TIMESTAMP:
        ends = pc.min_max(values.cast(pa.int64())).as_py()
        return ends["min"] is None or _FIRST <= ends["min"] <= ends["max"] <= _LAST
    return True


def _exact(cells: pa.Array) -> bool:
    """Whether floats hold exactly those of the cells that are written as integers."""
    long = cells.filter(pc.match_substring_regex(cells, _LONG_INTEGER))
    return all(_held_exactly(text) for text in pc.unique(long).to_pylist())


def _held_exactly(digits: str) -> bool:
    # Past the largest float (309 digits) the cast has already failed to be finite.
    return len(digits) <= 310 and int(digits) == int(float(digits))


def _booleans(cells: pa.Array) -> pa.Array:
    return pc.equal(pc.utf8_lower(cells), "true")


def _timestamps(cells: pa.Array) -> pa.Array:
    """All given a time and a zone, then read in one go."""
    timed = pc.replace_substring_regex(cells, rf"\A({_DATE})\z", r"\1T00:00")
    zoned = pc.replace_substring_regex(timed, rf"\A({_DATE}[ T]{_TIME})\z", r"\1Z")
    return zoned.cast(pa.timestamp("us", "UTC"))


_CONVERSIONS: Final[dict[CsvType, Callable[[pa.Array], pa.Array]]] = {
    CsvType.BOOLEAN: _booleans,
    CsvType.INTEGER: lambda cells: cells.cast(pa.int64()),
    CsvType.FLOAT: lambda cells: cells.cast(pa.float64()),
    CsvType.TIMESTAMP: _timestamps,
    CsvType.STRING: lambda cells: cells,
}


def shortened(cell: str) -> str:
    """A cell as messages quote it."""
    return cell if len(cell) <= 40 else cell[:39] + "…"


class ColumnType:
    """Finds the type of a column while its cells go by."""

    def __init__(self, given: CsvType | None = None) -> None:
        self._possible = list(CsvType) if given is None else [given]
        self._any = False
        self.misfits: dict[CsvType, tuple[int, str]] = {}
        """Per type that is out of the question: the first row and cell that did not fit."""

    def see(self, cells: pa.Array, first_row: int) -> None:
        """Take in the next cells of the column."""
        self._any = self._any or cells.null_count < len(cells)
        for kind in list(self._possible):
            place = misfit(kind, cells)
            if place is not None:
                self._possible.remove(kind)
                self.misfits[kind] = (first_row + place, shortened(cells[place].as_py()))

    @property
    def type(self) -> CsvType | None:
        """The type, or ``None`` for a column without any value, or of another type than given."""
        return self._possible[0] if self._any and self._possible else None


def parse_type(text: str) -> tuple[str, CsvType] | None:
    """``name=type``, as the option ``--type`` takes it."""
    match = re.fullmatch(rf"(.+)=({'|'.join(CsvType)})", text, re.DOTALL)
    return (match[1], CsvType(match[2])) if match else None
