"""``Engine``: subscriptions with ids and owners, and a matcher that finds those an event matches.

This is the library's front door, and the only place where ids meet the integer keys that matchers
work with. Every call is checked before anything changes: a call that raises has changed nothing.
Calls from several threads are served one at a time; a change is visible to every call that starts
after it returned.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from predicast import snapshot
from predicast.errors import DuplicateIdError, EngineError, InvalidIdError, UnknownIdError, suggest
from predicast.explanation import Explanation, explain
from predicast.language import Readable, to_subscription
from predicast.matching import DEFAULT, make_matcher
from predicast.model import Absent, Event, Subscription
from predicast.operations import Change, Operation, Subscribe, Unsubscribe

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Entry:
    """A standing subscription: its id, what it states and whose it is."""

    id: str
    subscription: Subscription
    owner: str | None
    key: int


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

    def __init__(self, *, matcher: str = DEFAULT, absent: Absent = "fails") -> None:
        if absent not in {"fails", "passes"}:
            raise EngineError(f"absent is 'fails' or 'passes', not {absent!r}")
        self._matcher = make_matcher(matcher, absent=absent)
        self._matcher_name = matcher
        self._absent: Absent = absent
        self._entries: dict[str, Entry] = {}
        self._ids: dict[int, str] = {}
        self._attributes: Counter[str] = Counter()  # how many subscriptions look at each
        self._next_key = 0
        self._lock = threading.RLock()

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
        return len(self._entries)

    def __contains__(self, id: object) -> bool:
        return id in self._entries

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter(list(self._entries))

    def __repr__(self) -> str:
        return f"<Engine: {len(self)} subscriptions, matcher {self.matcher!r}>"

    def get(self, id: str) -> Entry:
        """The subscription with this id."""
        entry = self._entries.get(id)
        if entry is None:
            close = suggest(str(id), self._entries) if len(self._entries) < 10_000 else None
            hint = f"; did you mean {close!r}?" if close else ""
            raise UnknownIdError(
                f"no subscription has the id {id!r}{hint}", id=id, suggestion=close
            )
        return entry

    def subscriptions(self, *, owner: str | None = None) -> list[Entry]:
        """All subscriptions, or those of one owner, in the order in which they came."""
        with self._lock:
            entries = list(self._entries.values())
        return entries if owner is None else [each for each in entries if each.owner == owner]

    def attributes(self) -> frozenset[str]:
        """The names of all attributes that some subscription looks at."""
        with self._lock:
            return frozenset(self._attributes)

    def statistics(self) -> dict[str, int]:
        """What the matcher holds and the work it has done."""
        with self._lock:
            return self._matcher.statistics()

    # Changing it.

    def subscribe(
        self, expression: Readable, *, id: str | None = None, owner: str | None = None
    ) -> str:
        """Add a subscription and return its id, one of our own making if none is given."""
        subscription = to_subscription(expression)
        with self._lock:
            id = self._fresh_id() if id is None else id
            self._check_new(id, owner)
            self._add(id, subscription, owner)
        return id

    def unsubscribe(self, id: str) -> None:
        """Remove a subscription."""
        with self._lock:
            self._remove(self.get(id))

    def change(self, id: str, expression: Readable) -> None:
        """Replace what a subscription states; its id and owner stay."""
        subscription = to_subscription(expression)
        with self._lock:
            self._replace(self.get(id), subscription)

    def subscribe_many(self, pairs: Iterable[tuple[str, Readable]]) -> None:
        """Add (id, expression) pairs: all of them or, if one is refused, none."""
        self.apply([Subscribe(id, expression) for id, expression in pairs])

    def subscribe_arrow(self, table: pa.Table | pa.RecordBatch) -> None:
        """Add the subscriptions of an Arrow table with one row per constraint: all or none.

        ``predicast.language.arrow_form`` lists the columns.
        """
        from predicast.language.arrow_form import subscriptions_from_arrow

        self.subscribe_many(subscriptions_from_arrow(table).items())

    def apply(self, operations: Iterable[Operation]) -> None:
        """Run a window of operations in order: all of them or, if one is refused, none."""
        planned = [(each, self._planned(each)) for each in operations]
        undo: list[Callable[[], None]] = []
        with self._lock:
            try:
                for operation, subscription in planned:
                    undo.append(self._run(operation, subscription))
            except BaseException:
                for step in reversed(undo):
                    step()
                raise

    @staticmethod
    def _planned(operation: Operation) -> Subscription | None:
        if isinstance(operation, Subscribe | Change):
            return to_subscription(operation.expression)
        if isinstance(operation, Unsubscribe):
            return None
        raise EngineError(f"a window holds Subscribe, Change and Unsubscribe, not {operation!r}")

    def _run(self, operation: Operation, subscription: Subscription | None) -> Callable[[], None]:
        """Carry out one operation; return what takes it back."""
        if isinstance(operation, Unsubscribe):
            before = self.get(operation.id)
            self._remove(before)
            return lambda: self._add(before.id, before.subscription, before.owner)
        assert subscription is not None
        if isinstance(operation, Change):
            before = self.get(operation.id)
            self._replace(before, subscription)
            return lambda: self._replace(self.get(before.id), before.subscription)
        self._check_new(operation.id, operation.owner)
        self._add(operation.id, subscription, operation.owner)
        return lambda: self._remove(self.get(operation.id))

    def _fresh_id(self) -> str:
        number = self._next_key + 1
        while f"s{number}" in self._entries:
            number += 1
        return f"s{number}"

    def _check_new(self, id: str, owner: str | None) -> None:
        for what, text in (("id", id), ("owner", owner)):
            if what == "owner" and text is None:
                continue
            if not isinstance(text, str) or not text or not _is_unicode(text):
                raise InvalidIdError(f"an {what} is a non-empty string, not {text!r}", id=text)
        if id in self._entries:
            raise DuplicateIdError(
                f"the id {id!r} is taken; use change() to replace what it states", id=id
            )

    def _add(self, id: str, subscription: Subscription, owner: str | None) -> None:
        key = self._next_key
        self._matcher.subscribe(key, subscription)
        self._next_key += 1
        self._entries[id] = Entry(id, subscription, owner, key)
        self._ids[key] = id
        self._attributes.update(subscription.attributes())

    def _remove(self, entry: Entry) -> None:
        self._matcher.unsubscribe(entry.key)
        del self._entries[entry.id]
        del self._ids[entry.key]
        self._forget_attributes(entry.subscription)

    def _replace(self, entry: Entry, subscription: Subscription) -> None:
        self._matcher.change(entry.key, subscription)
        self._entries[entry.id] = Entry(entry.id, subscription, entry.owner, entry.key)
        self._attributes.update(subscription.attributes())
        self._forget_attributes(entry.subscription)

    def _forget_attributes(self, subscription: Subscription) -> None:
        for attribute in subscription.attributes():
            self._attributes[attribute] -= 1
            if not self._attributes[attribute]:
                del self._attributes[attribute]

    # Asking it.

    def match(self, event: Event | Mapping[str, Any]) -> list[str]:
        """The ids of the subscriptions that the event matches, sorted."""
        checked = event if isinstance(event, Event) else Event(event)
        with self._lock:
            return sorted(map(self._ids.__getitem__, self._matcher.match(checked)))

    def match_batch(self, events: Iterable[Event | Mapping[str, Any]]) -> list[list[str]]:
        """One sorted list of ids per event."""
        checked = [event if isinstance(event, Event) else Event(event) for event in events]
        with self._lock:
            return [
                sorted(map(self._ids.__getitem__, keys))
                for keys in self._matcher.match_batch(checked)
            ]

    def match_arrow(
        self,
        batch: pa.RecordBatch | pa.Table,
        *,
        intervals: Mapping[str, tuple[str, str]] | None = None,
    ) -> pa.Table:
        """The matches of a batch of rows, as a table of ``event`` (int64) and ``subscription``.

        ``event`` is the row's position in the batch, ``subscription`` an id (dictionary-encoded
        string). Rows are sorted by both. Struct columns become dotted names, nulls are absent.
        For region events, ``intervals={"x": ("x_min", "x_max")}`` says which two columns hold the
        ends of an attribute.
        """
        from predicast.matching.arrow import matches_table
        from predicast.matching.columns import Columns

        with self._lock:
            columns = Columns.from_arrow(batch, self.attributes(), intervals)
            return matches_table(self._matcher.match_columns(columns), self._ids)

    def explain(self, id: str, event: Event | Mapping[str, Any]) -> Explanation:
        """Why the subscription matches the event, or why not."""
        checked = event if isinstance(event, Event) else Event(event)
        return explain(id, self.get(id).subscription, checked, self._absent)

    # Keeping it.

    def to_bytes(self) -> bytes:
        """The whole engine as a snapshot that travels to another process."""
        settings = {"matcher": self._matcher_name, "absent": self._absent}
        return snapshot.encode(
            settings,
            (snapshot.Record(e.id, e.owner, e.subscription) for e in self.subscriptions()),
        )

    @classmethod
    def from_bytes(cls, data: bytes, *, matcher: str | None = None) -> Self:
        """The engine of a snapshot."""
        return cls._from_snapshot(snapshot.decode(data), matcher)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the engine to a file, atomically: a crash leaves the old file or the new one."""
        snapshot.write_atomically(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, matcher: str | None = None) -> Self:
        """The engine in a file; a damaged file is refused, not half-read."""
        return cls._from_snapshot(snapshot.decode(Path(path).read_bytes(), str(path)), matcher)

    @classmethod
    def _from_snapshot(cls, saved: snapshot.Snapshot, matcher: str | None) -> Self:
        engine = cls(matcher=matcher or saved.settings["matcher"], absent=saved.settings["absent"])
        engine.apply([Subscribe(r.id, r.subscription, r.owner) for r in saved.records])
        return engine


def _is_unicode(text: str) -> bool:
    """Whether a file can hold it: a lone surrogate cannot be written."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
