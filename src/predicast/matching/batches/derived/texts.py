"""Functions of strings over the bytes of whole columns.

What is ASCII changes its case byte by byte, all words at once, and what has no case ("–", "日")
stays. Words with other letters go through Python one by one: some have no single
counterpart ("İ" becomes two), and some depend on where they stand (a sigma at the end of a word).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from predicast.arrays import Array, Words, offsets

_HALF: Final = 0x80  # the first byte that is not ASCII
_PIECE: Final = 1 << 15  # bytes
_LETTERS: Final = np.uint8(26)
_APART: Final = np.uint8(0x20)  # the one bit in which "A" and "a" differ


class _Case(NamedTuple):
    """What changes the case of a string, and the first of the letters that it changes."""

    change: Callable[[str], str]
    first_letter: np.uint8


CASES: Final = {
    "lower": _Case(str.lower, np.uint8(ord("A"))),
    "upper": _Case(str.upper, np.uint8(ord("a"))),
}


def in_case(case: str, words: Words) -> Words:
    """The words in lower or upper case, which they keep for whoever asks again."""
    if words.whole is not None:
        whole, begin = words.whole
        return in_case(case, whole).column(begin, begin + len(words))
    if case not in words.in_cases:
        words.in_cases[case] = _in_case(words, CASES[case])
    return words.in_cases[case]


def change_together(case: str, several: Iterable[Words]) -> None:
    """Have words of many columns in a case before it is asked for: a column takes many calls."""
    some = [words for words in several if case not in words.in_cases and words.is_ascii()]
    if len(some) < 2:
        return
    joined = Words.joined(some)
    raw, at = _in_ascii(joined.raw, CASES[case].first_letter), 0
    for words in some:
        changed = Words(joined.first[at : at + len(words) + 1], raw, is_ascii=True)
        words.in_cases[case] = changed
        at += len(words)


def lengths(words: Words) -> npt.NDArray[np.int64]:
    """How many characters each has."""
    first, text = words.first - words.first[0], words.text()
    if words.is_ascii():
        return np.asarray(np.diff(first))
    begins = offsets((text & 0xC0) != 0x80)  # the other bytes continue a character
    return np.asarray(np.diff(begins[first]))


def _in_ascii(text: Array, first_letter: np.uint8) -> Array:
    """Bytes with the letters of ASCII changed, a piece at a time that stays in a near cache."""
    changed = np.empty_like(text)
    for begin in range(0, len(text), _PIECE):
        piece = text[begin : begin + _PIECE]
        is_letter = (piece - first_letter) < _LETTERS
        apart = is_letter.view(np.uint8) * _APART
        np.bitwise_xor(piece, apart, out=changed[begin : begin + _PIECE])
    return changed


def _in_case(words: Words, case: _Case) -> Words:
    text, change = words.text(), case.change
    changed = _in_ascii(text, case.first_letter)
    first = words.first - words.first[0]
    if words.is_ascii():
        return Words(first, changed, is_ascii=True)
    beyond = np.flatnonzero(text >= _HALF)
    # All bytes of a character that is not ASCII are beyond it.
    if all(change(each) == each for each in {*text[beyond].tobytes().decode()}):
        return Words(first, changed)
    odd = np.unique(np.searchsorted(first, beyond, "right") - 1)
    return _replaced(first, changed, odd, _changed(list(words.take(odd)), change))


def _changed(words: list[str], change: Callable[[str], str]) -> list[bytes]:
    """Words in another case, all in one go if nothing in them is what they are joined by.

    That is no letter, and nothing that letters are seen through: to a sigma it is a word's end.
    """
    joined = "\0".join(words)
    if joined.count("\0") == len(words) - 1:
        return [each.encode() for each in change(joined).split("\0")]
    return [change(word).encode() for word in words]


def _replaced(first: Array, text: Array, which: Array, instead: list[bytes]) -> Words:
    """The words with others in the place of some."""
    sizes = np.diff(first)
    pieces, at = [], 0
    for begin, end, other in zip(
        first[which].tolist(), first[which + 1].tolist(), instead, strict=True
    ):
        pieces += [text[at:begin].tobytes(), other]
        at = end
    pieces.append(text[at:].tobytes())
    sizes[which] = [len(other) for other in instead]
    return Words(offsets(sizes), np.frombuffer(b"".join(pieces), np.uint8))
