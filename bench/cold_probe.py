"""What a fresh process does whose first answers are timed: ``python -m bench.cold_probe KIND``.

At the top it imports nothing that Predicast needs, since importing is a part of what is timed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from predicast import Engine

_AFTERWARDS: Final = 50  # answers by the compiled loops
_PATIENCE_S: Final = 600.0
_PAUSE_S: Final = 0.001
_BULK: Final = 100_000
_BATCH: Final = 1_000


class Kind(NamedTuple):
    """Subscriptions, and what is asked of them again and again."""

    texts: Callable[[], Iterator[str]]
    event: dict[str, Any]
    absent: str = "fails"
    asked: str = "event"  # or "region", or "arrow"


def _few(*texts: str) -> Callable[[], Iterator[str]]:
    return lambda: (texts[n % len(texts)].format(n=n, m=n % 40) for n in range(200))


KINDS: Final = {
    "points": Kind(_few("x > {m} AND y < {n}"), {"x": 20, "y": 7.5}),
    "equal strings": Kind(_few("symbol = 's{m}' AND price < {n}"), {"symbol": "s7", "price": 9}),
    "regions": Kind(_few("x > {m} AND x < {n}"), {"x": (3, 30)}, asked="region"),
    "patterns": Kind(
        _few("name LIKE 'a%{m}'", "contains(name, '{n}')", "name RLIKE '^a+{m}$'"), {"name": "aa17"}
    ),
    "sets": Kind(_few("x IN ({m}, {n}) AND y != {n}"), {"x": 17, "y": 3}),
    "absent passes": Kind(_few("x = {m} AND y > {n}"), {"z": 1, "y": 50}, absent="passes"),
    "Arrow batches": Kind(_few("x > {m} AND kind = {m}"), {"x": 20, "kind": 7}, asked="arrow"),
    "bulk": Kind(
        lambda: (f"kind = {n % 50} AND x > {n % 997} AND x < {n % 997 + 40}" for n in range(_BULK)),
        {"kind": 7, "x": 500},
    ),
}


def probe(name: str) -> dict[str, float]:
    """Times of one kind, in seconds."""
    start = perf_counter()
    kind = KINDS[name]
    from predicast import Engine
    from predicast.matching.columnar import loops

    engine = Engine(absent=kind.absent)  # type: ignore[arg-type]
    imported = perf_counter()
    engine.subscribe_many((str(n), text) for n, text in enumerate(kind.texts()))
    loaded = perf_counter()
    ask = _question(kind, engine)
    asked = perf_counter()
    expected = ask()
    first = perf_counter()
    longest, fast, ready = 0.0, 0.0, 0.0
    loop = "match_events" if kind.asked == "arrow" else "match_event"
    left = _AFTERWARDS
    while left and perf_counter() - start < _PATIENCE_S:
        sleep(_PAUSE_S)  # a process that answers events has to wait for some
        before = perf_counter()
        found = ask()
        longest = max(longest, perf_counter() - before)
        assert found == expected, f"{name}: {found} is not {expected}"
        if not fast and getattr(loops.now, loop) is not getattr(loops.PLAIN, loop):
            fast = perf_counter() - start
        if loops.now.are_all_compiled:
            ready = ready or perf_counter() - start
            left -= 1
    return {
        "import_s": imported - start,
        "load_s": loaded - imported,
        "first_s": first - asked,
        "longest_s": longest,
        "fast_s": fast,
        "ready_s": ready,
    }


def _question(kind: Kind, engine: Engine) -> Callable[[], Any]:
    if kind.asked == "arrow":
        import pyarrow as pa

        table = pa.table({name: [value] * _BATCH for name, value in kind.event.items()})
        return lambda: engine.match_arrow(table).num_rows
    event = kind.event
    if kind.asked == "region":
        from predicast import Interval

        event = {name: Interval(*ends) for name, ends in event.items()}
    return lambda: engine.match(event)


if __name__ == "__main__":
    print(json.dumps(probe(sys.argv[1])))
