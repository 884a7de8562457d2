"""``Subscriptions``: what one tenant wants, as engines that events are matched with.

Durable and ephemeral subscriptions are in engines of their own: the durable ones are what a
backend can make again from what it has kept, whatever came and went in the meantime. Each of the
two sorts has an engine for flat and region events, and one for graphs once there is a pattern.

Readers take no lock; whoever changes it sees to it that changes come one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import msgspec

from predicast.engine import Change, Engine, Operation, Report, Subscribe, Unsubscribe
from predicast.errors import (
    ChangedMeanwhileError,
    DuplicateIdError,
    PredicastError,
    UnknownIdError,
    suggest,
)
from predicast.language.parameter_values import parameter_values
from predicast.language.reading import WHERE
from predicast.protocol.records import (
    GRAPH,
    Adjust,
    Definition,
    NewEvent,
    Put,
    RegistryOperation,
    Remove,
)

if TYPE_CHECKING:
    from predicast.engine import Explanation
    from predicast.graph import GraphEngine, GraphExplanation, Ontology

AnyEngine: TypeAlias = "Engine | GraphEngine"


class Matched(NamedTuple):
    """The ids of the subscriptions that an event matches, sorted."""

    durable: list[str]
    ephemeral: list[str]


_NONE: Final = Matched([], [])


class Engines:
    """The engines of one sort of subscriptions."""

    def __init__(self, ontology: Ontology | None = None) -> None:
        # What an event says of an attribute that one subscription cannot compare is no reason to
        # refuse it to all others: to that one it is as if it were not there.
        self.flat = Engine(on_invalid="absent")
        self.graphs: GraphEngine | None = None
        self._ontology = ontology

    def __len__(self) -> int:
        return len(self.flat) + (0 if self.graphs is None else len(self.graphs))

    def holding(self, id: str) -> AnyEngine | None:
        """The engine that has it."""
        if id in self.flat:
            return self.flat
        return self.graphs if self.graphs is not None and id in self.graphs else None

    def for_dialect(self, dialect: str) -> AnyEngine:
        """The engine that reads it."""
        if dialect != GRAPH:
            return self.flat
        if self.graphs is None:
            from predicast.graph import GraphEngine

            self.graphs = GraphEngine(self._ontology)
        return self.graphs

    def match(self, events: Sequence[NewEvent]) -> list[list[str]]:
        """The ids for each event."""
        found: list[list[str]] = [[] for _ in events]
        for is_graph, engine in ((False, self.flat), (True, self.graphs)):
            if engine is None or not len(engine):
                continue
            places = [
                place
                for place, event in enumerate(events)
                if isinstance(event.attributes, str) is is_graph
            ]
            if places:
                given: list[Any] = [events[place].attributes for place in places]
                for place, ids in zip(places, _answers(engine, given), strict=True):
                    found[place] = ids
        return found


class Subscriptions:
    """All of one tenant's."""

    def __init__(self, ontology: Ontology | None = None) -> None:
        self.durable = Engines(ontology)
        self.ephemeral = Engines(ontology)

    def __len__(self) -> int:
        return len(self.durable) + len(self.ephemeral)

    def __contains__(self, id: str) -> bool:
        return self._holding(id) is not None

    def is_durable(self, id: str) -> bool:
        """Whether what it matches is kept for it."""
        return self.durable.holding(id) is not None

    # Asking.

    def match(self, events: Sequence[NewEvent]) -> list[Matched]:
        """Who gets each of the events; one that cannot be read is nobody's."""
        if not len(self):
            return [_NONE] * len(events)
        durable, ephemeral = self.durable.match(events), self.ephemeral.match(events)
        return list(map(Matched, durable, ephemeral))

    def explain(self, id: str, event: NewEvent) -> Explanation | GraphExplanation:
        """Why the subscription matches the event, or why not."""
        engine: Any = self._holding(id)
        if engine is None:
            raise self.unknown(id)
        return engine.explain(id, event.attributes)  # type: ignore[no-any-return]

    def unknown(self, id: str) -> UnknownIdError:
        """The error of an id that nothing here has."""
        close = suggest(id, self.durable.flat)
        hint = f"; is it {close!r}?" if close else ""
        return UnknownIdError(f"there is no subscription {id!r}{hint}", id=id, suggestion=close)

    def _holding(self, id: str) -> AnyEngine | None:
        return self.durable.holding(id) or self.ephemeral.holding(id)

    # Changing.

    def apply(self, window: Sequence[RegistryOperation]) -> Report:
        """Run a window, all or nothing.

        Raises what the first refused operation was refused for.
        """
        by_engine: dict[int, tuple[AnyEngine, list[Operation]]] = {}
        moved: dict[str, AnyEngine | None] = {}  # where ids are by what the window did so far
        for step in window:
            for engine, operation in self._operations(step, moved):
                by_engine.setdefault(id(engine), (engine, []))[1].append(operation)
        return _run(list(by_engine.values()))

    def _operations(
        self, step: RegistryOperation, moved: dict[str, AnyEngine | None]
    ) -> Iterable[tuple[AnyEngine, Operation]]:
        id = step.id
        held = moved[id] if id in moved else self._holding(id)
        if isinstance(step, Put):
            definition = step.definition
            engine = self._engine_for(definition)
            if held is not None and not step.replace:
                raise DuplicateIdError(f"the subscription {id!r} is there already", id=id)
            if held is not None and held is not engine:
                yield held, Unsubscribe(id)
            moved[id] = engine
            yield engine, _subscribed(definition, replace=step.replace)
        elif held is None:
            raise self.unknown(id)
        elif isinstance(step, Remove):
            moved[id] = None
            yield held, Unsubscribe(id)
        else:
            assert isinstance(step, Adjust)
            yield held, Change(id, parameters=_values(step.parameters))

    def _engine_for(self, definition: Definition) -> AnyEngine:
        sort = self.durable if definition.settings.durable else self.ephemeral
        return sort.for_dialect(definition.dialect)


