"""Small worlds of graphs, for people who add a graph matcher: ontologies, events and patterns.

Everything is text and comes from one source of random numbers. A world has few names, so that
events and patterns meet often, and all that makes matching hard: several parents, cycles and
equivalences, domains and ranges, several types, vertices that several arcs lead to, arcs that lead
back, literals of every kind. A literal property has values of one kind, so that what is compared
can be: on what is unknown, engines that speak SPARQL differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from random import Random
from typing import Final, NamedTuple

from predicast.graph.names import HOME, LITERAL
from predicast.graph.names import THING as _THING

PREFIXES: Final = """\
@prefix : <urn:test:> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
_SPARQL_PREFIXES: Final = """\
PREFIX : <urn:test:>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
_HOME: Final = f"<{HOME}>"
THING: Final = f"<{_THING}>"
_CLASSES: Final = tuple(f":C{number}" for number in range(7))
_LINKS: Final = tuple(f":p{number}" for number in range(4))  # properties between resources
_NAMED: Final = tuple(f":i{number}" for number in range(3))
_TWOS: Final = tuple(f'"2"^^xsd:{datatype}' for datatype in ("decimal", "double"))
# Literal properties by the kind of their values, with those values. Numbers are written as an
# engine that keeps them by value would write them, so that bindings can be compared.
_LITERALS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "number": ((":n0", ":n1"), ("1", "2", "3", "2.5", "-1", *_TWOS)),
    "string": ((":s0", ":s1"), ('"a"', '"ab"', '"b"', '"ba"', '""', '"é"')),
    "text": ((":l0",), ('"a"@en', '"ab"@en-gb', '"b"@de', '"a"', '"ab"')),
    "time": (
        (":t0",),
        tuple(
            f'"2026-01-0{day}T00:00:00{zone}"^^xsd:dateTime'
            for day in (1, 2)
            for zone in ("Z", "+01:00")
        ),
    ),
    "boolean": ((":b0",), ("true", "false")),
}
_KIND_OF: Final = {name: kind for kind, (names, _) in _LITERALS.items() for name in names}
_LITERAL_NAMES: Final = tuple(_KIND_OF)


class Statements(NamedTuple):
    """A pattern in the paper's form, and in SPARQL with all that the form implies spelled out."""

    text: str
    sparql: str


