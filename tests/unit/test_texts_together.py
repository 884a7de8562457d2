"""Many small columns of text are read as each would be alone."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.arrow import are_together, texts_in_place, texts_together
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


@st.composite
def batches(draw: st.DrawFn) -> list[pa.Array]:
    length = draw(st.integers(1, 20))
    made = []
    for _ in range(draw(st.integers(2, 5))):
        texts = draw(st.lists(TEXTS, min_size=length, max_size=length))
        make = draw(st.sampled_from([pa.array, with_bytes_in_nulls]))
        kind = draw(st.sampled_from([pa.string(), pa.large_string()]))
        made.append(make(texts).cast(pa.string()).cast(kind))
    start = draw(st.integers(0, length - 1))
    return [array.slice(start, draw(st.just(length - start))) for array in made]


@given(batches())
def test_columns_are_read_as_each_alone(arrays: list[pa.Array]) -> None:
    assert are_together(arrays)
    for array, found in zip(arrays, texts_together(arrays), strict=True):
        alone = texts_in_place(array)
        assert (found is None) == (alone is None)
        if found is None or alone is None:
            continue
        places = np.arange(len(array)) if found.places is None else found.places
        texts = [bytes(found.raw[a:b]) for a, b in zip(found.first, found.first[1:], strict=False)]
        expected = [(n, t.encode()) for n, t in enumerate(array.to_pylist()) if t is not None]
        assert list(zip(places.tolist(), texts, strict=True)) == expected


@pytest.mark.parametrize(
    "arrays",
    [
        [],
        [pa.array(["a"])],
        [pa.array(["a"]), pa.array(["a", "b"])],
        [pa.array(["a"]), pa.array(["b", "a"]).slice(1)],
        [pa.array(["a"]), pa.array(["a"]).dictionary_encode()],
        [pa.array([], pa.string())] * 2,
    ],
    ids=["none", "one", "lengths", "offsets", "layouts", "empty"],
)
def test_what_is_not_alike_is_read_alone(arrays: list[pa.Array]) -> None:
    assert not are_together(arrays)


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
