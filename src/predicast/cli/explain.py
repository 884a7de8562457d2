"""``predicast explain``: why a subscription matches an event, or why not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from predicast.cli.graphs import (
    GraphOptions,
    Graphs,
    Ontologies,
    RdfFormatOption,
    Validate,
    ValidateOption,
    pattern_source,
    refuse_flat_options,
)
from predicast.cli.options import (
    Absence,
    Absent,
    DialectOption,
    ExpressionField,
    IdField,
    Now,
    Subscriptions,
    SubscriptionsForm,
    arrival,
)
from predicast.cli.terminal import output, visible

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

    from predicast.cli.files.source import Source
    from predicast.cli.files.subscriptions import Fields
    from predicast.engine.explanation import Explanation, Outcome
    from predicast.graph import GraphExplanation

NOT_MATCHED: Final = 1
_DIRECTIVES: Final = ("@prefix ", "@base ")
_COLOURS: Final = {True: "green", False: "red", None: "yellow"}


def explain(  # noqa: PLR0913  # an option is a parameter
    subscriptions: Subscriptions,
    id: Annotated[str, typer.Argument(metavar="ID", help="The subscription's id.")],
    event: Annotated[
        str,
        typer.Argument(
            metavar="EVENT",
            help="The event as JSON, or RDF; @FILE, or - for standard input, to read it.",
        ),
    ],
    *,
    ontology: Ontologies = None,
    graphs: Graphs = False,
    rdf_format: RdfFormatOption = None,
    validate: ValidateOption = Validate.OFF,
    subscriptions_format: SubscriptionsForm = None,
    dialect: DialectOption = None,
    id_field: IdField = "id",
    expression: ExpressionField = "expression",
    absent: Absent = Absence.FAILS,
    now: Now = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a tree.")] = False,
) -> None:
    """Say why a subscription matches an event, or why not, part by part of what was written.

    Of a graph it says to which vertex each variable is mapped, or what nothing satisfies. The exit
    code is 0 if it matches and 1 if it does not.
    """
    from predicast.cli.files.subscriptions import Fields, find, subscriptions_in
    from predicast.engine.judging import Explainer
    from predicast.language.class_tests import reading_with
    from predicast.model.event_reader import names_of

    if subscriptions == event == "-":
        raise typer.BadParameter("only one of the two can be standard input", param_hint="'EVENT'")
    options = GraphOptions.of(ontology, graphs, rdf_format, validate)
    file = [event[1:]] if _names_a_file(event) else []
    if options.are_meant(subscriptions, subscriptions_format, file, dialect=dialect):
        refuse_flat_options(
            absent=absent is not Absence.FAILS, now=now is not None, dialect=dialect is not None
        )
        fields = Fields(id_field, expression)
        graph_source = pattern_source(subscriptions, subscriptions_format)
        found = _explained_graph(options, graph_source, fields, id, event)
        _print_graph(found, as_json=as_json)
        if not found.matched:
            raise typer.Exit(NOT_MATCHED)
        return
    where, text = _given(event)
    source = subscriptions_in(subscriptions, subscriptions_format, dialect)
    vocabulary = options.vocabulary()
    with reading_with(vocabulary):
        entry = find(source, Fields(id_field, expression), id)
    with _named(where):
        attributes = _attributes(text, file, entry.dialect or dialect)
    explainer = Explainer.of(entry, absent.value, vocabulary)
    with _named(where):
        read = explainer.reader.event(attributes)
    explanation = explainer.explanation(read, arrival(now), names_of(attributes))
    if as_json:
        typer.echo(_json(explanation, entry.about))
    else:
        _print_tree(explanation, entry.about)
    if not explanation.matched:
        raise typer.Exit(NOT_MATCHED)


def _attributes(text: str | bytes, file: list[str], dialect: str | None) -> dict[str, Any]:
    """Those of the event, as the subscription's dialect reads it; of a file, those of the first."""
    from predicast.cli.files.events import attributes_of
    from predicast.language import dialect_named

    suffixes = () if dialect is None else dialect_named(dialect).event_suffixes
    own = any(Path(path).suffix.lower() in suffixes for path in file)
    return attributes_of(text, dialect, own=own)