class GraphWorld:
    """An ontology, and events and patterns in its terms."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.ontology_text = PREFIXES + "\n".join(self._axioms())

    # The ontology.

    def _axioms(self) -> list[str]:
        random, found = self._random, []
        for _ in range(random.randint(0, 9)):
            child, parent = random.choices(_CLASSES, k=2)
            if random.random() < 0.8 and child > parent:
                child, parent = parent, child  # mostly without cycles
            found.append(f"{child} rdfs:subClassOf {parent} .")
        for names in (_LINKS, *(names for names, _ in _LITERALS.values())):
            for _ in range(random.randint(0, len(names))):
                child, parent = random.choices(names, k=2)
                found.append(f"{child} rdfs:subPropertyOf {parent} .")
        if random.random() < 0.3:
            found.append("{} owl:equivalentClass {} .".format(*random.choices(_CLASSES, k=2)))
        if random.random() < 0.3:
            found.append("{} owl:equivalentProperty {} .".format(*random.choices(_LINKS, k=2)))
        for _ in range(random.choice((0, 0, 1, 2))):
            where = random.choice(("domain", "range"))
            found.append(f"{self._one(_LINKS)} rdfs:{where} {self._one(_CLASSES)} .")
        if random.random() < 0.3:
            found.append(f"{self._one(_LITERAL_NAMES)} rdfs:domain {self._one(_CLASSES)} .")
        if random.random() < 0.5:
            found.append(f"{self._one(_NAMED)} a {self._one(_CLASSES)} .")
        return found

    # Events.

    def event_text(self) -> str:
        """An event in Turtle."""
        random = self._random
        vertices = [_HOME, *(f"_:v{number}" for number in range(random.randint(0, 5))), *_NAMED]
        said = []
        for vertex in vertices:
            said += [f"{vertex} a {self._one(_CLASSES)} ." for _ in range(random.choice((0, 1, 2)))]
        for before, vertex in pairwise(vertices):
            if random.random() < 0.8:  # mostly, all is reached from the home vertex
                source = random.choice((before, _HOME))
                said.append(f"{source} {self._one(_LINKS)} {vertex} .")
        for _ in range(random.randint(2, 10)):
            source, target = random.choices(vertices, k=2)
            said.append(f"{source} {self._one(_LINKS)} {target} .")
        for _ in range(random.randint(1, 7)):
            name = self._one(_LITERAL_NAMES)
            value = self._one(_LITERALS[_KIND_OF[name]][1])
            said.append(f"{self._one(vertices)} {name} {value} .")
        said.append(f"{_HOME} a {self._one(_CLASSES)} .")
        return PREFIXES + "\n".join(said)

    # SPARQL.

    def sparql(self) -> str:
        """A query of which a match is told by any engine that speaks SPARQL."""
        query = _Query(self._random)
        for _ in range(self._random.choice((1, 1, 1, 2, 2, 3, 4))):
            query.grow()
        if self._random.random() < 0.2:
            query.fork()
        if self._random.random() < 0.6:
            query.restrict()
        return _SPARQL_PREFIXES + query.text()

    def statements(self) -> Statements:
        """Statement patterns, of which every vertex is reached from the home vertex."""
        random = self._random
        resources = [_HOME]
        written, same, tests = [], [], []
        for number in range(random.choice((1, 1, 2, 2, 3, 4, 5))):
            subject = self._one(resources)
            classes = [self._one((*_CLASSES, *3 * (THING,))) for _ in range(2)]
            if random.random() < 0.25:
                name = self._one(_LITERAL_NAMES)
                object, classes[1] = f"?w{number}", f"<{LITERAL}>"
                given, test = self._literal_end(object, _KIND_OF[name])
            else:
                name, test = self._one(_LINKS), ""
                object = given = self._one((*resources, *2 * (f"?v{number}",), self._one(_NAMED)))
                resources += [] if object in resources else [object]
            behind = f", {test}" if test and given == object else ""
            meta = f"({classes[0]}, {name}, {classes[1]})"
            written.append(f"({subject}, {given}, {meta}{behind})".replace(_HOME, "_:H"))
            same.append(f"{subject} {name} {object}")
            tests += [test] if test else []
            same += [f"{subject} a {classes[0]}"] if classes[0] != THING else []
            if classes[1] not in {THING, f"<{LITERAL}>"}:
                same.append(f"{object} a {classes[1]}")
        random.shuffle(written)
        # Each pattern vertex has a vertex of its own.
        tests += [f"!sameTerm({one}, {other})" for one, other in combinations(resources, 2)]
        filters = "".join(f" FILTER({test})" for test in tests)
        return Statements(
            "PREFIX : <urn:test:>\n" + "\n".join(written),
            f"{_SPARQL_PREFIXES}ASK {{ {' . '.join(same)}{filters} }}",
        )

    def _literal_end(self, variable: str, kind: str) -> tuple[str, str]:
        """An object that is a literal: as it is written, and what SPARQL asks of the variable."""
        if self._random.random() < 0.3:
            value = self._one(_LITERALS[kind][1])
            return value, f"{variable} = {value}"
        if self._random.random() < 0.3:
            return variable, ""
        return variable, condition(self._random, variable, kind)

    def _one(self, names: Sequence[str]) -> str:
        return self._random.choice(names)


class _Query:
    """A query while it grows: statements, and what its variables stand for."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._resources = [_HOME]
        self._literals: dict[str, str] = {}  # variables, with the kind of their values
        self._parts: list[str] = []
        self._filters: list[str] = []
        self._count = 0

    def grow(self) -> None:
        """One more statement, or two."""
        random = self._random
        known = random.choice(self._resources)
        if random.random() < 0.3:
            name = random.choice(_LITERAL_NAMES)
            if random.random() < 0.2:
                self._parts.append(f"{known} {name} {random.choice(_LITERALS[_KIND_OF[name]][1])}")
            else:
                variable = self._fresh()
                self._literals[variable] = _KIND_OF[name]
                self._parts.append(f"{known} {name} {variable}")
            return
        other = random.choice((self._fresh(), self._fresh(), *self._resources, *_NAMED))
        path = random.choice(_LINKS)
        if random.random() < 0.15:
            path = f"{path}/{random.choice(('', '^'))}{random.choice(_LINKS)}"
        ends = (known, other) if random.random() < 0.85 else (other, known)
        self._parts.append(f"{ends[0]} {path} {ends[1]}")
        if other not in self._resources:
            self._resources.append(other)
        if random.random() < 0.6:
            self._parts.append(f"{random.choice((known, other))} a {random.choice(_CLASSES)}")

    def fork(self) -> None:
        """A union of two statements about what is known."""
        known = self._random.choice(self._resources)
        variable = self._fresh()
        sides = []
        for _ in range(2):
            object = self._random.choice((variable, f"[ a {self._random.choice(_CLASSES)} ]"))
            sides.append(f"{{ {known} {self._random.choice(_LINKS)} {object} }}")
        self._parts.append(" UNION ".join(sides))
        if any(variable in side for side in sides) and self._random.random() < 0.5:
            self._filters.append(f"BOUND({variable})")

    def restrict(self) -> None:
        """One filter, or two."""
        tests = [condition(self._random, each, kind) for each, kind in self._literals.items()]
        variables = [each for each in self._resources if each.startswith("?")]
        tests += [condition(self._random, each, "resource") for each in variables]
        if len(variables) > 1:
            sign = self._random.choice(("=", "!="))
            tests.append(f"{variables[0]} {sign} {variables[1]}")
        numbers = [each for each, kind in self._literals.items() if kind == "number"]
        if len(numbers) > 1:
            sign = self._random.choice(("=", "!=", "<", "<=", ">", ">="))
            tests.append(f"{numbers[0]} {sign} {numbers[1]}")
        self._random.shuffle(tests)
        if len(tests) > 1 and self._random.random() < 0.5:
            word = self._random.choice((" && ", " || "))
            tests[:2] = [self._random.choice(("", "!")) + f"({word.join(tests[:2])})"]
        self._filters += tests[:2]

    def text(self) -> str:
        """The whole query."""
        variables = [each for each in (*self._resources, *self._literals) if each.startswith("?")]
        parts = [*self._parts]
        self._random.shuffle(parts)
        inside = " . ".join(parts) + "".join(f" FILTER({each})" for each in self._filters)
        if variables and self._random.random() < 0.5:
            chosen = self._random.sample(variables, self._random.randint(1, len(variables)))
            return f"SELECT DISTINCT {' '.join(chosen)} WHERE {{ {inside} }}"
        return f"ASK {{ {inside} }}"

    def _fresh(self) -> str:
        self._count += 1
        return f"?x{self._count}"


