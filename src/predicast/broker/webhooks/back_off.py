"""``BackOff``: how long a sink that failed is left alone."""

from __future__ import annotations

import random
from typing import Final, NamedTuple


class BackOff(NamedTuple):
    """Twice as long after each failure, up to a limit, with some jitter.

    Half of the time is chance: sinks that failed together are not called together again.
    """

    first_s: float = 1.0
    longest_s: float = 900.0

    def delay(self, failures: int, chance: random.Random) -> float:
        """Seconds until the next attempt, after so many failures in a row."""
        whole = min(self.longest_s, self.first_s * 2.0 ** min(failures - 1, 60))
        return whole * chance.uniform(0.5, 1.0)


DEFAULT_BACK_OFF: Final = BackOff()
