"""``predicast match``: where events come from, in which form, and what is refused."""

from __future__ import annotations

import gzip
import json
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.unit.cli.conftest import Run
from tests.unit.cli.match_files import EVENTS, MATCHED, SUBSCRIPTIONS, json_lines, write_files


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_files(folder)


def test_standard_input(run: Run) -> None:
    assert json_lines(run("match", "s.jsonl", "-", input=EVENTS).stdout) == MATCHED
    assert json_lines(run("match", "-", "e.jsonl", input=SUBSCRIPTIONS).stdout) == MATCHED
    assert "only one of the two" in run("match", "-", "-", code=2).stderr
    error = run("match", "s.jsonl", "-", input='{"a": 1}\n{"a": NaN}\n', code=2).stderr
    assert error.startswith("Error: standard input, line 2: not JSON")


CSV_EVENTS = "symbol,price\nIBM,9.5\nSAP,99\nIBM,99\n"
CSV_MATCHED = [["cheap", "ibm"], ["ibm"]]


def found_in(text: str) -> list[Any]:
    return [line["subscriptions"] for line in json_lines(text)]


def test_any_form_on_standard_input(run: Run, folder: Path) -> None:
    def found(form: str, events: str | bytes, *options: str) -> list[Any]:
        arguments = ["match", "s.jsonl", "-", "--events-format", form, *options]
        return found_in(run(*arguments, input=events).stdout)

    assert found("csv", CSV_EVENTS) == CSV_MATCHED
    assert found("csv", CSV_EVENTS.replace(",", ";")) == CSV_MATCHED
    assert found("csv", CSV_EVENTS.replace(",", "^"), "--delimiter", "^") == CSV_MATCHED
    assert found("tsv", CSV_EVENTS.replace(",", "\t")) == CSV_MATCHED
    pq.write_table(pa.table({"symbol": ["IBM", "SAP"], "price": [9.5, 99]}), "e.parquet")
    assert found("parquet", (folder / "e.parquet").read_bytes()) == CSV_MATCHED[:1]
    assert found("jsonl", EVENTS) == [line["subscriptions"] for line in MATCHED]
    error = run(
        "match", "s.jsonl", "-", "--events-format", "csv", input="price\n1\n2,3\n", code=2
    ).stderr
    assert error == "Error: standard input, line 3: Expected 1 columns, got 2: 2,3\n"


def test_subscriptions_of_any_form_on_standard_input(run: Run, folder: Path) -> None:
    text = "id;expression\ncheap;price < 10\n"
    pq.write_table(pa.table({"id": ["cheap"], "expression": ["price < 10"]}), "s.parquet")
    stdin = {
        "csv": text.encode(),
        "tsv": text.replace(";", "\t").encode(),
        "parquet": (folder / "s.parquet").read_bytes(),
    }
    for form, given in stdin.items():
        stated = ["--subscriptions-format", form]
        assert found_in(run("match", "-", "e.jsonl", *stated, input=given).stdout) == [["cheap"]]
        run("explain", "-", "cheap", '{"price": 1}', *stated, input=given)


def test_a_stated_format_overrules_the_suffix(run: Run, folder: Path) -> None:
    (folder / "events.txt").write_text(CSV_EVENTS, encoding="utf-8")
    result = run("match", "s.jsonl", "events.txt", "--events-format", "csv")
    assert found_in(result.stdout) == CSV_MATCHED
    assert "--events-format" in run("match", "s.jsonl", "events.txt", code=2).stderr


def test_csv_through_a_named_pipe(run: Run, folder: Path) -> None:
    os.mkfifo(folder / "e.csv")
    # A daemon, because it waits for a reader, and without one it would wait for ever.
    threading.Thread(target=(folder / "e.csv").write_text, args=[CSV_EVENTS], daemon=True).start()
    assert found_in(run("match", "s.jsonl", "e.csv").stdout) == CSV_MATCHED


