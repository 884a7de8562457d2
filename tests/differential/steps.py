"""What happens to an engine in a round, one step after the other; a list of steps is a history.

A step is run on the engine under test in the way that it says (in bulk, as a window, through a
file), with every other subscription written as text, and on the oracle one object at a time. It can
be narrowed down to some ids, and says in JSON what it did: that is how a history with a difference
becomes a small reproduction.
"""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from predicast import Change, Engine, Subscribe, Unsubscribe
from predicast.engine.operations import Operation
from predicast.errors import UnknownIdError
from predicast.language import to_where
from predicast.language.json_form import subscription_to_json
from predicast.language.where.cache import MAX_TEXT
from predicast.model import Subscription

Tune: TypeAlias = Callable[[Engine], None]


class Step(ABC):
    """Something that is done to an engine."""

    @abstractmethod
    def run(self, engine: Engine, tune: Tune) -> Engine:
        """Do it; the engine to go on with, tuned if it is another."""

    def run_plainly(self, oracle: Engine) -> None:  # noqa: B027  # most steps are none of its business
        """Do to the oracle what this means for the answers."""

    def only(self, ids: frozenset[str]) -> Step | None:
        """The step as far as it concerns these ids."""
        return self

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """What is done, for JSON."""


@dataclass(frozen=True, slots=True)
class Bulk(Step):
    """Many new subscriptions at once: a table, and others that tables have no words for."""

    table: pa.Table
    others: Mapping[str, Subscription]
    subscriptions: Mapping[str, Subscription]  # all of them

    def run(self, engine: Engine, tune: Tune) -> Engine:
        engine.subscribe_arrow(self.table)
        engine.subscribe_many((id, _written(id, each)) for id, each in self.others.items())
        return engine

    def run_plainly(self, oracle: Engine) -> None:
        for id, subscription in self.subscriptions.items():
            oracle.subscribe(subscription, id=id)

    def only(self, ids: frozenset[str]) -> Step | None:
        left = {id: each for id, each in self.subscriptions.items() if id in ids}
        if not left:
            return None
        rows = pc.is_in(self.table["id"], pa.array(list(left), pa.string()))
        others = {id: each for id, each in self.others.items() if id in ids}
        return Bulk(self.table.filter(rows), others, left)

    def document(self) -> dict[str, Any]:
        return {"bulk": {id: _json(each) for id, each in self.subscriptions.items()}}


@dataclass(frozen=True, slots=True)
class Changes(Step):
    """Operations one by one, or all in one window."""

    operations: tuple[Operation, ...]
    is_window: bool

    def run(self, engine: Engine, tune: Tune) -> Engine:
        operations = [
            each
            if isinstance(each, Unsubscribe)
            else replace(each, expression=_written(each.id, stated(each)))
            for each in self.operations
        ]
        if self.is_window:
            engine.apply(operations)
        else:
            _run_one_by_one(operations, engine)
        return engine

    def run_plainly(self, oracle: Engine) -> None:
        _run_one_by_one(self.operations, oracle)

    def only(self, ids: frozenset[str]) -> Step | None:
        left = tuple(each for each in self.operations if each.id in ids)
        return replace(self, operations=left) if left else None

    def document(self) -> dict[str, Any]:
        name = "window" if self.is_window else "changes"
        return {name: [_operation(each) for each in self.operations]}


@dataclass(frozen=True, slots=True)
class Refused(Step):
    """A window whose last operation is refused: everything before it must be undone."""

    operations: tuple[Operation, ...]

    def run(self, engine: Engine, tune: Tune) -> Engine:
        try:
            engine.apply([*self.operations, Unsubscribe("nobody's id")])
        except UnknownIdError:
            return engine
        raise AssertionError("the window should have been refused")

    def only(self, ids: frozenset[str]) -> Step | None:
        return Refused(tuple(each for each in self.operations if each.id in ids))

    def document(self) -> dict[str, Any]:
        return {"refused": [_operation(each) for each in self.operations]}


@dataclass(frozen=True, slots=True)
class RoundTrip(Step):
    """The engine is written and read again."""

    through_file: bool

    def run(self, engine: Engine, tune: Tune) -> Engine:
        if self.through_file:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "engine"
                engine.save(path)
                again = Engine.load(path)
        else:
            again = Engine.from_bytes(engine.to_bytes())
        tune(again)
        return again

    def document(self) -> dict[str, Any]:
        return {"round trip": "save, load" if self.through_file else "to_bytes, from_bytes"}


@dataclass(frozen=True, slots=True)
class Settle(Step):
    """Whatever waits is compiled and merged at once, in a matcher that does so at all."""

    def run(self, engine: Engine, tune: Tune) -> Engine:
        settle = getattr(engine._store.matcher, "settle", None)
        if settle is not None:
            settle()
        return engine

    def document(self) -> dict[str, Any]:
        return {"settle": True}


def _run_one_by_one(operations: Iterable[Operation], engine: Engine) -> None:
    for each in operations:
        if isinstance(each, Subscribe):
            engine.subscribe(each.expression, id=each.id)
        elif isinstance(each, Change):
            engine.change(each.id, each.expression)
        else:
            engine.unsubscribe(each.id)


def _written(id: str, subscription: Subscription) -> str | Subscription:
    """Every other subscription as text, the same ones each time a history is run."""
    text = to_where(subscription) if crc32(id.encode()) % 2 else ""
    return text if 0 < len(text) <= MAX_TEXT else subscription


def stated(operation: Subscribe | Change) -> Subscription:
    """What a subscription states from now on, as a history has it: an object, never a text."""
    assert isinstance(operation.expression, Subscription)
    return operation.expression


def standing(history: Iterable[Step]) -> dict[str, Subscription]:
    """The subscriptions at the end of a history, by id."""
    found: dict[str, Subscription] = {}
    for step in history:
        note(step, found)
    return found


def note(step: Step, found: dict[str, Subscription]) -> int:
    """Do to a dictionary what a step does to an engine; how many changes that were."""
    if isinstance(step, Bulk):
        found.update(step.subscriptions)
        return len(step.subscriptions)
    if not isinstance(step, Changes):
        return 0
    for each in step.operations:
        if isinstance(each, Unsubscribe):
            found.pop(each.id, None)
        else:
            found[each.id] = stated(each)
    return len(step.operations)


def _operation(operation: Operation) -> dict[str, Any]:
    document: dict[str, Any] = {type(operation).__name__.lower(): operation.id}
    if not isinstance(operation, Unsubscribe):
        document["to"] = _json(stated(operation))
    return document


def _json(subscription: Subscription) -> msgspec.Raw:
    return msgspec.Raw(subscription_to_json(subscription).encode())
