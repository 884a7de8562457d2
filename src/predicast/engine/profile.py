"""``profile``: how often subscriptions match given events, and which of them cost most.

A matcher works for all subscriptions at once, so that no part of its time is that of one of them.
What one costs is found out apart: an engine that holds nothing else is asked about the same events,
as often as is needed to tell, and the quickest counts. That leaves out what subscriptions share,
and shows what is dear in itself: a regular expression, a long list, an expression over attributes.
Such a time is measured for some only, those first that are tested with the most events.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from predicast.engine.engine import Engine
from predicast.engine.entry import Entry
from predicast.engine.lint.costs import Cost, CostOf, cost_of
from predicast.engine.matched_batches import matched_batches
from predicast.errors import InvalidOptionError
from predicast.model import Event

if TYPE_CHECKING:
    from predicast.arrow import TableLike

_TIMED_EVENTS: Final = 1_000  # enough to see what one of them takes
_RUNS: Final = 3
_ORDER: Final = (Cost.HIGH, Cost.MEDIUM, Cost.LOW)


@dataclass(frozen=True, slots=True)
class Profiled:
    """What is known of one subscription.

    ``cost`` says with how many events it is tested, and ``why`` says why if that is many;
    ``time_us`` is what an event takes if there is nothing else, in microseconds, if measured.
    """

    id: str
    matched: int
    cost: Cost
    why: str
    time_us: float | None


@dataclass(frozen=True, slots=True)
class Profile:
    """How many events there were, and every subscription, the dearest first."""

    events: int
    subscriptions: list[Profiled]

    def never(self) -> list[str]:
        """The ids of those that no event matched, sorted."""
        return sorted(each.id for each in self.subscriptions if not each.matched)

    def table(self) -> pa.Table:
        """All of it as a table."""
        names = ("id", "matched", "cost", "why", "time_us")
        rows = [{name: getattr(each, name) for name in names} for each in self.subscriptions]
        return pa.Table.from_pylist(rows, _SCHEMA)

    def __str__(self) -> str:
        lines = [f"{'subscription':24} {'matched':>9} {'cost':>6} {'µs/event':>9}"]
        for each in self.subscriptions[:20]:
            took = "" if each.time_us is None else f"{each.time_us:.2f}"
            lines.append(f"{each.id:24} {each.matched:>9,} {each.cost.value:>6} {took:>9}")
        more = len(self.subscriptions) - 20
        return "\n".join([*lines, f"… {more:,} more"] if more > 0 else lines)


_SCHEMA: Final = pa.schema(
    [
        ("id", pa.string()),
        ("matched", pa.int64()),
        ("cost", pa.string()),
        ("why", pa.string()),
        ("time_us", pa.float64()),
    ]
)


def profile(
    engine: Engine,
    events: Iterable[Event | Mapping[str, Any]] | TableLike,
    measured: int,
    now: datetime | None,
) -> Profile:
    """How often subscriptions match these events, and what they cost."""
    if type(measured) is not int or measured < 0:
        raise InvalidOptionError(
            f"measured is how many subscriptions are timed, not {measured!r}", option="measured"
        )
    at = datetime.now(UTC) if now is None else now
    entries = engine.subscriptions()
    counts: Counter[str] = Counter()
    count, timed = 0, list[Any]()
    for batch in matched_batches(engine, events, at):
        counts.update(_counted(batch.pairs))
        room = range(min(batch.size, _TIMED_EVENTS - len(timed)))
        timed += map(batch.event_at, room)
        count += batch.size
    costs = {each.id: cost_of(each.subscription, engine.absent) for each in entries}
    dearest = sorted(entries, key=lambda each: _rank(costs[each.id], counts[each.id]))
    times = _times(engine, list(islice(dearest, measured)), timed, at)
    found = [
        Profiled(
            each.id, counts[each.id], costs[each.id].cost, costs[each.id].why, times.get(each.id)
        )
        for each in dearest
    ]
    found.sort(key=lambda each: -1.0 if each.time_us is None else each.time_us, reverse=True)
    return Profile(count, found)


def _counted(pairs: pa.Table) -> dict[str, int]:
    counted = pc.value_counts(pairs.column("subscription").cast(pa.string()))
    return {each["values"]: each["counts"] for each in counted.to_pylist()}


def _rank(cost: CostOf, matched: int) -> tuple[int, int]:
    return _ORDER.index(cost.cost), -matched


def _times(
    engine: Engine, entries: Sequence[Entry], events: Sequence[Any], now: datetime
) -> dict[str, float]:
    """What an event takes, in microseconds, for each subscription alone."""
    if not events:
        return {}
    nothing = _seconds(_alone(engine, None), events, now)
    return {
        each.id: max(_seconds(_alone(engine, each), events, now) - nothing, 0.0) * 1e6 / len(events)
        for each in entries
    }


def _alone(engine: Engine, entry: Entry | None) -> Engine:
    """An engine like the given one with but one subscription, or none."""
    made = Engine(
        matcher=engine.matcher,
        absent=engine.absent,
        on_invalid="absent",  # what cannot be compared was dealt with when matches were counted
        ontology=engine.vocabulary,
    )
    if entry is not None:
        made.subscribe(entry.subscription, id=entry.id)
    return made


def _seconds(engine: Engine, events: Sequence[Any], now: datetime) -> float:
    return min(_run(lambda: engine.match_batch(events, now=now)) for _ in range(_RUNS))


def _run(question: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    question()
    return time.perf_counter() - begin