@pytest.mark.parametrize(
    ("name", "delimiter"), [("e.csv", ";"), ("e.csv", "\t"), ("e.csv", "|"), ("e.tsv", "\t")]
)
def test_csv_with_other_delimiters(run: Run, folder: Path, name: str, delimiter: str) -> None:
    (folder / name).write_text(CSV_EVENTS.replace(",", delimiter), encoding="utf-8")
    assert found_in(run("match", "s.jsonl", name).stdout) == CSV_MATCHED
    text = run("match", "s.jsonl", name, "-f", "table").stdout
    assert "symbol='IBM', price=9.5" in text


def test_a_wrong_guess_of_the_delimiter_is_an_error_that_says_so(run: Run, folder: Path) -> None:
    (folder / "e.csv").write_text("price,rest (a;b;c)\n1,2\n", encoding="utf-8")
    assert "taken to be separated by ';'" in run("match", "s.jsonl", "e.csv", code=2).stderr
    result = run("match", "s.jsonl", "e.csv", "--delimiter", ",")
    assert found_in(result.stdout) == [["cheap"]]
    (folder / "s.csv").write_text("id,expression,(a;b;c;d)\nx,price < 5,\n", encoding="utf-8")
    (folder / "s.tsv").write_text("id\texpression\nx\ty\tz\n", encoding="utf-8")
    assert "no column 'id'" in run("match", "s.csv", "e.jsonl", code=2).stderr
    assert "s.tsv, line 2: has 3 cells" in run("match", "s.tsv", "e.jsonl", code=2).stderr


def test_compressed_text(run: Run, folder: Path) -> None:
    (folder / "e.jsonl.gz").write_bytes(gzip.compress(EVENTS.encode()))
    (folder / "s.jsonl.gz").write_bytes(gzip.compress(SUBSCRIPTIONS.encode()))
    assert json_lines(run("match", "s.jsonl.gz", "e.jsonl.gz").stdout) == MATCHED
    (folder / "e.csv.gz").write_bytes(gzip.compress(b"symbol,price\nIBM,9.5\nSAP,99\nIBM,99\n"))
    lines = json_lines(run("match", "s.jsonl", "e.csv.gz").stdout)
    assert [line["subscriptions"] for line in lines] == [["cheap", "ibm"], ["ibm"]]


@pytest.mark.parametrize("damage", [slice(0, -9), slice(5, None)])
@pytest.mark.parametrize("name", ["e.jsonl.gz", "e.csv.gz"])
def test_damaged_compression_is_refused(run: Run, folder: Path, damage: slice, name: str) -> None:
    (folder / name).write_bytes(gzip.compress(b"price\n" * 1000)[damage])
    assert name in run("match", "s.jsonl", name, code=2).stderr


def test_lines_may_end_as_on_windows_and_start_with_a_mark(run: Run, folder: Path) -> None:
    (folder / "e.jsonl").write_bytes(b'\xef\xbb\xbf{"price": 1}\r\n\r\n{"price": 2}\r\n')
    (folder / "e.csv").write_bytes(b"\xef\xbb\xbfprice\r\n1\r\n\r\n2\r\n")
    for name in ("e.jsonl", "e.csv"):
        lines = json_lines(run("match", "s.jsonl", name).stdout)
        assert [line["event"] for line in lines] == [0, 1]


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["e.jsonl", "e.csv", "s.jsonl", "s.csv"])
def test_utf_16_is_named(run: Run, folder: Path, name: str, codec: str) -> None:
    files = ["s.jsonl", "e.jsonl"]
    files["se".index(name[0])] = name
    (folder / name).write_bytes("\ufeffid,expression,price\n".encode(codec))
    assert run("match", *files, code=2).stderr == (
        f"Error: {name}: is UTF-16; convert it to UTF-8, as iconv -f UTF-16 -t UTF-8 does\n"
    )


