"""``Settling``: when what a neighbour has announced is in force everywhere.

A subscription is acknowledged as *settled* when every broker that could forward an event towards it
has been told. Told are the neighbours, and each says the same of those behind it: so a window from
one interface is settled once all that was sent to the others until then is settled there. In a tree
nobody waits for itself.

::

    host --- broker ---- parent ---- ...
      1 >              2 >        3 >
                                 < 4
             < 5      < 4

A neighbour that cannot be reached is waited for until it is forgotten.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Final

_MOST: Final = 1_024  # windows of one neighbour that wait one by one


class Settling:
    """What each interface waits for, in the order of its stream."""

    def __init__(self) -> None:
        self._queues: dict[str, deque[tuple[int, dict[str, float]]]] = {}

    def wait(self, source: str, sequence: int, others: dict[str, float]) -> None:
        """This window is settled when each of the others has settled so much.

        Infinity stands for what a neighbour has not been told yet. Where very many windows wait,
        the last ones wait together.
        """
        queue = self._queues.setdefault(source, deque())
        if len(queue) < _MOST:
            queue.append((sequence, others))
            return
        _, last = queue[-1]
        for name, needed in others.items():
            last[name] = max(needed, last.get(name, 0))

    def settled(self, source: str, received: int) -> int:
        """How far a source's stream is settled."""
        queue = self._queues.get(source)
        return queue[0][0] - 1 if queue else received

    def reached(self, other: str, settled: int) -> list[str]:
        """A neighbour has settled so much; whose streams may have moved on by that."""
        return self._release(other, lambda needed: settled >= needed)

    def gone(self, other: str) -> list[str]:
        """A neighbour is waited for no more."""
        self._queues.pop(other, None)
        return self._release(other, lambda _: True)

    def told(self, other: str, sequence: int) -> None:
        """A neighbour has been told all there was to tell, by that message."""
        for queue in self._queues.values():
            for _, others in queue:
                if others.get(other) == math.inf:
                    others[other] = sequence

    def forget(self, source: str) -> None:
        """The stream of a source begins anew."""
        self._queues.pop(source, None)

    def moved(self, other: str, to: str, needed: float) -> None:
        """Instead of one neighbour, or of its former stream, wait for another."""
        for queue in self._queues.values():
            for _, others in queue:
                if others.pop(other, None) is not None:
                    others[to] = needed

    def _release(self, other: str, is_enough: Callable[[float], bool]) -> list[str]:
        moved = []
        for source, queue in list(self._queues.items()):
            before = len(queue)
            for _, others in queue:
                needed = others.get(other)
                if needed is None:
                    continue
                if not is_enough(needed):
                    break  # later windows need at least as much
                del others[other]
            while queue and not queue[0][1]:
                queue.popleft()
            if len(queue) < before:
                moved.append(source)
            if not queue:
                del self._queues[source]  # every acknowledgement looks at all of them
        return moved
