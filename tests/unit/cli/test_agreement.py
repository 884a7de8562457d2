"""Whatever the form of the files, the command line finds what an engine finds."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather
from typer.testing import CliRunner

from predicast import Engine, Event
from predicast.cli import app
from predicast.cli.files import Form, Source
from predicast.cli.files.events import Reader
from predicast.cli.files.source import FORMS
from predicast.cli.files.subscriptions import Fields, load
from predicast.errors import InputFileError, PredicastError
from predicast.language import event_to_json, subscription_to_json, to_where
from predicast.model import Absent, Subscription
from predicast.testing import strategies
from tests.unit.cli.conftest import Run
from tests.unit.cli.csv_twin import columns, typed

absences = st.sampled_from(["fails", "passes"])
subscription_lists = st.lists(strategies.subscriptions(), max_size=4)


def expected(subscriptions: list[Subscription], events: list[Event], absent: Absent) -> list[Any]:
    engine = Engine(absent=absent)
    for number, subscription in enumerate(subscriptions):
        engine.subscribe(subscription, id=f"s{number}")
    found = [(number, engine.match(event)) for number, event in enumerate(events)]
    return [{"event": number, "subscriptions": ids} for number, ids in found if ids]


def write_subscriptions(subscriptions: list[Subscription]) -> None:
    """Every other one as text, the others in the JSON form."""
    lines = []
    for number, each in enumerate(subscriptions):
        document: dict[str, Any] = {"id": f"s{number}"}
        if number % 2:
            document["expression"] = to_where(each)
        else:
            document["subscription"] = json.loads(subscription_to_json(each))
        lines.append(json.dumps(document) + "\n")
    Path("s.jsonl").write_text("".join(lines), encoding="utf-8")


def found(run: Run, name: str, absent: Absent, limit: int | None = None) -> list[Any]:
    """What the command says, in JSON Lines, CSV, Parquet and Arrow, which must agree."""
    asked = ["match", "s.jsonl", name, "--absent", absent]
    if limit is not None:
        asked += ["--limit", str(limit)]
    text = run(*asked).stdout
    lines = [json.loads(line) for line in text.split("\n") if line]
    pairs = [(line["event"], id) for line in lines for id in line["subscriptions"]]
    run(*asked, "-o", "out.parquet")
    run(*asked, "-o", "out.arrow")
    for table in (pq.read_table("out.parquet"), pa.ipc.open_file("out.arrow").read_all()):
        rows = table.to_pylist()
        assert [(row["event"], row["subscription"]) for row in rows] == pairs
    rows = list(csv.DictReader(io.StringIO(run(*asked, "--format", "csv").stdout)))
    assert [(int(row["event"]), row["subscription"]) for row in rows] == pairs
    return lines


@given(subscription_lists, st.lists(strategies.events(), max_size=5), absences)
def test_json_lines(
    run: Run, subscriptions: list[Subscription], events: list[Event], absent: Absent
) -> None:
    write_subscriptions(subscriptions)
    Path("e.jsonl").write_text(
        "".join(event_to_json(event) + "\n" for event in events), encoding="utf-8"
    )
    every = expected(subscriptions, events, absent)
    assert found(run, "e.jsonl", absent) == every
    assert found(run, "e.jsonl", absent, limit=2) == every[:2]


@given(subscription_lists, st.data(), absences)
def test_csv(
    run: Run, subscriptions: list[Subscription], data: st.DataObject, absent: Absent
) -> None:
    write_subscriptions(subscriptions)
    names = data.draw(st.lists(strategies.attribute_names(), min_size=1, unique=True))
    rows = data.draw(st.integers(0, 5))
    table = {name: data.draw(columns(rows)) for name in names}
    name, delimiter = data.draw(
        st.sampled_from([("e.csv", each) for each in ",;\t|"] + [("e.tsv", "\t")])
    )
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(
            file,
            delimiter=delimiter,
            quoting=data.draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        )
        writer.writerow(names)
        writer.writerows(zip(*table.values(), strict=True))
    values = {name: typed(column) for name, column in table.items()}
    events = [Event({name: values[name][row] for name in names}) for row in range(rows)]
    every = expected(subscriptions, events, absent)
    assert found(run, name, absent) == every
    assert found(run, name, absent, limit=2) == every[:2]


TYPES: dict[Any, st.SearchStrategy[Any]] = {
    pa.int64(): strategies.integers(),
    pa.int8(): st.integers(-3, 7),
    pa.float64(): strategies.floats(),
    pa.string(): strategies.strings(),
    pa.dictionary(pa.int32(), pa.string()): strategies.strings(),
    pa.bool_(): st.booleans(),
    pa.timestamp("us", "UTC"): strategies.timestamps(),
}


def write_parquet(table: pa.Table, name: str) -> None:
    pq.write_table(table, name, row_group_size=2)


def write_arrow(new: Callable[..., Any], table: pa.Table, name: str) -> None:
    with new(name, table.schema) as file:
        file.write_table(table, 2)


WRITERS: dict[str, Callable[[pa.Table, str], None]] = {
    "e.parquet": write_parquet,
    "e.arrow": partial(write_arrow, pa.ipc.new_file),
    "e.ipc": partial(write_arrow, pa.ipc.new_stream),
    "e.feather": partial(feather.write_feather, chunksize=2),
}


@given(subscription_lists, st.data(), absences, st.sampled_from(sorted(WRITERS)))
def test_files_of_columns(
    run: Run, subscriptions: list[Subscription], data: st.DataObject, absent: Absent, name: str
) -> None:
    write_subscriptions(subscriptions)
    names = data.draw(st.lists(strategies.attribute_names(), min_size=1, unique=True))
    rows = data.draw(st.integers(0, 5))
    arrays = {}
    for column in names:
        kind = data.draw(st.sampled_from(list(TYPES)))
        values = st.lists(st.none() | TYPES[kind], min_size=rows, max_size=rows)
        arrays[column] = pa.array(data.draw(values), kind)
    events = [
        Event({name: array[row].as_py() for name, array in arrays.items()}) for row in range(rows)
    ]
    if "order.total" in arrays and data.draw(st.booleans()):
        arrays["order"] = pa.StructArray.from_arrays([arrays.pop("order.total")], ["total"])
    WRITERS[name](pa.table(arrays), name)
    assert found(run, name, absent) == expected(subscriptions, events, absent)


@given(st.lists(strategies.subscriptions(), min_size=1, max_size=4), strategies.events())
def test_subscriptions_in_every_form(
    run: Run, subscriptions: list[Subscription], event: Event
) -> None:
    rows = [(f"s{number}", to_where(each)) for number, each in enumerate(subscriptions)]
    ids, texts = zip(*rows, strict=True)
    table = pa.table({"id": ids, "expression": texts})
    pq.write_table(table, "s.parquet")
    feather.write_feather(table, "s.feather")
    documents = [{"id": id, "expression": text} for id, text in rows]
    Path("s.jsonl").write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    Path("e.jsonl").write_text(event_to_json(event), encoding="utf-8")
    names = ["s.jsonl", "s.parquet", "s.feather"]
    if not any("\0" in text for text in texts):  # which Python's csv does not read
        with Path("s.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("id", "expression"), *rows])
        names.append("s.csv")
    for name in names:
        text = run("match", name, "e.jsonl", "--all").stdout
        ids_found = expected(subscriptions, [event], "fails")
        assert json.loads(text)["subscriptions"] == (
            ids_found[0]["subscriptions"] if ids_found else []
        )


# Anything at all: a typed error or a success.

fragments = st.sampled_from(
    [
        b"{",
        b"}",
        b"[",
        b"]",
        b'"a"',
        b'"id"',
        b'"expression"',
        b"x = 1",
        b":",
        b",",
        b"1",
        b"-",
        b"1e9",
        b"NaN",
        b"Infinity",
        b"null",
        b"true",
        b"\n",
        b"\r",
        b" ",
        b'"$timestamp"',
        b'"$interval"',
        b'"lo"',
        b"\\ud800",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b";",
        b"\t",
        b"\0",
        b'{"a": 1}\n',
        b'{"id": "a", "expression": "x = 1"}\n',
    ]
)
texts = st.lists(fragments, max_size=12).map(b"".join) | st.binary(max_size=40)


def all_matches(reader: Reader, engine: Engine) -> list[Any]:
    return [list(matches.per_event()) for matches in reader.matches(engine)]


def refusal_of(action: Callable[[], object]) -> PredicastError | None:
    try:
        action()
    except PredicastError as error:
        return error
    return None


@given(texts)
def test_any_bytes_as_events(text: bytes) -> None:
    engine = Engine()
    engine.subscribe("a = 1", id="s")
    for name in ("e.jsonl", "e.csv", "e.tsv", "e.parquet", "e.arrow", "e.jsonl.gz", "e.csv.gz"):
        Path(name).write_bytes(text)
        reader = Reader(source=Source.of(name))
        error = refusal_of(partial(all_matches, reader, engine))
        if error is not None:
            assert isinstance(error, InputFileError)
            assert error.path == name
            assert name in error.message


@given(texts)
def test_any_bytes_as_subscriptions(text: bytes) -> None:
    for name in ("s.jsonl", "s.csv", "s.tsv", "s.parquet", "s.arrow", "s.jsonl.gz", "s.csv.gz"):
        Path(name).write_bytes(text)
        error = refusal_of(partial(load, Engine(), Source.of(name), Fields()))
        if error is not None:
            assert isinstance(error, InputFileError)
            assert name in error.message


def of_columns() -> pa.Table:
    rows = [
        {"a": 1, "text": "x", "parts": {"b": 2}, "list": ["y"]},
        {"a": None, "text": "z" * 20, "parts": None, "list": []},
    ]
    return pa.Table.from_pylist(rows)


def damaged(data: st.DataObject, content: bytes) -> bytes:
    found = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(found) - 1))
        removed = data.draw(st.integers(0, 8))
        found[place : place + removed] = data.draw(st.binary(max_size=8))
    return bytes(found)


@given(st.data(), st.sampled_from(sorted(WRITERS)))
def test_a_damaged_file_of_columns(data: st.DataObject, name: str) -> None:
    engine = Engine()
    for text in ("a = 1", "text LIKE 'z%'", "parts.b < 3", "array_contains(list, 'y')"):
        engine.subscribe(text)
    WRITERS[name](of_columns(), name)
    Path(name).write_bytes(damaged(data, Path(name).read_bytes()))
    error = refusal_of(partial(all_matches, Reader(source=Source.of(name)), engine))
    if error is not None:
        assert isinstance(error, InputFileError)
        assert name in error.message


def test_what_is_no_arrow_is_told_so(run: Run) -> None:
    Path("s.jsonl").write_text('{"id": "s", "expression": "a = 1"}', encoding="utf-8")
    Path("e.arrow").write_text('{"a": 1}', encoding="utf-8")
    refused = run("match", "s.jsonl", "e.arrow", code=2).stderr
    assert "e.arrow: neither a file nor a stream of Arrow" in refused
    Path("e.feather").write_bytes(b"FEA1" + bytes(100))
    assert "version 2" in run("match", "s.jsonl", "e.feather", code=2).stderr


# Graphs have no --type.
@given(texts, st.sampled_from(sorted(set(FORMS.values()))))
def test_any_bytes_on_the_command_line(text: bytes, form: Form) -> None:
    Path("s.jsonl").write_text('{"id": "s", "expression": "a = 1"}', encoding="utf-8")
    arguments = ["match", "s.jsonl", "-", "--events-format", form, "--type", "a=integer"]
    result = CliRunner().invoke(app, arguments, input=text)
    assert result.exit_code in {0, 2}
    assert result.stderr.count("Error: ") == (result.exit_code == 2)


@pytest.mark.parametrize("name", ["e.jsonl", "e.csv", *WRITERS])
def test_batches_are_numbered_through(run: Run, name: str) -> None:
    """More events than any batch, matched here and there."""
    count = 50_000
    Path("s.jsonl").write_text(
        '{"id": "s", "expression": "x IN (0, 4095, 4096, 16384, 49999)"}', encoding="utf-8"
    )
    if name == "e.jsonl":
        Path(name).write_text(
            "".join(f'{{"x": {number}}}\n' for number in range(count)), encoding="utf-8"
        )
    elif name == "e.csv":
        padding = "y" * 200  # so that there are several blocks
        Path(name).write_text(
            "x,y\n" + "".join(f"{number},{padding}\n" for number in range(count)), encoding="utf-8"
        )
    else:
        WRITERS[name](pa.table({"x": range(count)}), name)
    lines = [json.loads(line) for line in run("match", "s.jsonl", name).stdout.splitlines()]
    assert [line["event"] for line in lines] == [0, 4095, 4096, 16384, 49999]
