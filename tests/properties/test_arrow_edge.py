"""Any Arrow table says what its rows say one by one, or is refused by an error of ours."""

from collections import Counter
from typing import Any

from hypothesis import given

from tests.properties.arrow_edge import cases, check


@given(cases())
def test_any_table_says_what_its_rows_say(case: Any) -> None:
    check(case, Counter())
