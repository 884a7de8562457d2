"""The delimiter of a CSV file, as its first line shows it, and spaces behind it."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
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


CELLS = st.text(st.sampled_from(["a", "5", " ", '"', ",", ";", "\n", "ü"]), min_size=1, max_size=5)


def spaced(cells: Sequence[str], delimiter: str, spaces: Sequence[str]) -> str:
    quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
    return delimiter.join(space + cell for space, cell in zip(spaces, quoted, strict=True))


@given(st.data(), st.sampled_from(DELIMITERS), st.sampled_from(["", "sep={}\n", "\nsep={}\n\n"]))
def test_spaces_before_cells_are_no_part_of_them(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, delimiter: str, stated: str
) -> None:
    names = ["first", "second", "third"][: data.draw(st.integers(2, 3))]
    rows = data.draw(st.lists(st.tuples(*[CELLS] * len(names)), max_size=5))
    lines = [delimiter.join([names[0], *(f" {name}" for name in names[1:])])]
    for row in rows:
        spaces = data.draw(st.tuples(*[st.sampled_from(["", " ", "  "])] * len(names)))
        lines.append(spaced(row, delimiter, spaces))
    end = data.draw(st.sampled_from(["\n", "\r\n", "\n\n"]))
    path = tmp_path_factory.mktemp("spaced") / "events.csv"
    path.write_text(stated.format(delimiter) + end.join(lines) + end, encoding="utf-8", newline="")
    file = CsvFile(Source(str(path), Form.CSV))
    assert file.names == names
    read = [row for batch in file.batches({}, file.names) for row in batch.to_pylist()]
    assert read == [dict(zip(names, row, strict=True)) for row in rows]


def test_what_is_wrong_behind_spaces_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text('id, city\n1, "New\nYork"\n\n2\n', encoding="utf-8")
    file = CsvFile(Source(str(path), Form.CSV))
    with pytest.raises(InputFileError, match=r"events.csv, line 5: Expected 2 columns, got 1"):
        list(file.batches({}, file.names))
    path.write_bytes(b"id, city\n1, K\xf6ln\n")
    with pytest.raises(InputFileError, match=r"events.csv, line 2: not UTF-8"):
        list(file.batches({}, file.names))


def test_one_space_is_not_yet_a_habit(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text("id, city,price\n1, Bonn,2\n", encoding="utf-8")
    assert CsvFile(Source(str(path), Form.CSV)).names == ["id", " city", "price"]
