"""``Ontology``: the concepts that events and subscriptions share (paper 5, section 2.2).

Three parts: *classes* with their hierarchy, *properties* with theirs, and *meta-statements*
(SubjectClass, property, ObjectClass), which say what an event may state. Read from RDFS and OWL:

- ``rdfs:subClassOf`` and ``rdfs:subPropertyOf`` between named resources, and as both ways at once
  ``owl:equivalentClass`` and ``owl:equivalentProperty``. Cycles are one class, or one property.
- ``rdfs:domain`` and ``rdfs:range``. As RDFS has it they tell the class of whatever has the
  property, or is its value; the pair of them is a meta-statement as well.
- Explicit meta-statements: a resource with ``<urn:predicast:subjectClass>``,
  ``<urn:predicast:property>`` and ``<urn:predicast:objectClass>``. Nothing follows from those but
  what is legal.
- The types of named individuals, such as ``units:dollar a units:Currency``: an event that mentions
  the individual need not repeat them.

Every class is an ``owl:Thing`` and all there is an ``rdfs:Resource``; datatypes are below
``rdfs:Literal``. What else OWL can say (restrictions, inverses, unions) is left out: entailment is
that of RDFS.

An ontology does not change; ``extend`` makes another one. Names keep their codes in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from predicast.graph.datatypes import PARENTS, value_of
from predicast.graph.hierarchy import Hierarchy
from predicast.graph.names import (
    DATATYPE,
    DOMAIN,
    EQUIVALENT_CLASS,
    EQUIVALENT_PROPERTY,
    LITERAL,
    META_PROPERTY,
    OBJECT_CLASS,
    OWL,
    RANGE,
    RDF,
    RDFS,
    RESOURCE,
    SUB_CLASS,
    SUB_PROPERTY,
    SUBJECT_CLASS,
    THING,
    TYPE,
)
from predicast.graph.rdf_text import rdf_text, read_rdf
from predicast.graph.terms import Iri, Literal, Term, Triple
from predicast.model import Value
from predicast.model.vocabulary import Vocabulary, local_name

_CLASSES: Final = frozenset({f"{RDFS}Class", f"{OWL}Class", f"{OWL}DeprecatedClass"})
OBJECT_PROPERTY: Final = f"{OWL}ObjectProperty"
DATATYPE_PROPERTY: Final = f"{OWL}DatatypeProperty"
_PROPERTIES: Final = frozenset(
    {
        f"{RDF}Property",
        OBJECT_PROPERTY,
        DATATYPE_PROPERTY,
        *(f"{OWL}{kind}Property" for kind in ("Annotation", "Functional", "Deprecated")),
        *(f"{OWL}{kind}Property" for kind in ("InverseFunctional", "Symmetric", "Transitive")),
    }
)
_META: Final = (SUBJECT_CLASS, META_PROPERTY, OBJECT_CLASS)
# Namespaces whose types are about the ontology itself, and not about what is in the world.
_ABOUT_ITSELF: Final = (RDF, RDFS, OWL)


class MetaStatement(NamedTuple):
    """What may be stated: (SubjectClass, property, ObjectClass)."""

    subject_class: str
    property: str
    object_class: str


class LocalNames(NamedTuple):
    """The IRIs behind the short names by which JSON speaks of them; mostly one each."""

    classes: dict[str, list[str]]
    properties: dict[str, list[str]]
    individuals: dict[str, list[str]]


class Ontology:
    """Classes, properties and meta-statements; read-only.

    >>> shop = Ontology.parse('''
    ...     @prefix : <http://shop.example/> .
    ...     @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    ...     :Laptop rdfs:subClassOf :Computer .
    ... ''')
    >>> shop.is_subclass("http://shop.example/Laptop", "http://shop.example/Computer")
    True
    """

    __slots__ = (
        "_triples",
        "classes",
        "datatypes",
        "domains",
        "individuals",
        "kinds",
        "local_names",
        "meta_statements",
        "prefixes",
        "properties",
        "ranges",
    )

    def __init__(
        self,
        triples: Iterable[Triple] = (),
        *,
        prefixes: dict[str, str] | None = None,
        before: Ontology | None = None,
    ) -> None:
        """From what is stated in RDF, on top of what another ontology says."""
        self._triples: tuple[Triple, ...] = tuple(
            dict.fromkeys((*(before._triples if before else ()), *triples))
        )
        # A prefix keeps its meaning: subscriptions may be written with it.
        self.prefixes: dict[str, str] = {
            **(prefixes or {}),
            **(before.prefixes if before else {}),
        }
        said = _Said.of(self._triples)
        self.kinds: dict[str, frozenset[str]] = said.kinds
        self.individuals: dict[str, frozenset[str]] = said.individuals
        self.meta_statements: frozenset[MetaStatement] = said.meta_statements()
        self.datatypes: frozenset[str] = _datatypes(said)
        classes = before.classes if before else Hierarchy.of((), ())
        properties = before.properties if before else Hierarchy.of((), ())
        self.classes: Hierarchy = classes.extended(
            (RESOURCE, THING, LITERAL, *said.classes), (*said.sub_classes, *self._tops(said))
        )
        self.properties: Hierarchy = properties.extended(said.properties, said.sub_properties)
        self.domains: dict[str, frozenset[str]] = self._inherited(said.domains)
        self.ranges: dict[str, frozenset[str]] = self._inherited(said.ranges)
        self.local_names: LocalNames = LocalNames(
            _by_local_name(self.classes.names),
            _by_local_name(self.properties.names),
            _by_local_name(self.individuals),
        )

    @classmethod
    def parse(cls, text_or_path: str | Path, format: str | None = None) -> Ontology:
        """From a text or a file in Turtle, N-Triples, RDF/XML, JSON-LD and other formats.

        A string is taken for the name of a file if it is a single word that ends like one, such as
        ``shop.ttl``. Without a format, the file's name or the text's beginning tells it.
        """
        document = read_rdf(rdf_text(text_or_path, format, may_be_name=True))
        return cls(document.triples, prefixes=document.prefixes)

    def extend(self, text_or_path: str | Path, format: str | None = None) -> Ontology:
        """An ontology that says what this one does and what another text adds."""
        document = read_rdf(rdf_text(text_or_path, format, may_be_name=True))
        return Ontology(document.triples, prefixes=document.prefixes, before=self)

    def with_names(self, classes: Iterable[str] = (), properties: Iterable[str] = ()) -> Ontology:
        """The same with codes for names that it says nothing about; itself if it has them all."""
        new_classes = [name for name in classes if name not in self.classes]
        new_properties = [name for name in properties if name not in self.properties]
        if not new_classes and not new_properties:
            return self
        triples: list[Triple] = [
            *((Iri(name), Iri(TYPE), Iri(f"{RDFS}Class")) for name in new_classes),
            *((Iri(name), Iri(TYPE), Iri(f"{RDF}Property")) for name in new_properties),
        ]
        return Ontology(triples, before=self)

    def to_turtle(self) -> str:
        """A text that reads back as the same ontology."""
        prefixes = [f"@prefix {name}: <{iri}> ." for name, iri in self.prefixes.items()]
        statements = [" ".join(map(str, triple)) + " ." for triple in self._triples]
        return "\n".join([*prefixes, *statements, ""])

    def vocabulary(self) -> Vocabulary:
        """Its names and hierarchies alone, for engines of flat events."""
        return Vocabulary(dict(self.prefixes), self.classes.by_name(), self.properties.by_name())

    def __reduce__(self) -> tuple[Any, ...]:
        names = (self.classes.names, self.properties.names)
        return _restored, (self._triples, self.prefixes, *names)

    @property
    def triples(self) -> tuple[Triple, ...]:
        """What it was made from, each statement once."""
        return self._triples

    def superclasses(self, name: str) -> frozenset[str]:
        """The classes that whatever is of this class is of, itself among them.

        A name that the ontology does not know is a class below Thing.
        """
        code = self.classes.code(name)
        if code is None:
            return self.superclasses(THING) | {name}
        return frozenset([self.classes.names[each] for each in self.classes.ancestors[code]])

    def superproperties(self, name: str) -> frozenset[str]:
        """The properties that hold wherever this one does, itself among them."""
        code = self.properties.code(name)
        if code is None:
            return frozenset({name})
        return frozenset([self.properties.names[each] for each in self.properties.ancestors[code]])

    def is_subclass(self, name: str, other: str) -> bool:
        """Whether whatever is of the one class is of the other; a class is its own subclass."""
        return other in self.superclasses(name)

    def is_subproperty(self, name: str, other: str) -> bool:
        """Whether the other property holds wherever the one does."""
        return other in self.superproperties(name)

    def classes_of(self, term: Term) -> frozenset[str]:
        """What a term is of by itself, whatever an event says of it; with all superclasses."""
        if isinstance(term, Literal):
            return self.superclasses(LITERAL) | self._superclasses_of_datatype(term.datatype)
        found = self.superclasses(THING)
        if isinstance(term, Iri):
            for name in self.individuals.get(term.value, ()):
                found |= self.superclasses(name)
        return found

    def value_of(self, literal: Literal) -> Value | None:
        """The value of a literal, by its datatype or the nearest one known that it derives from."""
        if literal.datatype in PARENTS or literal.datatype not in self.datatypes:
            return value_of(literal.text, literal.datatype)
        # The nearest is the one with the most above it: an integer before the decimal it may be.
        known = [name for name in self.superclasses(literal.datatype) if name in PARENTS]
        nearest = max(known, key=lambda name: (len(self.superclasses(name)), name), default="")
        return value_of(literal.text, nearest)

    def _superclasses_of_datatype(self, datatype: str) -> frozenset[str]:
        if datatype in self.classes:
            return self.superclasses(datatype)
        return frozenset({datatype})

    def _tops(self, said: _Said) -> list[tuple[str, str]]:
        """Every class is below Thing, or if it is a datatype, below Literal."""
        below = [
            (name, LITERAL if name in self.datatypes else THING)
            for name in (*said.classes, *self.datatypes)
            if name not in {RESOURCE, THING, LITERAL}
        ]
        return [*below, *PARENTS.items(), (THING, RESOURCE), (LITERAL, RESOURCE)]

    def _inherited(self, stated: dict[str, set[str]]) -> dict[str, frozenset[str]]:
        """Domains or ranges of each property, those of the properties above it included."""
        found: dict[str, frozenset[str]] = {}
        for name in self.properties.names:
            above = [stated[each] for each in self.superproperties(name) if each in stated]
            if above:
                found[name] = frozenset().union(*above)
        return found


def _restored(
    triples: tuple[Triple, ...],
    prefixes: dict[str, str],
    classes: tuple[str, ...],
    properties: tuple[str, ...],
) -> Ontology:
    """An ontology from another process, in which names have the codes that they had there."""
    named = Ontology()
    named.classes = Hierarchy.of(classes, ())
    named.properties = Hierarchy.of(properties, ())
    return Ontology(triples, prefixes=prefixes, before=named)


class _Said:
    """What the triples of an ontology say, sorted by what it is about."""

    def __init__(self) -> None:
        self.classes: dict[str, None] = {}
        self.properties: dict[str, None] = {}
        self.sub_classes: list[tuple[str, str]] = []
        self.sub_properties: list[tuple[str, str]] = []
        self.domains: dict[str, set[str]] = {}
        self.ranges: dict[str, set[str]] = {}
        self.kinds: dict[str, frozenset[str]] = {}  # the types that are about the ontology itself
        self.individuals: dict[str, frozenset[str]] = {}
        self._parts: dict[Term, dict[str, list[str]]] = {}  # of explicit meta-statements

    @classmethod
    def of(cls, triples: Iterable[Triple]) -> _Said:
        said = cls()
        for subject, property, object in triples:
            if property.value in _META and isinstance(object, Iri):
                parts = said._parts.setdefault(subject, {})
                parts.setdefault(property.value, []).append(object.value)
            elif isinstance(subject, Iri) and isinstance(object, Iri):
                said._note(subject.value, property.value, object.value)
        return said

    def _note(self, subject: str, property: str, object: str) -> None:
        match property:
            case _ if property == TYPE:
                self._note_type(subject, object)
            case _ if property in {SUB_CLASS, EQUIVALENT_CLASS}:
                self.classes.update(dict.fromkeys((subject, object)))
                self.sub_classes.append((subject, object))
                if property == EQUIVALENT_CLASS:
                    self.sub_classes.append((object, subject))
            case _ if property in {SUB_PROPERTY, EQUIVALENT_PROPERTY}:
                self.properties.update(dict.fromkeys((subject, object)))
                self.sub_properties.append((subject, object))
                if property == EQUIVALENT_PROPERTY:
                    self.sub_properties.append((object, subject))
            case _ if property in {DOMAIN, RANGE}:
                self.properties[subject] = None
                self.classes[object] = None
                stated = self.domains if property == DOMAIN else self.ranges
                stated.setdefault(subject, set()).add(object)

    def _note_type(self, subject: str, object: str) -> None:
        if object in _CLASSES or object == DATATYPE:
            self.classes[subject] = None
        elif object in _PROPERTIES:
            self.properties[subject] = None
        elif not object.startswith(_ABOUT_ITSELF):
            self.classes[object] = None
            self.individuals[subject] = self.individuals.get(subject, frozenset()) | {object}
            return
        self.kinds[subject] = self.kinds.get(subject, frozenset()) | {object}

    def meta_statements(self) -> frozenset[MetaStatement]:
        found: set[MetaStatement] = set()
        for parts in self._parts.values():
            subjects, names, objects = (parts.get(each, []) for each in _META)
            self.properties.update(dict.fromkeys(names))
            self.classes.update(dict.fromkeys((*subjects, *objects)))
            found.update(
                MetaStatement(subject, name, object)
                for subject in subjects
                for name in names
                for object in objects
            )
        return frozenset(found)


def _by_local_name(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(local_name(name), []).append(name)
    return found


def _datatypes(said: _Said) -> frozenset[str]:
    """The datatypes: those of XML Schema, those declared, and what derives from them."""
    found = {*PARENTS, LITERAL}
    found.update(name for name, kinds in said.kinds.items() if DATATYPE in kinds)
    children: dict[str, list[str]] = {}
    for name, parent in said.sub_classes:
        children.setdefault(parent, []).append(name)
    pending = list(found)
    while pending:
        for child in children.get(pending.pop(), ()):
            if child not in found:
                found.add(child)
                pending.append(child)
    return frozenset(found) - {LITERAL}
