"""``OperandColumns.overwritten``: operands of some subscriptions written over those of others."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from predicast.language import parse_where
from predicast.model.operand_columns import OperandColumns
from predicast.model.outline import outlined


def columns_of(*texts: str) -> OperandColumns:
    stated = [outlined(parse_where(text)) for text in texts]
    return OperandColumns.of(stated[0].outline, [each.operands for each in stated])


def overwritten(
    columns: OperandColumns, row: int, operands: tuple[Any, ...], *, in_place: bool = True
) -> OperandColumns:
    one = OperandColumns.of(columns.outline, [operands])
    return columns.overwritten(np.array([row]), one, np.zeros(1, np.int64), in_place=in_place)


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("n < 10", (7,)),
        ("f < 1.5", (2.25,)),
        ("s = 'a'", ("of any length",)),
        ("b = TRUE", (False,)),
        ("t < TIMESTAMP '2026-01-01 00:00:00'", (datetime(2026, 11, 18, 1, 2, 3, 4, tzinfo=UTC),)),
        ("s = 'a' AND n BETWEEN 1 AND 2", ("b", 200, 255)),
    ],
)
@pytest.mark.parametrize("in_place", [True, False])
def test_operands_are_overwritten(text: str, operands: tuple[Any, ...], in_place: bool) -> None:
    columns = columns_of(text, text, text)
    before = columns.operands(0)

    after = overwritten(columns, 1, operands, in_place=in_place)

    assert [after.operands(row) for row in range(3)] == [before, operands, before]
    assert columns.operands(1) == (operands if in_place else before)


@pytest.mark.parametrize("number", [256, -1, 2**62])
def test_a_number_that_is_too_wide_makes_the_column_wider(number: int) -> None:
    columns = columns_of("n < 10", "n < 20")

    after = overwritten(columns, 0, (number,))

    assert [after.operands(row) for row in range(2)] == [(number,), (20,)]
    assert columns.operands(0) == (10,)


def test_columns_that_cannot_be_written_to_are_left_alone() -> None:
    outline = columns_of("n < 10").outline
    of_a_file = np.array([10, 20], np.uint8)
    of_a_file.flags.writeable = False
    columns = OperandColumns(outline, [of_a_file], 2)

    assert overwritten(columns, 0, (7,)).operands(0) == (7,)
    assert columns.operands(0) == (10,)
