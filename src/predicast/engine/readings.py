"""``Readings``: what a flat event says by an ontology's properties.

Whatever has a ``cellPhoneNumber`` has a ``telephoneNumber``, if the ontology says so: the event
gets, under each name that some subscription looks at, the value of an attribute whose name is that
of the property or of one below it. Subscriptions and matchers know nothing of this.

An event may give one property several values, as ``cellPhoneNumber`` and ``homePhoneNumber``. Then
it has several *readings*, one for each choice of a value for every property, and matches what one
of them matches: as a region matches what one of its points does. So all that a subscription says
about a property is said of one value, NOT included, and a property is absent if no attribute gives
it a value.

Cost: of a batch none but for the names, unless rows have several readings. Those are made one by
one, as many as the numbers of different values multiply to. An event with more than
``MAX_READINGS`` is invalid: it is refused, or matches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from predicast.errors import InvalidEventError
from predicast.model import Event, Held, Interval
from predicast.model.event import trusted_event
from predicast.model.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np

    from predicast.matching.batches import EventBatch
    from predicast.matching.batches.refusals import Refusals
    from predicast.matching.batches.typed_values import TypedValues

MAX_READINGS: Final = 1024  # of one event
_PIECE: Final = 1 << 12  # events that are read one by one if one of them has several readings


class Reading(NamedTuple):
    """What an event says, and which attribute each property was taken from, if not its own."""

    event: Event
    sources: Mapping[str, str]


class ReadBatch(NamedTuple):
    """Some events of a batch, read; ``rows`` says whose each reading is, unless all have one."""

    start: int  # the first event
    events: int
    batch: EventBatch
    rows: np.ndarray | None = None  # by reading, counted from the first event


class Readings:
    """The readings of events, by the properties among some names of attributes."""

    __slots__ = ("_gives", "names")

    names: frozenset[str]  # of all attributes that are to be read

    def __init__(self, vocabulary: Vocabulary, names: Iterable[str]) -> None:
        wanted = frozenset(names)
        given_by = {name: vocabulary.attribute_names(name) for name in wanted}
        self.names = wanted.union(*given_by.values())
        # By attribute: an event has few of them, whatever subscriptions look at.
        self._gives: dict[str, list[str]] = {}
        for name, sources in given_by.items():
            for source in sources if len(sources) > 1 else ():
                self._gives.setdefault(source, []).append(name)

    def __bool__(self) -> bool:
        return bool(self._gives)

    # One event.

    def events(self, event: Event) -> list[Event]:
        """The readings; mostly one."""
        return [reading.event for reading in self.of(event)]

    def of(self, event: Event) -> list[Reading]:
        """The readings, and where their values come from."""
        choices = self._choices(event)
        count = prod(map(len, choices.values()))
        if count > MAX_READINGS:
            raise _too_many(choices, count)
        attributes = dict(event.items())
        return [
            _reading(attributes, dict(zip(choices, chosen, strict=True)))
            for chosen in product(*choices.values())
        ]

    def _choices(self, event: Event) -> dict[str, list[tuple[str, Held]]]:
        """The different values that the event gives each property, each with one attribute."""
        found: dict[str, dict[tuple[type, Held], tuple[str, Held]]] = {}
        for source, value in event.items():
            for name in self._gives.get(source, ()):
                different = found.setdefault(name, {})
                key = type(value), value  # 1 and TRUE are two
                if source == name or key not in different:  # its own name is the best to tell
                    different[key] = source, value
        return {name: list(different.values()) for name, different in found.items()}

    # Columns.

    def batches(self, batch: EventBatch, refusals: Refusals) -> Iterator[ReadBatch]:
        """The readings of a batch, in pieces."""
        renamed = self._renamed(batch)
        if renamed is not None:
            yield ReadBatch(0, len(batch), renamed)
            return
        for start, piece in batch.chunks(_PIECE):
            renamed = self._renamed(piece)
            if renamed is None:
                yield self._one_by_one(start, piece, refusals)
            else:
                yield ReadBatch(start, len(piece), renamed)

    def _renamed(self, batch: EventBatch) -> EventBatch | None:
        """The batch with columns under other names as well; ``None`` if that does not do."""
        from predicast.matching.batches.event_batch import EventBatch
        from predicast.matching.batches.joining import joined_parts

        parts = {name: batch.parts(name) for name in batch.attributes()}
        given: dict[str, list[list[TypedValues]]] = {}
        for source, column in parts.items():
            filled = [part for part in column if len(part)]
            for name in self._gives.get(source, ()) if filled else ():
                given.setdefault(name, []).append(filled)
        for name, columns in given.items():
            if len(columns) > 1 and _overlap(batch, columns):
                return None
            joined = joined_parts([part for column in columns for part in column])
            if joined is None:
                return None
            parts[name] = joined
        return EventBatch(len(batch), parts)

    def _one_by_one(self, start: int, batch: EventBatch, refusals: Refusals) -> ReadBatch:
        import numpy as np

        from predicast.matching.batches.event_batch import EventBatch

        rows: list[int] = []
        read: list[Event] = []
        for row, event in enumerate(batch.events()):
            try:
                found = self.events(event)
            except InvalidEventError as error:
                error.event, error.message = start + row, f"row {start + row}: {error.message}"
                refusals.add(np.array([start + row], np.int64), error)
                continue
            rows += [row] * len(found)
            read += found
        readings = EventBatch.from_events(read)
        return ReadBatch(start, len(batch), readings, np.array(rows, np.int64))


def _reading(attributes: dict[str, Held], chosen: dict[str, tuple[str, Held]]) -> Reading:
    values = {**attributes, **{name: value for name, (_, value) in chosen.items()}}
    is_region = any(type(value) is Interval for value in values.values())
    sources = {name: source for name, (source, _) in chosen.items() if source != name}
    return Reading(trusted_event(values, is_region=is_region), sources)


def _overlap(batch: EventBatch, columns: list[list[TypedValues]]) -> bool:
    """Whether some row has values in several columns."""
    import numpy as np

    counts = np.zeros(len(batch), np.int32)
    for column in columns:
        for part in column:
            counts[slice(None) if part.rows is None else part.rows] += 1
    return bool(len(counts)) and int(counts.max()) > 1


def _too_many(choices: Mapping[str, list[tuple[str, Held]]], count: int) -> InvalidEventError:
    name = max(choices, key=lambda each: len(choices[each]))
    sources = ", ".join(repr(source) for source, _ in choices[name][:3])
    return InvalidEventError(
        f"the event can be read in {count} ways, and {MAX_READINGS} are the limit: several "
        f"attributes give a value to one property, as {sources} to {name!r}",
        attribute=name,
    )
