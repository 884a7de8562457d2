"""The delimiter of a CSV file, as its first line shows it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.cli.files.csv_batches import CsvFile
from predicast.cli.files.csv_text import delimiter_in
from predicast.cli.files.source import Form, Source
from predicast.errors import InputFileError

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


@pytest.mark.parametrize("start", ["sep=;\n", "\ufeffsep=;\r\n", '"sep=;"\n', "\n\nsep=;\n\n"])
def test_the_delimiter_may_be_stated_as_spreadsheets_do(tmp_path: Path, start: str) -> None:
    table = "net, in all, EUR;x\n1;2\n\n3;4\n"  # which has more commas
    path = tmp_path / "events.csv"
    path.write_text(start + table, encoding="utf-8", newline="")
    file = CsvFile(Source(str(path), Form.CSV))
    assert file.names == ["net, in all, EUR", "x"]
    cells = pa.Table.from_batches(file.batches({}, file.names))
    assert cells.column("x").to_pylist() == ["2", "4"]
    path.write_text(start + table + "5;6;7\n", encoding="utf-8", newline="")
    line = (start + table).count("\n") + 1
    with pytest.raises(InputFileError, match=rf"events.csv, line {line}: "):
        list(file.batches({}, file.names))


def test_nothing_but_a_delimiter_is_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text("sep=,\n", encoding="utf-8")
    with pytest.raises(InputFileError, match="is empty"):
        CsvFile(Source(str(path), Form.CSV))
