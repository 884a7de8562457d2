"""Many small columns of text are read as each would be alone."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from predicast.arrow import text_bytes, texts_together, valid_places
from predicast.matching.batches.derived.texts import in_case
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.typed_values import Strings

TEXTS = st.text("aé日\0", max_size=9) | st.none()


def with_bytes_in_nulls(texts: Sequence[str | None]) -> pa.Array:
    """Arrow allows that what is null has bytes."""
    whole = pa.array([text or "hidden" for text in texts])
    bits = np.packbits([text is not None for text in texts], bitorder="little")
    return pa.Array.from_buffers(
        pa.string(), len(texts), [pa.py_buffer(bits.tobytes()), *whole.buffers()[1:]]
    )


def has_bytes_in_nulls(array: pa.Array) -> bool:
    first, _ = text_bytes(array)
    return any(
        size and not there for size, there in zip(np.diff(first), valid_places(array), strict=True)
    )


@st.composite
def batches(draw: st.DrawFn) -> list[pa.Array]:
    length = draw(st.integers(1, 20))
    kind = draw(st.sampled_from([pa.string(), pa.large_string()]))
    made = []
    for _ in range(draw(st.integers(2, 5))):
        texts = draw(st.lists(TEXTS, min_size=length, max_size=length))
        make = draw(st.sampled_from([pa.array, pa.array, with_bytes_in_nulls]))
        made.append(make(texts).cast(pa.string()).cast(kind))
    start = draw(st.integers(0, length - 1))
    return [array.slice(start) for array in made]


@given(batches())
def test_columns_are_read_as_each_alone(arrays: list[pa.Array]) -> None:
    together = texts_together(arrays)
    if together is None:
        assert any(has_bytes_in_nulls(array) for array in arrays)
        return
    first, raw, _ = together.texts
    texts = [bytes(raw[a:b]) for a, b in pairwise(first)]
    assert together.is_ascii == all(text.isascii() for text in texts)
    spans = pairwise(together.starts)
    for array, (begin, end) in zip(arrays, spans, strict=True):
        rows = range(len(array)) if together.rows is None else together.rows[begin:end].tolist()
        expected = [(n, t.encode()) for n, t in enumerate(array.to_pylist()) if t is not None]
        assert list(zip(rows, texts[begin:end], strict=True)) == expected


def test_what_is_not_unicode_is_read_alone() -> None:
    odd = pa.Array.from_buffers(
        pa.string(), 1, [None, *pa.array([b"\xc3"], pa.binary()).buffers()[1:]]
    )
    # Side by side the two would be a letter.
    other = pa.Array.from_buffers(
        pa.string(), 1, [None, *pa.array([b"\xa9"], pa.binary()).buffers()[1:]]
    )
    assert texts_together([odd, other]) is None


def test_a_batch_has_the_same_strings_either_way() -> None:
    table = pa.table(
        {
            "a": ["x", None, "é"],
            "b": pa.nulls(3, pa.string()),
            "c": ["p", "q", "r"],
            "d": with_bytes_in_nulls(["u", None, "v"]),
        }
    )
    batch = EventBatch.from_arrow(table)
    expected = [
        {name: text for name, text in row.items() if text is not None} for row in table.to_pylist()
    ]
    assert [dict(event.items()) for event in batch.events()] == expected
    assert all(isinstance(part, Strings) for name in "abcd" for part in batch.parts(name))


def test_columns_change_their_case_together() -> None:
    table = pa.table(
        {"a": ["aB", None, "É"], "b": ["İx", "Z", None], "c": pa.nulls(3, pa.string())}
    )
    batch = EventBatch.from_arrow(table)
    [a], [b] = batch.parts("a"), batch.parts("b")
    assert isinstance(a, Strings)
    assert isinstance(b, Strings)
    assert list(in_case("lower", a.words)) == ["ab", "é"]
    assert list(in_case("lower", b.words)) == ["i̇x", "z"]
    assert in_case("lower", a.words).raw is in_case("lower", b.words).raw


def test_plans_are_of_a_schema_and_of_attributes() -> None:
    one = pa.table({"a": ["x"], "b": ["y"], "n": pa.array([1], pa.int8())})
    other = pa.table({"b": ["x"], "a": ["y"], "n": pa.array([None, 7]).slice(1)})
    both, alone = frozenset({"a", "n"}), frozenset({"b"})
    for table, wanted, expected in (
        (one, both, {"a": "x", "n": 1}),
        (other, both, {"a": "y", "n": 7}),
        (other, alone, {"b": "x"}),
        (one, both, {"a": "x", "n": 1}),
    ):
        [event] = EventBatch.from_arrow(table, wanted).events()
        assert dict(event.items()) == expected
