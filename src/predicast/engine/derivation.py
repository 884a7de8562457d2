"""Derived attributes: computed once per event or batch, however many subscriptions name them.

What comes out is an event, or a batch of columns, with the derived attributes among the others, so
that matchers know nothing of them. Whatever an event itself has under such a name is not seen. An
expression over an attribute that is an interval has no value: a region of two attributes would not
be one interval of what is computed from them.

A ``Derivation`` never changes; when subscriptions name other derived attributes, there is another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from predicast.derived import Input, compiled, inputs_of
from predicast.language.derived_names import expression_of, is_derived
from predicast.model import Event, Held, Interval, Subscription, Value
from predicast.model.event import with_values

if TYPE_CHECKING:
    from predicast.matching.batches import EventBatch
    from predicast.matching.matcher import View


class Derivation:
    """The derived attributes among some names."""

    __slots__ = ("_always", "_by_input", "_compiled", "_inputs", "_trees")

    def __init__(self, attributes: Iterable[str]) -> None:
        names = sorted(name for name in attributes if is_derived(name))
        self._trees = {name: expression_of(name) for name in names}
        self._compiled = {name: compiled(tree) for name, tree in self._trees.items()}
        self._inputs = {name: inputs_of(tree) for name, tree in self._trees.items()}
        # Most have no value without their inputs, and most events lack most inputs.
        self._always = [name for name in names if self._compiled[name](_nothing) is not None]
        self._by_input: dict[str, list[str]] = {}
        for name, inputs in self._inputs.items():
            for each in inputs:
                self._by_input.setdefault(each, []).append(name)

    def __bool__(self) -> bool:
        return bool(self._trees)

    def inputs(self) -> frozenset[str]:
        """The names of the attributes that they are computed from."""
        return frozenset[str]().union(*self._inputs.values())

    def read(self, attributes: Iterable[str]) -> frozenset[str]:
        """What of an event is looked at: these attributes, those derived by their inputs."""
        return self.inputs().union(name for name in attributes if not is_derived(name))

    def event(self, event: Event) -> Event:
        """The event with its derived attributes."""
        if not self._trees:
            return event
        get = event.get
        if event.is_region:
            return with_values(event, {name: self._of_region(name, event) for name in self._trees})
        wanted = dict.fromkeys(self._always)
        for attribute, _ in event.items():  # noqa: PERF102  # an event has no keys()
            if attribute in self._by_input:
                wanted |= dict.fromkeys(self._by_input[attribute])
            if attribute in self._trees:  # what the event has under the name is not seen
                wanted[attribute] = None
        return with_values(event, {name: self._compiled[name](get) for name in wanted})

    def _of_region(self, name: str, event: Event) -> Held | None:
        tree = self._trees[name]
        if isinstance(tree, Input):
            return event.get(tree.name)
        if any(isinstance(event.get(each), Interval) for each in self._inputs[name]):
            return None
        value: Value | None = self._compiled[name](event.get)
        return value

    def columns(self, batch: EventBatch) -> EventBatch:
        """The batch with its derived attributes."""
        if not self._trees:
            return batch
        from predicast.matching.batches.derived import with_derived

        return with_derived(batch, self._trees)

    def match_batch(self, matcher: View, events: Sequence[Event]) -> list[list[int]]:
        """What a matcher answers for events with their derived attributes."""
        if not self._trees:
            return matcher.match_batch(events)
        from predicast.matching.batches.event_batch import EventBatch

        columns = self.columns(EventBatch.from_events(events))
        return matcher.match_columns(columns).by_event(len(events))


def _nothing(_: str) -> None:
    """What an event without attributes has."""


NONE: Final = Derivation(())


def derived_event(subscription: Subscription, event: Event) -> Event:
    """The event with the derived attributes that one subscription names."""
    attributes = subscription.attributes()
    return Derivation(attributes).event(event) if any(map(is_derived, attributes)) else event
