"""``SubscriptionStore``: everything an engine holds, and how it changes: all of it or nothing.

Ids and their keys, what subscriptions state, as which text, whose they are, which have parameters,
and the matcher: structures that must agree, whatever happens half-way: a signal handler that
raises (Ctrl-C, a timeout), no memory left. So a change goes like this::

    work out the delta            nothing has changed: an exception leaves all as it was
    let the matcher change        it is not trusted until the end; if it refuses, it has undone it
    decide: pending = delta       one assignment; from here on the change happens
    carry out the delta           on ids, statements, ..., each step the same if done twice
    publish: view = another       one assignment; from here on events see the change
    pending = nothing, and the matcher is trusted again

Whoever comes next after an exception finds what was left over, and finishes it (``recover``): a
pending delta is carried out again from the start, and a matcher that is not trusted is filled anew
from the statements. That costs as much as loading an engine, after an exception in a moment that
lasts microseconds, and nothing otherwise.

What events are asked of is a ``StoreView``, which later changes leave alone: with a matcher that
has lasting views, as the default one has, nobody who matches waits for anybody who changes.

Rejected: undoing what was done so far. It needs memory just when there may be none, and is itself
interrupted by the second Ctrl-C.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from predicast.engine.changes import Changes, Touched
from predicast.engine.delta import Arrivals, StoreDelta
from predicast.engine.derivation import Derivation
from predicast.engine.entry import Entry
from predicast.engine.ids import Ids, Lease, duplicate, unknown
from predicast.engine.owners import Owners
from predicast.engine.sources import Sources
from predicast.engine.statements import Statements
from predicast.engine.templates import Templates
from predicast.engine.windows import Said, Window, said_by, said_by_change
from predicast.errors import PredicastError
from predicast.matching.delta import Delta, Effect, Group
from predicast.matching.matcher import Matcher, Stored, View
from predicast.model import Subscription, Value
from predicast.model.event_reader import EventReader
from predicast.model.operand_columns import gathered
from predicast.model.outline import Stated

if TYPE_CHECKING:
    import pyarrow as pa

    from predicast.engine.bulk import Bulk
    from predicast.engine.snapshot import Snapshot
    from predicast.engine.windows import State
    from predicast.matching.batches import EventBatch
    from predicast.matching.batches.refusals import Refusals

T = TypeVar("T")


class StoreView(NamedTuple):
    """What is asked: a matcher's view, and what is needed to ask it and to name what it finds."""

    matcher: View
    ids: Ids
    lease: Lease  # while it is held, ``ids`` knows the keys that the matcher may find
    reader: EventReader  # of what subscriptions look at
    derivation: Derivation

    def columns(
        self,
        table: pa.Table,
        intervals: Mapping[str, tuple[str, ...]] | None,
        now: datetime | str | None,
        refusals: Refusals,
    ) -> Iterator[tuple[int, EventBatch]]:
        """What subscriptions look at in a table, derived attributes included.

        In pieces of which each comes with its first row: so much is derived at a time as is still
        near when it is matched.
        """
        from predicast.matching.batches.event_batch import EventBatch

        wanted = self.reader.names
        if isinstance(now, str) and self.derivation.asks_for_now:
            wanted |= {now}
        batch = EventBatch.from_arrow(table, wanted, intervals, refusals)
        return self.derivation.pieces(batch, now)


_new: Final = tuple.__new__
_FEW: Final = 512  # subscriptions that are quicker put one by one than column by column


