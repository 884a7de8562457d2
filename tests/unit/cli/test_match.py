"""``predicast match``: where matches go, in which form, and wrong options."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from tests.unit.cli.conftest import Run
from tests.unit.cli.match_files import MATCHED, json_lines, write_files


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_files(folder)


def test_a_pipe_gets_json_lines(run: Run) -> None:
    result = run("match", "s.jsonl", "e.jsonl")
    assert json_lines(result.stdout) == MATCHED
    assert result.stderr == ""


@pytest.mark.parametrize("suffix", ["jsonl", "ndjson", "json", "jsonl.gz", "JSONL"])
def test_a_file_gets_what_its_suffix_says(run: Run, folder: Path, suffix: str) -> None:
    target = folder / f"out.{suffix}"
    assert run("match", "s.jsonl", "e.jsonl", "-o", target).stdout == ""
    data = target.read_bytes()
    assert (
        json_lines((gzip.decompress(data) if suffix.endswith("gz") else data).decode()) == MATCHED
    )


def test_parquet_has_a_row_per_match(run: Run, folder: Path) -> None:
    run("match", "s.jsonl", "e.jsonl", "--output", "out.parquet")
    table = pq.read_table("out.parquet")
    assert table.schema.types == [pa.int64(), pa.string()]
    assert table.to_pydict() == {
        "event": [0, 0, 2, 2],
        "subscription": ["cheap", "ibm", "7", "ibm"],
    }
    assert sorted(path.name for path in folder.iterdir()) == ["e.jsonl", "out.parquet", "s.jsonl"]


def test_parquet_without_any_match_is_an_empty_table(run: Run, folder: Path) -> None:
    (folder / "e.jsonl").write_text("", encoding="utf-8")
    run("match", "s.jsonl", "e.jsonl", "-o", "out.parquet")
    assert pq.read_table("out.parquet").to_pydict() == {"event": [], "subscription": []}


def test_the_table_lists_events_and_counts(run: Run) -> None:
    text = run("match", "s.jsonl", "e.jsonl", "--format", "table").stdout
    assert "symbol='IBM', price=9.5" in text
    assert "x=[4, 6]" in text
    assert "cheap, ibm" in text
    assert "SAP" not in text
    assert text.endswith("3 events, 2 of them matched, 4 matches.\n")


def test_the_table_stops_at_the_limit_and_counts_on(run: Run) -> None:
    text = run("match", "s.jsonl", "e.jsonl", "-f", "table", "--limit", 1).stdout
    assert "x=[4, 6]" not in text
    assert text.endswith("3 events, 2 of them matched, 4 matches; the first 1 are shown.\n")


def test_a_table_in_a_file(run: Run, folder: Path) -> None:
    run("match", "s.jsonl", "e.jsonl", "-o", "out.txt")
    assert "cheap, ibm" in (folder / "out.txt").read_text(encoding="utf-8")


def test_all_lists_events_without_a_match(run: Run, folder: Path) -> None:
    lines = json_lines(run("match", "s.jsonl", "e.jsonl", "--all").stdout)
    assert lines == [MATCHED[0], {"event": 1, "subscriptions": []}, MATCHED[1]]
    assert "SAP" in run("match", "s.jsonl", "e.jsonl", "--all", "-f", "table").stdout
    assert "--all" in run("match", "s.jsonl", "e.jsonl", "--all", "-o", "o.parquet", code=2).stderr
    (folder / "e.jsonl").write_text('{"a": 1}\n{"price": 1}\n{"a": 1}\n', encoding="utf-8")
    lines = json_lines(run("match", "s.jsonl", "e.jsonl", "--all").stdout)
    assert [line["subscriptions"] for line in lines] == [[], ["cheap"], []]


def test_control_characters_stay_out_of_the_terminal(run: Run, folder: Path) -> None:
    (folder / "s.jsonl").write_text(
        json.dumps({"id": "\x1b[31mred", "expression": "a LIKE '%'"}), encoding="utf-8"
    )
    (folder / "e.jsonl").write_text(json.dumps({"a": "\x1b]0;title\x07[bold]"}), encoding="utf-8")
    text = run("match", "s.jsonl", "e.jsonl", "-f", "table").stdout
    assert "\x1b" not in text
    assert "\\x1b[31mred" in text
    assert "[bold]" in text


def test_many_ids_are_cut_short_in_the_table(run: Run, folder: Path) -> None:
    lines = [json.dumps({"id": f"s{n:04}", "expression": "a = 1"}) for n in range(1200)]
    (folder / "s.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "e.jsonl").write_text('{"a": 1}', encoding="utf-8")
    text = run("match", "s.jsonl", "e.jsonl", "-f", "table").stdout
    assert "… 1,190 more" in " ".join(text.split())


def test_output_is_written_whole_or_not_at_all(run: Run, folder: Path) -> None:
    target = folder / "out.parquet"
    target.write_text("old", encoding="utf-8")
    (folder / "e.jsonl").write_text('{"price": 1}\nnonsense\n', encoding="utf-8")
    run("match", "s.jsonl", "e.jsonl", "-o", target, code=2)
    assert target.read_text(encoding="utf-8") == "old"
    assert not list(folder.glob(".out*"))


def test_a_target_that_is_no_regular_file_is_not_replaced(run: Run) -> None:
    run("match", "s.jsonl", "e.jsonl", "-f", "jsonl", "-o", "/dev/null")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("csv", "event,subscription\n0,cheap\n0,ibm\n2,7\n2,ibm\n"),
        ("tsv", "event\tsubscription\n0\tcheap\n0\tibm\n2\t7\n2\tibm\n"),
    ],
)
def test_csv_has_a_row_per_match(run: Run, folder: Path, form: str, expected: str) -> None:
    assert run("match", "s.jsonl", "e.jsonl", "--format", form).stdout == expected
    run("match", "s.jsonl", "e.jsonl", "-o", f"out.{form}")
    assert (folder / f"out.{form}").read_bytes() == expected.encode()
    run("match", "s.jsonl", "e.jsonl", "-o", f"out.{form}.gz")
    assert gzip.decompress((folder / f"out.{form}.gz").read_bytes()) == expected.encode()
    assert "--all" in run("match", "s.jsonl", "e.jsonl", "--all", "-f", form, code=2).stderr


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_csv_quotes_what_needs_it(run: Run, folder: Path, form: str, delimiter: str) -> None:
    ids = sorted(["a,b", "a\tb", 'a "b"', "a\rb", "a\nb", "a\r\nb", " a ", "é", "plain"])
    lines = [json.dumps({"id": id, "expression": "price > 0"}) for id in ids]
    (folder / "s.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "e.jsonl").write_text('{"price": 1}', encoding="utf-8")
    run("match", "s.jsonl", "e.jsonl", "-o", f"out.{form}")
    with (folder / f"out.{form}").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter=delimiter, strict=True))
    assert rows == [["event", "subscription"], *(["0", id] for id in ids)]


@pytest.mark.parametrize("form", ["jsonl", "csv", "tsv", "parquet", "arrow"])
@pytest.mark.parametrize("limit", [1, 2, 3, 5_000, 5_001, 9_999])
def test_the_limit_holds_for_every_format(run: Run, folder: Path, form: str, limit: int) -> None:
    """Also where it lies on the border of a batch, or beyond the last event."""
    events = 6_000  # more than a batch; every sixth matches nothing
    (folder / "e.jsonl").write_text(
        "".join(f'{{"price": {50 if n % 6 == 5 else 1}}}\n' for n in range(events)),
        encoding="utf-8",
    )
    (folder / "s.jsonl").write_text(
        '{"id": "a", "expression": "price < 9"}\n{"id": "b", "expression": "price < 10"}\n',
        encoding="utf-8",
    )
    run("match", "s.jsonl", "e.jsonl", "--limit", limit, "-o", f"out.{form}")
    expected = [n for n in range(events) if n % 6 != 5][:limit]
    if form == "jsonl":
        found = [
            line["event"] for line in json_lines((folder / "out.jsonl").read_text(encoding="utf-8"))
        ]
    else:
        if form in {"parquet", "arrow"}:
            table = pq.read_table if form == "parquet" else feather.read_table
            rows = [tuple(row.values()) for row in table(f"out.{form}").to_pylist()]
        else:
            lines = (folder / f"out.{form}").read_text(encoding="utf-8").splitlines()[1:]
            cells = [line.replace("\t", ",").split(",") for line in lines]
            rows = [(int(event), id) for event, id in cells]
        assert [id for _, id in rows] == ["a", "b"] * (len(rows) // 2)
        found = [event for event, _ in rows[::2]]
    assert found == expected


def test_the_limit_counts_what_is_listed_and_ends_the_reading(run: Run, folder: Path) -> None:
    lines = json_lines(run("match", "s.jsonl", "e.jsonl", "--all", "--limit", 2).stdout)
    assert lines == [MATCHED[0], {"event": 1, "subscriptions": []}]
    (folder / "e.jsonl").write_text('{"price": 1}\n' * 5_000 + "nonsense\n", encoding="utf-8")
    assert len(run("match", "s.jsonl", "e.jsonl", "--limit", 10).stdout.splitlines()) == 10


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--delimiter", ";"], "it is for CSV; e.jsonl is read as jsonl"),
        (["--delimiter", "::"], "'::' is not one plain character"),
        (["--delimiter", '"'], "is not one plain character"),
        (["--delimiter", ""], "is not one plain character"),
        (["--events-format", "xml"], "--events-format"),
        (["-o", "out.xlsx"], "ends in none of"),
        (["-o", "missing/out.jsonl"], "missing/out.jsonl: No such file or directory"),
        (["-o", "e.jsonl"], "e.jsonl is the input"),
        (["--matcher", "brute-farce"], "did you mean 'brute-force'?"),
        (["--limit", "0"], "--limit"),
        (["--absent", "maybe"], "--absent"),
        (["--type", "zip=text"], "not of the form COL=TYPE"),
    ],
)
def test_wrong_options_are_refused(run: Run, arguments: list[str], said: str) -> None:
    result = run("match", "s.jsonl", "e.jsonl", *arguments, code=2)
    assert said in " ".join(result.stderr.replace("│", " ").split())
    assert result.stdout == ""