def condition(random: Random, variable: str, kind: str) -> str:
    """A condition on a variable whose values are of a kind."""
    if kind == "boolean":
        return random.choice(("{}", "!{}", "{} = true", "{} != true")).format(variable)
    if kind == "resource":
        named = random.choice(_NAMED)
        return random.choice(
            (
                f"{variable} = {named}",
                f"{variable} != {named}",
                f"{variable} IN ({named}, {random.choice(_NAMED)})",
                f"{variable} NOT IN ({named}, {random.choice(_NAMED)})",
                f"isIRI({variable})",
                f"!isBlank({variable})",
            )
        )
    if kind == "text":
        return random.choice(
            (
                f'LANG({variable}) = "en"',
                f'LANGMATCHES(LANG({variable}), "en")',
                f'REGEX({variable}, "^A", "i")',
                f'STR({variable}) = "ab"',
                f'!STRSTARTS({variable}, "a")',
            )
        )
    value = random.choice(_LITERALS[kind][1])
    sign = random.choice(("=", "!=", "<", "<=", ">", ">="))
    tests = [f"{variable} {sign} {value}", f"{value} {sign} {variable}"]
    tests.append(f"{variable} IN ({value}, {random.choice(_LITERALS[kind][1])})")
    tests.append(f"!({variable} {sign} {value})")
    if kind == "string":
        tests += [f'CONTAINS({variable}, "b")', f'STRENDS({variable}, "a")']
    return random.choice(tests)
