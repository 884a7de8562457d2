"""The types of CSV columns: the rules cell by cell, and against a plain twin."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.cli.files.csv_types import ColumnType, CsvType, convert, misfit, parse_type
from tests.unit.cli.csv_twin import cells, fits

BOOLEAN, INTEGER, FLOAT, TIMESTAMP, STRING = CsvType


def type_of(*cells: str | None) -> CsvType | None:
    column = ColumnType()
    column.see(pa.array(cells, pa.string()), 0)
    return column.type


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["true", "FALSE", "True"], BOOLEAN),
        (["true", "1"], STRING),
        (["yes"], STRING),
        (["0", "-0", "12", "-7"], INTEGER),
        (["9223372036854775807", "-9223372036854775808"], INTEGER),
        (["1", None, "2"], INTEGER),
        (["1", "2.5"], FLOAT),
        (["1.", ".5", "-1e-7", "2E+3", "0.0"], FLOAT),
        (["9007199254740992", "0.5"], FLOAT),
        (["9007199254740993", "0.5"], STRING),  # a float would not hold it exactly
        (["9223372036854775808"], FLOAT),  # 2**63, exactly
        (["9223372036854775809"], STRING),
        (["123456789012345678901234567890"], STRING),
        (["1e999"], STRING),
        (["1" + "0" * 400], STRING),
        (["NaN"], STRING),
        (["inf"], STRING),
        (["007"], STRING),
        (["1", "007"], STRING),
        (["00"], STRING),
        (["-01"], STRING),
        (["01.5"], STRING),
        (["+5"], STRING),
        ([" 5"], STRING),
        (["5 "], STRING),
        (["5\n"], STRING),
        (["1,000"], STRING),
        (["0x10"], STRING),
        (["1_000"], STRING),
        (["٣"], STRING),
        (["12", "12a"], STRING),
        (["2026-01-31"], TIMESTAMP),
        (["2026-01-31", "2026-01-31 09:30", "2026-01-31T09:30:00.5+02:00"], TIMESTAMP),
        (["2026-01-31T09:30:00Z", "0001-01-01", "9999-12-31T23:59:59.999999"], TIMESTAMP),
        (["2026-02-30"], STRING),
        (["2026-01-31T24:00"], STRING),
        (["2026-1-31"], STRING),
        (["0000-01-01"], STRING),
        (["0001-01-01T00:00+01:00"], STRING),  # in UTC it is before the year 1
        (["2026-01-31T09:30:00.1234567"], STRING),
        (["2026-01-31", "1"], STRING),
        (["2026"], INTEGER),
        ([None, None], None),
        ([], None),
    ],
)
def test_a_column_has_the_first_type_that_all_its_cells_fit(
    cells: list[str | None], expected: CsvType | None
) -> None:
    assert type_of(*cells) == expected


def test_values_are_what_the_cells_say() -> None:
    def values(kind: CsvType, *cells: str) -> object:
        return convert(kind, pa.array(cells)).to_pylist()

    assert values(BOOLEAN, "true", "FALSE") == [True, False]
    assert values(INTEGER, "-0", "9223372036854775807") == [0, 2**63 - 1]
    assert values(FLOAT, "0.1", "1e-7", "5.") == [0.1, 1e-7, 5.0]
    assert values(STRING, "007") == ["007"]
    assert values(
        TIMESTAMP,
        "2026-01-31",
        "2026-01-31 09:30",
        "2026-01-31T09:30:00.25+02",
        "2026-01-31T00:00Z",
    ) == [
        datetime(2026, 1, 31, tzinfo=UTC),
        datetime(2026, 1, 31, 9, 30, tzinfo=UTC),
        datetime(2026, 1, 31, 7, 30, 0, 250_000, tzinfo=UTC),
        datetime(2026, 1, 31, tzinfo=UTC),
    ]


def test_the_type_holds_for_all_blocks_and_the_first_misfit_is_remembered() -> None:
    column = ColumnType()
    column.see(pa.array(["1", "2"]), 0)
    assert column.type is INTEGER
    column.see(pa.array([None, "x", "y"]), 2)
    assert column.type is STRING
    assert column.misfits[INTEGER] == (3, "x")
    assert column.misfits[BOOLEAN] == (0, "1")


def test_a_given_type_is_the_only_candidate() -> None:
    column = ColumnType(STRING)
    column.see(pa.array(["1"]), 0)
    assert column.type is STRING
    column = ColumnType(INTEGER)
    column.see(pa.array(["1", "x"]), 0)
    assert column.type is None
    assert column.misfits == {INTEGER: (1, "x")}


def test_the_first_misfit_may_have_the_right_shape() -> None:
    cells = pa.array(["1", "99999999999999999999", "x"])
    assert misfit(INTEGER, cells) == 1


def test_the_option() -> None:
    assert parse_type("zip=string") == ("zip", STRING)
    assert parse_type("a=b=float") == ("a=b", FLOAT)
    assert parse_type("zip=text") is None
    assert parse_type("=string") is None
    assert parse_type("zip") is None


@given(st.lists(cells(), min_size=1, max_size=3))
def test_the_types_are_those_of_the_twin(column: list[str]) -> None:
    expected = next(kind for kind in CsvType if all(fits(kind, cell) for cell in column))
    assert type_of(*column) == expected
