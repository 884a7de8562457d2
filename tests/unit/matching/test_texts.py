"""Strings of a batch as bytes: their cases, lengths, numbers and slices, as Python has them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from predicast.arrays import Words
from predicast.errors import InvalidValueError
from predicast.matching.batches.derived import texts
from predicast.matching.batches.derived.columns import are_same
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.typed_values import SAMPLE, Strings
from predicast.model import Constraint, Event, Operator
from predicast.testing.strategies import strings

# Letters whose case is more or fewer characters, depends on neighbours, or goes one way only.
LETTERS = st.text(st.sampled_from("aAzZ@[`{ßẞΣσςİıŉǅÅéÉ\u0307\0.' \n日\U00010400"))


@given(st.lists(LETTERS | strings()))
@example(["ΑΣ", "Σ", "ΑΣ\0", "ΑΣ.", "ß", "İ"])
@example(["ΑΣ", "Ω", "abc", "ΑΣ"])
def test_cases_and_lengths_are_those_of_single_strings(words: list[str]) -> None:
    given = Words.of(["É", *words]).part(1, len(words) + 1)
    assert texts.in_case("lower", given) == [word.lower() for word in words]
    assert texts.in_case("upper", given) == [word.upper() for word in words]
    assert texts.lengths(given).tolist() == [len(word) for word in words]


def columns(values: list[str | None]) -> dict[str, pa.Array]:
    plain = pa.array(values, pa.string())
    padded = pa.concat_arrays([pa.array(["before", None]), plain, pa.array(["after"])])
    with_nulls = pa.DictionaryArray.from_arrays(
        pa.array(
            [0 if value is None else place for place, value in enumerate(values, 1)], pa.int8()
        ),
        pa.array([None, *values], pa.string()),
    )
    written = pa.array(["null" if value is None else value for value in values], pa.string())
    bits = pa.py_buffer(np.packbits([value is not None for value in values], bitorder="little"))
    hidden = pa.Array.from_buffers(pa.string(), len(values), [bits, *written.buffers()[1:]])
    return {
        "plain": plain,
        "bytes that are null": hidden,
        "large": plain.cast(pa.large_string()),
        "view": plain.cast(pa.string_view()),
        "slice": padded.slice(2, len(values)),
        "dictionary": plain.dictionary_encode(),
        "nulls in the dictionary": with_nulls,
    }


VALUES: list[str | None] = ["b", "", None, "é\0", "b", "\U0001f600", "a" * 100]


@pytest.mark.parametrize("layout", columns(VALUES))
@pytest.mark.parametrize("chunks", [1, 2])
def test_every_layout_is_the_same_strings(layout: str, chunks: int) -> None:
    column = pa.chunked_array([columns(VALUES)[layout]] * chunks)
    batch = EventBatch.from_arrow(pa.table({"x": column}), ["x"])
    assert [event.get("x") for event in batch.events()] == VALUES * chunks
    for start, piece in batch.chunks(3):
        found = [event.get("x") for event in piece.events()]
        assert found == (VALUES * chunks)[start : start + 3]
        for part in piece.parts("x"):
            assert isinstance(part, Strings)
            assert len(part.words) <= 3


@pytest.mark.parametrize("count", [3, 4 * SAMPLE])
@pytest.mark.parametrize("different", [2, 10 * SAMPLE])
def test_words_are_numbered_where_they_repeat(count: int, different: int) -> None:
    values = [f"w{n % different}" for n in range(count)]
    [from_arrow] = EventBatch.from_arrow(pa.table({"x": values}), ["x"]).parts("x")
    [from_events] = EventBatch.from_events([Event({"x": value}) for value in values]).parts("x")
    assert isinstance(from_arrow, Strings)
    assert isinstance(from_events, Strings)
    assert from_arrow.have_own_words  # where they lie
    for part in (from_arrow.numbered(), from_events):
        assert [part.value(place) for place in range(len(part))] == values
        repeat = 2 * len(set(values[:SAMPLE])) <= len(values[:SAMPLE])
        assert part.have_own_words is not repeat
        assert len(part.words) == (len(set(values)) if repeat else len(values))


def test_many_columns_change_their_case_together() -> None:
    several = [["aB", "", "Z{@"], [], ["é", "É"], ["XyZ"]]
    given = [Words.of(["?", *words]).part(1, len(words) + 1) for words in several]
    texts.change_together("upper", given)
    assert [len(words.in_cases) for words in given] == [1, 1, 0, 1]  # the letters beyond ASCII wait
    for words, right in zip(given, several, strict=True):
        assert texts.in_case("upper", words) == [word.upper() for word in right]
        assert texts.in_case("upper", words) is texts.in_case("upper", words)
        assert texts.in_case("lower", words) == [word.lower() for word in right]


@given(st.lists(st.tuples(LETTERS, LETTERS)), st.booleans())
def test_columns_are_compared_as_single_strings_are(
    pairs: list[tuple[str, str]], numbered: bool
) -> None:
    pairs = [*pairs, ("same", "same"), ("", "")]
    left, right = (Strings(None, None, Words.of(each)) for each in zip(*pairs, strict=True))
    if numbered:
        order = np.arange(len(pairs), dtype=np.int32)[::-1].copy()
        right = Strings(order, None, Words.of([other for _, other in reversed(pairs)]))
    assert are_same(left, right).tolist() == [one == other for one, other in pairs]


def test_tests_do_not_depend_on_the_order_of_words() -> None:
    values = ["b", "a", "c", "b", "é"]
    part = Strings(None, None, Words.of(values))
    for operator in (Operator.EQ, Operator.LT, Operator.LE, Operator.PREFIX, Operator.CONTAINS):
        for operand in ("", "a", "b", "bb", "é", "z"):
            test = Constraint("x", operator, operand)
            assert part.test(test).tolist() == [test.holds(value) for value in values]
    numbered = Strings(np.array([2, 0], np.int32), None, Words.of(values))
    assert numbered.test(Constraint("x", Operator.IN, ("c", "d"))).tolist() == [True, False]


@pytest.mark.parametrize("layout", ["plain", "dictionary"])
@pytest.mark.parametrize("raw", [b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"a\xc3"])
def test_what_is_not_unicode_is_refused_with_its_row(layout: str, raw: bytes) -> None:
    column = pa.array([b"fine", None, raw, b"\xc3\xa9"], pa.binary()).view(pa.string())
    column = column.dictionary_encode() if layout == "dictionary" else column
    with pytest.raises(InvalidValueError, match=r"row 2: .* is not Unicode") as caught:
        EventBatch.from_arrow(pa.table({"x": column}), ["x"])
    assert caught.value.row == 2
