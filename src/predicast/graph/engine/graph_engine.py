"""``GraphEngine``: subscriptions to events that are graphs, matched by meaning (paper 5).

It has the verbs of ``Engine``, and shares with it whatever does not depend on what an event is:
ids, owners, windows, changes, files (``predicast.engine.engine_of``). Its subscriptions are graph
patterns, as SPARQL or as the paper's statement patterns; its events are RDF text, JSON, or
``EventGraph`` objects, read by an ontology, which can be extended while the engine runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace as replaced
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from predicast.engine.bulk import Records, read_records
from predicast.engine.engine_of import EngineOf
from predicast.engine.entry import EntryOf
from predicast.engine.window_reports import read_all, run_together
from predicast.errors import (
    InvalidOptionError,
    ModelError,
    PredicastError,
    UnsupportedColumnError,
)
from predicast.graph.brute_force import find
from predicast.graph.engine.answers import Answer, GraphExplanation, explained
from predicast.graph.engine.pattern_store import PatternStore, PatternView
from predicast.graph.event_graph import VALIDATIONS, EventGraph, Validation
from predicast.graph.matching import DEFAULT_BUDGET, Found, make_graph_matcher
from predicast.graph.matching.registry import DEFAULT
from predicast.graph.ontology import Ontology
from predicast.graph.patterns import GraphPattern
from predicast.graph.terms import Term, Variable
from predicast.matching.matcher import Pairs

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from predicast.arrow import TableLike

GraphEvent: TypeAlias = EventGraph | str | Mapping[str, Any]
Bindings: TypeAlias = list[dict[Variable, Term]]


class GraphEngine(EngineOf[PatternStore, PatternView]):
    """Standing patterns, and the event graphs they match.

    >>> shop = Ontology.parse('''
    ...     @prefix : <http://shop.example/> .
    ...     @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    ...     :Laptop rdfs:subClassOf :Computer .
    ... ''')
    >>> engine = GraphEngine(shop)
    >>> engine.subscribe('''
    ...     PREFIX : <http://shop.example/>
    ...     ASK { <urn:predicast:home> :target ?x . ?x a :Computer }
    ... ''', id="computers")
    'computers'
    >>> engine.match('''
    ...     @prefix : <http://shop.example/> .
    ...     <urn:predicast:home> :target [ a :Laptop ] .
    ... ''')
    ['computers']

    ``matcher`` names the algorithm; all of them give the same answers. ``budget`` is how many steps
    an event and a subscription may take: past that the answer is undecided, which counts as no
    match (``decide`` tells, ``statistics`` counts). ``validate`` says what becomes of events that
    no meta-statement of the ontology admits: nothing (``"off"``), or they are refused
    (``"strict"``).
    """

    def __init__(
        self,
        ontology: Ontology | None = None,
        *,
        matcher: str = DEFAULT,
        budget: int = DEFAULT_BUDGET,
        validate: Validation = "off",
    ) -> None:
        if type(budget) is not int or budget < 1:
            raise InvalidOptionError(
                f"budget is a positive number of steps, not {budget!r}", option="budget"
            )
        if validate not in VALIDATIONS:
            raise InvalidOptionError(
                f"validate is one of {', '.join(VALIDATIONS)}, not {validate!r}", option="validate"
            )
        made = make_graph_matcher(matcher, ontology or Ontology(), budget=budget)
        super().__init__(matcher, PatternStore(made))
        self._validate: Validation = validate

    # What there is.

    @property
    def ontology(self) -> Ontology:
        """The ontology that events are read by."""
        return self._store.matcher.ontology

    @property
    def budget(self) -> int:
        """How many steps an event and a subscription may take."""
        return self._store.matcher.budget

    @property
    def validate(self) -> Validation:
        """What becomes of events that no meta-statement of the ontology admits."""
        return self._validate

    def extend(self, text_or_path: str | Path, format: str | None = None) -> None:
        """Add to the ontology; every subscription sees it from the next event on."""
        with self._lock:
            store = self._whole()
            store.understand(store.matcher.ontology.extend(text_or_path, format))

    def get(self, id: str) -> EntryOf[GraphPattern]:
        """The subscription with this id."""
        with self._lock:
            store = self._whole()
            return store.entry(id, store.key(id))

    def subscriptions(self, *, owner: str | None = None) -> list[EntryOf[GraphPattern]]:
        """All subscriptions, or those of one owner, in the order in which they came."""
        with self._lock:
            store = self._whole()
            held = store.ids.items() if owner is None else store.owned(owner)
            return [store.entry(id, key) for id, key in held]

    def warm_up(self) -> None:
        """Come back when matching is at full speed: what it needs is compiled, and in use."""
        make_graph_matcher(self._matcher_name, Ontology()).warm_up()

    # Changing it.

    def subscribe(
        self,
        pattern: str | GraphPattern,
        *,
        id: str | None = None,
        owner: str | None = None,
        replace: bool = False,
    ) -> str:
        """Add a subscription and return its id, one of our own making if none is given.

        An id that is taken is refused; with ``replace`` it gets the new pattern and owner instead.
        """
        said = self._store.read(id, pattern, None)
        with self._lock:
            return self._whole().subscribe(id, said, owner, replace=replace)

    def change(self, id: str, pattern: str | GraphPattern) -> None:
        """Replace the pattern of a subscription; id and owner stay."""
        said = self._store.read(id, pattern, None)
        with self._lock:
            self._whole().change(id, said, None)

    def subscribe_many(
        self, records: Records, *, owner: str | None = None, replace: bool = False
    ) -> None:
        """Add many subscriptions: all of them or, if one is refused, none.

        Given as ``Engine.subscribe_many`` has it, with patterns for expressions.
        """
        operations = read_records(records, owner)
        given = [replaced(each, replace=True) if replace else each for each in operations]
        reads, _ = read_all(given, "raise", self._store.read)
        with self._lock:
            run_together(self._whole(), reads, [], "raise")

    # Asking it.

    def match(self, event: GraphEvent, *, format: str | None = None) -> list[str]:
        """The ids of the subscriptions that the event matches, sorted."""
        return self.decide(event, format=format).matched

    def decide(self, event: GraphEvent, *, format: str | None = None) -> Answer:
        """The same, and the ids of those for which the budget did not suffice."""
        read = self._read(event, format)
        return self._ask(lambda view: _named(view.matcher.find(read), view))

    def match_batch(
        self, events: Iterable[GraphEvent], *, format: str | None = None
    ) -> list[list[str]]:
        """One sorted list of ids per event."""
        read = self._read_all(events, format)
        return self._ask(
            lambda view: [sorted(view.ids.names(keys)) for keys in view.matcher.match_batch(read)]
        )

    def match_keys(self, events: Sequence[GraphEvent]) -> Pairs:
        """The matches as pairs of numbers: an event's position, and a key (see ``key``)."""
        read = self._read_all(events, None)
        return self._ask(lambda view: Pairs.of(view.matcher.match_batch(read)))

    def match_arrow(
        self, batch: TableLike, *, column: str | None = None, format: str | None = None
    ) -> pa.Table:
        """The matches of a column of texts, as a table of ``event`` (int64) and ``subscription``.

        The batch is whatever ``Engine.match_arrow`` takes; ``column`` may be left out where there
        is one column. Rows without a text match nothing.
        """
        import numpy as np

        from predicast.matching.matches import matches_table

        texts = _texts(batch, column)
        rows = [row for row, text in enumerate(texts) if text is not None]
        read = self._read_all([text for text in texts if text is not None], format, rows)

        def matches(view: PatternView) -> pa.Table:
            found = view.matcher.match_batch(read)
            events = np.repeat(np.array(rows, np.int64), [len(keys) for keys in found])
            keys = np.array([key for each in found for key in each], np.int64)
            return matches_table(Pairs(events, keys), view.ids)

        return self._ask(matches)

    def select(self, event: GraphEvent, *, format: str | None = None) -> dict[str, Bindings]:
        """The bindings of each subscription that matches and selects variables, by id.

        All combinations, within the budget of each subscription.
        """
        read = self._read(event, format)
        found: dict[str, Bindings] = {}
        for id in self.match(read):
            with self._lock:
                entry = self._whole().entry_if_held(id)
            if entry is not None and entry.subscription.selected is not None:
                found[id] = self._bindings(entry.subscription, read)
        return found

    def _bindings(self, pattern: GraphPattern, event: EventGraph) -> Bindings:
        outcome = find(pattern, event, self.ontology, budget=self.budget)
        return [
            {name: term for name, term in zip(pattern.selected or (), row, strict=True) if term}
            for row in outcome.bindings
        ]

    def explain(self, id: str, event: GraphEvent, *, format: str | None = None) -> GraphExplanation:
        """To which vertex each variable was mapped, or the first part that nothing satisfied."""
        pattern = self.get(id).subscription
        return explained(id, pattern, self._read(event, format), self.ontology, self.budget)

    def _read(self, event: GraphEvent, format: str | None) -> EventGraph:
        if isinstance(event, EventGraph):
            return event
        if isinstance(event, Mapping):
            return EventGraph.from_json(event, self.ontology, validate=self._validate)
        return EventGraph.parse(event, self.ontology, format=format, validate=self._validate)

    def _read_all(
        self, events: Iterable[GraphEvent], format: str | None, rows: Sequence[int] | None = None
    ) -> list[EventGraph]:
        """Many events; an error says which of them it is about."""
        read: list[EventGraph] = []
        for place, event in enumerate(events):
            try:
                read.append(self._read(event, format))
            except InvalidOptionError:
                raise  # the format, whatever the event is
            except PredicastError as error:
                position = place if rows is None else rows[place]
                error.message = f"event {position}: {error.message}"
                if isinstance(error, ModelError):  # of limits and of JSON the message alone says it
                    error.event = position
                raise
        return read

    # Keeping it.

    def to_bytes(self) -> bytes:
        """The whole engine as a snapshot that travels to another process."""
        from predicast.graph.engine import snapshot

        with self._lock:
            return snapshot.to_bytes(snapshot.taken_apart(self._whole(), self._matcher_name))

    @classmethod
    def from_bytes(
        cls, data: bytes, *, matcher: str | None = None, validate: Validation = "off"
    ) -> Self:
        """The engine of a snapshot."""
        import numpy as np

        file = np.frombuffer(data, np.uint8).copy()
        return cls._from_file(file, None, matcher, validate)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self).from_bytes, validate=self._validate), (self.to_bytes(),)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the engine to a file, atomically: a crash leaves the old file or the new one."""
        from predicast.graph.engine import snapshot

        with self._lock:
            saved = snapshot.taken_apart(self._whole(), self._matcher_name)
        snapshot.save(saved, path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        matcher: str | None = None,
        validate: Validation = "off",
    ) -> Self:
        """The engine in a file; a damaged file is refused, not half-read."""
        from predicast.engine.snapshot import mapped

        return cls._from_file(mapped(path), os.fspath(path), matcher, validate)

    @classmethod
    def _from_file(
        cls, file: Any, path: str | None, matcher: str | None, validate: Validation
    ) -> Self:
        from predicast.engine.snapshot.layout import naming
        from predicast.graph.engine import snapshot

        with naming(path):
            saved = snapshot.decode(file)
            engine = cls(
                saved.ontology,
                matcher=matcher or saved.matcher,
                budget=saved.budget,
                validate=validate,
            )
            snapshot.restore(engine._store, saved)
        return engine


def _named(found: Found, view: PatternView) -> Answer:
    names = view.ids.names
    return Answer(sorted(names(found.keys)), sorted(names(found.undecided)))


def _texts(batch: TableLike, column: str | None) -> list[str | None]:
    """The texts of a table's column of events."""
    import pyarrow as pa

    from predicast.arrow import as_table
    from predicast.errors import UnknownColumnError, suggest

    table = as_table(batch)
    if column is None:
        if table.num_columns != 1:
            raise InvalidOptionError(
                f"the table has {table.num_columns} columns; column= says which holds the events",
                option="column",
            )
        column = table.column_names[0]
    if column not in table.column_names:
        close = suggest(column, table.column_names)
        raise UnknownColumnError(
            f"there is no column {column!r} of events in the table", column=column, suggestion=close
        )
    chunks = table.column(column)
    if pa.types.is_dictionary(chunks.type):
        chunks = chunks.cast(chunks.type.value_type)
    if not (
        pa.types.is_string(chunks.type)
        or pa.types.is_large_string(chunks.type)
        or pa.types.is_string_view(chunks.type)
    ):
        raise UnsupportedColumnError(
            f"the column {column!r} is of type {chunks.type}; events are texts",
            column=column,
            type=str(chunks.type),
        )
    texts: list[str | None] = chunks.to_pylist()
    return texts
