"""Where kernels write matches: buffers that are filled, taken and filled again."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

_ROOM: Final = 1 << 16  # matches; small batches fit in one buffer


class Output(NamedTuple):
    """A buffer as kernels see it."""

    events: npt.NDArray[np.int64]
    keys: npt.NDArray[np.int64]


class Writer:
    """Collects matches from kernel calls."""

    def __init__(self, room: int = _ROOM) -> None:
        self._taken: list[Output] = []
        self._buffer = Output(np.empty(room, np.int64), np.empty(room, np.int64))
        self._used = 0
        self.first_event = 0  # the number of the event that kernels call 0

    def room(self, least: int) -> Output:
        """A buffer with room for at least that many matches."""
        left = len(self._buffer.keys) - self._used
        if left < least:
            self._flush()
            size = max(least, 2 * len(self._buffer.keys))
            self._buffer = Output(np.empty(size, np.int64), np.empty(size, np.int64))
        return Output(self._buffer.events[self._used :], self._buffer.keys[self._used :])

    def written(self, count: int) -> None:
        """The kernel wrote that many into the buffer it was given last."""
        if self.first_event:
            self._buffer.events[self._used : self._used + count] += self.first_event
        self._used += count

    def _flush(self) -> None:
        if self._used:
            self._taken.append(
                Output(self._buffer.events[: self._used], self._buffer.keys[: self._used])
            )
        self._used = 0

    def matches(self) -> Output:
        """Everything written so far."""
        self._flush()
        if len(self._taken) == 1:
            return self._taken[0]
        if not self._taken:
            return Output(np.empty(0, np.int64), np.empty(0, np.int64))
        return Output(
            np.concatenate([each.events for each in self._taken]),
            np.concatenate([each.keys for each in self._taken]),
        )
