"""Strings of a batch side by side: every string is its word, and words that repeat are one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.arrays import Words
from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.typed_values import Integers, Strings
from predicast.matching.columnar import loops
from predicast.matching.columnar.batch_texts import BatchTexts, batch_texts
from predicast.matching.columnar.reserved import LIKELY_DIFFERENT, OFTEN_DIFFERENT
from predicast.testing.strategies import strings

pytestmark = pytest.mark.usefixtures("both_loops")

WORDS = st.sampled_from(["", "a", "ab", "abcdefgh", "abcdefghi", "abcdefgh\0", "é"]) | strings()
COLUMNS = st.dictionaries(
    st.sampled_from("abcd"), st.lists(st.none() | WORDS, min_size=5, max_size=5)
)
NUMBERS = {"c": 0, "a": 1, "b": 2}  # nobody looks at d


def batch_of(columns: dict[str, list[str | None]], *, numbered: bool) -> EventBatch:
    parts = {}
    for name, values in columns.items():
        rows = np.array([row for row, value in enumerate(values) if value is not None], np.int64)
        words = Words.of([value for value in values if value is not None])
        numbers, distinct = words.distinct
        own = Strings(None, rows, words)
        parts[name] = [Strings(numbers, rows, distinct) if numbered else own]
    return EventBatch(5, parts)


def words_of(texts: BatchTexts) -> list[str]:
    both = texts.spots.reshape(-1, 2).tolist()
    return [texts.raw[begin:end].tobytes().decode() for begin, end in both]


@given(COLUMNS, st.booleans(), st.integers(0, 3))
def test_every_string_is_its_word(
    columns: dict[str, list[str | None]], numbered: bool, searched: int
) -> None:
    texts = batch_texts(batch_of(columns, numbered=numbered), NUMBERS, searched)
    words = words_of(texts)
    there = sorted(NUMBERS[name] for name in columns if name in NUMBERS and any_of(columns[name]))
    assert texts.attributes.tolist() == there
    assert texts.event_word.shape == (5, len([number for number in there if number < searched]))
    for column, number in enumerate(there):
        [name] = [name for name, each in NUMBERS.items() if each == number]
        here = slice(*texts.string_first[column : column + 2])
        found = dict(zip(texts.rows[here].tolist(), texts.numbers[here].tolist(), strict=True))
        expected = {row: value for row, value in enumerate(columns[name]) if value is not None}
        assert {row: words[word] for row, word in found.items()} == expected
        assert len(set(found.values())) == len(set(expected.values()))
        begin, end = texts.word_first[column : column + 2].tolist()
        assert {*found.values()} == {*range(begin, end)}
        if column < texts.event_word.shape[1]:
            of_events = texts.event_word[:, column].tolist()
            assert of_events == [found.get(row, -1) for row in range(5)]
    assert texts.columns_of(3).tolist() == [
        there.index(number) if number in there else -1 for number in range(3)
    ]


def any_of(values: list[str | None]) -> bool:
    return any(value is not None for value in values)


@pytest.mark.parametrize("different", [1, OFTEN_DIFFERENT, OFTEN_DIFFERENT + 1, 1000])
def test_words_that_hardly_repeat_are_not_numbered(different: int) -> None:
    values = [f"word {number % different}" for number in range(1000)]
    batch = EventBatch(1000, {"a": [Strings(None, None, Words.of(values))]})
    texts = batch_texts(batch, {"a": 0}, 1)
    words = words_of(texts)
    assert [words[number] for number in texts.numbers.tolist()] == values
    few = len({*values[:LIKELY_DIFFERENT]}) <= OFTEN_DIFFERENT
    if not few:
        assert len(words) > OFTEN_DIFFERENT
    if (
        loops.now is loops.PLAIN
    ):  # the compiled loop gives a word another number where slots are full
        assert len(words) == (different if few else 1000)


def test_other_values_are_no_strings() -> None:
    batch = EventBatch(2, {"a": [Integers(np.array([1, 2]), None)], "b": []})
    texts = batch_texts(batch, NUMBERS, 2)
    assert not len(texts.attributes)
    assert texts.event_word.shape == (2, 0)
