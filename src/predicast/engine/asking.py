"""What an engine may be asked, and how: events read, limits and options checked.

Of an event only what some subscription looks at is read. What of that is no value of the model
cannot be compared: then the whole question is refused, or the attribute counts as absent, or the
event is skipped and matches nothing. The latter two are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from predicast.engine.choices import check_choice
from predicast.errors import InvalidEventError, InvalidOptionError, ModelError
from predicast.locks import new_lock
from predicast.matching.matcher import Pairs, joined_pairs
from predicast.model import Event
from predicast.model.event_reader import EventReader
from predicast.model.values import checked

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from predicast.arrow import TableLike
    from predicast.engine.readings import ReadBatch
    from predicast.engine.store import StoreView
    from predicast.matching.batches.interval_columns import IntervalColumns
    from predicast.matching.batches.refusals import Refusals

OnInvalid: TypeAlias = Literal["raise", "absent", "skip"]
Given: TypeAlias = Event | Mapping[str, Any]

# Fewer events than this are matched one by one, which costs less than to make a batch of them.
_FEW: Final = 4
_CHOICES: Final = ("raise", "absent", "skip")
_MOST_MATCHES: Final = 1 << 31  # of one event: there are no more keys


def several(events: Iterable[Given]) -> list[Given]:
    """The events of a batch; one event by itself, which is a mapping too, is refused."""
    if isinstance(events, Event | Mapping):
        raise InvalidEventError("match_batch takes a list of events; match takes one")
    return list(events)  # a stream may take its time


class InvalidEvents(NamedTuple):
    """Events that had something that could not be compared, since the engine was made."""

    events: int
    values: int  # attributes of these events
    latest: str | None  # what was wrong with the latest of them


class TableQuestion(NamedTuple):
    """A table of events, and how it is to be read and matched."""

    table: pa.Table
    limit: int | None
    intervals: IntervalColumns | None
    on_invalid: OnInvalid | None
    now: datetime | str | None

    @classmethod
    def of(
        cls,
        batch: TableLike,
        limit: int | None,
        intervals: IntervalColumns | None,
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
        if view.readings is not None:
            return self._match_readings(view, event, self._choice(on_invalid), now)
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

    def _match_readings(
        self, view: StoreView, event: Given, on_invalid: OnInvalid, now: datetime | None
    ) -> list[str]:
        at = checked_time(now) or view.derivation.clock()  # once for all of them
        read = [view.derivation.event(each, at) for each in self._readings(view, event, on_invalid)]
        return sorted(view.ids.names(_joined([view.matcher.match(each) for each in read])))

    def match_batch(
        self,
        view: StoreView,
        events: Sequence[Given],
        on_invalid: OnInvalid | None,
        now: datetime | None,
    ) -> list[list[str]]:
        """The same of each of several."""
        found = self._keys(view, events, on_invalid, now)
        return [sorted(view.ids.names(keys)) for keys in found]

    def match_keys(self, view: StoreView, events: Sequence[Event], now: datetime | None) -> Pairs:
        """The same by the keys that stand for ids, of events that are read already."""
        if view.readings is not None or not {Event}.issuperset(map(type, events)):
            return Pairs.of(self._keys(view, events, None, now))
        at, derivation = checked_time(now), view.derivation
        if len(events) < _FEW:
            return Pairs.of([view.matcher.match(derivation.event(each, at)) for each in events])
        from predicast.matching.batches.event_batch import EventBatch

        return view.matcher.match_columns(derivation.columns(EventBatch.from_events(events), at))

    def _keys(
        self,
        view: StoreView,
        events: Sequence[Given],
        on_invalid: OnInvalid | None,
        now: datetime | None,
    ) -> list[list[int]]:
        choice = self._choice(on_invalid)
        every: list[Event] = []
        ends: list[int] = []  # of what there is of each event
        for position, event in enumerate(events):
            try:
                if view.readings is not None:
                    every += self._readings(view, event, choice)
                elif (read := self._read(view, event, choice)) is not None:
                    every.append(read)
            except ModelError as error:
                error.event, error.message = position, f"event {position}: {error.message}"
                raise
            ends.append(len(every))
        matched = view.derivation.match_batch(view.matcher, every, checked_time(now))
        if len(every) != len(events) or view.readings is not None:
            spans = zip([0, *ends], ends, strict=False)
            matched = [_joined(matched[begin:end]) for begin, end in spans]
        return matched

    def match_table(self, view: StoreView, table: TableQuestion) -> Pairs:
        """The matches of the rows of a table."""
        pieces, refusals = self._columns(view, table)
        found = [_pairs(view, each, table.limit).from_event(each.start) for each in pieces]
        return joined_pairs(found).without(self._skipped(refusals, table))

    def count_table(self, view: StoreView, table: TableQuestion) -> np.ndarray:
        """How many there are of each row."""
        import numpy as np

        pieces, refusals = self._columns(view, table)
        found = [_counts(view, each, table.limit) for each in pieces]
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

    def _readings(self, view: StoreView, event: Given, on_invalid: OnInvalid) -> list[Event]:
        """What an event says by the ontology; nothing if it is skipped."""
        read = self._read(view, event, on_invalid)
        if read is None:
            return []
        assert view.readings is not None
        try:
            return view.readings.events(read)
        except InvalidEventError as error:
            if on_invalid == "raise":
                raise
            self._note(1, 1, error.message)
            return []

    def _columns(
        self, view: StoreView, asked: TableQuestion
    ) -> tuple[Iterator[ReadBatch], Refusals]:
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


def _joined(several: list[list[int]]) -> list[int]:
    """The keys of one event, each once; of several readings those of all of them."""
    return several[0] if len(several) == 1 else list(set[int]().union(*several))


def _pairs(view: StoreView, read: ReadBatch, limit: int | None) -> Pairs:
    """The matches of a piece, its events counted from 0."""
    found = view.matcher.match_columns(read.batch, limit)
    return found if read.rows is None else found.of_events(read.rows).at_most(limit)


def _counts(view: StoreView, read: ReadBatch, limit: int | None) -> np.ndarray:
    if read.rows is None:
        return view.matcher.count_columns(read.batch, limit)
    return _pairs(view, read, limit).counts(read.events)


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
    check_choice("on_invalid", on_invalid, _CHOICES)
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
