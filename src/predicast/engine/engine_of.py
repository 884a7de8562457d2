"""``EngineOf``: what engines have in common, whatever their events and subscriptions are.

Ids, owners, windows and those who follow the changes are the same for all, and so are the promises:
every call is checked before anything changes, one that refuses has changed nothing, and one that is
interrupted, by Ctrl-C say, has changed all that it was to change or nothing (``store_of.py``).
Calls from several threads look as if served one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, TypeVar

from predicast.engine.changes import Changes
from predicast.engine.operations import Operation, Report
from predicast.errors import InvalidOptionError, WindowTooLargeError
from predicast.locks import new_lock

if TYPE_CHECKING:
    from predicast.engine.store_of import AnyStore

St = TypeVar("St", bound="AnyStore")
V = TypeVar("V")
A = TypeVar("A")
R = TypeVar("R")


class EngineOf(Generic[St, V]):
    """Standing subscriptions, and the events they match."""

    max_window: ClassVar[int] = 1_000_000  # operations that ``apply`` takes at a time

    def __init__(self, matcher: str, store: St) -> None:
        self._matcher_name = matcher
        self._store = store
        self._has_lasting_views = store.matcher.has_lasting_views
        self._lock = new_lock()

    def _whole(self) -> St:
        """What is held, with the lock: whatever was interrupted has been finished first."""
        self._store.recover()
        return self._store

    # What there is.

    @property
    def matcher(self) -> str:
        """The name of the algorithm."""
        return self._matcher_name

    def __len__(self) -> int:
        with self._lock:
            return len(self._whole().ids)

    def __contains__(self, id: object) -> bool:
        with self._lock:
            return isinstance(id, str) and id in self._whole().ids

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter(list(self._whole().ids))

    def key(self, id: str) -> int:
        """The number that stands for an id as long as it is held, and for another one afterwards.

        Keys are small: they are used again.
        """
        with self._lock:
            return self._whole().key(id)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} subscriptions, matcher {self.matcher!r}>"

    def statistics(self) -> dict[str, int]:
        """What the matcher holds and the work it has done."""
        with self._lock:
            found: dict[str, int] = self._whole().matcher.statistics()
            return found

    # Changing it.

    def _read_and_run(self, read: Callable[[], R], run: Callable[[St, R], A]) -> A:
        """Read what was given, which may take its time, and then change what is held by it."""
        found = read()
        with self._lock:
            return run(self._whole(), found)

    def unsubscribe(self, id: str) -> None:
        """Remove a subscription."""
        with self._lock:
            self._whole().unsubscribe(id)

    def unsubscribe_all(self, *, owner: str) -> int:
        """Remove all subscriptions of an owner, in one step; how many there were."""
        with self._lock:
            window = self._whole().window()
            owned = self._store.owned(owner)
            for id, _ in owned:
                window.unsubscribe(id)
            self._store.run(window)
        return len(owned)

    def apply(
        self,
        operations: Iterable[Operation],
        *,
        on_refusal: Literal["raise", "report"] = "raise",
    ) -> Report:
        """Run a window of operations: as if one by one, and in one step for everybody else.

        An operation that is refused refuses the whole window; with ``on_refusal="report"`` it is
        left out and listed in the report. The report says what became of the others.
        """
        if on_refusal not in {"raise", "report"}:
            raise InvalidOptionError(
                f"on_refusal is 'raise' or 'report', not {on_refusal!r}", option="on_refusal"
            )
        given = self.window_of(operations)
        from predicast.engine.window_reports import read_all, run_together

        return self._read_and_run(
            lambda: read_all(given, on_refusal, self._store.read),
            lambda store, read: run_together(store, *read, on_refusal),
        )

    @classmethod
    def window_of(cls, operations: Iterable[Operation]) -> list[Operation]:
        """The operations, if they are not too many for a window."""
        given = list(islice(operations, cls.max_window + 1))
        if len(given) > cls.max_window:
            raise WindowTooLargeError(
                f"a window holds at most {cls.max_window} operations; apply it in parts",
                limit=cls.max_window,
                actual=len(given),
            )
        return given

    def changes(self) -> Changes:
        """What changes from now on: its ``take`` gives the net effect, and begins anew.

        >>> from predicast import Engine
        >>> engine = Engine()
        >>> changes = engine.changes()
        >>> engine.subscribe("price < 10", id="a")
        'a'
        >>> engine.change("a", "price < 20")
        >>> [operation.id for operation in changes.take()]
        ['a']
        """
        changes = Changes(self._taken)
        with self._lock:
            self._whole().follow(changes)
        return changes

    def _taken(self, changes: Changes) -> list[Operation]:
        with self._lock:
            return changes.taken(self._whole().entry_if_held)

    # Asking it.

    def _ask(self, question: Callable[[V], A]) -> A:
        """What a view answers: without a lock, if it lasts."""
        store = self._store
        if self._has_lasting_views:
            if not store.is_settled():
                with self._lock:
                    store.recover()
            return question(store.view)
        with self._lock:
            return self._whole().ask(question)
