"""RDF text in any of the usual formats, read into triples of our own terms.

The reading is pyoxigraph's, which is imported when something is read and not before.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple
from xml.parsers import expat

from predicast.errors import (
    GraphTooLargeError,
    InvalidOptionError,
    InvalidRdfError,
    NestingTooDeepError,
    suggest,
)
from predicast.graph.terms import Blank, Iri, Literal, Term, Triple

# Names as people write them, and what pyoxigraph calls the format.
FORMATS: Final = {
    "turtle": "TURTLE",
    "n-triples": "N_TRIPLES",
    "rdf-xml": "RDF_XML",
    "json-ld": "JSON_LD",
    "n-quads": "N_QUADS",
    "trig": "TRIG",
    "n3": "N3",
}
EXTENSIONS: Final = {
    ".ttl": "turtle",
    ".turtle": "turtle",
    ".nt": "n-triples",
    ".rdf": "rdf-xml",
    ".owl": "rdf-xml",
    ".xml": "rdf-xml",
    ".jsonld": "json-ld",
    ".json": "json-ld",
    ".nq": "n-quads",
    ".trig": "trig",
    ".n3": "n3",
}
MAX_TRIPLES: Final = 4_000_000  # of one document: some gigabyte of terms
MAX_XML_DEPTH: Final = 1_000
_LONGEST_PATH: Final = 4_096


class RdfText(NamedTuple):
    """A text and how to read it."""

    text: str
    format: str
    path: str | None = None


class Document(NamedTuple):
    """What a text says, and the prefixes that it says it with."""

    triples: list[Triple]
    prefixes: dict[str, str]


def rdf_text(
    text_or_path: str | Path, format: str | None = None, *, may_be_name: bool = False
) -> RdfText:
    """The text, or that of the file at a path, with its format.

    If it may be a name, a string that is a single word and ends as the names of RDF files do names
    a file. What comes from others may not: an event is not to say which file is read.
    """
    if format is not None and format not in FORMATS:
        close = suggest(format, FORMATS)
        raise InvalidOptionError(
            f"there is no format {format!r}; RDF is read as {', '.join(FORMATS)}"
            + (f"; did you mean {close!r}?" if close else ""),
            option="format",
        )
    if isinstance(text_or_path, str) and not (may_be_name and _names_a_file(text_or_path)):
        return RdfText(text_or_path, format or guessed_format(text_or_path))
    path = Path(text_or_path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRdfError(f"{path} cannot be read: {error}", path=str(path)) from None
    by_name = EXTENSIONS.get(path.suffix.lower())
    return RdfText(text, format or by_name or guessed_format(text), str(path))


def _names_a_file(text: str) -> bool:
    if len(text) > _LONGEST_PATH or any(c.isspace() or c in '<>"{}' for c in text):
        return False
    return Path(text).suffix.lower() in EXTENSIONS


def guessed_format(text: str) -> str:
    """The format that a text seems to have; what is none of the others is Turtle."""
    start = text[:1_000].lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "[{", "[ {")) and ('"' in start or start[1:2] == "}"):
        return "json-ld"
    if start.startswith(("<?xml", "<rdf:RDF", "<!DOCTYPE", "<!--")):
        return "rdf-xml"
    return "turtle"


def read_rdf(source: RdfText, *, max_triples: int = MAX_TRIPLES) -> Document:
    """The triples of a text; those of named graphs are triples like the others."""
    parser = _parser(source)
    triples = [triple for triple, _ in _statements(source, parser, max_triples)]
    return Document(triples, dict(parser.prefixes))


def read_graphs(
    source: RdfText, *, max_triples: int = MAX_TRIPLES
) -> dict[Iri | Blank | None, list[Triple]]:
    """The triples of each graph of a text by its name, ``None`` for what stands in no named one."""
    graphs: dict[Iri | Blank | None, list[Triple]] = {}
    for triple, graph in _statements(source, _parser(source), max_triples):
        graphs.setdefault(graph, []).append(triple)
    return graphs


def _parser(source: RdfText) -> Any:
    ox = _pyoxigraph()
    if source.format == "rdf-xml":
        _check_xml(source)
    try:
        return ox.parse(source.text, format=getattr(ox.RdfFormat, FORMATS[source.format]))
    except SyntaxError as error:
        raise _malformed(source, error) from None


def _statements(
    source: RdfText, parser: Any, max_triples: int
) -> Iterator[tuple[Triple, Iri | Blank | None]]:
    """Each triple with the graph that it stands in."""
    own = _OwnTerms()
    try:
        for count, (subject, property, object, graph) in enumerate(parser, 1):
            if count > max_triples:
                raise GraphTooLargeError(
                    f"the graph has more than {max_triples} statements",
                    limit=max_triples,
                    actual=count,
                )
            yield (own[subject], own[property], own[object]), own[graph]
    except SyntaxError as error:
        raise _malformed(source, error) from None


class _OwnTerms(dict[Any, Any]):
    """Our term for each of pyoxigraph's; one that occurs often is made once."""

    def __missing__(self, term: Any) -> Term | None:
        kind = type(term).__name__
        own: Term | None
        if kind == "NamedNode":
            own = Iri(term.value)
        elif kind == "BlankNode":
            own = Blank(term.value)
        elif kind == "Literal":
            own = Literal(term.value, term.datatype.value, term.language or "")
        elif kind == "DefaultGraph":
            own = None
        else:
            raise InvalidRdfError(f"a statement about a statement is not read: {term}")
        self[term] = own
        return own


def _check_xml(source: RdfText) -> None:
    """Refuse XML that has no end, nests deeper than anybody writes, or expands beyond measure.

    Of the first pyoxigraph reads what there is, and of the second it makes time that grows by the
    square of the depth; against the third, expat has a limit of its own.
    """
    depth = 0

    def opened(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_XML_DEPTH:
            raise NestingTooDeepError(
                f"elements nest deeper than {MAX_XML_DEPTH}", limit=MAX_XML_DEPTH, actual=depth
            )

    def closed(name: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = opened, closed
    try:
        parser.Parse(source.text.encode(errors="replace"), True)
    except expat.ExpatError as error:
        raise _refused(source, str(error), error.lineno, error.offset + 1) from None


def _malformed(source: RdfText, error: SyntaxError) -> InvalidRdfError:
    reason = str(error.msg).removeprefix("Parser error at ")
    return _refused(source, reason, error.lineno, error.offset)


def _refused(source: RdfText, reason: str, line: int | None, column: int | None) -> InvalidRdfError:
    where = f"{source.path}: " if source.path else ""
    return InvalidRdfError(
        f"{where}this is not {source.format}: {reason}",
        path=source.path,
        line=line,
        column=column,
    )


def _pyoxigraph() -> Any:
    try:
        import pyoxigraph
    except ImportError:
        hint = "reading RDF needs pyoxigraph, from the extra 'graph'; predicast doctor says how"
        raise ImportError(hint) from None
    return pyoxigraph