def test_events_without_anything_that_subscriptions_look_at_get_a_note(
    run: Run, folder: Path
) -> None:
    """JSON called CSV, or just the wrong file: nothing is wrong with it, and nothing matches."""
    said = "has nothing that subscriptions look at, such as 'price', 'symbol', 'x'"
    (folder / "e.csv").write_text('{"a": 1}\n{"a": 2}\n', encoding="utf-8")
    assert run("match", "s.jsonl", "e.csv").stderr == (
        f"Note: e.csv {said}; its columns are '{{\"a\": 1}}'\n"
    )
    (folder / "e.jsonl").write_text('{"a": 1}\n{"b": 2}\n', encoding="utf-8")
    assert run("match", "s.jsonl", "e.jsonl").stderr == f"Note: e.jsonl {said}\n"
    pq.write_table(pa.table({"a": [1]}), "e.parquet")
    result = run("match", "s.jsonl", "e.parquet")
    assert result.stderr == f"Note: e.parquet {said}; its columns are 'a'\n"
    (folder / "e.jsonl").write_text("", encoding="utf-8")
    assert run("match", "s.jsonl", "e.jsonl").stderr == ""


def test_what_nobody_looks_at_may_be_anything(run: Run, folder: Path) -> None:
    odd = '{"price": 1, "tags": [1, {"a": []}], "big": 1E300, "at": {"$timestamp": "soon"}}\n'
    (folder / "e.jsonl").write_text(odd, encoding="utf-8")
    result = run("match", "s.jsonl", "e.jsonl")
    assert json.loads(result.stdout) == {"event": 0, "subscriptions": ["cheap"]}
    assert not result.stderr


@pytest.mark.parametrize(
    ("choice", "found", "note"),
    [
        ("absent", [[], ["7"], ["cheap"]], "2 values of 2 events were taken for absent"),
        ("skip", [[], [], ["cheap"]], "2 events were skipped"),
    ],
)
def test_what_cannot_be_compared(
    run: Run, folder: Path, choice: str, found: list[list[str]], note: str
) -> None:
    wrong = ('{"price": {"$decimal": "much"}}', '{"price": {"$timestamp": "soon"}, "x": 1}')
    lines = (*wrong, '{"price": 1}')
    (folder / "e.jsonl").write_text("\n".join(lines), encoding="utf-8")
    options = ("--on-invalid", choice, "--all", "--format", "jsonl")
    result = run("match", "s.jsonl", "e.jsonl", *options)
    assert [json.loads(line)["subscriptions"] for line in result.stdout.splitlines()] == found
    assert note in result.stderr
    assert "soon" in result.stderr


def write_all(folder: Path, expressions: list[str], events: list[Any]) -> None:
    subscriptions = [{"id": text, "expression": text} for text in expressions]
    for name, rows in (("s.jsonl", subscriptions), ("e.jsonl", events)):
        text = "\n".join(map(json.dumps, rows))
        (folder / name).write_text(text, encoding="utf-8")


def test_strings_in_iso_form_are_timestamps_where_some_are_expected(run: Run, folder: Path) -> None:
    texts = ["at > TIMESTAMP '2026-01-01'", "hour(o.at) = 9", "day = '2026-01-31'"]
    events = [
        {"at": "2026-01-31T09:30:00Z", "o": {"at": "2026-01-31 10:00+01:00"}, "day": "2026-01-31"},
        {"at": "2026-13-31", "o": {"at": "soon"}, "day": "2026"},
        {"at": 5},
    ]
    write_all(folder, texts, events)
    result = run("match", "s.jsonl", "e.jsonl")
    assert json_lines(result.stdout) == [{"event": 0, "subscriptions": sorted(texts)}]
    assert "strings of 'at' such as '2026-01-31T09:30:00Z' are read as timestamps" in result.stderr
    assert "strings of 'o.at'" in result.stderr
    assert "strings of 'day'" not in result.stderr
    kept = run("match", "s.jsonl", "e.jsonl", "--type", "at=string", "--type", "o.at=string")
    assert json_lines(kept.stdout) == [{"event": 0, "subscriptions": [texts[2]]}]
    assert "read as timestamps" not in kept.stderr
    write_all(folder, [texts[0], "at LIKE '2026%'"], events)  # who expects strings gets strings
    assert found_in(run("match", "s.jsonl", "e.jsonl").stdout) == [["at LIKE '2026%'"]] * 2