def next_revision(after: Definition, before: Definition) -> Definition:
    """What takes the place of a definition, counted."""
    return msgspec.structs.replace(after, revision=before.revision + 1)


def changed_meanwhile(id: str) -> ChangedMeanwhileError:
    """The error of a change whose definition is no longer what it was made from."""
    return ChangedMeanwhileError(f"the subscription {id!r} was changed in the meantime", id=id)


def _values(parameters: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The values of parameters, of which definitions may have the JSON."""
    if parameters is None or not any(isinstance(each, dict) for each in parameters.values()):
        return parameters
    return parameter_values(parameters)


def _subscribed(definition: Definition, *, replace: bool) -> Subscribe:
    dialect = None if definition.dialect in {WHERE, GRAPH} else definition.dialect
    return Subscribe(
        definition.id,
        definition.expression,
        definition.owner,
        _values(definition.parameters),
        replace,
        dialect,
    )


def _run(parts: list[tuple[AnyEngine, list[Operation]]]) -> Report:
    """Run the windows of several engines as one: if one is refused, the others are taken back."""
    taken_back: list[tuple[AnyEngine, list[Operation]]] = []
    total = Report(0, 0, 0, 0, 0)
    try:
        for engine, operations in parts:
            undo = _undoing(engine, operations)
            report = engine.apply(operations)
            taken_back.append((engine, undo))
            total = _sum(total, report)
    except PredicastError:
        for engine, undo in reversed(taken_back):
            # What came and went within the window is gone already.
            engine.apply(each for each in undo if isinstance(each, Subscribe) or each.id in engine)
        raise
    return total


def _sum(one: Report, other: Report) -> Report:
    return Report(
        one.given + other.given,
        one.collapsed + other.collapsed,
        one.shared + other.shared,
        one.in_place + other.in_place,
        one.restructured + other.restructured,
    )


def _undoing(engine: AnyEngine, operations: Sequence[Operation]) -> list[Operation]:
    """What makes of the engine what it was before the operations."""
    undo: list[Operation] = []
    for id in dict.fromkeys(operation.id for operation in operations):
        if id not in engine:
            continue
        entry: Any = engine.get(id)
        said = entry.subscription if entry.text is None else entry.text
        undo.append(Subscribe(id, said, entry.owner, entry.parameters, True, entry.dialect))
    added = {each.id for each in operations if isinstance(each, Subscribe)}
    return [*undo, *(Unsubscribe(id) for id in added if id not in engine)]


def _answers(engine: Any, events: list[Any]) -> list[list[str]]:
    """The ids for each event; one that cannot be read spoils no other."""
    try:
        return engine.match_batch(events)  # type: ignore[no-any-return]
    except PredicastError:
        return [_answer(engine, event) for event in events]


def _answer(engine: Any, event: Mapping[str, Any] | str) -> list[str]:
    try:
        return engine.match(event)  # type: ignore[no-any-return]
    except PredicastError:
        return []
