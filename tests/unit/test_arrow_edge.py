"""Tables at the Arrow edge: what is accepted, what is refused, and in which row."""

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from predicast import Engine, Interval
from predicast.errors import (
    ColumnClashError,
    InvalidConstraintError,
    InvalidEventError,
    InvalidIntervalError,
    InvalidOptionError,
    InvalidValueError,
    NestingTooDeepError,
    PredicastError,
    UnknownColumnError,
    UnsupportedColumnError,
    UnsupportedTableError,
)
from predicast.language.arrow_form import SCHEMA
from predicast.matching.batches.event_batch import EventBatch

ROWS = [{"n": 1, "s": "x"}, {"n": 2, "s": None}, {"n": None, "s": "y"}]
TABLE = pa.Table.from_pylist(ROWS)


def engine(*texts: str) -> Engine:
    made = Engine()
    made.subscribe_many((text, text) for text in texts)
    return made


def found(given: Any, *texts: str) -> list[list[str]]:
    """The texts that each row matches, up to the last row that matches any."""
    made = engine(*texts)
    matches = made.match_arrow(given).to_pylist()
    rows = 1 + max((match["event"] for match in matches), default=-1)
    return [
        sorted(match["subscription"] for match in matches if match["event"] == row)
        for row in range(rows)
    ]


def dictionary(indices: list[int | None], words: list[Any], kind: pa.DataType) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(words, kind))


@pytest.mark.parametrize(
    ("kind", "words", "text"),
    [
        (pa.int64(), [5, None, 1], "x != 1"),
        (pa.float64(), [5.0, None, 1.0], "x != 1"),
        (pa.string(), ["5", None, "1"], "x != '1'"),
        (pa.string_view(), ["5", None, "1"], "x != '1'"),
        (pa.bool_(), [True, None, False], "x = TRUE"),
        (pa.date32(), [date(2026, 1, 2), None, date(2026, 1, 1)], "x != DATE '2026-01-01'"),
    ],
    ids=str,
)
@pytest.mark.parametrize("indices", [[0, 1, 2], [0, None, 2], [0, 1, None, 2, 1]], ids=str)
def test_a_null_in_a_dictionary_is_null(
    kind: pa.DataType, words: list[Any], text: str, indices: list[int | None]
) -> None:
    column = dictionary(indices, words, kind)
    said = [None if place is None else words[place] for place in indices]
    right = [
        ["x IS NULL"] if value is None else [text] if value == words[0] else [] for value in said
    ]
    while not right[-1]:
        right.pop()
    assert found(pa.table({"x": column}), text, "x IS NULL") == right


def test_an_index_out_of_its_dictionary_is_refused() -> None:
    for words in (["a"], [1]):
        column = pa.DictionaryArray.from_arrays(pa.array([0, 7]), pa.array(words), safe=False)
        with pytest.raises(UnsupportedColumnError, match="'x' cannot be read") as caught:
            engine("x IS NULL").match_arrow(pa.table({"x": column}))
        assert caught.value.column == "x"


def test_a_null_struct_has_no_runs() -> None:
    runs = pa.RunEndEncodedArray.from_arrays([3], [7])
    struct = pa.StructArray.from_arrays([runs], ["x"], mask=pa.array([False, True, False]))
    texts = ("o.x = 7", "o.x IS NULL")
    assert found(pa.table({"o": struct}), *texts) == [["o.x = 7"], ["o.x IS NULL"], ["o.x = 7"]]


class OnlyStream:
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return TABLE.__arrow_c_stream__(requested_schema)


class OnlyArray:
    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return TABLE.to_batches()[0].__arrow_c_array__(requested_schema)


@pytest.mark.parametrize(
    "make",
    [
        lambda: TABLE,
        lambda: TABLE.to_batches()[0],
        TABLE.to_reader,
        OnlyStream,
        OnlyArray,
        lambda: pa.array(ROWS),
        lambda: pd.DataFrame(ROWS),
        lambda: pd.DataFrame(ROWS).convert_dtypes(),
        lambda: pd.DataFrame(ROWS).astype({"s": "category"}),
        lambda: pl.DataFrame(ROWS),
        lambda: pl.DataFrame(ROWS).with_columns(pl.col("s").cast(pl.Categorical)),
        lambda: duckdb.from_arrow(TABLE),
        lambda: duckdb.from_arrow(TABLE).to_arrow_reader(),
    ],
)
def test_whatever_speaks_arrow_is_a_table(make: Callable[[], Any]) -> None:
    texts = ("n >= 2", "s = 'x'", "s IS NULL")
    assert found(make(), *texts) == [["s = 'x'"], ["n >= 2", "s IS NULL"]]
    assert engine(*texts).count_arrow(make()).to_pylist() == [1, 2, 0]