def test_when_events_arrive(run: Run, folder: Path) -> None:
    text = "at > now() - INTERVAL 5 MINUTES"
    write_all(folder, [text], [{"at": "2026-01-31 12:00:00"}])
    for now, found in (("2026-01-31 12:04", [[text]]), ("2026-01-31 12:05Z", [])):
        assert found_in(run("match", "s.jsonl", "e.jsonl", "--now", now).stdout) == found
    assert found_in(run("match", "s.jsonl", "e.jsonl").stdout) == []
    csv_text = "at\n2026-01-31 12:00:00\n"
    (folder / "e.csv").write_text(csv_text, encoding="utf-8")
    options = ("--now", "2026-01-31 12:01", "--format", "jsonl")
    assert found_in(run("match", "s.jsonl", "e.csv", *options).stdout) == [[text]]
    assert "--now" in run("match", "s.jsonl", "e.jsonl", "--now", "soon", code=2).stderr
    event = json.dumps({"at": {"$timestamp": "2026-01-31T12:00:00Z"}, "tags": []})
    shown = run("explain", "s.jsonl", text, event, "--now", "2026-01-31 12:01").stdout
    assert "now() was TIMESTAMP '2026-01-31 12:01:00Z'" in shown


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_string_without_its_quotes_is_asked_about(run: Run, folder: Path, form: str) -> None:
    write_all(
        folder, ["symbol = IBM", "price < limit"], [{"symbol": "IBM", "price": 1, "limit": 2}]
    )
    (folder / "e.csv").write_text("symbol,price,limit\nIBM,1,2\n", encoding="utf-8")
    result = run("match", "s.jsonl", f"e.{form}", "--format", "jsonl")
    assert found_in(result.stdout) == [["price < limit"]]
    assert "'symbol' is compared with the attribute 'IBM'" in result.stderr
    assert "'limit'" not in result.stderr


def test_what_cannot_be_compared_in_parquet(run: Run, folder: Path) -> None:
    table = pa.table({"price": [1.0, float("nan"), 2.0], "x": [1, 1, 9]})
    pq.write_table(table, folder / "e.parquet")
    run("match", "s.jsonl", "e.parquet", code=2)
    result = run("match", "s.jsonl", "e.parquet", "--on-invalid", "absent", "--format", "jsonl")
    found = [json.loads(line)["subscriptions"] for line in result.stdout.splitlines()]
    assert found == [["7", "cheap"], ["7"], ["cheap"]]
    assert "one value was taken for absent" in result.stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"a": NaN}', "not JSON"),
        ('{"a": Infinity}', "not JSON"),
        ('{"a": 1e999}', "not JSON"),
        ('{"price": {"$timestamp": "soon"}}', "$.price"),
        ('{"a": 1} {"a": 2}', "not JSON"),
        ("[1]", "one whole JSON object on each line"),
        ("[", "one whole JSON object on each line"),
        ("{" * 100_000, "not JSON"),
        ('{"a": "\\ud800"}', "not JSON"),
    ],
)
def test_a_bad_line_is_named(run: Run, folder: Path, line: str, said: str) -> None:
    (folder / "e.jsonl").write_text('{"price": 1}\n\n' + line + "\n", encoding="utf-8")
    result = run("match", "s.jsonl", "e.jsonl", code=2)
    assert result.stderr.startswith("Error: e.jsonl, line 3: ")
    assert said in result.stderr


def test_a_line_that_never_ends_is_refused(run: Run, folder: Path) -> None:
    (folder / "e.jsonl").write_bytes(b'{"price": 1}\n' + b" " * (17 * 2**20))
    assert (
        "e.jsonl, line 2: longer than 16 MiB" in run("match", "s.jsonl", "e.jsonl", code=2).stderr
    )


