"""What an engine may be asked, and how: events read, limits and options checked.

Of an event only what some subscription looks at is read. What of that is no value of the model
cannot be compared: then the whole question is refused, or the attribute counts as absent, or the
event is skipped and matches nothing. The latter two are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from predicast.errors import InvalidOptionError, ModelError, suggest
from predicast.locks import new_lock
from predicast.matching.matcher import joined_pairs
from predicast.model import Event
from predicast.model.event_reader import EventReader
from predicast.model.values import checked

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from predicast.arrow import TableLike
    from predicast.engine.store import StoreView
    from predicast.matching.batches import EventBatch
    from predicast.matching.batches.refusals import Refusals
    from predicast.matching.matcher import Pairs

OnInvalid: TypeAlias = Literal["raise", "absent", "skip"]
Given: TypeAlias = Event | Mapping[str, Any]
Ends: TypeAlias = Mapping[str, tuple[str, ...]] | None

_CHOICES: Final = ("raise", "absent", "skip")
_MOST_MATCHES: Final = 1 << 31  # of one event: there are no more keys


class InvalidEvents(NamedTuple):
    """Events that had something that could not be compared, since the engine was made."""

    events: int
    values: int  # attributes of these events
    latest: str | None  # what was wrong with the latest of them


class TableQuestion(NamedTuple):
    """A table of events, and how it is to be read and matched."""

    table: pa.Table
    limit: int | None
    intervals: Ends
    on_invalid: OnInvalid | None
    now: datetime | str | None

    @classmethod
    def of(
        cls,
        batch: TableLike,
        limit: int | None,
        intervals: Ends,
        on_invalid: OnInvalid | None,
        now: datetime | str | None,
    ) -> TableQuestion:
        """Check what was asked."""
        from predicast.arrow import as_table

        most, at = checked_limit(limit), now if isinstance(now, str) else checked_time(now)
        table = as_table(batch)
        if isinstance(now, str):
            _check_arrivals(table, now)
        return cls(table, most, intervals, on_invalid, at)


class Asking:
    """Questions to a view, and what becomes of events that cannot be compared."""

    def __init__(self, on_invalid: OnInvalid) -> None:
        self.on_invalid: OnInvalid = checked_choice(on_invalid)
        self._lock = new_lock()
        self._invalid = InvalidEvents(0, 0, None)

    def invalid(self) -> InvalidEvents:
        """What could not be compared so far."""
        return self._invalid

    def match(
        self,
        view: StoreView,
        event: Given,
        on_invalid: OnInvalid | None = None,
        now: datetime | None = None,
    ) -> list[str]:
        """The ids of the subscriptions that an event matches, sorted."""
        if type(event) is not Event and not isinstance(event, Event):
            if on_invalid is None and self.on_invalid == "raise":
                event = view.reader.event(event)
            else:
                read = self._read(view, event, self._choice(on_invalid))
                if read is None:
                    return []
                event = read
        at = None if now is None else checked_time(now)
        keys = view.matcher.match(view.derivation.event(event, at))
        return sorted(view.ids.names(keys))

    def match_batch(
        self,
        view: StoreView,
        events: Sequence[Given],
        on_invalid: OnInvalid | None,
        now: datetime | None,
    ) -> list[list[str]]:
        """The same of each of several."""
        choice = self._choice(on_invalid)
        read: list[Event | None] = []
        for position, event in enumerate(events):
            try:
                read.append(self._read(view, event, choice))
            except ModelError as error:
                error.event, error.message = position, f"event {position}: {error.message}"
                raise
        kept, at = [each for each in read if each is not None], checked_time(now)
        matched = view.derivation.match_batch(view.matcher, kept, at)
        found = iter([sorted(view.ids.names(keys)) for keys in matched])
        return [[] if each is None else next(found) for each in read]

    def match_table(self, view: StoreView, table: TableQuestion) -> Pairs:
        """The matches of the rows of a table."""
        pieces, refusals = self._columns(view, table)
        found = [
            view.matcher.match_columns(columns, table.limit).from_event(start)
            for start, columns in pieces
        ]
        return joined_pairs(found).without(self._skipped(refusals, table))

    def count_table(self, view: StoreView, table: TableQuestion) -> np.ndarray:
        """How many there are of each row."""
        import numpy as np

        pieces, refusals = self._columns(view, table)
        found = [view.matcher.count_columns(columns, table.limit) for _, columns in pieces]
        counts = found[0] if len(found) == 1 else np.concatenate(found)
        skipped = self._skipped(refusals, table)
        if len(skipped):
            counts[skipped] = 0
        return counts

    def explained(self, reader: EventReader, event: Given) -> Event:
        """What one subscription looks at; it is refused if the event would be skipped."""
        if isinstance(event, Event):
            return event
        return (
            reader.lenient_event(event, []) if self.on_invalid == "absent" else reader.event(event)
        )

    def _choice(self, on_invalid: OnInvalid | None) -> OnInvalid:
        return self.on_invalid if on_invalid is None else checked_choice(on_invalid)

    def _read(self, view: StoreView, event: Given, on_invalid: OnInvalid) -> Event | None:
        """An event of the model, ``None`` if it is skipped."""
        if isinstance(event, Event):
            return event
        if on_invalid == "raise":
            return view.reader.event(event)
        refused: list[ModelError] = []
        read = view.reader.lenient_event(event, refused)
        if not refused:
            return read
        self._note(1, len(refused), refused[-1].message)
        return None if on_invalid == "skip" else read

    def _columns(
        self, view: StoreView, asked: TableQuestion
    ) -> tuple[Iterator[tuple[int, EventBatch]], Refusals]:
        """What subscriptions look at in a table, piece by piece, and what is refused of it."""
        from predicast.matching.batches.refusals import Refusals

        refusals = Refusals(raises=self._choice(asked.on_invalid) == "raise")
        return view.columns(asked.table, asked.intervals, asked.now, refusals), refusals

    def _skipped(self, refusals: Refusals, asked: TableQuestion) -> np.ndarray:
        """The rows that are skipped; asked after matching, which reads the elements of lists."""
        rows = refusals.rows()
        if refusals.latest is not None:
            self._note(len(rows), refusals.values(), refusals.latest.message)
        return rows if self._choice(asked.on_invalid) == "skip" else rows[:0]

    def _note(self, events: int, values: int, latest: str) -> None:
        with self._lock:
            before = self._invalid
            self._invalid = InvalidEvents(before.events + events, before.values + values, latest)


def _check_arrivals(table: pa.Table, column: str) -> None:
    """Refuse a column that cannot say when events arrive."""
    import pyarrow as pa

    from predicast.matching.batches.leaf_columns import find_leaves

    leaf = find_leaves(table.schema, {column}).get(column)
    if leaf is None or not (pa.types.is_timestamp(leaf.type) or pa.types.is_date(leaf.type)):
        found = "there is none" if leaf is None else f"it is of type {leaf.type}"
        raise InvalidOptionError(
            f"now is a time or the name of a column of timestamps, not {column!r}: {found}",
            option="now",
        )


def checked_time(now: datetime | None) -> datetime | None:
    """When events arrive, ``None`` for the clock's time."""
    if now is None:
        return None
    try:
        at = checked("now", now)
    except ModelError as error:
        raise InvalidOptionError(error.message, option="now") from error
    if not isinstance(at, datetime):
        raise InvalidOptionError(
            f"now is a datetime, such as datetime.now(UTC), not {now!r}", option="now"
        )
    return at


def checked_choice(on_invalid: OnInvalid) -> OnInvalid:
    """What becomes of what cannot be compared."""
    if on_invalid not in _CHOICES:
        close = suggest(str(on_invalid), _CHOICES)
        hint = f"; did you mean {close!r}?" if close else ""
        listed = ", ".join(map(repr, _CHOICES))
        raise InvalidOptionError(
            f"on_invalid is one of {listed}, not {on_invalid!r}{hint}", option="on_invalid"
        )
    return on_invalid


def checked_limit(limit: object) -> int | None:
    """How many matches of an event are asked for, ``None`` if all are."""
    if limit is None:
        return None
    if type(limit) is not int or limit < 1:
        raise InvalidOptionError(
            f"limit is a positive integer, or None for all matches, not {limit!r}", option="limit"
        )
    return None if limit > _MOST_MATCHES else limit
