"""``Words``: the sorted strings of a file, decoded one by one as a search asks for them.

A binary search looks at some twenty of a million words. Decoding each costs several times what
a Python string that is already there does, but making all of them takes a moment and memory that
processes cannot share. So they are made when about as much has been spent on decoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import overload

from predicast.arrays import Array


class Words(Sequence[str]):
    """Strings by where each begins in UTF-8 bytes."""

    def __init__(self, first: Array, raw: Array) -> None:
        """``first`` has one entry more than there are words; all of it is known to be right."""
        self.first, self.raw = first, raw
        self._first = first.data
        self._raw = raw.data
        self._decoded = 0
        self._all: list[str] | None = None

    def __len__(self) -> int:
        return len(self.first) - 1

    def known(self) -> Sequence[str]:
        """What to search in: these, or a list once that is worth it."""
        if self._all is None and self._decoded > len(self):
            self._all = list(self)
        return self if self._all is None else self._all

    def nbytes(self) -> int:
        """The memory of the bytes, in the file or not."""
        return self.first.nbytes + self.raw.nbytes

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
        self._decoded += 1
        return str(self._raw[self._first[index] : self._first[index + 1]], "utf-8")

    def __iter__(self) -> Iterator[str]:
        whole = self._raw.tobytes()
        firsts = self.first.tolist()
        for begin, end in pairwise(firsts):
            yield whole[begin:end].decode()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]