def _kind(given: object) -> str:
    return type(given).__name__  # not its repr, which may be another in each process


@pytest.mark.parametrize(
    "given", [ROWS, {"n": [1]}, None, "n", object(), 7, TABLE.schema], ids=_kind
)
def test_anything_else_is_refused(given: Any) -> None:
    made = Engine()
    for call in (made.match_arrow, made.count_arrow, made.subscribe_arrow):
        with pytest.raises(UnsupportedTableError, match="pandas or Polars") as caught:
            call(given)
        assert caught.value.type == f"{type(given).__module__}.{type(given).__qualname__}"


@pytest.mark.parametrize("given", [pa.array([1]), TABLE["n"], pl.Series([1])], ids=_kind)
def test_one_column_is_no_table(given: Any) -> None:
    with pytest.raises(UnsupportedTableError, match="table of columns"):
        Engine().match_arrow(given)


def test_subscriptions_from_a_frame() -> None:
    rows = [{"id": "a", "clause": 0, "attribute": "x", "operator": "<", "int_value": 5}]
    table = pa.Table.from_pylist(rows, SCHEMA)
    for given in (pl.from_arrow(table), duckdb.from_arrow(table), table.to_pandas()):
        made = Engine()
        made.subscribe_arrow(given)
        assert made.match({"x": 3}) == ["a"]


def test_a_frame_may_hold_anything_where_nobody_looks() -> None:
    frame = pd.DataFrame({"n": [1, 2], "odd": [1, "one"]}, index=["p", "q"])
    assert found(frame, "n = 2") == [[], ["n = 2"]]
    with pytest.raises(UnsupportedColumnError, match="'odd' is of type object") as caught:
        engine("odd = 1").match_arrow(frame)
    assert caught.value.column == "odd"
    assert found(pd.DataFrame(index=range(2)), "n IS NULL") == [["n IS NULL"]] * 2


def test_unused_columns_are_not_looked_at() -> None:
    # More text than the offsets of one array can count, and an array of one piece of it, 40 times.
    text = pa.array(["x" * (1 << 26)])
    rows = 40
    struct = pa.StructArray.from_arrays([dictionary([0], [b"?"], pa.binary())], ["y"])
    table = pa.table(
        {
            "n": range(rows),
            "text": pa.chunked_array([text] * rows),
            "twice": range(rows),
            "o": pa.chunked_array([struct] * rows),
        }
    )
    table = table.append_column("twice", table["n"])
    assert found(table, "n = 1") == [[], ["n = 1"]]
    with pytest.raises(InvalidEventError, match="two columns are named 'twice'"):
        engine("twice = 1").match_arrow(table)


def test_words_that_a_slice_does_not_use_are_left_out() -> None:
    column = pa.array([f"w{n}" for n in range(1_000)]).dictionary_encode().slice(500, 2)
    [part] = EventBatch.from_arrow(pa.table({"x": column}), ["x"]).parts("x")
    assert part.words == ["w500", "w501"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.decimal128(5, 0), pa.timestamp("ns")])
