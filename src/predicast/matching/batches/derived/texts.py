"""Functions of strings over the bytes of whole columns.

What is ASCII changes its case byte by byte, all words at once, and what has no case ("–", "日")
stays. Words with other letters go through Python one by one: some have no single
counterpart ("İ" becomes two), and some depend on where they stand (a sigma at the end of a word).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from predicast.arrays import Array, Words, offsets

_HALF: Final = 0x80  # the first byte that is not ASCII
_APART: Final = np.uint8(0x20)  # the one bit in which "A" and "a" differ


def lowered(words: Words) -> Words:
    """All in lower case."""
    return _in_case(words, ord("A"), str.lower)


def uppered(words: Words) -> Words:
    """All in upper case."""
    return _in_case(words, ord("a"), str.upper)


CASES: Final[dict[str, Callable[[Words], Words]]] = {"lower": lowered, "upper": uppered}


def lengths(words: Words) -> npt.NDArray[np.int64]:
    """How many characters each has."""
    first, text = words.first - words.first[0], words.text()
    if words.is_ascii():
        return np.asarray(np.diff(first))
    begins = offsets((text & 0xC0) != 0x80)  # the other bytes continue a character
    return np.asarray(np.diff(begins[first]))


def _in_case(words: Words, first_letter: int, change: Callable[[str], str]) -> Words:
    text = words.text()
    is_letter = (text - np.uint8(first_letter)) < np.uint8(26)
    changed = text ^ (is_letter.view(np.uint8) * _APART)
    first = words.first - words.first[0]
    if words.is_ascii():
        return Words(first, changed)
    is_beyond = text >= _HALF
    # All bytes of a character that is not ASCII are beyond it.
    if all(change(each) == each for each in {*text[is_beyond].tobytes().decode()}):
        return Words(first, changed)
    odd = np.unique(np.searchsorted(first, np.flatnonzero(is_beyond), "right") - 1)
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