def _explained_graph(
    options: GraphOptions, source: Source, fields: Fields, id: str, argument: str
) -> GraphExplanation:
    from predicast.cli.files.subscriptions import find_record, read_pattern, refusal
    from predicast.errors import PredicastError
    from predicast.graph import EventGraph, GraphEngine
    from predicast.graph.rdf_text import EXTENSIONS

    where, given = _given(argument)
    engine = GraphEngine(options.ontology(), validate=options.validate)
    record = find_record(source, fields, id)
    try:
        engine.subscribe(read_pattern(record, fields), id=id)
    except PredicastError as error:
        raise refusal(source, record, error) from error
    by_name = EXTENSIONS.get(Path(argument).suffix.lower()) if _names_a_file(argument) else None
    # What a file of JSON holds, its text tells.
    format = options.format or (None if argument.endswith(".json") else by_name)
    with _named(where):
        text = given if isinstance(given, str) else _decoded(given)
        event = EventGraph.parse(text, engine.ontology, format=format, validate=options.validate)
    return engine.explain(id, event)


def _decoded(content: bytes) -> str:
    from predicast.errors import InputFileError

    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputFileError("not UTF-8") from None


def _print_graph(explanation: GraphExplanation, *, as_json: bool) -> None:
    if not as_json:
        output().print("\n".join(map(visible, str(explanation).splitlines())), soft_wrap=True)
        return
    import msgspec

    typer.echo(msgspec.json.encode(explanation.to_document()).decode())


def _names_a_file(argument: str) -> bool:
    """Whether it is @FILE; Turtle may begin with @prefix, too."""
    return argument.startswith("@") and not argument.startswith(_DIRECTIVES)


def _given(argument: str) -> tuple[str, str | bytes]:
    """Where the event comes from, and its text."""
    from predicast.cli.files.source import Form, Source
    from predicast.errors import InputFileError

    if argument != "-" and not _names_a_file(argument):
        if os.path.isfile(argument):  # noqa: PTH113  # of any text, however long
            raise InputFileError(
                f"the event: {argument} is a file; write @{argument} to read the event from it",
                path=argument,
            )
        return "the event", argument
    source = Source.of("-") if argument == "-" else Source(argument[1:], Form.JSON_LINES)
    with source.opened() as opened:
        return source.path, opened.stream.read()


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Errors say what is wrong, and this where."""
    from predicast.errors import InputFileError, PredicastError

    try:
        yield
    except PredicastError as error:
        raise InputFileError(f"{where}: {error.message}", path=where) from error


def _json(explanation: Explanation, about: Mapping[str, Any]) -> str:
    import msgspec

    told = explanation.to_document()
    id = {"id": told.pop("id")}
    return msgspec.json.encode(id | ({"about": about} if about else {}) | told).decode()


def _print_tree(explanation: Explanation, about: Mapping[str, Any]) -> None:
    from rich.tree import Tree

    console = output()
    for name, value in about.items():
        console.print(visible(f"{name}: {_listed(value)}"), soft_wrap=True)
    tree = Tree(_label(explanation.outcome))
    _grow(tree, explanation.outcome)
    console.print(tree)
    if explanation.now is not None:
        from predicast.model.values import show

        console.print(f"now() was {show(explanation.now)}", soft_wrap=True)
    verdict = "matches" if explanation.matched else "does not match"
    console.print(f"{visible(explanation.id)} {verdict} the event.", soft_wrap=True)


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _grow(tree: Tree, outcome: Outcome) -> None:
    for part in outcome.parts:
        _grow(tree.add(_label(part)), part)


def _label(outcome: Outcome) -> Text:
    from rich.text import Text

    label = Text.assemble((outcome.mark, _COLOURS[outcome.held]), " ", visible(outcome.brief))
    if outcome.saw is not None:
        label.append("  saw ", "dim").append(visible(outcome.saw))
    if outcome.reason:
        label.append(f"  ({visible(outcome.reason)})", "dim")
    return label
