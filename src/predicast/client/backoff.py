"""How long a client waits before it tries to connect again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

_FIRST_S: Final = 0.05
_LONGEST_S: Final = 10.0


def delays(jitter: Callable[[], float]) -> Iterator[float]:
    """Seconds, twice as long each time up to a limit, each between half and all of that.

    ``jitter`` gives numbers from 0 to 1: clients that lost the same broker come back at different
    moments.
    """
    longest = _FIRST_S
    while True:
        yield longest * (0.5 + jitter() / 2)
        longest = min(2 * longest, _LONGEST_S)
