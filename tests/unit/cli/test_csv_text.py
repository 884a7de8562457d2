"""The delimiter of a CSV file, as its first line shows it."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.cli.files.csv_text import delimiter_in

DELIMITERS = ",;\t|"


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [
        ("a,b", ","),
        ("a;b;c\r\n", ";"),
        ("a\tb", "\t"),
        ("a|b", "|"),
        ("a", ","),
        ("", ","),
        ("a;b,c", ","),  # as often: the comma
        ('x,"a;b;c"', ","),
        ('"a;b;c",x', ","),
        ('"price, net";"tax, gross"', ";"),
        ('"say ""a,b,c""";x', ";"),
        ('a;"begun here, and ended, on another line\n', ";"),
    ],
)
def test_the_most_frequent_outside_of_quotes(header: str, delimiter: str) -> None:
    assert delimiter_in(header) == delimiter


@given(
    st.lists(st.text(st.sampled_from('ab"' + DELIMITERS), max_size=5), min_size=2, max_size=5),
    st.sampled_from(DELIMITERS),
)
def test_what_a_writer_quotes_does_not_mislead(names: list[str], delimiter: str) -> None:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerow(names)
    assert delimiter_in(file.getvalue()) == delimiter
