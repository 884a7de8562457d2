"""``RecentEvents``: a tenant's last events, at hand without reading a file. No I/O."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from predicast.protocol.records import StoredEvent

_EACH: Final = 400  # bytes of an event beside its body, about


class RecentEvents:
    """Bounded by bytes; whole chunks go, the oldest first."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._bytes = 0
        self._chunks: deque[tuple[int, int, int]] = deque()  # first, last, bytes
        self.by_position: dict[int, StoredEvent] = {}

    def add(self, events: Sequence[StoredEvent], size: int) -> None:
        """Events that were kept, behind the others."""
        size += _EACH * len(events)
        self._chunks.append((events[0].position, events[-1].position, size))
        self._bytes += size
        for event in events:
            self.by_position[event.position] = event
        while self._bytes > self._most and len(self._chunks) > 1:
            first, last, gone = self._chunks.popleft()
            self._bytes -= gone
            for position in range(first, last + 1):
                del self.by_position[position]

    def cut(self, first: int) -> None:
        """Forget what was before."""
        while self._chunks and self._chunks[0][1] < first:
            begin, last, gone = self._chunks.popleft()
            self._bytes -= gone
            for position in range(begin, last + 1):
                del self.by_position[position]
