"""``Sources``: the texts that subscriptions were given as, by key, where they were given as text.

Of a text in another language than the engine's own, that dialect is noted as well.

::

    data      price < 10symbol = 'IBM'…      UTF-8, one text after the other; new ones at the end
    first     [0, 10, …]                     by key
    size      [10, 14, …]                    by key; 0: there is no text

    waiting   {7: "price < 20", 9: None}     what was set since, until there are some hundreds

Texts of the past stay until they take more room than those in force; then all are copied. What has
parameters is not here: its text is in its template (``templates.py``), shared by all that have it.
What was loaded from a file stays there until somebody asks for a text or sets one.

What waits is written all at once: where each text of a million stands is far away in memory, and
Python would wait for it text by text.

Cost: the bytes of the text and twelve more, and an entry of a dictionary where there is a dialect;
O(1) to set, to forget and to read.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

_ROOM: Final = 1 << 16  # bytes of the past that are not worth copying the others
_MOST_WAITING: Final = 512  # texts


class _Held(NamedTuple):
    """Replaced as a whole, so that an interrupted change never leaves half of another."""

    data: bytearray
    first: np.ndarray
    size: np.ndarray


def _nothing() -> _Held:
    return _Held(bytearray(), np.zeros(0, np.int64), np.zeros(0, np.int32))


class Sources:
    """Texts by key, of those subscriptions that have one."""

    def __init__(self) -> None:
        self._held = _nothing()
        self._waiting: dict[int, str | None] = {}
        self._dead = 0  # bytes of the past; an estimate after an interrupted change
        self._unread: tuple[np.ndarray, pa.LargeStringArray] | None = None
        self._dialects: dict[int, str] = {}

    @classmethod
    def restored(
        cls,
        keys: np.ndarray,
        texts: pa.LargeStringArray,
        dialects: Mapping[int, str] = MappingProxyType({}),
    ) -> Sources:
        """Those of a file: keys that ascend, a text of each, and dialects where they have one."""
        sources = cls()
        sources._unread = (keys, texts) if len(keys) else None
        sources._dialects = dict(dialects)
        return sources

    def get(self, key: int) -> str | None:
        """The text of a subscription, if it was given as one."""
        if key in self._waiting:
            return self._waiting[key]
        data, first, size = self._read()
        if key >= len(size) or not size[key]:
            return None
        begin = int(first[key])
        return data[begin : begin + int(size[key])].decode()

    def dialect(self, key: int) -> str | None:
        """The dialect of a subscription's text, if it is not the engine's own."""
        return self._dialects.get(key)

    def dialects(self) -> Mapping[int, str]:
        """All of them by key; to be looked at, not to be changed."""
        return self._dialects

    def set(self, key: int, text: str | None) -> None:
        """Note the text of a subscription, or that it has none; it is of no dialect now."""
        if self._dialects:
            self._dialects.pop(key, None)
        self._waiting[key] = text
        if len(self._waiting) > _MOST_WAITING:
            self._write()

    def set_dialect(self, key: int, dialect: str) -> None:
        """Note the dialect of a text that was set."""
        self._dialects[key] = dialect

    def arrays(self) -> tuple[np.ndarray, pa.LargeStringArray]:
        """All of them: keys that ascend, and a text of each."""
        self._write()
        if self._unread is not None:
            return self._unread
        import pyarrow as pa

        data, first, size = self._packed()
        keys = np.flatnonzero(size).astype(np.int32)
        offsets = np.append(first[keys], len(data))
        buffers = pa.py_buffer(offsets), pa.py_buffer(bytes(data))
        return keys, pa.LargeStringArray.from_buffers(len(keys), *buffers)

    def copy(self) -> Sources:
        """The same, untouched by later changes."""
        self._write()
        copy = Sources()
        data, first, size = self._held
        copy._held = _Held(data[:], first.copy(), size.copy())
        copy._dead, copy._unread = self._dead, self._unread
        copy._dialects = self._dialects.copy()
        return copy

    def nbytes(self) -> int:
        """Bytes of texts, those of the past included, and of where they are."""
        data, first, size = self._held
        return len(data) + first.nbytes + size.nbytes

    def _write(self) -> None:
        """Have what waits stand beside the others."""
        waiting = self._waiting
        if not waiting:
            return
        if self._unread is None and not len(self._held.size) and not any(waiting.values()):
            self._waiting = {}  # there never was a text
            return
        keys = np.fromiter(waiting, np.int64, len(waiting))
        self._held = data, first, size = _with_room(self._read(), int(keys.max()) + 1)
        texts = [(text or "").encode() for text in waiting.values()]
        sizes = np.fromiter(map(len, texts), np.int32, len(texts))
        dead, begin = int(size[keys].sum()), len(data)
        data += b"".join(texts)
        first[keys] = begin + np.cumsum(sizes) - sizes
        size[keys] = sizes
        self._dead += dead
        self._waiting = {}
        if self._dead > _ROOM + len(data) // 2:
            self._held, self._dead = self._packed(), 0

    def _packed(self) -> _Held:
        """Only the texts in force, in the order of their keys."""
        data, first, size = self._held
        keys = np.flatnonzero(size)
        sizes, begins = size[keys], first[keys]
        after = np.cumsum(sizes, dtype=np.int64)
        if len(keys) and after[-1] == len(data) and np.array_equal(begins, after - sizes):
            return self._held  # as after a bulk load
        there = bytes(data)
        spans = zip(begins.tolist(), (begins + sizes).tolist(), strict=True)
        packed = bytearray(b"".join([there[begin:end] for begin, end in spans]))
        moved = np.zeros(len(first), np.int64)
        moved[keys] = after - sizes
        return _Held(packed, moved, size)

    def _read(self) -> _Held:
        """As it is held in memory, from now on if it was not."""
        if self._unread is not None:
            keys, texts = self._unread
            bound = int(keys[-1]) + 1
            begin, end = np.zeros(bound, np.int64), np.zeros(bound, np.int64)
            _, offsets, data = texts.buffers()
            held = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(keys) + 1]
            begin[keys], end[keys] = held[:-1], held[1:]
            self._held = _Held(bytearray(data), begin, (end - begin).astype(np.int32))
            self._unread = None
        return self._held


def _with_room(held: _Held, bound: int) -> _Held:
    """The same with room for all keys below a bound."""
    data, first, size = held
    if bound <= len(size):
        return held
    more = np.zeros(max(bound - len(size), len(size) // 8), np.int64)
    return _Held(data, np.append(first, more), np.append(size, more.astype(np.int32)))