@pytest.mark.parametrize("values", [[[0, 1000]], [[0], [1000]], [[0, None], [1000]]], ids=str)
def test_numbers_are_read_only_however_they_came(kind: pa.DataType, values: list[Any]) -> None:
    if kind == pa.int8():
        values = [[value and value // 100 for value in chunk] for chunk in values]
    table = pa.table({"x": chunked(*values, kind=kind)})
    [part] = EventBatch.from_arrow(table, ["x"]).parts("x")
    assert not part.values.flags.writeable


def chunked(*chunks: list[Any], kind: pa.DataType) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(chunk, kind) for chunk in chunks])


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (chunked([1.0, None], [2.0, float("nan")], kind=pa.float64()), "nan is not finite"),
        (chunked([1, None], [2, 2**62], kind=pa.timestamp("us")), f"{2**62} .* years 1 to 9999"),
        (chunked([1, None], [2, 2**62], kind=pa.timestamp("s", "UTC")), "years 1 to 9999"),
        (chunked([0, None], [1_000, 1], kind=pa.timestamp("ns")), "nanoseconds"),
        (chunked([1, None], [2, 2**31 - 1], kind=pa.date32()), "years 1 to 9999"),
        (chunked([1, None], [2, 2**60], kind=pa.date64()), "years 1 to 9999"),
    ],
    ids=lambda each: str(each.type) if isinstance(each, pa.ChunkedArray) else "",
)  # fmt: skip
def test_a_value_is_refused_with_its_row(column: pa.ChunkedArray, why: str) -> None:
    with pytest.raises(InvalidValueError, match=rf"attribute 'o\.x', row 3: .*{why}") as caught:
        engine("o.x IS NULL").match_arrow(pa.table({"o.x": column}))
    assert (caught.value.attribute, caught.value.row) == ("o.x", 3)
    # The same as the end of an interval.
    table = pa.table({"lo": column, "hi": pa.nulls(4)})
    with pytest.raises(InvalidValueError, match="attribute 'lo', row 3: ") as caught:
        engine("t IS NULL").match_arrow(table, intervals={"t": ("lo", "hi")})
    assert caught.value.row == 3


def test_text_that_is_not_unicode_is_refused_with_its_row() -> None:
    raw = pa.array([b"a", None, b"b", b"\xff"]).view(pa.string())
    for column in (raw, raw.dictionary_encode(), pa.chunked_array([raw.slice(0, 2), raw.slice(2)])):
        with pytest.raises(InvalidValueError, match=r"attribute 'x', row 3: .* not Unicode"):
            engine("x = 'a'").match_arrow(pa.table({"x": column}))


def test_what_is_wrong_below_a_null_struct_is_not_there() -> None:
    values = pa.array([float("nan"), 2.0])
    struct = pa.StructArray.from_arrays([values], ["x"], mask=pa.array([True, False]))
    assert found(pa.table({"o": struct}), "o.x IS NULL") == [["o.x IS NULL"]]


def test_decimals_are_exact() -> None:
    column = pa.array([Decimal("2.50"), None, Decimal("9007199254740993.00")], pa.decimal128(20, 2))
    texts = ("x = 2.5", "x = 9007199254740993", "x = 9007199254740992")
    assert found(pa.table({"x": column}), *texts) == [[texts[0]], [], [texts[1]]]
    [event, *_] = EventBatch.from_arrow(pa.table({"x": column})).events()
    assert event.get("x") == 2.5
    for scale in (-900, 900):  # Arrow has such types, and no way to say what is in them
        one = pa.py_buffer((1).to_bytes(16, "little"))
        column = pa.Array.from_buffers(pa.decimal128(1, scale), 1, [None, one])
        with pytest.raises(UnsupportedColumnError, match="decimal128"):
            engine("x = 1").match_arrow(pa.table({"x": column}))


@pytest.mark.parametrize(
    ("lo", "hi", "row"),
    [
        ([1, None, 3], [1, 2, 2], 2),
        ([1.5, None, 3.0], [1.5, 2.5, 2.0], 2),
        ([1.5, None, 3.5], [2, 2, 2], 2),
        ([None, "a"], [None, "a"], 1),
        ([None, 1], pa.array([None, 1], pa.timestamp("s")), 1),
    ],
    ids=str,
)
def test_an_interval_is_refused_with_its_row(lo: Any, hi: Any, row: int) -> None:
    table = pa.table({"lo": lo, "hi": hi})
    with pytest.raises(InvalidIntervalError, match=f"attribute 't', row {row}: ") as caught:
        engine("t IS NULL").match_arrow(table, intervals={"t": ("lo", "hi")})
    assert (caught.value.attribute, caught.value.row) == ("t", row)


def test_an_interval_has_two_ends() -> None:
    for pair in (("lo",), ("lo", "hi", "hi"), 5):
        with pytest.raises(InvalidOptionError, match="two columns"):
            engine("t > 1").match_arrow(TABLE, intervals={"t": pair})  # type: ignore[dict-item]


def test_structs_nest_as_deep_as_events_do() -> None:
    array = pa.array([1])
    for _ in range(70):
        array = pa.StructArray.from_arrays([array], ["x"])
    table = pa.table({"x": array, "n": [1]})
    assert found(table, "n = 1") == [["n = 1"]]
    with pytest.raises(NestingTooDeepError):
        engine(".".join(["x"] * 71) + " = 1").match_arrow(table)


