"""What ``match`` and ``explain`` do where events are graphs, or flat and read by an ontology.

Graphs come as RDF, with subscriptions in SPARQL. An ontology says what names mean, of either sort
of events; of which sort they are, the files and the options say.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from predicast.cli.files.source import GRAPH_FORMS, Form, form_of

if TYPE_CHECKING:
    from predicast.cli.files.source import Source
    from predicast.cli.runs import GraphRun
    from predicast.graph import Ontology
    from predicast.graph.event_graph import Validation
    from predicast.model.vocabulary import Vocabulary


class RdfFormat(enum.StrEnum):
    """The formats of RDF text, and plain JSON."""

    TURTLE = "turtle"
    N_TRIPLES = "n-triples"
    RDF_XML = "rdf-xml"
    JSON_LD = "json-ld"
    N_QUADS = "n-quads"
    TRIG = "trig"
    N3 = "n3"
    JSON = "json"


class Validate(enum.StrEnum):
    """What becomes of events that no meta-statement of the ontology admits."""

    OFF = "off"
    STRICT = "strict"


GRAPHS: Final = "Graphs and ontologies"  # what --help shows together

Ontologies: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--ontology",
        metavar="FILE",
        help="What the names of classes and properties mean, in RDF, for graphs or for events of "
        "attributes. Several are read as one.",
        rich_help_panel=GRAPHS,
    ),
]
Graphs: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--graphs",
        help="The events are graphs, although neither file is of SPARQL or RDF.",
        rich_help_panel=GRAPHS,
    ),
]
RdfFormatOption: TypeAlias = Annotated[
    RdfFormat | None,
    typer.Option(
        "--rdf-format",
        metavar="FORMAT",
        help="The format of RDF text: turtle, n-triples, rdf-xml, json-ld, n-quads, trig, n3 or "
        "json. [default: what a suffix or the text itself tells]",
        show_default=False,
        rich_help_panel=GRAPHS,
    ),
]
ValidateOption: TypeAlias = Annotated[
    Validate,
    typer.Option(
        "--validate",
        help="Whether graphs that no meta-statement of the ontology admits are invalid.",
        rich_help_panel=GRAPHS,
    ),
]
GraphColumn: TypeAlias = Annotated[
    str,
    typer.Option(
        "--column",
        metavar="COL",
        help="The field with the events' RDF text.",
        rich_help_panel=GRAPHS,
    ),
]


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """How graphs are to be read, and what names mean."""

    ontologies: Sequence[str]
    asked_for: bool
    format: str | None = None
    validate: Validation = "off"
    column: str = "graph"

    @classmethod
    def of(
        cls,
        ontologies: list[str] | None,
        graphs: bool,
        format: RdfFormat | None,
        validate: Validate,
        column: str = "graph",
    ) -> GraphOptions:
        """From what was said on the command line."""
        named = None if format is None else format.value
        asked = graphs or format is not None or validate is not Validate.OFF
        return cls(tuple(ontologies or ()), asked, named, validate.value, column)

    def are_meant(
        self,
        subscriptions: str,
        stated: Form | None,
        events: Sequence[str],
        events_stated: Form | None = None,
        dialect: str | None = None,
    ) -> bool:
        """Whether events are graphs: by an option, or by what the files are called.

        An ontology does not say so: flat events are read by one, too. Nor does the name of a file
        that a dialect reads, such as one of XML.
        """
        if self.asked_for or (stated or form_of(subscriptions)[0]) is Form.SPARQL:
            return True
        from predicast.language import dialect_named

        own = () if dialect is None else dialect_named(dialect).event_suffixes
        graphs = [each for each in events if not each.lower().removesuffix(".gz").endswith(own)]
        return any((events_stated or form_of(each)[0]) is Form.RDF for each in graphs)

    def vocabulary(self) -> Vocabulary | None:
        """What names mean to events of attributes, if anything was said of that."""
        return self.ontology().vocabulary() if self.ontologies else None

    def ontology(self) -> Ontology:
        """All of the ontologies, as one."""
        from predicast.errors import InputFileError, InvalidRdfError
        from predicast.graph import Ontology

        found = Ontology()
        for path in self.ontologies:
            try:
                found = found.extend(Path(path))
            except InvalidRdfError as error:
                raise InputFileError(error.message, path=path, line=error.line) from error
        return found

    def run(
        self, events: Sequence[str], stated: Form | None, matcher: str | None, *, skips: bool
    ) -> GraphRun:
        """A run over these events, whose engine is still empty."""
        from predicast.cli.files.graph_events import GraphReader, event_sources
        from predicast.cli.runs import GraphRun
        from predicast.graph import GraphEngine
        from predicast.graph.matching.registry import DEFAULT

        sources = [each for path in events for each in event_sources(path, stated, self.format)]
        ontology = self.ontology()
        reader = GraphReader(
            sources=sources,
            ontology=ontology,
            format=self.format,
            column=self.column,
            validate=self.validate,
            skips_invalid=skips,
        )
        return GraphRun(GraphEngine(ontology, matcher=matcher or DEFAULT), reader)


def pattern_source(path: str, stated: Form | None) -> Source:
    """A file of graph patterns."""
    from predicast.cli.files.source import Source

    known = {suffix: form for suffix, form in GRAPH_FORMS.items() if form is not Form.RDF}
    return Source.of(path, stated, known=known)


def refuse_flat_options(**given: bool) -> None:
    """Refuse options that say something of attributes, which graphs do not have."""
    for name, is_given in given.items():
        if is_given:
            option = f"--{name.replace('_', '-')}"
            raise typer.BadParameter(
                "it is for events of attributes, and these are graphs", param_hint=f"'{option}'"
            )
