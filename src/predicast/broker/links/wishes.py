"""``LocalWishes``: what a tenant's own subscribers want, as operations for the rest of the tree.

The engines say what has changed since they were last asked, however it came about. Durable and
ephemeral subscriptions have ids of their own, so that one that becomes the other is an end and a
beginning, in whatever order they are told. Patterns over graphs are not told: graphs stay local.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from predicast.broker.subscriptions import Subscriptions
from predicast.engine import Engine, Operation, Subscribe, Unsubscribe

_MAX_ID: Final = 1_000  # characters of an id that neighbours take as it is


class LocalWishes:
    """Follows the flat engines of a tenant."""

    def __init__(self, subscriptions: Subscriptions) -> None:
        self._engines: list[tuple[str, Engine]] = [
            ("durable", subscriptions.durable.flat),
            ("ephemeral", subscriptions.ephemeral.flat),
        ]
        self._changes = [(sort, engine.changes()) for sort, engine in self._engines]
        self._untold: set[str] = set()  # that were gone before it was their turn

    def __len__(self) -> int:
        """How many changes were not asked for yet."""
        return sum(len(changes) for _, changes in self._changes)

    def whole(self) -> Iterator[Operation]:
        """All that is wanted now; from here on changes are told.

        It may be asked for one by one, while subscriptions come and go.
        """
        self.changes()
        held = [(sort, engine, list(engine)) for sort, engine in self._engines]
        return (
            wish
            for sort, engine, ids in held
            for id in ids
            if (wish := self._wish(sort, engine, id)) is not None
        )

    def changes(self) -> list[Operation]:
        """What has changed since this was asked last."""
        told = (each for sort, changes in self._changes for each in _renamed(sort, changes.take()))
        if not self._untold:
            return list(told)
        return [each for each in map(self._as_first_told, told) if each is not None]

    def _wish(self, sort: str, engine: Engine, id: str) -> Operation | None:
        name = _named(sort, id)
        if id not in engine:
            self._untold.add(name)
            return None
        return Subscribe(name, *_said(engine.get(id)))

    def _as_first_told(self, operation: Operation) -> Operation | None:
        """The operation for those who never heard of what was there before it."""
        if operation.id not in self._untold:
            return operation
        if isinstance(operation, Unsubscribe):
            return None
        self._untold.discard(operation.id)
        if isinstance(operation, Subscribe):
            return operation
        assert operation.expression is not None
        return Subscribe(
            operation.id,
            operation.expression,
            parameters=operation.parameters,
            dialect=operation.dialect,
        )


def _renamed(sort: str, operations: Iterable[Operation]) -> Iterable[Operation]:
    return (replace(each, id=_named(sort, each.id)) for each in operations)


def _named(sort: str, id: str) -> str:
    if len(id) > _MAX_ID:
        id = hashlib.sha256(id.encode()).hexdigest()
    return f"{sort}/{id}"


def _said(entry: Any) -> tuple[Any, None, Any, bool, str | None]:
    said = entry.subscription if entry.text is None else entry.text
    return said, None, entry.parameters, False, entry.dialect
