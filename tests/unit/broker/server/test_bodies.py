"""Bodies that are larger than they look, and bodies of tables."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.broker.server.arrow_rows import bodies_of_arrow
from predicast.broker.server.bodies import Limit, read_events
from predicast.broker.server.call import check_depth, count_listed
from predicast.errors import InvalidEventError, LimitReachedError, PredicastError, ProtocolError

LIMIT = Limit(batch=10, depth=64)


def stream(table: pa.Table, compression: str | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def test_values_of_tables_are_values_of_events() -> None:
    table = pa.table(
        {
            "at": [dt.datetime(2026, 11, 16, 12, tzinfo=dt.UTC)],
            "day": [dt.date(2026, 11, 16)],
            "total": [Decimal("12.50")],
            "tags": [["a", "b"]],
            "order": [{"n": 1, "note": None}],
            "kind": pa.array(["x"]).dictionary_encode(),
            "nothing": pa.nulls(1),
        }
    )
    assert bodies_of_arrow(stream(table), 10) == [
        (
            b'{"at":{"$timestamp":"2026-11-16T12:00:00Z"},"day":{"$timestamp":"2026-11-16T00:00:00Z"},'
            b'"total":{"$decimal":"12.50"},"tags":["a","b"],"order":{"n":1},"kind":"x"}'
        )
    ]


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
@pytest.mark.parametrize("encoded", [False, True])
def test_a_compressed_stream_is_refused(compression: str, encoded: bool) -> None:
    column = pa.array(["a" * 100_000] * 3)
    table = pa.table({"a": column.dictionary_encode() if encoded else column})
    with pytest.raises(InvalidEventError, match="without compression"):
        bodies_of_arrow(stream(table, compression), 10)


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        (pa.table({"a": pa.nulls(1 << 30)}), LimitReachedError),
        (pa.table({"a": pa.array([[None] * 5])}), InvalidEventError),
        (pa.table({"a": pa.array([b"x"])}), InvalidEventError),
        (pa.table({"a": pa.array([[1, 2]], pa.list_(pa.int8(), 2))}), InvalidEventError),
        (pa.table({"a": pa.array([[True] * 1_000_001])}), LimitReachedError),
        (
            pa.table({"a": pa.DictionaryArray.from_arrays(pa.array([0] * 9), ["x" * (8 << 20)])}),
            LimitReachedError,
        ),
    ],
    ids=["nulls", "nulls in a list", "bytes", "fixed lists", "booleans", "one long string"],
)
def test_a_table_that_is_larger_than_its_bytes_is_refused(
    table: pa.Table, kind: type[PredicastError]
) -> None:
    with pytest.raises(kind):
        bodies_of_arrow(stream(table), 10)


GOOD = stream(pa.table({"a": [1, 2], "b": pa.array(["x", "y"]).dictionary_encode()}))


@given(st.integers(0, len(GOOD) - 1), st.integers(0, 255), st.integers(0, len(GOOD)))
def test_a_damaged_stream_is_events_or_is_refused(place: int, byte: int, length: int) -> None:
    damaged = bytearray(GOOD)
    damaged[place] = byte
    for body in (bytes(damaged), GOOD[:length]):
        try:
            assert len(bodies_of_arrow(body, 10)) <= 10
        except PredicastError:
            continue


@pytest.mark.parametrize(
    ("media", "body"),
    [
        ("application/json", b"[" + b"1," * 1_000_000 + b"1]"),
        ("application/x-ndjson", b"\n" * 1_000_000),
        ("application/cloudevents-batch+json", b"[" + b"{}," * 1_000_000 + b"{}]"),
    ],
)
def test_more_events_than_may_be_are_not_even_read(media: str, body: bytes) -> None:
    with pytest.raises(LimitReachedError):
        read_events({"content-type": media}, body, "p", LIMIT)


@pytest.mark.parametrize(
    ("body", "count"),
    [(b"[1, 2]", 2), (b'["a,b", [1, 2], {"x": "],"}]', 3), (b'["a\\",", 1]', 2), (b"[", 1)],
)
def test_elements_of_a_list_are_counted(body: bytes, count: int) -> None:
    assert count_listed(body, 10) == count


@pytest.mark.parametrize("part", [rb"\"", b'"', b"\\", b'"\\'])
def test_depth_is_found_in_one_pass_whatever_the_strings_are(part: bytes) -> None:
    """A pass per quotation mark would take hours."""
    body = b"[" * 65 + b'"' + part * 2_000_000
    with pytest.raises(ProtocolError, match="deep"):
        check_depth(body, 64)
    check_depth(body, 65)


def test_a_limit_is_not_reached_by_few() -> None:
    wanted: Sequence[Any] = [{"n": n, "x": list(range(200))} for n in range(10)]
    import msgspec

    events = read_events({}, msgspec.json.encode(wanted), "p", LIMIT)
    assert [event.attributes for event in events] == list(wanted)
