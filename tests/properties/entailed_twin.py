"""Another engine's answer: pyoxigraph over all that follows from ontology and event, by rule."""

import pyoxigraph as ox

from predicast.graph.names import (
    DOMAIN,
    EQUIVALENT_CLASS,
    EQUIVALENT_PROPERTY,
    RANGE,
    SUB_CLASS,
    SUB_PROPERTY,
    TYPE,
)

Statement = tuple[object, str, object]


def parsed(text: str) -> set[Statement]:
    quads = ox.parse(text, format=ox.RdfFormat.TURTLE)
    return {(quad.subject, quad.predicate.value, quad.object) for quad in quads}


def closure(statements: set[Statement]) -> set[Statement]:
    """Everything that follows by the rules of RDFS, applied until nothing is new."""
    known = set(statements)
    while True:
        new = {each for rule in (_hierarchies, _instances) for each in rule(known)} - known
        if not new:
            return known
        known |= new


def _hierarchies(known: set[Statement]) -> set[Statement]:
    found: set[Statement] = set()
    for equivalent, below in ((EQUIVALENT_CLASS, SUB_CLASS), (EQUIVALENT_PROPERTY, SUB_PROPERTY)):
        for subject, name, object in known:
            if name == equivalent:
                found |= {(subject, below, object), (object, below, subject)}
        pairs = [(subject, object) for subject, name, object in known if name == below]
        for first, middle in pairs:
            found |= {(first, below, last) for also, last in pairs if also == middle}
    return found


def _instances(known: set[Statement]) -> set[Statement]:
    axioms: dict[tuple[object, str], list[object]] = {}
    for subject, name, object in known:
        if name in {SUB_CLASS, SUB_PROPERTY, DOMAIN, RANGE}:
            axioms.setdefault((subject, name), []).append(object)
    found: set[Statement] = set()
    for subject, name, object in known:
        if name == TYPE:
            found |= {(subject, TYPE, above) for above in axioms.get((object, SUB_CLASS), ())}
            continue
        property = ox.NamedNode(name)
        for above in axioms.get((property, SUB_PROPERTY), ()):
            assert isinstance(above, ox.NamedNode)
            found.add((subject, above.value, object))
        found |= {(subject, TYPE, each) for each in axioms.get((property, DOMAIN), ())}
        if not isinstance(object, ox.Literal):
            found |= {(object, TYPE, each) for each in axioms.get((property, RANGE), ())}
    return found


class EntailedTwin:
    """One event with all that follows, to be asked in SPARQL."""

    def __init__(self, ontology: str, event: str) -> None:
        self._store = ox.Store()
        # Blank nodes keep their labels when added one by one; loading would rename them.
        for subject, name, object in closure(parsed(ontology) | parsed(event)):
            self._store.add(ox.Quad(subject, ox.NamedNode(name), object))  # type: ignore[arg-type]

    def ask(self, query: str) -> bool | list[tuple[str | None, ...]]:
        """Whether there is a match, or the bindings in order, each once."""
        found = self._store.query(query)
        if isinstance(found, ox.QueryBoolean):
            return bool(found)
        assert isinstance(found, ox.QuerySolutions)
        names = found.variables
        rows = {
            tuple(None if row[name] is None else str(row[name]) for name in names) for row in found
        }
        return sorted(rows, key=lambda row: [str(each) for each in row])
