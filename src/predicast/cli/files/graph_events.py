"""Events that are graphs, from files.

======================================  =========================================================
file                                    events
======================================  =========================================================
Turtle, N-Triples, RDF/XML, JSON-LD,    one
N3
N-Quads, TriG                           one per named graph, and one of what stands in none
JSON Lines                              one per line: plain JSON by the ontology's names, JSON-LD
                                        if it has a ``@context``, or RDF text under ``graph``
CSV, Parquet, Arrow                     one per row, its text in the column ``graph``
a folder                                those of its files, by name
======================================  =========================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import msgspec

from predicast.cli.files.matches import EventMatches, Matches
from predicast.cli.files.rows import Columns, FileRow, rows
from predicast.cli.files.source import GRAPH_FORMS, Form, Source, form_of
from predicast.errors import InputFileError, PredicastError
from predicast.graph import Blank, EventGraph, GraphEngine, Iri, Literal, Ontology
from predicast.graph.event_graph import MAX_STATEMENTS, Validation
from predicast.graph.rdf_text import EXTENSIONS, RdfText, guessed_format, read_graphs
from predicast.graph.terms import Triple

Report: TypeAlias = Callable[[int], None]

EVENT_FORMS: Final = {
    suffix: form for suffix, form in GRAPH_FORMS.items() if form not in {Form.SPARQL, Form.YAML}
}
_BATCH_EVENTS: Final = 256  # a graph is many objects
_BATCH_SIZE: Final = 4 * 2**20
_STATEMENT_SIZE: Final = 100
_SEVERAL_GRAPHS: Final = frozenset({"n-quads", "trig"})
_TEXT_FIELDS: Final = frozenset({"id", "format"})  # what may stand beside a text in JSON Lines
_SHOWN_ARCS: Final = 6


class _Unread(NamedTuple):
    """An event that is still to be read, and where it stands."""

    source: Source
    where: int | None
    read: Callable[[], EventGraph]
    size: int  # of its text in characters, or so


@dataclass(slots=True, kw_only=True)
class GraphReader:
    """How to read events that are graphs; it counts those that were skipped."""

    sources: list[Source]
    ontology: Ontology
    format: str | None = None  # of RDF text; None if a suffix or the text is to tell
    column: str = "graph"
    validate: Validation = "off"
    skips_invalid: bool = False
    skipped: int = field(default=0, init=False)
    latest: str = field(default="", init=False)

    def size(self) -> int | None:
        """The bytes of all files, if that can be told."""
        sizes = [source.size() for source in self.sources]
        return None if None in sizes else sum(size or 0 for size in sizes)

    def matches(
        self, engine: GraphEngine, report: Report = lambda _done: None
    ) -> Iterator[Matches]:
        """The matches of all events, in order; ``report`` is told the bytes read so far."""
        first = 0
        for batch in self._batches(report):
            events = [self._event(each) for each in batch]
            valid = [event for event in events if event is not None]
            found = iter(engine.match_batch(valid))
            ids = [[] if event is None else next(found) for event in events]
            yield EventMatches(first, events, ids, _shown)
            first += len(events)

    def _batches(self, report: Report) -> Iterator[list[_Unread]]:
        """Events that are matched together; from a pipe one by one, as they come."""
        batch: list[_Unread] = []
        size = 0
        for unread in self._all(report):
            batch.append(unread)
            size += unread.size
            if unread.source.is_live or len(batch) == _BATCH_EVENTS or size >= _BATCH_SIZE:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _all(self, report: Report) -> Iterator[_Unread]:
        done = 0
        for source in self.sources:
            yield from self._unread(source, partial(_report_from, done, report))
            done += source.size() or 0
            report(done)

    def _unread(self, source: Source, report: Report) -> Iterator[_Unread]:
        if source.form is Form.RDF:
            yield from self._of_document(source)
            return
        for row in rows(source, Columns({"column": self.column}), report):
            of = self._of_line if source.form is Form.JSON_LINES else self._of_cell
            size = sum(len(value) for value in row.values.values() if isinstance(value, str))
            yield _Unread(source, row.line, partial(of, row), size)

    def _of_document(self, source: Source) -> Iterator[_Unread]:
        with source.opened() as opened:
            text = source.text_of(opened)
        name = Path(source.path.removesuffix(".gz"))
        format = self.format or EXTENSIONS.get(name.suffix.lower()) or guessed_format(text)
        if format not in _SEVERAL_GRAPHS:
            yield _Unread(source, None, partial(self._of_text, text, format), len(text))
            return
        try:
            graphs = read_graphs(RdfText(text, format), max_triples=2 * MAX_STATEMENTS)
        except PredicastError as error:
            raise source.refuse(error.message) from error
        for graph, triples in graphs.items():
            read = partial(self._of_triples, graph, triples)
            yield _Unread(source, None, read, len(triples) * _STATEMENT_SIZE)

    def _of_triples(self, graph: Iri | Blank | None, triples: list[Triple]) -> EventGraph:
        try:
            return EventGraph.from_triples(triples, self.ontology, validate=self.validate)
        except PredicastError as error:
            where = "outside of named graphs" if graph is None else f"graph {graph}"
            raise InputFileError(f"{where}: {error.message}") from error

    def _of_cell(self, row: FileRow) -> EventGraph:
        text = row.values.get(self.column)
        if not isinstance(text, str):
            raise InputFileError(f"there is no text under {self.column!r}")
        return self._of_text(text, self.format)

    def _of_line(self, row: FileRow) -> EventGraph:
        text, format = row.values.get(self.column), row.values.get("format", self.format)
        if isinstance(text, str) and row.values.keys() - {self.column} <= _TEXT_FIELDS:
            if format is not None and not isinstance(format, str):
                raise InputFileError(f"'format' names a format of RDF, not {format!r}")
            return self._of_text(text, format)
        if "@context" in row.values:
            return self._of_text(msgspec.json.encode(row.values).decode(), "json-ld")
        return EventGraph.from_json(row.values, self.ontology, validate=self.validate)

    def _of_text(self, text: str, format: str | None) -> EventGraph:
        return EventGraph.parse(text, self.ontology, format=format, validate=self.validate)

    def _event(self, unread: _Unread) -> EventGraph | None:
        """The event, or ``None`` if it is invalid and such are skipped."""
        try:
            return unread.read()
        except PredicastError as error:
            refusal = unread.source.refuse(error.message, unread.where)
            if not self.skips_invalid:
                raise refusal from error
            self.skipped += 1
            self.latest = refusal.message
            return None


def _report_from(start: int, report: Report, done: int) -> None:
    report(start + done)


def event_sources(path: str, stated: Form | None, format: str | None) -> list[Source]:
    """The files of events that a name on the command line stands for."""
    if stated is None and format is not None and (path == "-" or form_of(path)[0] is None):
        stated = Form.RDF
    if path == "-" or not Path(path).is_dir():
        return [Source.of(path, stated, known=EVENT_FORMS)]
    found = [
        Source.of(str(each), stated, known=EVENT_FORMS)
        for each in sorted(Path(path).iterdir())
        if each.is_file() and (form_of(each.name)[0] in EVENT_FORMS.values())
    ]
    if not found:
        listed = ", ".join(EVENT_FORMS)
        raise InputFileError(f"{path}: no file in it has a name that ends in {listed}", path=path)
    return found


def _shown(event: EventGraph | None) -> str:
    """An event in brief: of what class it is, and what its home vertex points at."""
    if event is None:
        return "(invalid)"
    shown = [f"a {_local(event.class_names[place])}" for place in event.types[event.home]]
    arcs = [arc for arc in event.arcs if arc.subject == event.home]
    shown += [
        f"{_local(event.property_names[arc.property])}={_vertex(event, arc.object)}"
        for arc in arcs[:_SHOWN_ARCS]
    ]
    return ", ".join([*shown, "…"] if len(arcs) > _SHOWN_ARCS else shown)


def _vertex(event: EventGraph, vertex: int) -> str:
    term = event.vertices[vertex]
    if isinstance(term, Literal):
        return term.text if event.values[vertex] is not None else str(term)
    if event.types[vertex]:
        return _local(event.class_names[event.types[vertex][0]])
    return _local(term.value) if isinstance(term, Iri) else str(term)


def _local(name: str) -> str:
    """What stands behind the last / or # of an IRI."""
    return name.rstrip("/#").replace("#", "/").rpartition("/")[2] or name
