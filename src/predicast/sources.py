"""``Sources``: the texts that subscriptions were given as, by key, where they were given as text.

::

    data    price < 10symbol = 'IBM'…      UTF-8, one text after the other; new ones at the end
    first   [0, 10, …]                     by key
    size    [10, 14, …]                    by key; 0: there is no text

Texts of the past stay until they take more room than those in force; then all are copied. What has
parameters is not here: its text is in its template (``templates.py``), shared by all that have it.

Cost: the bytes of the text and twelve more; O(1) to set, to forget and to read.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final, NamedTuple

_ROOM: Final = 1 << 16  # bytes of the past that are not worth copying the others


class _Held(NamedTuple):
    """Replaced as a whole, so that an interrupted change never leaves half of another."""

    data: bytearray
    first: array[int]
    size: array[int]


class Sources:
    """Texts by key, of those subscriptions that have one."""

    def __init__(self) -> None:
        self._held = _Held(bytearray(), array("q"), array("i"))
        self._dead = 0  # bytes of the past; an estimate after an interrupted change

    def get(self, key: int) -> str | None:
        """The text of a subscription, if it was given as one."""
        data, first, size = self._held
        if key >= len(size) or not size[key]:
            return None
        return data[first[key] : first[key] + size[key]].decode()

    def set(self, key: int, text: str | None) -> None:
        """Note the text of a subscription, or that it has none."""
        self.forget(key)
        if text is None:
            return
        data, first, size = self._held
        if key >= len(size):
            more = max(key + 1 - len(size), len(size) // 8)
            first.frombytes(bytes(8 * more))
            size.frombytes(bytes(4 * more))
        encoded = text.encode()
        first[key] = len(data)
        data += encoded
        size[key] = len(encoded)

    def forget(self, key: int) -> None:
        """A subscription is gone, or has no text any more."""
        data, _, size = self._held
        if key >= len(size):
            return
        self._dead += size[key]
        size[key] = 0
        if self._dead > _ROOM + len(data) // 2:
            self._held, self._dead = self._packed(), 0

    def items(self) -> Iterator[tuple[int, str]]:
        """All texts with their keys, which ascend."""
        data, first, size = self._held
        for key, length in enumerate(size):
            if length:
                yield key, data[first[key] : first[key] + length].decode()

    def copy(self) -> Sources:
        """The same, untouched by later changes."""
        copy = Sources()
        data, first, size = self._held
        copy._held = _Held(data[:], first[:], size[:])
        copy._dead = self._dead
        return copy

    def nbytes(self) -> int:
        """Bytes of texts, those of the past included, and of where they are."""
        data, first, size = self._held
        return len(data) + first.itemsize * len(first) + size.itemsize * len(size)

    def _packed(self) -> _Held:
        data, first, size = self._held
        packed = bytearray()
        moved = array("q", bytes(8 * len(first)))
        for key, length in enumerate(size):
            if length:
                moved[key] = len(packed)
                packed += data[first[key] : first[key] + length]
        return _Held(packed, moved, size)
