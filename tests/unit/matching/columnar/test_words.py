"""Words of a file: the same as a list of strings, whoever asks."""

from bisect import bisect_right

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.matching.columnar.compile.cuts import TextCuts
from predicast.matching.columnar.compile.words import Words
from predicast.testing.strategies import strings


def stored(words: list[str]) -> Words:
    encoded = [word.encode() for word in words]
    first = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return Words(first, np.frombuffer(b"".join(encoded), np.uint8))


@given(st.sets(strings()).map(sorted), st.lists(strings()))
def test_they_are_searched_as_a_list_is(words: list[str], asked: list[str]) -> None:
    found = stored(words)
    assert list(found) == [found[place] for place in range(len(words))] == found[:] == words
    cuts = TextCuts(stored(words))
    assert [cuts.code(each) for each in asked] == [bisect_right(words, each) for each in asked]
    united, codes = TextCuts.united([cuts, TextCuts(asked[:1])])
    assert list(united.words) == sorted({*words, *asked[:1]})
    assert [united.words[code] for code in codes] == [*words, *asked[:1]]


def test_all_are_made_once_enough_have_been_asked_for() -> None:
    words = stored([f"w{n:03}" for n in range(100)])
    asked = 0
    while words.known() is words:
        asked += 1
        assert bisect_right(words.known(), f"w{asked % 100:03}") == asked % 100 + 1
    assert 10 < asked < 30
    assert words.known() == [f"w{n:03}" for n in range(100)]


@pytest.mark.parametrize("place", [3, -4])
def test_there_is_an_end(place: int) -> None:
    assert stored(["a", "b", "c"])[-1] == "c"
    with pytest.raises(IndexError):
        stored(["a", "b", "c"])[place]
