"""``GraphPattern``: what a subscription to event graphs asks for (paper 5, section 3).

A pattern is *alternatives* of which one must match. An alternative is a small graph: statements
between vertices that are variables or terms, classes that vertices must be of, and filters on what
variables stand for. It matches an event if its vertices can be mapped to vertices of the event so
that every statement is an arc of the event, every class and every filter is met, all of it by what
follows from the ontology (``entailment.py``).

*Injective or free.* In the paper's own form two vertices of a pattern never meet in one vertex of
the event; in SPARQL they may. Literals may meet in either: a price of 5 and a quantity of 5 are one
vertex, and say nothing about each other.

*The home vertex* of the pattern is ``<urn:predicast:home>``, and is mapped to that of the event.
All of an alternative is connected with it. In an injective pattern every vertex is reached from it
along the arcs, as the paper demands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from predicast.errors import GraphTooLargeError, InvalidPatternError
from predicast.graph.filters import Filter
from predicast.graph.names import HOME, RESOURCE, TYPE
from predicast.graph.ontology import MetaStatement
from predicast.graph.terms import Iri, Literal, Term, Variable

MAX_STATEMENTS: Final = 256  # of one alternative, classes included
MAX_ALTERNATIVES: Final = 64

HOME_VERTEX: Final = Iri(HOME)
PatternVertex: TypeAlias = Variable | Iri | Literal
_VERTICES: Final = frozenset({Variable, Iri, Literal})
Bindings: TypeAlias = Mapping[Variable, Term]


@dataclass(frozen=True, slots=True)
class StatementPattern:
    """An arc that the event must have: from a vertex, by a property or one below it, to another."""

    subject: PatternVertex
    property: str
    object: PatternVertex

    def __post_init__(self) -> None:
        for each in (self.subject, self.object):
            if type(each) not in _VERTICES:
                raise InvalidPatternError(
                    f"a vertex of a pattern is a Variable, an Iri or a Literal, not {each!r}"
                )
        if isinstance(self.subject, Literal):
            raise InvalidPatternError(f"nothing is stated of a literal such as {self.subject}")
        if not self.property or self.property == TYPE:
            raise InvalidPatternError(
                "a statement pattern has a property other than rdf:type; classes are ClassPatterns"
            )

    def __str__(self) -> str:
        return f"{self.subject} <{self.property}> {self.object}"


@dataclass(frozen=True, slots=True)
class ClassPattern:
    """A class that a vertex must be of, or of one below it."""

    vertex: PatternVertex
    name: str

    def __str__(self) -> str:
        return f"{self.vertex} a <{self.name}>"


Part: TypeAlias = StatementPattern | ClassPattern | Filter


def statement_pattern(
    subject: PatternVertex, object: PatternVertex, meta_statement: MetaStatement, *filters: Filter
) -> list[Part]:
    """A statement pattern as the paper has it: two vertices, what may be stated of them, filters.

    >>> from predicast.graph import HOME_VERTEX, MetaStatement
    >>> wanted = MetaStatement("urn:Selling", "urn:target", "urn:Computer")
    >>> for part in statement_pattern(HOME_VERTEX, Variable("1"), wanted):
    ...     print(part)
    <urn:predicast:home> <urn:target> ?1
    <urn:predicast:home> a <urn:Selling>
    ?1 a <urn:Computer>
    """
    return [
        StatementPattern(subject, meta_statement.property, object),
        ClassPattern(subject, meta_statement.subject_class),
        ClassPattern(object, meta_statement.object_class),
        *filters,
    ]


@dataclass(frozen=True, slots=True)
class Alternative:
    """Statements, classes and filters that must all be met by one mapping."""

    statements: tuple[StatementPattern, ...] = ()
    classes: tuple[ClassPattern, ...] = ()
    filters: tuple[Filter, ...] = ()

    @classmethod
    def of(
        cls,
        statements: Iterable[StatementPattern],
        classes: Iterable[ClassPattern] = (),
        filters: Iterable[Filter] = (),
    ) -> Alternative:
        """The same said once each; a class that everything is of says nothing."""
        distinct = dict.fromkeys(each for each in classes if each.name != RESOURCE)
        return cls(tuple(dict.fromkeys(statements)), tuple(distinct), tuple(dict.fromkeys(filters)))

    def __str__(self) -> str:
        parts = [*self.statements, *self.classes, *(f"FILTER({each})" for each in self.filters)]
        return " . ".join(map(str, parts))

    def vertices(self) -> tuple[PatternVertex, ...]:
        """Its vertices, each once: the home vertex first, then as they are mentioned."""
        found: dict[PatternVertex, None] = {HOME_VERTEX: None}
        for statement in self.statements:
            found[statement.subject] = None
            found[statement.object] = None
        for each in self.classes:
            found[each.vertex] = None
        return tuple(found)

    def variables(self) -> tuple[Variable, ...]:
        """Its variables, each once."""
        return tuple([each for each in self.vertices() if isinstance(each, Variable)])

    def reached(self, *, along: bool) -> set[PatternVertex]:
        """The vertices that are connected with the home vertex, or reached along arcs alone."""
        neighbours: dict[PatternVertex, list[PatternVertex]] = {}
        for statement in self.statements:
            neighbours.setdefault(statement.subject, []).append(statement.object)
            if not along:
                neighbours.setdefault(statement.object, []).append(statement.subject)
        found: set[PatternVertex] = {HOME_VERTEX}
        pending: list[PatternVertex] = [HOME_VERTEX]
        while pending:
            for each in neighbours.get(pending.pop(), ()):
                if each not in found:
                    found.add(each)
                    pending.append(each)
        return found


@dataclass(frozen=True, slots=True)
class GraphPattern:
    """Alternatives of which one must match, checked when made.

    ``selected`` are the variables that somebody wants to know: with ``None`` it is only asked
    whether there is a match, as with SPARQL's ASK.
    """

    alternatives: tuple[Alternative, ...]
    injective: bool = True
    selected: tuple[Variable, ...] | None = None
    text: str | None = field(default=None, compare=False)  # what it was read from, for messages

    def __post_init__(self) -> None:
        if len(self.alternatives) > MAX_ALTERNATIVES:
            raise GraphTooLargeError(
                f"the pattern has {len(self.alternatives)} alternatives; the limit is "
                f"{MAX_ALTERNATIVES}",
                limit=MAX_ALTERNATIVES,
                actual=len(self.alternatives),
            )
        for alternative in self.alternatives:
            self._check(alternative)
        if self.selected and self.alternatives:
            known = {name for each in self.alternatives for name in each.variables()}
            for name in self.selected:
                if name not in known:
                    raise self._refused(f"{name} is selected and never bound", name)

    @classmethod
    def of(
        cls,
        *patterns: Part | Iterable[Part],
        injective: bool = True,
        selected: Iterable[Variable] | None = None,
    ) -> GraphPattern:
        """A pattern of one alternative, from its parts in any order; some may come together."""
        parts: list[Part] = []
        for each in patterns:
            parts.extend([each] if isinstance(each, Part) else each)
        alternative = Alternative.of(
            [each for each in parts if isinstance(each, StatementPattern)],
            [each for each in parts if isinstance(each, ClassPattern)],
            [each for each in parts if isinstance(each, Filter)],
        )
        return cls((alternative,), injective, None if selected is None else tuple(selected))

    def __str__(self) -> str:
        return self.text or " UNION ".join(f"{{ {each} }}" for each in self.alternatives)

    def class_names(self) -> Iterator[str]:
        """The classes that it names, perhaps repeatedly."""
        return (each.name for alternative in self.alternatives for each in alternative.classes)

    def property_names(self) -> Iterator[str]:
        """The properties that it names, perhaps repeatedly."""
        return (each.property for each in self._statements())

    def _statements(self) -> Iterator[StatementPattern]:
        return (each for alternative in self.alternatives for each in alternative.statements)

    def _check(self, alternative: Alternative) -> None:
        size = len(alternative.statements) + len(alternative.classes)
        if size > MAX_STATEMENTS:
            raise GraphTooLargeError(
                f"the pattern has {size} statements and classes; the limit is {MAX_STATEMENTS}",
                limit=MAX_STATEMENTS,
                actual=size,
            )
        vertices = alternative.vertices()
        if size and not _mentions_home(alternative):
            raise self._refused(f"nothing is asked of the home vertex; write <{HOME}>, or _:H")
        reached = alternative.reached(along=self.injective)
        for vertex in vertices:
            if vertex not in reached:
                how = "reached along arcs from" if self.injective else "connected with"
                name = vertex if isinstance(vertex, Variable) else None
                raise self._refused(f"{vertex} is not {how} the home vertex <{HOME}>", name)
        bound = {each for each in vertices if isinstance(each, Variable)}
        for each in alternative.filters:
            for name in each.variables:
                if name not in bound:
                    raise self._refused(f"the filter asks for {name}, which is never bound", name)

    def _refused(self, message: str, variable: Variable | None = None) -> InvalidPatternError:
        return InvalidPatternError(
            message, text=self.text, variable=None if variable is None else variable.name
        )


def _mentions_home(alternative: Alternative) -> bool:
    ends = {end for each in alternative.statements for end in (each.subject, each.object)}
    return HOME_VERTEX in ends | {each.vertex for each in alternative.classes}
