"""Derived attributes: computed once per event or batch, however many subscriptions name them.

What comes out is an event, or a batch of columns, with the derived attributes among the others, so
that matchers know nothing of them. Whatever an event itself has under such a name is not seen. An
expression over an attribute that is an interval has no value: a region of two attributes would not
be one interval of what is computed from them.

``now()`` is when an event arrives: the clock is read once per question, unless the time is given.

A ``Derivation`` never changes; when subscriptions name other derived attributes, there is another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from predicast.derived import NOW, Call, Input, asks_for_now, compiled_whole, inputs_of
from predicast.derived.functions import needed_of_kind
from predicast.language.derived_names import expression_of, is_derived
from predicast.model import Event, Held, Interval, Kind, Value
from predicast.model.event import with_values

if TYPE_CHECKING:
    from predicast.matching.batches import EventBatch
    from predicast.matching.matcher import View

_CASES: Final[dict[str, Callable[[str], str]]] = {"lower": str.lower, "upper": str.upper}
_PIECE: Final = 1 << 12  # events: what is made of them and searched stays in a processor's cache


class Derivation:
    """The derived attributes among some names."""

    __slots__ = (
        *("_always", "_by_input", "_cases", "_compiled", "_inputs", "_not_of_strings"),
        *("_of_strings", "_others", "_trees"),
        "asks_for_now",
    )

    asks_for_now: bool  # whether one depends on when an event arrives

    def __init__(self, attributes: Iterable[str]) -> None:
        names = sorted(name for name in attributes if is_derived(name))
        self._trees = {name: expression_of(name) for name in names}
        self._compiled = {name: compiled_whole(tree) for name, tree in self._trees.items()}
        self._inputs = {name: inputs_of(tree) for name, tree in self._trees.items()}
        # Most have no value without their inputs, and most events lack most inputs.
        self._always = [
            name
            for name, tree in self._trees.items()
            if asks_for_now(tree) or self._compiled[name](_nothing) is not None
        ]
        self._by_input: dict[str, list[str]] = {}
        for name, inputs in self._inputs.items():
            for each in inputs:
                self._by_input.setdefault(each, []).append(name)
        # Strings in another case are most of what rules derive: so without a detour.
        self._cases: dict[str, list[tuple[str, Callable[[str], str]]]] = {}
        for name, tree in self._trees.items():
            match tree:
                case Call("lower" | "upper" as case, (Input(each),)):
                    self._cases.setdefault(each, []).append((name, _CASES[case]))
        changed = {name for cases in self._cases.values() for name, _ in cases}
        # Where rules expect that a number may stand for its text, most often a string does.
        of_numbers = {name: needed_of_kind(tree, Kind.NUMBER) for name, tree in self._trees.items()}
        self._of_strings = {
            each: [name for name in names if each not in of_numbers[name]]
            for each, names in self._by_input.items()
        }
        self._not_of_strings = {
            each: [name for name in names if each in of_numbers[name]]
            for each, names in self._by_input.items()
        }
        self._others = {
            each: [name for name in names if name not in changed]
            for each, names in self._of_strings.items()
        }
        self.asks_for_now = any(map(asks_for_now, self._trees.values()))

    def __bool__(self) -> bool:
        return bool(self._trees)

    def inputs(self) -> frozenset[str]:
        """The names of the attributes that they are computed from."""
        return frozenset[str]().union(*self._inputs.values())

    def read(self, attributes: Iterable[str]) -> frozenset[str]:
        """What of an event is looked at: these attributes, those derived by their inputs."""
        return self.inputs().union(name for name in attributes if not is_derived(name))

    def clock(self) -> datetime | None:
        """When events arrive that come now, for questions in parts; ``None`` if nobody asks."""
        return datetime.now(UTC) if self.asks_for_now else None

    def event(self, event: Event, now: datetime | None = None) -> Event:
        """The event with its derived attributes; it arrives now, unless told when it did."""
        if not self._trees:
            return event
        get = self._values_of(event, now)
        if event.is_region:
            found = {name: self._of_region(name, event, get) for name in self._trees}
            return with_values(event, found)
        made: dict[str, Held | None] = {}
        wanted = dict.fromkeys(self._always)
        cases, others, trees = self._cases, self._others, self._trees
        not_of_strings = self._not_of_strings
        for attribute, value in event.items():
            if attribute in cases and type(value) is str:
                for name, change in cases[attribute]:
                    made[name] = change(value)
            if others.get(attribute):
                wanted |= dict.fromkeys(others[attribute])
            if type(value) is not str and not_of_strings.get(attribute):
                wanted |= dict.fromkeys(not_of_strings[attribute])
            if attribute in trees:  # what the event has under the name is not seen
                wanted[attribute] = None
        for name in wanted:
            if name not in made:
                made[name] = self._compiled[name](get)
        return with_values(event, made)

    def _values_of(self, event: Event, now: datetime | None) -> Callable[[str], Any]:
        if not self.asks_for_now:
            return event.get
        at = now or datetime.now(UTC)
        return lambda name: at if name == NOW else event.get(name)

    def _of_region(self, name: str, event: Event, get: Callable[[str], Any]) -> Held | None:
        tree = self._trees[name]
        if isinstance(tree, Input):
            return event.get(tree.name)
        if any(isinstance(event.get(each), Interval) for each in self._inputs[name]):
            return None
        value: Value | None = self._compiled[name](get)
        return value

    def pieces(
        self, batch: EventBatch, now: datetime | str | None = None
    ) -> Iterator[tuple[int, EventBatch]]:
        """The batch with its derived attributes piece by piece, each with its first row."""
        if not self._trees:
            yield 0, batch
            return
        at = now or datetime.now(UTC)
        for start, piece in batch.chunks(_PIECE):
            yield start, self.columns(piece, at)

    def columns(self, batch: EventBatch, now: datetime | str | None = None) -> EventBatch:
        """The batch with its derived attributes; ``now`` may also be a column of the batch."""
        if not self._trees:
            return batch
        from predicast.matching.batches.derived import at_times, with_derived
        from predicast.matching.batches.typed_values import Strings

        if self.asks_for_now:
            batch = at_times(batch, now or datetime.now(UTC))
        strings, wanted = {Strings}, dict.fromkeys(self._always)
        for attribute in batch.attributes():
            if attribute in self._by_input:
                types = {type(part) for part in batch.parts(attribute) if len(part)}
                some = self._of_strings if types <= strings else self._by_input
                wanted.update(dict.fromkeys(some[attribute]) if types else {})
        return with_derived(batch, {name: self._trees[name] for name in wanted}, hidden=self._trees)

    def match_batch(
        self, matcher: View, events: Sequence[Event], now: datetime | None
    ) -> list[list[int]]:
        """What a matcher answers for events with their derived attributes."""
        if not self._trees:
            return matcher.match_batch(events)
        from predicast.matching.batches.event_batch import EventBatch

        columns = self.columns(EventBatch.from_events(events), now)
        return matcher.match_columns(columns).by_event(len(events))


def _nothing(_: str) -> None:
    """What an event without attributes has."""


NONE: Final = Derivation(())
