"""SPARQL's group graph patterns: statements, UNION and FILTER between braces.

::

    group      = "{" { statements [ "." ] | FILTER constraint | union } "}"
    union      = group { UNION group }
    statements = subject properties { ";" [ properties ] }
    properties = path object { "," object }
    path       = step { "/" step }
    step       = [ "^" ] ( a | IRI )
    subject    = variable | IRI | blank node | "[" [ properties ] "]"
    object     = subject | literal

What a group says becomes alternatives: those of its unions, one of each, with all else that it
states. A filter is asked of every alternative of its own group, by the variables bound in there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Final

from predicast.errors import GraphTooLargeError, InvalidPatternError
from predicast.graph.filters import Filter, FilterExpression
from predicast.graph.language.conditions import Asked, Condition, ConditionReader
from predicast.graph.names import HOME_LABEL, TYPE
from predicast.graph.patterns import (
    HOME_VERTEX,
    MAX_ALTERNATIVES,
    Alternative,
    ClassPattern,
    PatternVertex,
    StatementPattern,
)
from predicast.graph.terms import Iri, Literal, Variable
from predicast.language.where.position import error_at
from predicast.model import And, Leaf, Not, Or
from predicast.model.expression import leaves_of

_REFUSED: Final = {
    "OPTIONAL": "leave it out: what may be missing decides nothing; or write { ... } UNION { ... }",
    "MINUS": "a pattern says what there is, not what there is not",
    "GRAPH": "an event is one graph",
    "SERVICE": "an event is matched by what is in it",
    "BIND": "write the value where it is needed",
    "VALUES": "write ?x IN (...) in a FILTER",
    "SELECT": "a query inside a query is none about an event",
}


@dataclass(slots=True)
class Group:
    """What stands between two braces, so far."""

    statements: list[StatementPattern] = field(default_factory=list)
    classes: list[ClassPattern] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    unions: list[list[Alternative]] = field(default_factory=list)

    def add(self, part: StatementPattern | ClassPattern) -> None:
        """Note one more thing that is stated."""
        if isinstance(part, StatementPattern):
            self.statements.append(part)
        else:
            self.classes.append(part)

    def combined(self) -> list[Alternative]:
        """Its alternatives, before filters."""
        return [
            Alternative.of(
                [*self.statements, *(each for part in chosen for each in part.statements)],
                [*self.classes, *(each for part in chosen for each in part.classes)],
                [each for part in chosen for each in part.filters],
            )
            for chosen in product(*self.unions)
        ]


class GroupReader(ConditionReader):
    """Reads what stands between braces."""

    _hidden = 0

    def _group(self) -> list[Alternative]:
        opening = self._expect("{", "an opening brace")
        self._deeper()
        group = Group()
        while not self._take("}"):
            if self._token.kind == "end":
                self._fail("this brace is never closed", opening)
            self._part(group)
        self._depth -= 1
        return self._alternatives(group)

    def _part(self, group: Group) -> None:
        token = self._token
        if token.kind not in {"sign", "word"}:
            self._statement_and_dot(group)
        elif self._at("{"):
            alternatives = self._group()
            while self._take_word("UNION"):
                alternatives += self._group()
            group.unions.append(alternatives)
            self._take(".")
        elif self._take_word("FILTER"):
            if self._at_word("EXISTS"):
                self._unsupported("EXISTS", "write its statements into the pattern")
            group.conditions.append(self._constraint())
            self._take(".")
        elif token.kind == "word" and token.text.upper() in _REFUSED:
            word = token.text.upper()
            self._unsupported(word, _REFUSED[word])
        else:
            self._statement_and_dot(group)

    def _statement_and_dot(self, group: Group) -> None:
        self._statements(group)
        if self._take("."):
            return
        if not self._at("}") and not self._at("{") and not self._at_keyword():
            self._fail(f"expected a dot, ; , or a closing brace, not {self._shown()}")

    def _at_keyword(self) -> bool:
        word = self._token.text.upper()
        return self._token.kind == "word" and (word == "FILTER" or word in _REFUSED)

    # Statements.

    def _statements(self, group: Group) -> None:
        was_bracket = self._at("[")
        subject = self._vertex(group, "a subject")
        if isinstance(subject, Literal):
            self._fail("nothing is stated of a literal", self._tokens[self._position - 1])
        if was_bracket and (self._at(".") or self._at("}")):
            return
        self._properties(subject, group)

    def _properties(self, subject: PatternVertex, group: Group) -> None:
        while True:
            path = self._path()
            while True:
                token = self._token
                self._state(subject, path, self._vertex(group, "an object"), group, token.start)
                if not self._take(","):
                    break
            if not self._take(";"):
                return
            while self._take(";"):
                pass
            if self._at(".") or self._at("}") or self._at("]"):
                return

    def _path(self) -> list[tuple[str, bool]]:
        """The properties of a path, each with whether it is walked backwards."""
        steps = [self._path_step()]
        while self._take("/"):
            steps.append(self._path_step())
        if self._token.kind == "sign" and self._token.text in {"*", "+", "?", "|"}:
            self._unsupported(f"the path operator {self._token.text}", "paths are p1/p2 and ^p")
        return steps

    def _path_step(self) -> tuple[str, bool]:
        token = self._token
        if self._take("^"):
            return self._path_step()[0], True
        if token.kind == "word" and token.text == "a":
            self._advance()
            return TYPE, False
        if token.kind == "variable":
            self._unsupported(f"the variable {token.text} as a property", "name the property")
        if self._at("(") or self._at("!"):
            self._unsupported(f"the path operator {token.text}", "paths are p1/p2 and ^p")
        return self._iri("a property").value, False

    def _state(
        self,
        subject: PatternVertex,
        path: list[tuple[str, bool]],
        object: PatternVertex,
        group: Group,
        start: int,
    ) -> None:
        """Note the statements of a path from one vertex to another."""
        if len(path) == 1 and path[0][0] != TYPE and not path[0][1]:
            group.statements.append(StatementPattern(subject, path[0][0], object))
            return
        ends = [self._hidden_variable() for _ in path[1:]]
        vertices = [subject, *ends, object]
        for place, (name, backwards) in enumerate(path):
            source, target = vertices[place], vertices[place + 1]
            if backwards:
                source, target = target, source
            if isinstance(source, Literal):
                self._fail("nothing is stated of a literal", self._tokens[self._position - 1])
            if name != TYPE:
                group.statements.append(StatementPattern(source, name, target))
            elif isinstance(target, Iri) and target != HOME_VERTEX:
                group.classes.append(ClassPattern(source, target.value))
            else:
                raise error_at(
                    InvalidPatternError,
                    self._text,
                    start,
                    f"the class of {source} is named by an IRI, not by {target}",
                    hint="write ?x a :Computer",
                )

    def _vertex(self, group: Group, what: str) -> PatternVertex:
        token = self._token
        if token.kind == "variable":
            self._advance()
            return self._named_variable(token.text[1:])
        if token.kind in {"iri", "name"}:
            return self._iri()
        if token.kind == "blank":
            self._advance()
            label = token.text[2:]
            return HOME_VERTEX if label == HOME_LABEL else self._named_variable(token.text)
        if self._at_literal():
            return self._literal()
        if self._at("["):
            return self._bracket(group)
        if self._at("("):
            self._unsupported("a list", "write its parts one by one")
        return self._iri(what)

    def _bracket(self, group: Group) -> Variable:
        self._expect("[", "a bracket")
        self._deeper()
        vertex = self._hidden_variable()
        if not self._at("]"):
            self._properties(vertex, group)
        self._expect("]", "a closing bracket")
        self._depth -= 1
        return vertex

    def _hidden_variable(self) -> Variable:
        self._hidden += 1
        return Variable(f"_:{self._hidden}.")  # no label in a text ends with a dot

    # Filters.

    def _alternatives(self, group: Group) -> list[Alternative]:
        count = prod(len(each) for each in group.unions)
        if count > MAX_ALTERNATIVES:
            raise GraphTooLargeError(
                f"the pattern has {count} alternatives; the limit is {MAX_ALTERNATIVES}",
                limit=MAX_ALTERNATIVES,
                actual=count,
            )
        alternatives = group.combined()
        if not group.conditions:
            return alternatives
        known = {name for each in alternatives for name in each.variables()}
        for condition in group.conditions:
            self._check_bound(condition, known)
        filtered = [_filtered(each, group.conditions) for each in alternatives]
        return [each for each in filtered if each is not None]

    def _check_bound(self, condition: Condition, known: set[Variable]) -> None:
        for asked in leaves_of(condition):
            self._check_asked(asked, known)

    def _check_asked(self, asked: Asked, known: set[Variable]) -> None:
        for name in () if asked.is_bound else asked.variables:
            if name not in known:
                raise error_at(
                    InvalidPatternError,
                    self._text,
                    asked.start,
                    f"the filter asks for {name}, which its group does not bind",
                    variable=name.name,
                )


def _filtered(alternative: Alternative, conditions: Iterable[Condition]) -> Alternative | None:
    """An alternative with the filters of its group; ``None`` if one of them can't be true."""
    bound = frozenset(alternative.variables())
    filters = list(alternative.filters)
    for condition in conditions:
        made = expression_of(condition, bound)
        if made == Or(()):
            return None
        parts = made.parts if isinstance(made, And) else (made,)
        filters.extend(Filter(part) for part in parts)
    return Alternative.of(alternative.statements, alternative.classes, filters)


def expression_of(
    condition: Condition, bound: frozenset[Variable], *, positive: bool = True
) -> FilterExpression:
    """A condition without NOT, asked where those variables are bound.

    What is unknown whatever the event is false here: without NOT, neither makes a filter true.
    """
    match condition:
        case Leaf(asked):
            is_asked = all(name in bound for name in asked.variables)
            if asked.is_bound:
                return And(()) if is_asked is positive else Or(())
            if not is_asked:
                return Or(())
            return asked.held if positive else asked.opposite
        case Not(part):
            return expression_of(part, bound, positive=not positive)
    is_and = isinstance(condition, And) is positive
    decides: FilterExpression = Or(()) if is_and else And(())
    parts: list[FilterExpression] = []
    for each in condition.parts:
        made = expression_of(each, bound, positive=positive)
        if made == decides:
            return decides
        same_sort = isinstance(made, And) if is_and else isinstance(made, Or)
        parts.extend(made.parts if same_sort and isinstance(made, And | Or) else (made,))
    if len(parts) == 1:
        return parts[0]
    return And(tuple(parts)) if is_and else Or(tuple(parts))