def test_files_that_cannot_be_read_are_refused(run: Run, folder: Path) -> None:
    def error(name: str) -> str:
        return run("match", "s.jsonl", name, code=2).stderr

    (folder / "folder.jsonl").mkdir()
    (folder / "bad.parquet").write_text("not parquet", encoding="utf-8")
    (folder / "empty.csv").write_text("\n\n", encoding="utf-8")
    assert error("none.jsonl") == "Error: none.jsonl: no such file or directory\n"
    assert error("none.csv") == "Error: none.csv: no such file or directory\n"
    (folder / "folder").mkdir()
    (folder / "folder.csv").mkdir()
    for name in ("folder", "folder.jsonl", "folder.csv"):
        assert error(name) == f"Error: {name}: is a directory\n"
    assert "the name must end in one of .jsonl" in error("events.txt")
    assert "the name must end in one of .jsonl" in error("events.parquet.gz")
    assert error("bad.parquet").startswith("Error: bad.parquet: cannot be read as Parquet")
    assert "empty.csv: is empty" in error("empty.csv")


# CSV.


def test_csv_empty_cells_are_absent(run: Run, folder: Path) -> None:
    (folder / "s.jsonl").write_text(
        '{"id": "none", "expression": "a IS NULL"}\n{"id": "one", "expression": "a = 1"}\n',
        encoding="utf-8",
    )
    (folder / "e.csv").write_text('a,b\n1,x\n,x\n"",x\n', encoding="utf-8")
    lines = json_lines(run("match", "s.jsonl", "e.csv").stdout)
    assert [line["subscriptions"] for line in lines] == [["one"], ["none"], ["none"]]


def test_csv_absent_may_pass(run: Run, folder: Path) -> None:
    (folder / "e.csv").write_text("price\n1\n50\n", encoding="utf-8")
    lines = json_lines(run("match", "s.jsonl", "e.csv", "--absent", "passes").stdout)
    assert [line["subscriptions"] for line in lines] == [["7", "cheap", "ibm"], ["7", "ibm"]]


def test_csv_leading_zeros_make_strings_and_a_note_says_so(run: Run, folder: Path) -> None:
    (folder / "s.jsonl").write_text(
        '{"id": "text", "expression": "zip = \'00501\'"}\n'
        '{"id": "number", "expression": "zip = 501"}\n',
        encoding="utf-8",
    )
    (folder / "e.csv").write_text("zip\n10001\n00501\n", encoding="utf-8")
    result = run("match", "s.jsonl", "e.csv")
    assert json_lines(result.stdout) == [{"event": 1, "subscriptions": ["text"]}]
    assert result.stderr == (
        "Note: column 'zip' holds strings ('00501' in line 3); one constraint compares it with a "
        "number, which never holds\n"
    )


def test_csv_a_type_may_be_given_and_must_be_right(run: Run, folder: Path) -> None:
    (folder / "s.jsonl").write_text(
        '{"id": "text", "expression": "zip = \'501\'"}', encoding="utf-8"
    )
    (folder / "e.csv").write_text('note,zip\n"two\nlines",501\nx,502\n', encoding="utf-8")
    assert run("match", "s.jsonl", "e.csv").stdout == ""
    assert json_lines(run("match", "s.jsonl", "e.csv", "--type", "zip=string").stdout)
    error = run("match", "s.jsonl", "e.csv", "--type", "zip=boolean", code=2).stderr
    assert error == "Error: e.csv, line 2: column 'zip': '501' is not of type boolean\n"
    error = run("match", "s.jsonl", "e.csv", "--type", "zap=string", code=2).stderr
    assert "there is no column 'zap'; is it 'zip'?" in error