@pytest.mark.parametrize(
    ("name", "column", "operator"),
    [
        ("timestamp_value", pa.array([0, 2**62], pa.timestamp("us")), "<"),
        ("timestamp_value", pa.array([0, 2**62], pa.timestamp("ms", "No/Where")), "in"),
        ("timestamp_value", pa.array([0, 2**31 - 1], pa.date32()), "<"),
        ("timestamp_value", pa.array([0, 2**60], pa.date64()), "<"),
        ("string_value", pa.array([b"a", b"\xff"]).view(pa.string()), "="),
        ("id", pa.array([b"a", b"\xff"]).view(pa.string()), "exists"),
        ("attribute", pa.array([b"a", b"\xff"]).view(pa.string()), "exists"),
    ],
    ids=str,
)
def test_constraints_are_refused_with_their_row(name: str, column: pa.Array, operator: str) -> None:
    row = {"clause": 0, "attribute": "t", "operator": operator}
    table = pa.Table.from_pylist([{"id": "a", **row}, {"id": "b", **row}], SCHEMA)
    table = table.set_column(table.column_names.index(name), name, column)
    made = Engine()
    with pytest.raises(InvalidConstraintError, match="row 1: ") as caught:
        made.subscribe_arrow(table)
    assert caught.value.row == 1
    assert len(made) == 0


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("id", pa.array([1])),
        ("clause", pa.array(["0"])),
        ("operator", pa.array([True])),
        ("int_value", pa.array([b"1"])),
        ("timestamp_value", pa.array([2**62], pa.duration("s"))),
        ("string_value", pa.DictionaryArray.from_arrays(pa.array([7]), ["a"], safe=False)),
    ],
    ids=str,
)
def test_columns_that_constraints_cannot_have(name: str, column: pa.Array) -> None:
    row = {"id": "a", "clause": 0, "attribute": "t", "operator": "exists"}
    table = pa.Table.from_pylist([row], SCHEMA)
    table = table.set_column(table.column_names.index(name), name, column)
    with pytest.raises(UnsupportedColumnError, match=f"'{name}'") as caught:
        Engine().subscribe_arrow(table)
    assert caught.value.column == name


def test_two_columns_of_one_name_are_refused_if_they_matter() -> None:
    table = pa.Table.from_pylist([{"id": "a", "clause": 0}], SCHEMA)
    twice = table.append_column("note", pa.nulls(1)).append_column("note", pa.nulls(1))
    Engine().subscribe_arrow(twice)
    with pytest.raises(ColumnClashError, match="two columns are named 'clause'"):
        Engine().subscribe_arrow(table.append_column("clause", table["clause"]))


def test_an_error_travels_with_its_row() -> None:
    import pickle

    with pytest.raises(PredicastError) as caught:
        engine("x = 1").match_arrow(pa.table({"x": np.array([1.0, np.inf])}))
    assert pickle.loads(pickle.dumps(caught.value)).row == 1


def without_chunks(inner: pa.DataType) -> pa.Table:
    schema = pa.schema([("n", inner), ("s", pa.struct([("n", inner)]))])
    return pa.table([pa.chunked_array([], field.type) for field in schema], schema=schema)


@pytest.mark.parametrize(
    "inner",
    [
        pa.dictionary(pa.int8(), pa.float16()),
        pa.run_end_encoded(pa.int16(), pa.dictionary(pa.int8(), pa.float16())),
        pa.run_end_encoded(pa.int32(), pa.string_view()),
    ],
    ids=str,
)
def test_a_table_without_rows_may_have_no_chunks(inner: pa.DataType) -> None:
    made = engine("n IS NULL", "s.n IS NOT NULL")
    assert made.count_arrow(without_chunks(inner)).to_pylist() == []


@pytest.mark.parametrize(
    "inner",
    [pa.opaque(pa.int64(), "strange", "elsewhere"), pa.map_(pa.string(), pa.int8())],
    ids=str,
)
def test_what_cannot_be_read_is_refused_without_rows_too(inner: pa.DataType) -> None:
    for text in ("n IS NULL", "s.n IS NOT NULL"):
        with pytest.raises(UnsupportedColumnError):
            engine(text).count_arrow(without_chunks(inner))


