"""Words as bytes: the same as a list of strings, whoever asks, and coded as a list is searched."""

from bisect import bisect_right

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from predicast.arrays import Words, windows
from predicast.matching.columnar import loops
from predicast.matching.columnar.compile import word_table as tables
from predicast.matching.columnar.compile.axes import FAILS
from predicast.matching.columnar.compile.cuts import TextCuts
from predicast.matching.columnar.kernels import entries
from predicast.matching.columnar.layout.question import Question
from predicast.matching.columnar.text_axes import TextAxis, pool_of
from predicast.testing.strategies import strings
from tests.unit.matching.columnar.questions import blank_question

pytestmark = pytest.mark.usefixtures("both_loops")

# Words that begin alike, are longer than a window, end in NUL, and have characters of 1 to 4 bytes.
LETTERS = st.sampled_from("ab\0é日\U0001f600")
TEXTS = strings() | st.builds(
    lambda text, times, end: text * times + end, st.text(LETTERS), st.integers(0, 5), LETTERS
)


def in_the_middle(words: list[str]) -> Words:
    """The same words with others around them."""
    return Words.of(["é", *words, "z"]).part(1, len(words) + 1)


@given(st.lists(TEXTS), st.data())
def test_they_are_a_list_of_strings(words: list[str], data: st.DataObject) -> None:
    for found in (Words.of(words), in_the_middle(words)):
        assert list(found) == [found[place] for place in range(len(words))] == found[:] == words
        assert found.encoded() == [word.encode() for word in words]
        assert found.is_ascii() == "".join(words).isascii()
        which = data.draw(st.lists(st.integers(0, len(words) - 1))) if words else []
        assert found.take(np.array(which, np.int64)) == [words[place] for place in which]
        assert Words.joined([found, found, Words.of([])]) == [*words, *words]
        distinct, ranks = found.ranked
        assert distinct == sorted(set(words))
        assert [distinct[rank] for rank in ranks] == words


@pytest.mark.parametrize("place", [3, -4])
def test_there_is_an_end(place: int) -> None:
    assert Words.of(["a", "b", "c"])[-1] == "c"
    with pytest.raises(IndexError):
        Words.of(["a", "b", "c"])[place]


@given(st.sets(TEXTS).map(sorted), st.lists(TEXTS))
@example(["a", "a\0", "a\0\0"], ["a", "a\0", "", "a\0\0\0", "b"])
@example(["\U0010ffff" * 3], ["\U0010ffff" * 2, "\U0010ffff" * 3, "\U0010ffff" * 4])
@example(
    ["/srv/1/", "/srv/2/", "/srv/22/"], ["", "/sr", "/srv/", "/srv/1", "/srv/2/x", "/srw", "z"]
)
def test_they_are_searched_as_a_list_is(words: list[str], asked: list[str]) -> None:
    cuts = TextCuts(in_the_middle(words))
    every = [*asked, *words]
    assert cuts.code_all(in_the_middle(every)).tolist() == [
        bisect_right(words, each) for each in every
    ]
    united, codes = TextCuts.united([cuts, TextCuts(Words.of(asked[:1]))])
    assert united.words == sorted({*words, *asked[:1]})
    assert [united.words[code] for code in codes] == [*words, *asked[:1]]
    assert cuts.take(np.arange(0, len(words), 2)).words == words[::2]


def right_codes(cuts: list[str], word: str, *, whole: bool) -> tuple[int, int]:
    if whole and word not in cuts:
        return FAILS
    ends = [cut + "\0" for cut in cuts]
    return bisect_right(cuts, word), bisect_right(ends, word)


@given(st.sets(TEXTS).map(sorted), st.lists(TEXTS), st.booleans())
@example(["/srv/1/", "/srv/2/"], ["", "/srv/", "/srv/1/x", "/srv/2", "/srw"], False)
def test_axes_code_batches_and_single_strings_alike(
    cuts: list[str], asked: list[str], whole: bool
) -> None:
    axis = TextAxis(
        TextCuts(Words.of(cuts)),
        TextCuts(Words.of([cut + "\0" for cut in cuts])),
        whole=whole,
    )
    asked = [*asked, *cuts]
    right = [right_codes(cuts, word, whole=whole) for word in asked]
    low, high = axis.code_all(Words.of(asked))
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == right
    pool = pool_of([(2, 1, axis), (0, 0, axis)])
    for word, codes in zip(asked, right, strict=True):
        encoded = word.encode()
        raw = np.zeros(len(encoded) + 9, np.uint8)
        raw[2 : 2 + len(encoded)] = np.frombuffer(encoded, np.uint8)
        spots = np.array([-1, -1, 2, 2 + len(encoded), 2 + len(encoded)])
        found, wide = np.full((2, 1, 4), 7, np.int32), np.ones((1, 4), bool)
        # The first attribute has no string; on the last axis all strings are the same.
        said = np.array([(1, 2, 0, 0, 0, 1), (0, 0, 1, 0, 0, 1), (1, 3, -1, 5, 6, 0)])
        arrays = blank_question(4)._replace(**pool._asdict(), of_strings=said)
        arrays = arrays._replace(spots=spots, raw=raw, low=found[0], high=found[1], wide=wide)
        loops.now.match_event(Question(arrays), -1)
        assert found[:, 0, 2].tolist() == list(codes)
        assert (found[:, 0, :2] == 7).all()
        assert found[:, 0, 3].tolist() == [5, 6]
        assert wide.tolist() == [[True, True, False, True]]


def test_words_that_collide_have_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    words = Words.of([f"w{n}" for n in range(100)])
    assert tables.word_table(words) is not None
    monkeypatch.setattr(tables, "hashes", lambda words: np.zeros(len(words), np.uint64))
    assert tables.word_table(words) is None
    axis = TextAxis(TextCuts(words), TextCuts(words), whole=True)
    assert axis.code("w0") == (1, 1)


@given(st.lists(TEXTS))
def test_a_table_has_every_word_near_its_slot(words: list[str]) -> None:
    distinct = Words.of(sorted(set(words)))
    table = tables.word_table(distinct)
    assert table is not None
    hashed = tables.hashes(distinct)
    for number, each in enumerate(hashed.tolist()):
        slots = [(each + step) % len(table.slots) for step in range(table.farthest + 1)]
        assert number in [int(table.slots[slot] & tables.NUMBER) for slot in slots]


def test_windows_are_in_the_order_of_bytes() -> None:
    words = Words.of(["", "\0", "a", "ab", "abcdefgh", "abcdefghi", "b", "é"])
    keys = windows(words.raw, words.first[:-1], words.first[1:]).tolist()
    assert keys == sorted(keys)
    assert keys[2] == int.from_bytes(b"a" + bytes(7), "big")
    assert keys[4] == keys[5] == int.from_bytes(b"abcdefgh", "big")
    assert windows(np.zeros(0, np.uint8), np.zeros(1, int), np.zeros(1, int)).tolist() == [0]


def test_both_ways_are_in_use() -> None:
    assert loops.now in (loops.PLAIN, entries.COMPILED)
