"""``Changes``: the net effect of everything that happened to an engine, for those who pass it on.

A broker that announces subscriptions to its neighbours, or a pipeline that keeps a table of them,
does not care how often a subscription changed in between. Noted is only which ids were touched and
what they were before; what they are now is looked up when the net effect is taken::

    before    now                    before     now
    absent    held     Subscribe     held       absent   Unsubscribe
    absent    absent   (nothing)     held       held     Change (or both, under another owner)

Replayed onto another engine, it makes an equal one: ids, owners, what they state, and the texts,
their dialects and the parameters that say so. The order of arrival is not part of it.

Cost: an entry per id that was touched since the last ``take``, however often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from predicast.engine.operations import Change, Operation, Subscribe, Unsubscribe

if TYPE_CHECKING:
    from predicast.engine.entry import EntryOf


class Touched(NamedTuple):
    """An id that a change touches, and what it was before."""

    id: str
    held: bool
    owner: str | None


class Changes:
    """What changed since it was made, or since the last ``take``; ``Engine.changes`` makes one."""

    def __init__(self, taking: Callable[[Changes], list[Operation]]) -> None:
        self._taking = taking
        self._touched: dict[str, Touched] = {}

    def __len__(self) -> int:
        """How many ids were touched."""
        return len(self._touched)

    def take(self) -> list[Operation]:
        """The net effect as operations, which other engines can apply; then begin anew."""
        return self._taking(self)

    def note(self, touched: Iterable[Touched]) -> None:
        """Ids that a change touches; what counts is what they were before the first one."""
        for each in touched:
            self._touched.setdefault(each.id, each)

    def taken(self, now: Callable[[str], EntryOf[Any] | None]) -> list[Operation]:
        """The net effect, given what each id is now."""
        operations: list[Operation] = []
        for id, before in self._touched.items():
            entry = now(id)
            if entry is None:
                if before.held:
                    operations.append(Unsubscribe(id))
                continue
            said = entry.subscription if entry.text is None else entry.text
            if before.held and entry.owner == before.owner:
                operations.append(Change(id, said, entry.parameters, entry.dialect))
            else:
                if before.held:
                    operations.append(Unsubscribe(id))
                operations.append(
                    Subscribe(id, said, entry.owner, entry.parameters, dialect=entry.dialect)
                )
        self._touched = {}
        return operations
