"""Arrow tables without end: ``python -m tests.properties.fuzz_arrow --seconds 300``.

The property of ``test_arrow_edge.py``, seed after seed, until the time is over; then what was done
is counted. A failure ends it, with the smallest table that hypothesis found and its seed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from typing import Any, Final

from hypothesis import HealthCheck, Verbosity, given, seed, settings

from predicast import Engine
from tests.properties.arrow_edge import cases, check

_EXAMPLES: Final = 200  # between two looks at the clock


def run(seconds: float, first: int) -> Counter[str]:
    """Check tables for that long; what was checked."""
    Engine().warm_up()  # it is the compiled loops whose indices may be checked
    counts: Counter[str] = Counter()
    end = time.monotonic() + seconds
    number = first
    while time.monotonic() < end:
        print(f"seed {number}: {_told(counts)}", file=sys.stderr)  # noqa: T201
        _some(number, counts)
        number += 1
    return counts


def _some(number: int, counts: Counter[str]) -> None:
    @seed(number)
    @settings(
        max_examples=_EXAMPLES,
        database=None,
        deadline=None,
        verbosity=Verbosity.normal,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def property_(case: Any) -> None:
        check(case, counts)

    property_()


def _told(counts: Counter[str]) -> str:
    words = ("tables", "rows", "decisions", "refused")
    return ", ".join(f"{counts[word]:,} {word}" for word in words)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=0)
    given_ = parser.parse_args()
    print(_told(run(given_.seconds, given_.seed)))  # noqa: T201
