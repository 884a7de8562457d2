"""Texts of ids as Arrow has them, in an array that grows.

Answers name subscriptions by position in it. A new id is appended; its position is its key until a
key is given out a second time (``Moved``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

MAX_BYTES: Final = (1 << 31) - 1  # of all ids together: Arrow's strings have offsets of 32 bits
ROOM: Final = 1 << 10  # ids that texts have room for at once


class IdTexts(NamedTuple):
    """What answers name subscriptions by: texts, and where that of each key stands in them."""

    texts: GrowingTexts
    moved: Moved | None  # None: where the key says


class Moved(NamedTuple):
    """Keys that were given out again, and where their texts are.

    They are few, and a bit for each key stays in a cache that a position for each would not.
    """

    bits: np.ndarray
    position: np.ndarray

    def positions(self, keys: np.ndarray) -> np.ndarray:
        """Where the texts of some keys are."""
        import numpy as np

        bits = self.bits.take(keys >> 3, mode="clip") >> (keys & 7).astype(np.uint8)
        moved = np.flatnonzero(bits & 1)
        positions = keys.astype(np.int32)
        positions[moved] = self.position[keys[moved]]
        return positions

    def with_key(self, key: int, place: int) -> Moved:
        """The same with one more; in place, if there is room."""
        moved = self if key < len(self.position) else self._larger(key + 1 + ROOM)
        moved.position[key] = place
        moved.bits[key >> 3] |= 1 << (key & 7)
        return moved

    def _larger(self, room: int) -> Moved:
        import numpy as np

        room = max(room, 2 * len(self.position))
        bits, position = np.zeros(room // 8 + 1, np.uint8), np.zeros(room, np.int32)
        bits[: len(self.bits)], position[: len(self.position)] = self.bits, self.position
        return Moved(bits, position)


class GrowingTexts:
    """Strings one after the other, as Arrow lays them out, with room for more."""

    def __init__(self, texts: pa.StringArray) -> None:
        import numpy as np

        _, offsets, data = texts.buffers()
        self._count = len(texts)
        first = texts.offset
        held = np.frombuffer(offsets, np.int32)[first : first + self._count + 1]
        ends = np.zeros(self._count + 1 + ROOM, np.int32)
        ends[: self._count + 1] = held - held[0]
        self._used = int(ends[self._count])  # bytes of all of them
        raw = np.zeros(self._used + 16 * ROOM, np.uint8)
        if self._used:
            raw[: self._used] = np.frombuffer(data, np.uint8)[held[0] : held[0] + self._used]
        self._set_arrays(ends, raw)

    def _set_arrays(self, offsets: np.ndarray, data: np.ndarray) -> None:
        self._offsets, self._data = offsets, data
        # Python writes a memoryview faster than an array.
        self._ends: Any = memoryview(offsets)  # type: ignore[arg-type]
        self._raw: Any = memoryview(data)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return self._count

    def has_room(self, text: str) -> bool:
        """Whether one more can be told from the others by offsets of 32 bits."""
        return self._used + 4 * len(text) <= MAX_BYTES

    def append(self, text: str) -> int:
        """One more; its position. Arrays made before keep what they had."""
        encoded, place = text.encode(), self._count
        end = self._used + len(encoded)
        if end > len(self._raw) or place + 1 == len(self._ends):
            self._make_room(end)
        self._raw[self._used : end] = encoded
        self._ends[place + 1] = self._used = end
        self._count = place + 1  # the last step: somebody may look meanwhile
        return place

    def _make_room(self, used: int) -> None:
        """Room for at least one more text, with which so many bytes are used."""
        import numpy as np

        offsets, data = self._offsets, self._data
        if used > len(data):
            data = np.append(data, np.zeros(used, np.uint8))
        if self._count + 1 == len(offsets):
            offsets = np.append(offsets, np.zeros(self._count, np.int32))
        self._set_arrays(offsets, data)

    def array(self) -> pa.StringArray:
        """All of them, without a copy."""
        import pyarrow as pa

        count = self._count  # first: what is there then is in whatever arrays are there now
        used = int(self._offsets[count])
        offsets = pa.py_buffer(self._offsets[: count + 1])
        data = pa.py_buffer(self._data[:used])
        return pa.StringArray.from_buffers(count, offsets, data)
