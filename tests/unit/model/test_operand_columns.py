"""``OperandColumns.put``: the operands of one subscription written in place, if they fit."""

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
def test_operands_are_written_in_place(text: str, operands: tuple[Any, ...]) -> None:
    columns = columns_of(text, text, text)
    before = columns.operands(0)

    assert columns.put(1, operands)

    assert [columns.operands(row) for row in range(3)] == [before, operands, before]


def test_a_number_that_is_too_wide_for_its_column_is_refused() -> None:
    columns = columns_of("n < 10", "n < 20")

    assert not columns.put(0, (256,))
    assert not columns.put(0, (-1,))

    assert [columns.operands(row) for row in range(2)] == [(10,), (20,)]


def test_columns_that_cannot_be_written_to_are_left_alone() -> None:
    outline = columns_of("n < 10").outline
    of_a_file = np.array([10, 20], np.uint8)
    of_a_file.flags.writeable = False
    columns = OperandColumns(outline, [of_a_file], 2)

    assert not columns.put(0, (7,))

    assert columns.operands(0) == (10,)
