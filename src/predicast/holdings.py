"""``Holdings``: everything an engine holds, and how a window changes it.

Ids and their keys, what subscriptions state, whose they are, which have parameters, and the
matcher: five structures that must agree. They change here and nowhere else, the matcher first:
if it refuses, nothing else has changed.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from predicast.changes import Changes
from predicast.ids import Ids, duplicate, unknown
from predicast.matching.matcher import Matcher
from predicast.matching.window import Added, Operation, Removed, Replaced, Saved
from predicast.model.alike import Alike, Gathering
from predicast.model.outline import Stated
from predicast.owners import Owners
from predicast.statements import Statements
from predicast.templates import Templates
from predicast.windows import State, Window

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


class Holdings:
    """Subscriptions with all that belongs to them, by key."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.ids = Ids()
        self.statements = Statements()
        self.owners = Owners()
        self.templates = Templates()
        self.arrived = 0  # subscriptions ever added, for ids of our own making
        self.followers: weakref.WeakSet[Changes] = weakref.WeakSet()

    def key(self, id: str) -> int:
        """The key of an id, or an error."""
        key = self.ids.key(id)
        if key is None:
            raise unknown(id, self.ids)
        return key

    def fresh_id(self) -> str:
        """An id that is not taken."""
        number = self.arrived + 1
        while f"s{number}" in self.ids:
            number += 1
        return f"s{number}"

    def window(self) -> Window:
        """A window on what is held now."""
        return Window(self.ids, self.statements, self.owners, self.templates)

    # Many at once.

    def add_many(self, ids: pa.StringArray, groups: list[tuple[np.ndarray, Alike]]) -> None:
        """Add subscriptions whose ids are valid and different, given by their positions."""
        taken = self.ids.first_held(ids)
        if taken is not None:
            raise duplicate(taken)
        keys = self.ids.add_many(ids)
        held: list[np.ndarray] = []
        try:
            for positions, alike in groups:
                self.matcher.subscribe_alike(keys[positions], alike)
                held.append(keys[positions])
        except BaseException:
            for some in held:
                for key in some.tolist():
                    self.matcher.unsubscribe(key)
            self.ids.remove_many(ids)
            raise
        for some, (_, alike) in zip(held, groups, strict=True):
            self.statements.add_alike(some, alike)
        self.arrived += len(ids)
        self.ids.make_ready()  # or the first change would have to wait for it
        if self.followers:
            self._note((id, None) for id in ids.to_pylist())

    # A window.

    def run(self, window: Window) -> Saved:
        """Carry out the net effect of a window; if the matcher refuses, nothing has changed."""
        moved = list(window.moved())
        in_bulk = self.matcher.works_in_bulk
        operations = [] if in_bulk else list(self._one_by_one(moved))
        new: list[str] = []
        for id, state in window.states.items():
            if state.key is None:
                assert state.stated is not None
                operations.append(Added(self.ids.add(id), state.stated))
                new.append(id)
                continue
            before = None if in_bulk else self.statements.get(state.key)
            if not state.present:
                operations.append(Removed(state.key, before))
            elif state.stated is not None:
                operations.append(Replaced(state.key, state.stated, before))
        try:
            saved = self.matcher.run_window(operations)
        except BaseException:
            for id in new:
                self.ids.remove(id)
            raise
        if in_bulk:
            for keys, alike in moved:
                self.matcher.change_alike(keys, alike)
                saved += Saved(len(keys), 0, 0, len(keys), 0)
        if self.followers:
            self._note((id, state.key) for id, state in window.states.items())
            self._note((id, move.key) for id, move in window.moves.items())
        for keys, alike in moved:
            self.statements.replace_alike(keys, alike)
        self._restate(operations)
        for id, state in window.states.items():
            self._finish(id, state)
        self.arrived += window.arrived
        return saved

    def _one_by_one(self, moved: list[tuple[np.ndarray, Alike]]) -> Iterator[Operation]:
        for keys, alike in moved:
            for key, subscription in zip(keys.tolist(), alike.subscriptions(), strict=True):
                yield Replaced(key, subscription, self.statements.get(key))

    def _restate(self, operations: Sequence[Operation]) -> None:
        """Hold what operations that were run state, those of one outline together."""
        added, replaced = Gathering(), Gathering()
        for operation in operations:
            if isinstance(operation, Removed):
                self.statements.remove(operation.key)
            elif isinstance(operation.stated, Stated):
                kind = added if isinstance(operation, Added) else replaced
                kind.add(operation.key, *operation.stated)
        for keys, alike in added.groups():
            self.statements.add_alike(keys, alike)
        for keys, alike in replaced.groups():
            self.statements.replace_alike(keys, alike)

    def _finish(self, id: str, state: State) -> None:
        """Owner, template and order of arrival of one id, after its window."""
        if not state.present:
            assert state.key is not None
            self.owners.forget(state.key)
            self.templates.forget(state.key)
            self.ids.remove(id)
            return
        key = self.key(id)
        if state.arrives_anew:
            self.ids.put_last(id)
        if state.owner is None:
            self.owners.forget(key)
        else:
            self.owners.set(key, state.owner)
        if state.template is not None:
            self.templates.set(key, state.template)
        elif not state.keeps_template:
            self.templates.forget(key)

    def _note(self, ids: Iterable[tuple[str, int | None]]) -> None:
        """Tell followers what changes: ids, and the keys of those that were held before."""
        noted = [
            (id, key is not None, None if key is None else self.owners.get(key)) for id, key in ids
        ]
        for changes in self.followers:
            changes.note(noted)
