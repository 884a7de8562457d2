"""A history with a difference at its end, made small: fewer ids, fewer steps, a shorter event.

As in Zeller's delta debugging, parts are dropped while the difference stays, large parts first.
What is dropped may matter by its mere number (a block fills, a merge starts), and a difference
that depends on how far a merge had come may not show again at all; then the history of the ids
concerned is what is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Final, TypeVar

from predicast import Engine
from predicast.model import Absent, Event
from tests.differential.asking import Ask, Difference, answer, compared, expected
from tests.differential.event_batches import Batch
from tests.differential.steps import Bulk, Changes, Step
from tests.differential.walk import ORACLE, Contender

T = TypeVar("T")

_TRIES: Final = 3  # a merge may be further, or less far, another time


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The smallest history found, and the difference that it shows."""

    history: list[Step]
    difference: Difference
    contender: Contender
    is_reproduced: bool


def shrink(
    history: Sequence[Step],
    difference: Difference,
    contender: Contender,
    absent: Absent,
    *,
    seconds: float = 120.0,
) -> Shrunk:
    """Drop what can be dropped, within a time."""
    until = perf_counter() + seconds
    steps = list(history)
    if all(replayed(steps, contender, absent) is None for _ in range(_TRIES)):
        concerned = frozenset((*difference.missing[:3], *difference.extra[:3]))
        return Shrunk(_only(steps, concerned), difference, contender, is_reproduced=False)
    # Where all is compiled at once, it does not matter how often events were asked before.
    eager = replace(contender, tuning=replace(contender.tuning, compile_threshold=0.0))
    if replayed(steps, eager, absent) is not None:
        contender = eager

    def shown(some: Sequence[Step]) -> bool:
        return perf_counter() < until and replayed(some, contender, absent) is not None

    steps = _fewest_ids(steps, shown)
    steps = _with_one_event(steps, shown)
    steps = smallest(steps, shown)
    steps = smallest_event(steps, shown)
    steps = _fewest_ids(steps, shown)
    found = replayed(steps, contender, absent) or difference
    return Shrunk(steps, found, contender, is_reproduced=True)


def _fewest_ids(steps: list[Step], shown: Callable[[list[Step]], bool]) -> list[Step]:
    ids = smallest(_ids(steps), lambda some: shown(_only(steps, frozenset(some))))
    return _only(steps, frozenset(ids))


def replayed(history: Sequence[Step], contender: Contender, absent: Absent) -> Difference | None:
    """The difference that a history ends with, on new engines."""
    engine, oracle = contender.engine(absent), Engine(matcher=ORACLE, absent=absent)
    for number, step in enumerate(history):
        try:
            step.run_plainly(oracle)
        except Exception:  # noqa: BLE001  # dropping a step has made a later one impossible
            return None
        is_last = number == len(history) - 1
        try:
            if isinstance(step, Ask) and is_last:
                return compared(step, answer(engine, step), expected(oracle, step))
            engine = step.run(engine, contender.tune)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is a difference
            return Difference(f"{type(step).__name__} raised {error!r}")
    if len(engine) != len(oracle):
        return Difference(f"{len(engine)} subscriptions stand, not {len(oracle)}")
    return None


def smallest(parts: Sequence[T], shown: Callable[[list[T]], bool]) -> list[T]:
    """Drop runs of parts while the difference stays: halves first, single ones last."""
    left = list(parts)
    run = max(1, len(left) // 2)
    while left:
        begin = 0
        dropped = False
        while begin < len(left):
            fewer = left[:begin] + left[begin + run :]
            if shown(fewer):
                left, dropped = fewer, True
            else:
                begin += run
        if run == 1 and not dropped:
            break
        run = max(1, run // 2)
    return left


def smallest_event(steps: list[Step], shown: Callable[[list[Step]], bool]) -> list[Step]:
    """Drop attributes of the only event of the last ask."""
    last = steps[-1] if steps else None
    if not isinstance(last, Ask) or len(last.batch) != 1:
        return steps
    batch = last.batch

    def with_names(names: list[str]) -> list[Step]:
        return [*steps[:-1], replace(last, batch=_narrowed(batch, names))]

    names = [name for name, _ in batch.events[0].items()]
    kept = smallest(names, lambda some: bool(some) and shown(with_names(some)))
    return with_names(kept)


def _narrowed(batch: Batch, names: Sequence[str]) -> Batch:
    event = Event({name: batch.events[0].get(name) for name in names})
    if batch.arrow is None:
        return Batch((event,))
    intervals = {name: ends for name, ends in batch.intervals.items() if name in names}
    columns = [end for name in names for end in intervals.get(name, (name,))]
    held = [column for column in columns if column in batch.arrow.schema.names]
    return Batch((event,), batch.arrow.select(held), intervals)


def _with_one_event(steps: list[Step], shown: Callable[[list[Step]], bool]) -> list[Step]:
    """Only one event of the last ask, if one is enough."""
    last = steps[-1] if steps else None
    if not isinstance(last, Ask):
        return steps
    batch = last.batch
    for place in range(len(batch)):
        arrow = None if batch.arrow is None else batch.arrow.slice(place, 1)
        alone = Batch((batch.events[place],), arrow, batch.intervals)
        fewer = [*steps[:-1], replace(last, batch=alone)]
        if shown(fewer):
            return fewer
    return steps


def _only(steps: Sequence[Step], ids: frozenset[str]) -> list[Step]:
    return [left for step in steps if (left := step.only(ids)) is not None]


def _ids(steps: Sequence[Step]) -> list[str]:
    """Every id that comes up, in order of appearance."""
    found: dict[str, None] = {}
    for step in steps:
        if isinstance(step, Bulk):
            found.update(dict.fromkeys(step.subscriptions))
        elif isinstance(step, Changes):
            found.update(dict.fromkeys(each.id for each in step.operations))
    return list(found)