OPEN_ENDS = pa.table(
    {
        "lo": pa.array([3, 3, 3, None, 5], pa.int64()),
        "hi": pa.array([5, 5, 5, 5, None], pa.int64()),
        "lo_open": [False, True, None, True, True],
        "hi_open": [False, False, True, True, True],
    }
)


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.timestamp("us", "UTC")])
def test_ends_may_be_open_row_by_row(kind: pa.DataType) -> None:
    ends = [OPEN_ENDS[name].cast(kind) for name in ("lo", "hi")]
    table = OPEN_ENDS.set_column(0, "lo", ends[0]).set_column(1, "hi", ends[1])
    texts = ["t <= 3", "t < 4", "t > 4 AND t < 6", "t > 3 AND t < 4", "t >= 5", "t = 5"]
    if pa.types.is_timestamp(kind):
        moment = r"TIMESTAMP '1970-01-01 00:00:00.00000\1'"
        texts = [re.sub(r"(\d)", moment, text) for text in texts]
    oracle = Engine(matcher="brute-force")
    oracle.subscribe_many((text, text) for text in texts)
    right = [oracle.match({"t": _interval(**row)}) for row in table.to_pylist()]
    made = engine(*texts)
    names = ("lo", "hi", "lo_open", "hi_open")
    matches = made.match_arrow(table, intervals={"t": names}).to_pylist()
    assert [
        sorted(match["subscription"] for match in matches if match["event"] == row)
        for row in range(5)
    ] == right
    assert len(set(map(str, right))) >= 4


@pytest.mark.parametrize("names", [("lo", "hi"), ("lo", "hi", "lo_open", "hi_open")])
def test_a_struct_of_ends(names: tuple[str, ...]) -> None:
    """It is an interval where that is said; its fields are numbers to those who ask for them."""
    texts = ["t <= 3", "t > 3 AND t < 5", "t = 5", "a.box.lo = 3", "a.box IS NULL", "t IS NULL"]
    ends = [pa.array([*OPEN_ENDS[name].to_pylist(), None]) for name in names]
    box = pa.StructArray.from_arrays([*ends, pa.array(["x"] * 6)], [*names, "note"])
    table = pa.table(
        {"a": pa.StructArray.from_arrays([box], ["box"])} | dict(zip(names, ends, strict=True))
    )
    made = engine(*texts)
    for intervals in ({"t": names}, {"t": "a.box"}):
        matches = made.match_arrow(table, intervals=intervals).to_pylist()
        found = [
            sorted(match["subscription"] for match in matches if match["event"] == row)
            for row in range(6)
        ]
        assert found[0] == ["a.box IS NULL", "a.box.lo = 3", "t <= 3", "t = 5", "t > 3 AND t < 5"]
        assert ("t <= 3" in found[1]) == (len(names) == 2)
        assert found[5] == ["a.box IS NULL", "t IS NULL"]
    looks_at_it = engine("a.box > 4")
    assert looks_at_it.count_arrow(table).to_pylist() == [0] * 6
    assert looks_at_it.count_arrow(table, intervals={"a.box": "a.box"}).to_pylist()[0] == 1


def test_what_is_no_struct_of_ends() -> None:
    half = pa.StructArray.from_arrays([pa.array([1])] * 3, ["lo", "hi", "hi_open"])
    table = pa.table({"half": half, "point": half.field(0), "other": half})
    with pytest.raises(UnsupportedColumnError, match=r"'half.hi_open' and no 'half.lo_open'"):
        engine("t > 1").match_arrow(table, intervals={"t": "half"})
    for name in ("point", "none"):
        with pytest.raises(UnknownColumnError, match="no struct with the fields lo and hi"):
            engine("t > 1").match_arrow(table, intervals={"t": name})


def _interval(lo: Any, hi: Any, *, lo_open: bool | None, hi_open: bool | None) -> Interval:
    """Ends as a row has them: one that is not there is neither open nor closed."""
    return Interval(
        lo, hi, lo_open=bool(lo_open) and lo is not None, hi_open=bool(hi_open) and hi is not None
    )


def test_whether_an_end_is_open_is_a_boolean() -> None:
    names = ("lo", "hi", "hi", "hi_open")
    with pytest.raises(UnsupportedColumnError, match="whether an end is open is a boolean"):
        engine("t > 1").match_arrow(OPEN_ENDS, intervals={"t": names})
    nobody_says = OPEN_ENDS.set_column(2, "lo_open", pa.nulls(5)).slice(0, 1)
    names = ("lo", "hi", "lo_open", "hi_open")
    assert engine("t = 3").count_arrow(nobody_says, intervals={"t": names}).to_pylist() == [1]
