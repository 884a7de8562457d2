"""``Engine``: subscriptions with ids and owners, and a matcher that finds those an event matches.

This is the library's front door, and the only place where ids meet the integer keys that matchers
work with. Every call is checked before anything changes: a call that raises has changed nothing.
Calls from several threads are served one at a time; a change is visible to every call that starts
after it returned.

What subscriptions state is kept in columns where they came in bulk (``statements.py``), and ids
stay in Arrow arrays until one is asked for (``ids.py``): an ``Entry`` is made when somebody looks.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from predicast.changes import Changes
from predicast.errors import (
    EngineError,
    InvalidOptionError,
    PredicastError,
    SnapshotError,
    UnsupportedByMatcherError,
    WindowTooLargeError,
)
from predicast.explanation import Explanation, explain
from predicast.ids import Ids, check_no_id_is_empty, checked_ids
from predicast.language import Readable
from predicast.matching import DEFAULT, make_matcher
from predicast.model import Absent, Event, Subscription, Value
from predicast.operations import Change, Operation, Refusal, Report, Subscribe, Unsubscribe

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from predicast.arrow import TableLike
    from predicast.matching.matcher import Matcher
    from predicast.matching.window import Saved
    from predicast.snapshot import Snapshot
    from predicast.windows import Read


@dataclass(frozen=True, slots=True)
class Entry:
    """A standing subscription: its id, what it states and whose it is."""

    id: str
    subscription: Subscription
    owner: str | None


class Engine:
    """Standing subscriptions, and the events they match.

    >>> engine = Engine()
    >>> engine.subscribe("price < 10 AND symbol = 'IBM'", id="alice-1", owner="alice")
    'alice-1'
    >>> engine.match({"price": 9.5, "symbol": "IBM"})
    ['alice-1']

    ``matcher`` names the algorithm; all of them give the same answers. ``absent`` says what
    becomes of constraints on attributes that an event lacks: they fail, as in SQL, or pass.
    """

    max_window: ClassVar[int] = 1_000_000  # operations that ``apply`` takes at a time

    def __init__(self, *, matcher: str = DEFAULT, absent: Absent = "fails") -> None:
        if absent not in {"fails", "passes"}:
            raise EngineError(f"absent is 'fails' or 'passes', not {absent!r}")
        from predicast.holdings import Holdings  # imports NumPy, which takes its time

        self._held = Holdings(make_matcher(matcher, absent=absent))
        self._matcher_name = matcher
        self._absent: Absent = absent
        self._lock = threading.RLock()

    @property
    def _matcher(self) -> Matcher:
        return self._held.matcher

    # What there is.

    @property
    def matcher(self) -> str:
        """The name of the algorithm."""
        return self._matcher_name

    @property
    def absent(self) -> Absent:
        """What becomes of a constraint on an attribute that the event lacks."""
        return self._absent

    def __len__(self) -> int:
        return len(self._held.ids)

    def __contains__(self, id: object) -> bool:
        with self._lock:
            return id in self._held.ids

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter(list(self._held.ids))

    def __repr__(self) -> str:
        return f"<Engine: {len(self)} subscriptions, matcher {self.matcher!r}>"

    def get(self, id: str) -> Entry:
        """The subscription with this id."""
        with self._lock:
            return self._entry(id, self._held.key(id))

    def subscriptions(self, *, owner: str | None = None) -> list[Entry]:
        """All subscriptions, or those of one owner, in the order in which they came."""
        with self._lock:
            ids, owners = self._held.ids.items(), self._held.owners.by_key()
            if owner is not None:
                return [self._entry(id, key) for id, key in ids if owners.get(key) == owner]
            stated = dict(self._held.statements.items())
            return [Entry(id, stated[key], owners.get(key)) for id, key in ids]

    def attributes(self) -> frozenset[str]:
        """The names of all attributes that some subscription looks at."""
        with self._lock:
            return self._held.statements.attributes()

    def statistics(self) -> dict[str, int]:
        """What the matcher holds and the work it has done."""
        with self._lock:
            return self._matcher.statistics()

    # Changing it.

    def subscribe(
        self,
        expression: Readable,
        *,
        id: str | None = None,
        owner: str | None = None,
        parameters: Mapping[str, Value] | None = None,
    ) -> str:
        """Add a subscription and return its id, one of our own making if none is given.

        Where text may have parameters, ``x BETWEEN :x1 AND :x2``, whose values ``parameters``
        gives and ``change`` can set anew without parsing anything.
        """
        with self._lock:
            id = self._held.fresh_id() if id is None else id
            self._run_one(Subscribe(id, expression, owner, parameters))
        return id

    def unsubscribe(self, id: str) -> None:
        """Remove a subscription."""
        self._run_one(Unsubscribe(id))

    def change(
        self,
        id: str,
        expression: Readable | None = None,
        *,
        parameters: Mapping[str, Value] | None = None,
    ) -> None:
        """Replace what a subscription states, or some of its parameters; id and owner stay."""
        self._run_one(Change(id, expression, parameters))

    def subscribe_many(self, pairs: Iterable[tuple[str, Readable]]) -> None:
        """Add (id, expression) pairs: all of them or, if one is refused, none."""
        from predicast.language.bulk import alike_from_pairs

        given, groups = alike_from_pairs(pairs)
        ids = checked_ids(given)
        with self._lock:
            self._held.add_many(ids, groups)

    def subscribe_arrow(self, table: TableLike) -> None:
        """Add the subscriptions of a table with one row per constraint: all or none.

        The table is in any form that ``match_arrow`` takes; ``predicast.language.arrow_form``
        lists the columns.
        """
        from predicast.language.arrow_form import alike_from_arrow

        ids, groups = alike_from_arrow(table)
        check_no_id_is_empty(ids)
        with self._lock:
            self._held.add_many(ids, groups)

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
        given = list(islice(operations, self.max_window + 1))
        if len(given) > self.max_window:
            raise WindowTooLargeError(
                f"a window holds at most {self.max_window} operations; apply it in parts",
                limit=self.max_window,
                actual=len(given),
            )
        reads, refused = _read_all(given, on_refusal)
        with self._lock:
            taken, saved = self._run_together(reads, on_refusal, refused)
        refused.sort(key=lambda refusal: refusal.position)
        return Report(
            len(given),
            taken - (saved.given - saved.collapsed),
            saved.shared,
            saved.in_place,
            saved.restructured,
            tuple(refused),
        )

    def _run_together(
        self, reads: list[tuple[int, Read]], on_refusal: str, refused: list[Refusal]
    ) -> tuple[int, Saved]:
        """Run a window: how many operations were taken, and what became of them."""
        window = self._held.window()
        refused_here: list[Refusal] = []
        for position, read_ in reads:
            try:
                window.take(read_)
            except PredicastError as error:
                if on_refusal == "raise":
                    error.add_note(f"operation {position} of the window")
                    raise
                refused_here.append(Refusal(position, read_.operation, error))
        try:
            saved = self._held.run(window)
        except UnsupportedByMatcherError:
            if on_refusal == "raise":
                raise
            return self._run_apart(reads, refused)
        refused += refused_here
        return len(reads) - len(refused_here), saved

    def _run_apart(
        self, reads: list[tuple[int, Read]], refused: list[Refusal]
    ) -> tuple[int, Saved]:
        """Run a window of which the matcher refuses something one by one, to learn what."""
        from predicast.matching.window import Saved

        taken, saved = 0, Saved()
        for position, read_ in reads:
            window = self._held.window()
            try:
                window.take(read_)
                saved += self._held.run(window)
                taken += 1
            except PredicastError as error:
                refused.append(Refusal(position, read_.operation, error))
        return taken, saved

    def changes(self) -> Changes:
        """What changes from now on: its ``take`` gives the net effect, and begins anew.

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
            self._held.followers.add(changes)
        return changes

    def _taken(self, changes: Changes) -> list[Operation]:
        with self._lock:
            return changes.taken(self._entry_if_held)

    def _entry_if_held(self, id: str) -> Entry | None:
        key = self._held.ids.key(id)
        return None if key is None else self._entry(id, key)

    def _run_one(self, operation: Operation) -> None:
        from predicast.windows import read

        given = read(operation)
        with self._lock:
            window = self._held.window()
            window.take(given)
            self._held.run(window)

    def _entry(self, id: str, key: int) -> Entry:
        return Entry(id, self._held.statements.get(key), self._held.owners.get(key))

    # Asking it.

    def match(self, event: Event | Mapping[str, Any]) -> list[str]:
        """The ids of the subscriptions that the event matches, sorted."""
        checked = event if isinstance(event, Event) else Event(event)
        with self._lock:
            return sorted(self._held.ids.names(self._matcher.match(checked)))

    def match_batch(self, events: Iterable[Event | Mapping[str, Any]]) -> list[list[str]]:
        """One sorted list of ids per event."""
        checked = [event if isinstance(event, Event) else Event(event) for event in events]
        with self._lock:
            matched = self._matcher.match_batch(checked)
            return [sorted(self._held.ids.names(keys)) for keys in matched]

    def match_arrow(
        self,
        batch: TableLike,
        *,
        limit: int | None = None,
        intervals: Mapping[str, tuple[str, str]] | None = None,
    ) -> pa.Table:
        """The matches of a batch of rows, as a table of ``event`` (int64) and ``subscription``.

        The batch is a PyArrow table, record batch or reader, a pandas or Polars frame, or whatever
        else offers ``__arrow_c_stream__`` or ``__arrow_c_array__``. ``event`` is the row's position
        in it, ``subscription`` an id (dictionary-encoded string; the dictionary may hold ids that
        no row uses). Rows ascend by event; the ids of one event stand in no particular order.
        ``limit`` asks for at most that many matches of each event, whichever. Struct columns become
        dotted names, nulls are absent. For region events, ``intervals={"x": ("x_min", "x_max")}``
        says which two columns hold the ends of an attribute.
        """
        from predicast.arrow import as_table
        from predicast.matching.arrow import matches_table
        from predicast.matching.columns import Columns

        _check_limit(limit)
        table = as_table(batch)  # before the lock: a stream may take its time
        with self._lock:
            columns = Columns.from_arrow(table, self.attributes(), intervals)
            return matches_table(self._matcher.match_columns(columns, limit), self._held.ids)

    def count_arrow(
        self,
        batch: TableLike,
        *,
        limit: int | None = None,
        intervals: Mapping[str, tuple[str, str]] | None = None,
    ) -> pa.Int64Array:
        """How many subscriptions each row of a batch matches.

        ``limit`` is where counting may stop: ``limit=1`` tells which rows match anything at all.
        The rest is as in ``match_arrow``.
        """
        import pyarrow as pa

        from predicast.arrow import as_table
        from predicast.matching.columns import Columns

        _check_limit(limit)
        table = as_table(batch)
        with self._lock:
            columns = Columns.from_arrow(table, self.attributes(), intervals)
            return pa.array(self._matcher.count_columns(columns, limit), pa.int64())

    def explain(self, id: str, event: Event | Mapping[str, Any]) -> Explanation:
        """Why the subscription matches the event, or why not."""
        checked = event if isinstance(event, Event) else Event(event)
        return explain(id, self.get(id).subscription, checked, self._absent)

    # Keeping it.

    def to_bytes(self) -> bytes:
        """The whole engine as a snapshot that travels to another process."""
        from predicast import snapshot

        return snapshot.to_bytes(self._taken_apart())

    @classmethod
    def from_bytes(cls, data: bytes, *, matcher: str | None = None) -> Self:
        """The engine of a snapshot."""
        import numpy as np

        # Copied: what was sent cannot be written to, and matchers write to what they hold.
        return cls._from_file(np.frombuffer(data, np.uint8).copy(), None, matcher)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the engine to a file, atomically: a crash leaves the old file or the new one.

        The engine goes on matching and changing meanwhile; the file holds what was there when
        ``save`` was called.
        """
        from predicast import snapshot

        snapshot.save(self._taken_apart(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, matcher: str | None = None) -> Self:
        """The engine in a file; a damaged file is refused, not half-read.

        The file is mapped into memory, which all processes that load it share. The checksum
        finds accidents, not forgeries: load only files that you trust. Replace a file
        by saving to it; whoever has loaded it keeps what it was.
        """
        from predicast import snapshot

        return cls._from_file(snapshot.mapped(path), os.fspath(path), matcher)

    def _taken_apart(self) -> Snapshot:
        """All there is, untouched by later changes; written down after the lock is given back."""
        from predicast.snapshot import Snapshot

        with self._lock:
            return Snapshot(
                self._matcher_name,
                self._absent,
                self._held.arrived,
                self._held.ids.held(),
                self._held.owners.copy(),
                self._held.statements.copy(),
                self._held.templates.copy(),
                self._matcher.stored(),
            )

    @classmethod
    def _from_file(cls, file: np.ndarray, path: str | None, matcher: str | None) -> Self:
        from predicast import snapshot

        try:
            saved = snapshot.decode(file)
            engine = cls(matcher=matcher or saved.matcher, absent=saved.absent)
            engine._restore(saved)
        except SnapshotError as error:
            if path is not None:
                error.path, error.message = path, error.message.replace("the snapshot", path, 1)
            raise
        return engine

    def _restore(self, saved: Snapshot) -> None:
        stored = saved.structure if saved.matcher == self._matcher_name else None
        if stored is None or not self._matcher.restore(stored, len(saved.ids.texts)):
            for keys, alike in saved.statements.grouped():
                self._matcher.subscribe_alike(keys, alike)
        self._held.ids, self._held.owners = Ids.restored(saved.ids), saved.owners
        self._held.statements, self._held.arrived = saved.statements, saved.arrived
        self._held.templates = saved.templates


def _read_all(
    operations: Sequence[Operation], on_refusal: str
) -> tuple[list[tuple[int, Read]], list[Refusal]]:
    """The operations with what they state, and those that cannot be read."""
    from predicast.windows import read

    reads: list[tuple[int, Read]] = []
    refused: list[Refusal] = []
    for position, operation in enumerate(operations):
        try:
            reads.append((position, read(operation)))
        except PredicastError as error:
            if on_refusal == "raise":
                error.add_note(f"operation {position} of the window")
                raise
            refused.append(Refusal(position, operation, error))
    return reads, refused


def _check_limit(limit: object) -> None:
    if limit is not None and (type(limit) is not int or limit < 1):
        raise InvalidOptionError(
            f"limit is a positive integer, or None for all matches, not {limit!r}", option="limit"
        )