class SubscriptionStore:
    """Subscriptions with all that belongs to them, by key."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.ids = Ids()
        self.statements = Statements()
        self.owners = Owners()
        self.templates = Templates()
        self.sources = Sources()
        self.arrived = 0  # subscriptions ever added, for ids of our own making
        self.followers: weakref.WeakSet[Changes] = weakref.WeakSet()
        self.is_followed = False  # whether anybody ever was
        self._pending: StoreDelta | None = None
        self._is_matcher_trusted = True
        self.is_changing = False  # somebody is in the middle of a change
        self.view = self._view()

    def _view(self) -> StoreView:
        ids, statements = self.ids, self.statements
        view, reader = self.matcher.view(), statements.reader()
        # As StoreView(...) does, without a call of Python's own: every change makes one.
        return _new(StoreView, (view, ids, ids.lease, reader, statements.derivation()))

    def key(self, id: str) -> int:
        """The key of an id, or an error."""
        key = self.ids.key(id)
        if key is None:
            raise unknown(id, self.ids)
        return key

    def entry(self, id: str, key: int, subscription: Subscription | None = None) -> Entry:
        """A subscription that is held, with all that belongs to it."""
        subscription = subscription or self.statements.get(key)
        owner, template = self.owners.get(key), self.templates.get(key)
        if template is None:
            return Entry(id, subscription, owner, self.sources.get(key))
        values = MappingProxyType(dict(template.current(self.statements.stated(key))))
        return Entry(id, subscription, owner, template.parametric.text, values)

    def entry_if_held(self, id: str) -> Entry | None:
        """The same if there is one with this id."""
        key = self.ids.key(id)
        return None if key is None else self.entry(id, key)

    def owned(self, owner: str) -> list[tuple[str, int]]:
        """The ids and keys of one owner's."""
        owners = self.owners.by_key()
        return [(id, key) for id, key in self.ids.items() if owners.get(key) == owner]

    def fresh_id(self) -> str:
        """An id that is not taken."""
        number = self.arrived + 1
        while f"s{number}" in self.ids:
            number += 1
        return f"s{number}"

    def follow(self, changes: Changes) -> None:
        """Have somebody told of changes from now on."""
        self.is_followed = True
        self.followers.add(changes)

    def window(self) -> Window:
        """A window on what is held now."""
        return Window(self.ids, self.statements, self.templates)

    def taken_apart(self, matcher: str, structure: Stored | None) -> Snapshot:
        """All there is, untouched by later changes."""
        from predicast.engine.snapshot import Snapshot

        return Snapshot(
            matcher,
            self.matcher.absent,
            self.arrived,
            self.ids.held(),
            self.owners.copy(),
            self.statements.copy(),
            self.templates.copy(),
            self.sources.copy(),
            structure,
        )

    def restore(self, saved: Snapshot) -> None:
        """Become what a snapshot holds, being empty."""
        stored = saved.structure
        if stored is None or not self.matcher.restore(stored, len(saved.ids.texts)):
            fill(self.matcher, saved.statements)
        self.ids, self.owners = Ids.restored(saved.ids), saved.owners
        self.statements, self.arrived = saved.statements, saved.arrived
        self.templates, self.sources = saved.templates, saved.sources
        self.view = self._view()

    # Asking.

    def is_settled(self) -> bool:
        """Whether the view is of all that was decided, or another thread will see to it."""
        return self.is_changing or (self._pending is None and self._is_matcher_trusted)

    def ask(self, question: Callable[[StoreView], T]) -> T:
        """What a matcher without lasting views answers, which must not change meanwhile.

        It is not trusted any more if it was interrupted while it did.
        """
        self._is_matcher_trusted = False
        try:
            answer = question(self.view)
        except PredicastError:
            self._is_matcher_trusted = True
            raise
        self._is_matcher_trusted = True
        return answer

    # Changing.

    read = staticmethod(said_by)
    read_change = staticmethod(said_by_change)

    def subscribe(self, id: str | None, said: Said, owner: str | None, *, replace: bool) -> str:
        """Add a subscription, under an id of our own making if none is given; its id."""
        id, window = self.fresh_id() if id is None else id, self.window()
        window.subscribe(id, said, owner, replace)
        self.run(window)
        return id

    def change(self, id: str, said: Said | None, parameters: Mapping[str, Value] | None) -> None:
        """Have a subscription say something else, or only with other parameters."""
        window = self.window()
        window.change(id, said, parameters)
        self.run(window)

    def unsubscribe(self, id: str) -> None:
        """Remove a subscription."""
        window = self.window()
        window.unsubscribe(id)
        self.run(window)

    def add_many(self, bulk: Bulk) -> None:
        """Add subscriptions whose ids are valid and different: all or, if one is refused, none."""
        taken = self.ids.first_held(bulk.ids)
        if taken is not None:
            raise duplicate(taken)
        self.ids.check_room(bulk.ids)
        import numpy as np

        keys = self.ids.free_keys(len(bulk.ids))
        by_position = np.array(keys, np.int32)
        groups = [Group(by_position[positions], operands) for positions, operands in bulk.groups]
        self._change(
            StoreDelta(
                self.arrived + len(keys),
                Delta(added_groups=groups),
                arrivals=Arrivals(
                    bulk.ids,
                    keys,
                    owners={keys[position]: owner for position, owner in bulk.owners.items()},
                    templates={keys[position]: each for position, each in bulk.templates.items()},
                    sources={keys[position]: text for position, text in bulk.sources.items()},
                ),
                touched=[Touched(id, False, None) for id in bulk.ids] if self.is_followed else (),
            )
        )

    def run(self, window: Window) -> Effect:
        """Carry out the net effect of a window; if the matcher refuses, nothing has changed."""
        return self._change(self._delta(window))

    def _delta(self, window: Window) -> StoreDelta:
        """What holds after a window."""
        moved = [Group(*each) for each in window.moved()] if window.moves else ()
        states = window.states
        touched = self._all_touched(window) if self.is_followed else ()
        new_keys = self._new_keys(states) if window.arrived else ()
        removed: list[int] = []
        added: list[tuple[int, Stated]] = []
        changed: list[tuple[int, Stated]] = []
        for state in states.values():
            key, stated_now = state.key, state.stated
            if key is None:
                assert stated_now is not None
                key = state.key = new_keys[len(added)]
                added.append((key, stated_now))
            elif not state.present:
                removed.append(key)
            elif stated_now is not None:
                changed.append((key, stated_now))
        if len(states) < _FEW:
            stated = Delta(removed, added, changed, (), moved)
        else:
            stated = Delta(removed, (), (), _grouped(added), [*moved, *_grouped(changed)])
        return StoreDelta(self.arrived + window.arrived, stated, states, None, touched)

    def _new_keys(self, states: Mapping[str, State]) -> Sequence[int]:
        """Keys for those that are new."""
        new = [id for id, state in states.items() if state.key is None]
        self.ids.check_room(new)
        return self.ids.free_keys(len(new))

    def _all_touched(self, window: Window) -> Sequence[Touched]:
        """The ids that a window touches, for those who follow the changes."""
        if not self.followers:
            return ()
        touched = [self._touched(id, state.key) for id, state in window.states.items()]
        return [*touched, *(self._touched(id, move.key) for id, move in window.moves.items())]

    def _touched(self, id: str, key: int | None) -> Touched:
        return Touched(id, key is not None, None if key is None else self.owners.get(key))

    # All or nothing.

    def _change(self, delta: StoreDelta) -> Effect:
        """Change the matcher and all else; what the matcher says of it."""
        self.is_changing = True
        try:
            self._is_matcher_trusted = False
            try:
                effect = self.matcher.apply(delta.stated, self.statements.get)
            except PredicastError:  # it refuses, and has undone what it did
                self._is_matcher_trusted = True
                raise
            self._pending = delta
            self._carry_out(delta)
            self.view = self._view()
            self._pending = None
            self._is_matcher_trusted = True
        finally:
            self.is_changing = False
        return effect

    def _carry_out(self, delta: StoreDelta) -> None:
        """Make what a delta says hold; the same if done twice."""
        if delta.touched:
            for changes in self.followers:
                changes.note(delta.touched)
        if delta.arrivals is not None:
            self._put_arrivals(delta.arrivals)
        statements, stated_now = self.statements, delta.stated
        if stated_now.added_groups or stated_now.changed_groups:
            for group in (*stated_now.added_groups, *stated_now.changed_groups):
                statements.put_alike(group.keys, group.operands)
        for key, stated in stated_now.added:
            statements.put(key, stated)
        for key, stated in stated_now.changed:
            statements.put(key, stated)
        for id, state in delta.states.items():
            self._put(id, state)
        self.arrived = delta.arrived

    def _put_arrivals(self, arrivals: Arrivals) -> None:
        ids, keys, owners, templates, sources = arrivals
        self.ids.put_many(ids, keys)
        for key, owner in owners.items():
            self.owners.set(key, owner)
        for key, template in templates.items():
            self.templates.set(key, template)
        for key, text in sources.items():
            self.sources.set(key, text)

    def _put(self, id: str, state: State) -> None:
        """Make hold what became of one id, but for what it states."""
        key = state.key
        assert key is not None
        if not state.present:
            self._forget(id, key)
            return
        if state.arrives_anew:
            self.ids.put(id, key)
        if not state.keeps_owner:
            self.owners.set(key, state.owner)
        if not state.keeps_template:
            self.templates.set(key, state.template)
        if state.stated is not None:
            self.sources.set(key, state.text)

    def _forget(self, id: str, key: int) -> None:
        self.owners.set(key, None)
        self.templates.set(key, None)
        self.sources.set(key, None)
        if key in self.statements:
            self.statements.remove(key)
        self.ids.remove(id, key)

    def recover(self) -> None:
        """Finish what an exception left unfinished; to be called before anything else is."""
        if self._pending is None and self._is_matcher_trusted:
            return
        self.is_changing = False  # whoever was has been interrupted, even in saying so
        if self._pending is not None:
            self._repair()
            self._carry_out(self._pending)
            self._repair()  # keys that were free are in use now
            self._pending = None
        matcher = type(self.matcher)(absent=self.matcher.absent)
        fill(matcher, self.statements)
        self.matcher = matcher
        self.view = self._view()
        self._is_matcher_trusted = True

    def _repair(self) -> None:
        self.ids.repair()
        self.statements.repair()


def fill(matcher: Matcher, statements: Statements) -> None:
    """Have an empty matcher hold what is stated; it may refuse."""
    groups = [Group(*each) for each in statements.grouped()]
    matcher.apply(Delta(added_groups=groups), statements.get)


def _grouped(single: Sequence[tuple[int, Stated]]) -> list[Group]:
    """The same, those of one outline together."""
    return [Group(*each) for each in gathered(single)]
