"""``Words``: strings as UTF-8 bytes side by side, made into Python's own for whoever asks.

Loops compare and search bytes, and UTF-8 sorts by code point as Python's strings do; so a column of
strings, or a file of them, is used where it lies, and a Python string is made of the few words that
something in Python has to look at. The bytes are known to be right: whoever makes words of
bytes from outside checks them before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import overload

import numpy as np
import numpy.typing as npt

from predicast.arrays.csr import Array, expand, offsets

_ASCII: int = 0x80  # the first byte that is not
_LONG: int = 32  # bytes of words that are taken one by one sooner than byte by byte


class Words(Sequence[str]):
    """Strings by where each begins in UTF-8 bytes; they may repeat, and are in no order."""

    def __init__(self, first: Array, raw: Array, *, is_ascii: bool | None = None) -> None:
        """``first`` has one entry more than there are words; the first need not be 0.

        Whether all are ASCII is found out when it is asked, unless it is known.
        """
        self.first, self.raw = first, raw
        self._is_ascii = is_ascii
        self.in_cases: dict[str, Words] = {}  # what was made of them once (derived/texts.py)
        self.whole: tuple[Words, int] | None = None  # what they are a column of, and from where on

    @classmethod
    def of(cls, strings: Sequence[str]) -> Words:
        """Python's strings, joined; a lone surrogate is refused by the encoder."""
        joined = "".join(strings)
        if joined.isascii():
            sizes = np.fromiter(map(len, strings), np.int64, len(strings))
            return cls(offsets(sizes), np.frombuffer(joined.encode(), np.uint8))
        return cls.of_bytes([string.encode() for string in strings])

    @classmethod
    def of_bytes(cls, encoded: Sequence[bytes]) -> Words:
        """Strings that are encoded already."""
        sizes = np.fromiter(map(len, encoded), np.int64, len(encoded))
        return cls(offsets(sizes), np.frombuffer(b"".join(encoded), np.uint8))

    @classmethod
    def joined(cls, several: Sequence[Words]) -> Words:
        """The words of all, one after the other."""
        if len(several) == 1:
            return several[0]
        raw = [each.text() for each in several]
        sizes = [np.diff(each.first) for each in several]
        nothing = np.zeros(0, np.int64)
        return cls(
            offsets(np.concatenate([*sizes, nothing])),
            np.concatenate([*raw, nothing.astype(np.uint8)]),
        )

    def __len__(self) -> int:
        return len(self.first) - 1

    def text(self) -> Array:
        """The bytes of all words and of nothing else."""
        text: Array = self.raw[self.first[0] : self.first[-1]]
        return text

    def is_ascii(self) -> bool:
        """Whether all characters are, so that each is a byte."""
        if self._is_ascii is None:
            self._is_ascii = int(self.text().max(initial=0)) < _ASCII
        return self._is_ascii

    def nbytes(self) -> int:
        """The memory of the bytes, in a file or not."""
        return int(self.first.nbytes + self.first[-1] - self.first[0])

    def take(self, which: Array) -> Words:
        """Some of the words, by number."""
        begins, ends = self.first[which], self.first[which + 1]
        first = offsets(ends - begins)
        if first[-1] < _LONG * len(which):
            return Words(first, self.raw[expand(self.first, which)])
        whole = memoryview(np.ascontiguousarray(self.raw))  # type: ignore[arg-type]
        pieces = [whole[a:b] for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]
        return Words(first, np.frombuffer(b"".join(pieces), np.uint8))

    def part(self, begin: int, end: int) -> Words:
        """The words from one number up to another, where they lie."""
        known = self._is_ascii or None  # of words that are not, some may be
        return Words(self.first[begin : end + 1], self.raw, is_ascii=known)

    def column(self, begin: int, end: int) -> Words:
        """The same, as one of many columns: what is made of one is made of the whole at once."""
        words = self.part(begin, end)
        words.whole = self, begin
        return words

    def encoded(self) -> list[bytes]:
        """The bytes of each."""
        whole, start = self.text().tobytes(), int(self.first[0])
        return [whole[a:b] for a, b in pairwise((self.first - start).tolist())]

    def bytes_at(self, index: int) -> bytes:
        """The bytes of one."""
        return self.raw[self.first[index] : self.first[index + 1]].tobytes()

    @cached_property
    def ranked(self) -> tuple[list[str], npt.NDArray[np.int32]]:
        """The distinct words, sorted, and where each word is among them; made when asked for."""
        every = list(self)
        distinct = sorted(set(every))
        rank = {word: place for place, word in enumerate(distinct)}
        return distinct, np.fromiter(map(rank.__getitem__, every), np.int32, len(every))

    @cached_property
    def distinct(self) -> tuple[npt.NDArray[np.int32], Words]:
        """Which of the distinct words each one is, and those; made when asked for."""
        known: dict[bytes, int] = {}
        numbers = (known.setdefault(word, len(known)) for word in self.encoded())
        return np.fromiter(numbers, np.int32, len(self)), Words.of_bytes(list(known))

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        if index < 0:
            index += len(self)
        return str(self.raw[self.first[index] : self.first[index + 1]].data, "utf-8")

    def __iter__(self) -> Iterator[str]:
        whole, start = self.text().tobytes(), int(self.first[0])
        bounds = (self.first - start).tolist()
        if self.is_ascii():
            text = whole.decode()
            return iter([text[a:b] for a, b in pairwise(bounds)])
        return iter([whole[a:b].decode() for a, b in pairwise(bounds)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def windows(raw: Array, begin: Array, end: Array) -> npt.NDArray[np.uint64]:
    """The eight bytes from each place on, the first the most significant; 0 where it ends before.

    As numbers they are in the order of the bytes, but for what they do not tell apart.
    """
    found = np.zeros(len(begin), np.uint64)
    if not len(raw):
        return found
    for step in range(8):
        place = np.minimum(begin + step, len(raw) - 1)
        byte = np.where(begin + step < end, raw[place], 0)
        found = (found << np.uint64(8)) | byte.astype(np.uint64)
    return found
