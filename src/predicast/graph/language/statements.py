"""The paper's own form of a subscription: statement patterns, all of which must be met.

::

    text       = { PREFIX name: <IRI> | BASE <IRI> } pattern { [ "," ] pattern }
    pattern    = "(" vertex "," vertex "," meta-statement [ "," condition ] ")"
    meta-statement = "(" class "," property "," class ")"

    (_:H, ?1, (Selling, target, Computer))
    (_:H, ?2, (Selling, price, MoneyValue))
    (?2, dollar, (MoneyValue, currency, Thing))
    (?2, ?3, (MoneyValue, value, xsd:decimal), ?3 < 400.00)

First the subject and the object, then what sort of statement it is. A name without a prefix is one
of the ontology's local names. Conditions are those of SPARQL's FILTER. The mapping is injective. A
value in the place of an object is compared by value, so that 350 meets 350.0.
"""

from __future__ import annotations

from collections.abc import Mapping

from predicast.errors import InvalidPatternError, suggest
from predicast.graph.filters import Filter, equals
from predicast.graph.language.groups import Group, expression_of
from predicast.graph.language.sparql import SparqlReader
from predicast.graph.ontology import MetaStatement, Ontology
from predicast.graph.patterns import Alternative, GraphPattern, PatternVertex, statement_pattern
from predicast.graph.terms import Iri, Literal
from predicast.language.where.position import error_at
from predicast.model import Or


def parse_pattern(text: str, ontology: Ontology | None = None) -> GraphPattern:
    """The pattern that a text states, in SPARQL or in statement patterns."""
    return StatementReader(text, ontology or Ontology()).pattern()


class StatementReader(SparqlReader):
    """Reads one text, in either of the two forms."""

    def pattern(self) -> GraphPattern:
        self._prologue()
        return self._all_statements() if self._at("(") else self._query()

    def _all_statements(self) -> GraphPattern:
        group = Group()
        filters: list[Filter] = []
        while self._token.kind != "end":
            self._statement_pattern(group, filters)
            self._take(",")
        known = frozenset(group.combined()[0].variables())
        alternatives: list[Alternative] = []
        for condition in group.conditions:
            self._check_bound(condition, set(known))
        made = [expression_of(condition, known) for condition in group.conditions]
        if Or(()) not in made:  # or nothing could ever be a match
            filters += [Filter(each) for each in made]
            alternatives.append(Alternative.of(group.statements, group.classes, filters))
        return self._made(alternatives, None, injective=True)

    def _statement_pattern(self, group: Group, filters: list[Filter]) -> None:
        self._expect("(", "a statement pattern in parentheses")
        at = self._token
        subject = self._end(group, "a subject")
        if isinstance(subject, Literal):
            self._fail("nothing is stated of a literal", at)
        self._expect(",", "a comma behind the subject")
        at = self._token
        object = self._end(group, "an object")
        if isinstance(object, Literal):
            variable = self._hidden_variable()
            filters.append(Filter(equals(variable, object, self._value(object, at))))
            object = variable
        self._expect(",", "a comma behind the object")
        meta_statement = self._meta_statement()
        if self._take(","):
            group.conditions.append(self._condition())
        self._expect(")", "a closing parenthesis")
        for part in statement_pattern(subject, object, meta_statement):
            if isinstance(part, Filter):
                filters.append(part)
            else:
                group.add(part)

    def _meta_statement(self) -> MetaStatement:
        self._expect("(", "a meta-statement such as (Selling, price, MoneyValue)")
        names = self._ontology.local_names
        subject_class = self._named(names.classes, "class")
        self._expect(",", "a comma behind the class of the subject")
        property = self._named(names.properties, "property")
        self._expect(",", "a comma behind the property")
        object_class = self._named(names.classes, "class")
        self._expect(")", "a closing parenthesis")
        return MetaStatement(subject_class, property, object_class)

    def _end(self, group: Group, what: str) -> PatternVertex:
        if self._token.kind == "word" and not self._at_boolean():
            return Iri(self._named(self._ontology.local_names.individuals, "individual"))
        return self._vertex(group, what)

    def _named(self, known: Mapping[str, list[str]], what: str) -> str:
        """The IRI of a class, a property or an individual, which may be named without a prefix."""
        token = self._token
        if token.kind != "word":
            return self._iri(f"a {what}").value
        self._advance()
        found = known.get(token.text, [])
        if len(found) == 1:
            return found[0]
        if found:
            listed = ", ".join(f"<{name}>" for name in sorted(found))
            self._fail(f"{token.text} may be any of {listed}", token, "write the whole IRI")
        if "" in self._prefixes:
            return self._prefixes[""] + token.text
        close = suggest(token.text, known)
        raise error_at(
            InvalidPatternError,
            self._text,
            token.start,
            f"the ontology has no {what} {token.text}",
            hint=f"did you mean {close}?" if close else "write the whole IRI in < and >",
        )
