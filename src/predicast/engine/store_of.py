"""``StoreOf``: everything an engine holds, and how it changes: all of it or nothing.

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

What events are asked of is a view, which later changes leave alone: with a matcher that
has lasting views, as the default one has, nobody who matches waits for anybody who changes.

What subscriptions are, how they are stated and what is asked of them is left to those who inherit:
``SubscriptionStore`` is the store of flat events (``store.py``), another one that of graphs.

Rejected: undoing what was done so far. It needs memory just when there may be none, and is itself
interrupted by the second Ctrl-C.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from predicast.engine.changes import Changes, Touched
from predicast.engine.delta import Arrivals, StoreDelta
from predicast.engine.entry import EntryOf
from predicast.engine.ids import Ids, unknown
from predicast.engine.owners import Owners
from predicast.engine.sources import Sources
from predicast.engine.templates import Templates
from predicast.engine.windows import Said, Window, check_only_parameters
from predicast.errors import PredicastError
from predicast.matching.delta import DeltaOf, Effect
from predicast.matching.matcher import MatcherOf
from predicast.model import Value

if TYPE_CHECKING:
    import numpy as np

    from predicast.engine.windows import State
    from predicast.model.operand_columns import OperandColumns

T = TypeVar("T")  # how a subscription is stated
V = TypeVar("V")  # what is asked
M = TypeVar("M", bound=MatcherOf[Any, Any, Any])
H = TypeVar("H", bound="Holds")
A = TypeVar("A")


class Holds(Protocol):
    """What subscriptions state, by key."""

    def get(self, key: int) -> Any:
        """The subscription under a key."""

    def put(self, key: int, stated: Any) -> None:
        """Hold a subscription under a key, known or new."""

    def __contains__(self, key: int) -> bool: ...

    def remove(self, key: int) -> None:
        """Forget a subscription."""

    def repair(self) -> None:
        """Work out anew what follows from what is held, after an interrupted change."""


class StoreOf(ABC, Generic[T, M, H, V]):
    """Subscriptions with all that belongs to them, by key."""

    def __init__(self, matcher: M, statements: H) -> None:
        self.matcher = matcher
        self.ids = Ids()
        self.statements = statements
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

    # What is left to those who inherit.

    @abstractmethod
    def _view(self) -> V:
        """What is held now, to be asked."""

    @abstractmethod
    def entry(self, id: str, key: int) -> EntryOf[Any]:
        """A subscription that is held, with all that belongs to it."""

    @abstractmethod
    def read(
        self,
        id: str | None,
        expression: Any,
        parameters: Mapping[str, Value] | None,
        dialect: str | None,
        /,
    ) -> Said:
        """What an expression says, or an error that names the subscription with this id."""

    @abstractmethod
    def window(self) -> Window:
        """A window on what is held now."""

    @abstractmethod
    def _stated_delta(
        self,
        removed: list[int],
        added: list[tuple[int, T]],
        changed: list[tuple[int, T]],
        moved: Sequence[tuple[np.ndarray, OperandColumns]],
    ) -> DeltaOf[T, Any]:
        """The matcher's part of a change."""

    @abstractmethod
    def _filled_anew(self) -> M:
        """Another matcher that holds what is stated."""

    def key(self, id: str) -> int:
        """The key of an id, or an error."""
        key = self.ids.key(id)
        if key is None:
            raise unknown(id, self.ids)
        return key

    def entry_if_held(self, id: str) -> EntryOf[Any] | None:
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

    # Asking.

    def is_settled(self) -> bool:
        """Whether the view is of all that was decided, or another thread will see to it."""
        return self.is_changing or (self._pending is None and self._is_matcher_trusted)

    def ask(self, question: Callable[[V], A]) -> A:
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

    def read_change(
        self,
        id: str,
        expression: Any,
        parameters: Mapping[str, Value] | None,
        dialect: str | None = None,
    ) -> Said | None:
        """What a change says; ``None`` if it only sets parameters."""
        if expression is not None:
            return self.read(id, expression, parameters, dialect)
        check_only_parameters(parameters, dialect)
        return None

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

    def run(self, window: Window) -> Effect:
        """Carry out the net effect of a window; if the matcher refuses, nothing has changed."""
        return self._change(self._delta(window))

    def _delta(self, window: Window) -> StoreDelta:
        """What holds after a window."""
        moved = [*window.moved()] if window.moves else ()
        states = window.states
        touched = self._all_touched(window) if self.is_followed else ()
        new_keys = self._new_keys(states) if window.arrived else ()
        removed: list[int] = []
        added: list[tuple[int, T]] = []
        changed: list[tuple[int, T]] = []
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
        stated = self._stated_delta(removed, added, changed, moved)
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
        self._put_stated(delta.stated)
        for id, state in delta.states.items():
            self._put(id, state)
        self.arrived = delta.arrived

    def _put_stated(self, delta: DeltaOf[T, Any]) -> None:
        statements = self.statements
        for key, stated in delta.added:
            statements.put(key, stated)
        for key, stated in delta.changed:
            statements.put(key, stated)

    def _put_arrivals(self, arrivals: Arrivals) -> None:
        ids, keys, owners, templates, sources, dialects = arrivals
        self.ids.put_many(ids, keys)
        for key, owner in owners.items():
            self.owners.set(key, owner)
        for key, template in templates.items():
            self.templates.set(key, template)
        for key, text in sources.items():
            self.sources.set(key, text)
        for key, dialect in dialects.items():
            self.sources.set_dialect(key, dialect)

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
            if state.dialect is not None:
                self.sources.set_dialect(key, state.dialect)

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
        self.matcher = self._filled_anew()
        self.view = self._view()
        self._is_matcher_trusted = True

    def _repair(self) -> None:
        self.ids.repair()
        self.statements.repair()


AnyStore: TypeAlias = StoreOf[Any, Any, Any, Any]
