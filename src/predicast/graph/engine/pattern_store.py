"""``PatternStore``: everything an engine of graphs holds; see ``predicast.engine.store_of``.

Patterns are kept as objects, by key. They have no parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from predicast.engine.entry import EntryOf
from predicast.engine.ids import Ids, Lease
from predicast.engine.statements import Statements
from predicast.engine.store_of import StoreOf
from predicast.engine.windows import Said, Window
from predicast.errors import LanguageError, PredicastError
from predicast.graph.language.statements import parse_pattern
from predicast.graph.matching import GraphMatcher, GraphView, PatternDelta
from predicast.graph.ontology import Ontology
from predicast.graph.patterns import GraphPattern
from predicast.model import Value

if TYPE_CHECKING:
    import numpy as np

    from predicast.model.operand_columns import OperandColumns


class PatternView(NamedTuple):
    """What is asked: a matcher's view, and what is needed to ask it and to name what it finds."""

    matcher: GraphView
    ids: Ids
    lease: Lease  # while it is held, ``ids`` knows the keys that the matcher may find
    ontology: Ontology


class Patterns:
    """Patterns by key."""

    def __init__(self) -> None:
        self._held: dict[int, GraphPattern] = {}

    def get(self, key: int) -> GraphPattern:
        """The pattern under a key."""
        return self._held[key]

    def put(self, key: int, stated: GraphPattern) -> None:
        """Hold a pattern under a key, known or new."""
        self._held[key] = stated

    def __contains__(self, key: int) -> bool:
        return key in self._held

    def remove(self, key: int) -> None:
        """Forget a pattern."""
        del self._held[key]

    def repair(self) -> None:
        """Nothing: nothing follows from what is held."""

    def items(self) -> list[tuple[int, GraphPattern]]:
        """All of them."""
        return [*self._held.items()]


class PatternStore(StoreOf[GraphPattern, GraphMatcher, Patterns, PatternView]):
    """Patterns with all that belongs to them, by key."""

    def __init__(self, matcher: GraphMatcher) -> None:
        super().__init__(matcher, Patterns())

    def _view(self) -> PatternView:
        ids = self.ids
        return PatternView(self.matcher.view(), ids, ids.lease, self.matcher.ontology)

    def understand(self, ontology: Ontology) -> None:
        """Read events by another ontology from now on."""
        self.matcher.understand(ontology)
        self.view = self._view()

    def entry(self, id: str, key: int) -> EntryOf[GraphPattern]:
        pattern = self.statements.get(key)
        return EntryOf(id, pattern, self.owners.get(key), self.sources.get(key))

    def window(self) -> Window:
        # What a window asks of statements is about parameters, of which there are none.
        return Window(self.ids, Statements(), self.templates)

    def read(
        self,
        id: str | None,
        expression: str | GraphPattern,
        parameters: Mapping[str, Value] | None,
        dialect: str | None = None,
        /,
    ) -> Said:
        try:
            if dialect is not None:
                raise LanguageError(
                    f"the dialect {dialect!r} is about attributes; an engine of graphs takes "
                    "SPARQL and statement patterns"
                )
            return self._read(expression, parameters)
        except PredicastError as error:
            if id is not None:
                error.add_note(f"in the subscription {id!r}")
            raise

    def _read(self, expression: str | GraphPattern, parameters: Mapping[str, Value] | None) -> Said:
        if parameters is not None:
            raise LanguageError(
                "only where text has parameters, such as :limit; a pattern has none"
            )
        if isinstance(expression, GraphPattern):
            return Said(expression, None, expression.text)
        if isinstance(expression, str):
            return Said(parse_pattern(expression, self.matcher.ontology), None, expression)
        raise LanguageError(
            'a subscription is text such as "ASK { <urn:predicast:home> ... }", or a GraphPattern, '
            f"not {type(expression).__name__}"
        )

    def _stated_delta(
        self,
        removed: list[int],
        added: list[tuple[int, GraphPattern]],
        changed: list[tuple[int, GraphPattern]],
        moved: Sequence[tuple[np.ndarray, OperandColumns]],
    ) -> PatternDelta:
        assert not moved, "patterns have no parameters"
        return PatternDelta(removed, added, changed)

    def _filled_anew(self) -> GraphMatcher:
        matcher = type(self.matcher)(self.matcher.ontology, budget=self.matcher.budget)
        matcher.apply(PatternDelta(added=self.statements.items()), self.statements.get)
        return matcher

    def restore(self, ids: Ids, arrived: int) -> None:
        """Take over ids that a file holds, with all else in place by key; the matcher is filled."""
        self.ids, self.arrived = ids, arrived
        self.matcher = self._filled_anew()
        self.view = self._view()
