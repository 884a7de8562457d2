"""``Sources``: the texts that subscriptions were given as, by key, where they were given as text.

Of a text in another language than the engine's own, that dialect is noted as well.

::

    data    price < 10symbol = 'IBM'…      UTF-8, one text after the other; new ones at the end
    first   [0, 10, …]                     by key
    size    [10, 14, …]                    by key; 0: there is no text

Texts of the past stay until they take more room than those in force; then all are copied. What has
parameters is not here: its text is in its template (``templates.py``), shared by all that have it.
What was loaded from a file stays there until somebody asks for a text or sets one.

Cost: the bytes of the text and twelve more, and an entry of a dictionary where there is a dialect;
O(1) to set, to forget and to read.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

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
        data, first, size = self._read()
        if key >= len(size) or not size[key]:
            return None
        return data[first[key] : first[key] + size[key]].decode()

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
        data, first, size = self._held if self._unread is None else self._read()
        if key < len(size) and size[key]:
            self._dead += size[key]
            size[key] = 0
            if self._dead > _ROOM + len(data) // 2:
                self._held, self._dead = self._packed(), 0
                data, first, size = self._held
        if text is None:
            return
        if key >= len(size):
            more = max(key + 1 - len(size), len(size) // 8)
            first.frombytes(bytes(8 * more))
            size.frombytes(bytes(4 * (len(first) - len(size))))
        encoded = text.encode()
        first[key] = len(data)
        data += encoded
        size[key] = len(encoded)

    def set_dialect(self, key: int, dialect: str) -> None:
        """Note the dialect of a text that was set."""
        self._dialects[key] = dialect

    def arrays(self) -> tuple[np.ndarray, pa.LargeStringArray]:
        """All of them: keys that ascend, and a text of each."""
        if self._unread is not None:
            return self._unread
        import numpy as np
        import pyarrow as pa

        data, first, size = self._packed()
        sizes = np.frombuffer(size, np.int32) if size else np.zeros(0, np.int32)
        keys = np.flatnonzero(sizes).astype(np.int32)
        offsets = np.append(np.frombuffer(first, np.int64)[keys] if first else [], len(data))
        buffers = pa.py_buffer(offsets.astype(np.int64)), pa.py_buffer(bytes(data))
        return keys, pa.LargeStringArray.from_buffers(len(keys), *buffers)

    def copy(self) -> Sources:
        """The same, untouched by later changes."""
        copy = Sources()
        data, first, size = self._held
        copy._held = _Held(data[:], first[:], size[:])
        copy._dead, copy._unread = self._dead, self._unread
        copy._dialects = self._dialects.copy()
        return copy

    def nbytes(self) -> int:
        """Bytes of texts, those of the past included, and of where they are."""
        data, first, size = self._held
        return len(data) + first.itemsize * len(first) + size.itemsize * len(size)

    def _packed(self) -> _Held:
        """Only the texts in force, in the order of their keys."""
        data, first, size = self._held
        packed = bytearray()
        moved = array("q", bytes(8 * len(first)))
        for key, length in enumerate(size):
            if length:
                moved[key] = len(packed)
                packed += data[first[key] : first[key] + length]
        return _Held(packed, moved, size)

    def _read(self) -> _Held:
        """As it is held in memory, from now on if it was not."""
        if self._unread is not None:
            import numpy as np

            keys, texts = self._unread
            bound = int(keys[-1]) + 1
            begin, end = np.zeros(bound, np.int64), np.zeros(bound, np.int64)
            _, offsets, data = texts.buffers()
            held = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(keys) + 1]
            begin[keys], end[keys] = held[:-1], held[1:]
            first, size = array("q"), array("i")
            first.frombytes(begin.tobytes())
            size.frombytes((end - begin).astype(np.int32).tobytes())
            self._held = _Held(bytearray(data), first, size)
            self._unread = None
        return self._held