def test_csv_null_names_what_else_is_absent(run: Run, folder: Path) -> None:
    (folder / "e.csv").write_text("price\nNA\n5\n-\n", encoding="utf-8")
    result = run("match", "s.jsonl", "e.csv")
    assert result.stdout == ""
    assert "'price' holds strings ('NA' in line 2)" in result.stderr
    result = run("match", "s.jsonl", "e.csv", "--null", "NA", "--null", "-")
    assert json_lines(result.stdout) == [{"event": 1, "subscriptions": ["cheap"]}]


def test_csv_long_cells_are_cut_short_in_messages(run: Run, folder: Path) -> None:
    (folder / "e.csv").write_text(f"price\n{'x' * 1000}\n", encoding="utf-8")
    assert len(run("match", "s.jsonl", "e.csv").stderr) < 300
    error = run("match", "s.jsonl", "e.csv", "--type", "price=float", code=2).stderr
    assert len(error) < 300


def test_csv_dotted_columns_and_columns_that_nobody_looks_at(run: Run, folder: Path) -> None:
    (folder / "s.jsonl").write_text(
        '{"id": "s", "expression": "order.total > 5"}', encoding="utf-8"
    )
    (folder / "e.csv").write_text("order.total,,x,x\n6,1,2,3\n4,a,b,c\n", encoding="utf-8")
    assert json_lines(run("match", "s.jsonl", "e.csv").stdout) == [
        {"event": 0, "subscriptions": ["s"]}
    ]
    assert "order.total=6" in run("match", "s.jsonl", "e.csv", "-f", "table").stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('price,symbol\n1,"a\nb"\n2\n', "e.csv, line 4: Expected 2 columns, got 1: 2"),
        ("price,symbol\n1,\xff\n", "e.csv, line 2: not UTF-8"),
        ("price,\xff\n1,2\n", "e.csv, line 1: not UTF-8"),
        ("price,price\n1,2\n", "e.csv, line 1: two columns are named 'price'"),
        ('price\n1\n"' + "x" * (9 * 2**20) + '"\n2\n', "a row is longer than 4 MiB"),
    ],
)
def test_bad_csv_is_refused_with_its_line(run: Run, folder: Path, text: str, said: str) -> None:
    (folder / "e.csv").write_text(text, encoding="latin-1")
    assert said in run("match", "s.jsonl", "e.csv", code=2).stderr


def test_csv_without_rows_or_without_any_known_column(run: Run, folder: Path) -> None:
    for text in ("price", "price\n", "price\n\n"):
        (folder / "e.csv").write_text(text, encoding="utf-8")
        assert run("match", "s.jsonl", "e.csv").stdout == ""
    (folder / "e.csv").write_text("prices\n1\n2\n", encoding="utf-8")
    result = run("match", "s.jsonl", "e.csv", "--all")
    assert len(json_lines(result.stdout)) == 2
    assert result.stderr == "Note: e.csv has no column 'price'; is it 'prices'?\n"


def test_csv_larger_than_a_block(run: Run, folder: Path) -> None:
    rows = "".join(f"{n},{'x' * 100}\n" for n in range(100_000))
    (folder / "e.csv").write_text(f"price,note\n{rows}", encoding="utf-8")
    lines = json_lines(run("match", "s.jsonl", "e.csv").stdout)
    assert [line["event"] for line in lines] == list(range(10))
    (folder / "e.csv").write_text(f"price,note\n{rows}many,\n", encoding="utf-8")
    result = run("match", "s.jsonl", "e.csv")
    assert result.stdout == ""
    assert "('many' in line 100002); 2 constraints compare it with a number" in result.stderr


# Parquet.


