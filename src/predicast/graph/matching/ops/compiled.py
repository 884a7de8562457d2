"""Alternatives of patterns as the matching tree wants them: statements by their subject."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from predicast.errors import UnsupportedByMatcherError
from predicast.graph.filters import Filter
from predicast.graph.names import RESOURCE
from predicast.graph.ontology import MetaStatement
from predicast.graph.patterns import (
    HOME_VERTEX,
    Alternative,
    PatternVertex,
    StatementPattern,
)
from predicast.graph.terms import Variable


@dataclass(frozen=True, slots=True)
class WaitingPattern:
    """A statement pattern, and the meta-statement at which it waits."""

    statement: StatementPattern
    entry: MetaStatement


@dataclass(frozen=True, slots=True, eq=False)
class CompiledAlternative:
    """One alternative of a subscription."""

    key: int
    injective: bool
    by_subject: dict[PatternVertex, tuple[WaitingPattern, ...]]
    classes: dict[PatternVertex, frozenset[str]]
    filters: dict[PatternVertex, tuple[Filter, ...]]  # on one variable each
    joint_filters: tuple[Filter, ...] = field(default=())  # on several, or none

    def starting_at(self, vertex: PatternVertex) -> tuple[WaitingPattern, ...]:
        """The patterns whose subject is the vertex."""
        return self.by_subject.get(vertex, ())

    def home_entries(self) -> list[MetaStatement]:
        """Where its patterns wait before any event."""
        return [each.entry for each in self.starting_at(HOME_VERTEX)]

    def entries(self) -> Iterator[MetaStatement]:
        """Where each of its patterns waits, now or once it is released."""
        return (each.entry for patterns in self.by_subject.values() for each in patterns)


def compiled(
    key: int, alternative: Alternative, *, injective: bool, matcher: str
) -> CompiledAlternative:
    """An alternative in parts, or an error if the tree cannot grow to all of it."""
    reached = alternative.reached(along=True)
    for vertex in alternative.vertices():
        if vertex not in reached:
            raise UnsupportedByMatcherError(
                f"the matcher {matcher!r} walks along arcs from the home vertex, and never comes "
                f"to {vertex}; the default matcher does",
                matcher=matcher,
                constraint=str(vertex),
            )
    classes: dict[PatternVertex, set[str]] = {}
    for each in alternative.classes:
        classes.setdefault(each.vertex, set()).add(each.name)
    by_subject: dict[PatternVertex, list[WaitingPattern]] = {}
    for statement in alternative.statements:
        ends = [min(classes.get(end, {RESOURCE})) for end in (statement.subject, statement.object)]
        entry = MetaStatement(ends[0], statement.property, ends[1])
        by_subject.setdefault(statement.subject, []).append(WaitingPattern(statement, entry))
    filters: dict[PatternVertex, list[Filter]] = {}
    joint: list[Filter] = []
    for condition in alternative.filters:
        variables: tuple[Variable, ...] = condition.variables
        if len(variables) == 1:
            filters.setdefault(variables[0], []).append(condition)
        else:
            joint.append(condition)
    return CompiledAlternative(
        key,
        injective,
        {vertex: tuple(each) for vertex, each in by_subject.items()},
        {vertex: frozenset(each) for vertex, each in classes.items()},
        {vertex: tuple(each) for vertex, each in filters.items()},
        tuple(joint),
    )
