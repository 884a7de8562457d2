"""Asking an engine in each of its ways, and comparing complete answers with the oracle's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec
import pyarrow as pa

from predicast import Engine
from predicast.language.json_form import event_to_json
from predicast.model import Event
from tests.differential.event_batches import Batch
from tests.differential.steps import Step, Tune

Answers: TypeAlias = Sequence[list[str] | int]  # of each event, sorted ids or their number

DICT_WAYS: Final = ("match", "match_batch")
ARROW_WAYS: Final = ("match_arrow", "count_arrow")


@dataclass(frozen=True, slots=True)
class Ask(Step):
    """Events are matched in one of the ways in which an engine can be asked."""

    batch: Batch
    way: str
    limit: int | None = None
    in_table: bool = False  # not a batch, but a table of two chunks

    def run(self, engine: Engine, tune: Tune) -> Engine:
        answer(engine, self)
        return engine

    def document(self) -> dict[str, Any]:
        events = [msgspec.Raw(event_to_json(event).encode()) for event in self.batch.events]
        return {"ask": self.way, "limit": self.limit, "table": self.in_table, "events": events}


@dataclass(frozen=True, slots=True)
class Difference:
    """Where an engine was wrong: an event and ids, or an error that it raised."""

    what: str
    event: Event | None = None
    place: int = 0  # of the event in its batch
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    def __str__(self) -> str:
        ids = [f"{len(self.missing)} missing {self.missing[:3]}"] if self.missing else []
        ids += [f"{len(self.extra)} too many {self.extra[:3]}"] if self.extra else []
        return "; ".join([self.what, *ids])


def answer(engine: Engine, ask: Ask) -> Answers:
    """The ids that each event matches, sorted, or their numbers."""
    batch = ask.batch
    if ask.way == "match":
        return [engine.match(dict(event.items())) for event in batch.events]
    if ask.way == "match_batch":
        return engine.match_batch(batch.events)
    given = _given(ask)
    if ask.way == "count_arrow":
        counted = engine.count_arrow(given, limit=ask.limit, intervals=batch.intervals)
        return [int(count) for count in counted.to_pylist()]
    table = engine.match_arrow(given, limit=ask.limit, intervals=batch.intervals)
    events = table["event"].to_pylist()
    assert events == sorted(events), "the rows of match_arrow do not ascend by event"
    found: list[list[str]] = [[] for _ in batch.events]
    for event, id in zip(events, table["subscription"].to_pylist(), strict=True):
        found[event].append(id)
    return [sorted(ids) for ids in found]


def _given(ask: Ask) -> pa.RecordBatch | pa.Table:
    batch = ask.batch.arrow
    assert batch is not None
    if not ask.in_table:
        return batch
    half = batch.num_rows // 2
    return pa.Table.from_batches([batch.slice(0, half), batch.slice(half)])


def expected(oracle: Engine, ask: Ask) -> list[list[str]]:
    """What the oracle says, of the events as the model has them."""
    return oracle.match_batch(ask.batch.events)


def compared(ask: Ask, got: Answers, wanted: Sequence[list[str]]) -> Difference | None:
    """The first event whose answer is wrong."""
    if len(got) != len(wanted):
        return Difference(f"{ask.way} answered {len(got)} events of {len(wanted)}")
    asked = ask.way if ask.limit is None else f"{ask.way} with limit {ask.limit}"
    for place, right in enumerate(wanted):
        found, event = got[place], ask.batch.events[place]
        if isinstance(found, int):
            count = len(right) if ask.limit is None else min(len(right), ask.limit)
            if found != count:
                return Difference(f"{asked} counted {found}, not {count}", event, place)
        elif not _is_right(found, right, ask.limit):
            missing = sorted(set(right) - set(found)) if ask.limit is None else []
            extra = sorted(set(found) - set(right))
            repeated = "" if len(found) == len(set(found)) else ", some more than once"
            what = f"{asked} found {len(found)} of {len(right)}{repeated}"
            return Difference(what, event, place, tuple(missing), tuple(extra))
    return None


def _is_right(found: list[str], right: list[str], limit: int | None) -> bool:
    if limit is None:
        return found == right
    few = set(found)
    return few <= set(right) and len(few) == len(found) == min(limit, len(right))