def test_parquet_types_structs_and_batches(run: Run, folder: Path) -> None:
    (folder / "s.jsonl").write_text(
        '{"id": "late", "expression": "at >= TIMESTAMP \'2026-01-02\' AND order.total = 5"}\n'
        '{"id": "null", "expression": "order.total IS NULL"}\n',
        encoding="utf-8",
    )
    count = 40_000
    table = pa.table(
        {
            "at": [datetime(2026, 1, 1 + n % 2, tzinfo=UTC) for n in range(count)],
            "order": [{"total": 5, "tags": ["x"]} if n > count - 3 else None for n in range(count)],
            "blob": [b"x"] * count,
        }
    )
    pq.write_table(table, "e.parquet", row_group_size=7_000)
    lines = json_lines(run("match", "s.jsonl", "e.parquet").stdout)
    assert [line["event"] for line in lines] == [*range(count - 2), count - 1]
    assert lines[-1]["subscriptions"] == ["late"]
    run("match", "s.jsonl", "e.parquet", "-o", "o.parquet")
    assert pq.read_table("o.parquet")["event"].to_pylist() == [line["event"] for line in lines]
    text = run("match", "s.jsonl", "e.parquet", "-f", "table", "--limit", 1).stdout
    assert "at=2026-01-01 00:00:00, blob=b'x'" in text


def test_parquet_values_that_no_event_can_have_are_refused(run: Run, folder: Path) -> None:
    pq.write_table(pa.table({"price": [1.0, float("nan")]}), "e.parquet")
    error = run("match", "s.jsonl", "e.parquet", code=2).stderr
    assert error.startswith("Error: e.parquet: attribute 'price', row 2: nan is not finite")
    pq.write_table(pa.table({"price": [b"1"]}), "e.parquet")
    assert "column 'price' is of type binary" in run("match", "s.jsonl", "e.parquet", code=2).stderr


def test_lists_in_json_lines_and_parquet(run: Run, folder: Path) -> None:
    texts = {"tag": "array_contains(tags, 'a')", "item": "exists(items, i -> i.price < 10)"}
    lines = [json.dumps({"id": id, "expression": text}) for id, text in texts.items()]
    Path("lists.jsonl").write_text("\n".join(lines), encoding="utf-8")
    events = [{"tags": ["b", "a"], "items": []}, {"tags": [], "items": [{"price": 5}]}]
    Path("events.jsonl").write_text("\n".join(map(json.dumps, events)), encoding="utf-8")
    pq.write_table(pa.Table.from_pylist(events), "events.parquet")
    for form in ("events.jsonl", "events.parquet"):
        found = found_in(run("match", "lists.jsonl", form, "--format", "jsonl").stdout)
        assert found == [["tag"], ["item"]]


def test_parquet_without_any_known_column_still_counts(run: Run, folder: Path) -> None:
    pq.write_table(pa.table({"other": [1, 2, 3]}), "e.parquet")
    assert len(json_lines(run("match", "s.jsonl", "e.parquet", "--all").stdout)) == 3


def test_parquet_columns_of_another_kind_get_a_note(run: Run, folder: Path) -> None:
    pq.write_table(pa.table({"price": ["1"], "simbol": ["IBM"]}), "e.parquet")
    assert run("match", "s.jsonl", "e.parquet").stderr == (
        "Note: e.parquet has no column 'symbol'; is it 'simbol'?\n"
        "Note: column 'price' holds strings; 2 constraints compare it with a number, which never "
        "holds\n"
    )


# Derived attributes.


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_expressions_over_attributes(run: Run, folder: Path, form: str) -> None:
    (folder / "derived.jsonl").write_text(
        '{"id": "big", "expression": "price * qty > 100"}\n'
        '{"id": "rome", "expression": "lower(city) = \'rome\' AND price < limit"}\n',
        encoding="utf-8",
    )
    rows = [
        {"price": 10, "qty": 20, "city": "ROME", "limit": 10.5, "other": "x"},
        {"price": 10, "qty": 2, "city": "Oslo", "limit": 50.0, "other": "y"},
    ]
    path = folder / f"e2.{form}"
    if form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif form == "csv":
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    result = run("match", "derived.jsonl", path)
    assert json_lines(result.stdout) == [{"event": 0, "subscriptions": ["big", "rome"]}]
    assert result.stderr == ""
