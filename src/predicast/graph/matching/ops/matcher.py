"""``ops``: the matcher of paper 5, section 4, with the digest's repairs.

Patterns that start at the home vertex wait in the index of meta-statements
(``meta_statement_index.py``). An event's arcs from its home vertex look there for subscriptions
that they may match; of each such a matching tree is grown and verified (``matching_tree.py``).

Time is linear in the number of subscriptions that wait at the meta-statements of the home vertex's
arcs; memory in the number of subscriptions, and for the moment of a match in the size of one tree.
The paper keeps all trees until the event is walked; since ours look arcs up by their subject, one
can be finished before the next begins.

Limits: every vertex of a pattern must be reached from the home vertex along arcs.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from predicast.graph.brute_force import BudgetSpentError
from predicast.graph.entailment import entailed_classes
from predicast.graph.event_graph import EventGraph
from predicast.graph.matching.matcher import DEFAULT_BUDGET, Found, OneByOneGraphMatcher
from predicast.graph.matching.ops.compiled import CompiledAlternative, compiled
from predicast.graph.matching.ops.matching_tree import MatchingTree, WalkedEvent
from predicast.graph.matching.ops.meta_statement_index import MetaStatementIndex
from predicast.graph.ontology import MetaStatement, Ontology
from predicast.graph.patterns import GraphPattern


@dataclass(slots=True)
class Counts:
    """The work done so far."""

    events: int = 0
    trees: int = 0
    nodes: int = 0
    verified: int = 0  # trees that passed the partial verification
    undecided: int = 0
    steps: int = 0


class OntologyMatcher(OneByOneGraphMatcher):
    """Subscriptions in an index of meta-statements, matched by growing trees."""

    name: ClassVar[str] = "ops"

    def __init__(self, ontology: Ontology, *, budget: int = DEFAULT_BUDGET) -> None:
        super().__init__(ontology, budget=budget)
        self._index = MetaStatementIndex()
        self._held: dict[int, list[CompiledAlternative]] = {}
        # Alternatives by each meta-statement at which one of their patterns waits at first.
        self._waiting: dict[MetaStatement, dict[CompiledAlternative, None]] = {}
        self._without_arcs: dict[CompiledAlternative, None] = {}  # they wait for nothing
        self._counts = Counts()

    # Changes.

    def understand(self, ontology: Ontology) -> None:
        super().understand(ontology)
        self._index.forget_statements()

    def subscribe(self, key: int, subscription: GraphPattern) -> None:
        self._hold(key, self._compiled(key, subscription))

    def unsubscribe(self, key: int) -> None:
        for alternative in self._held.pop(key):
            self._without_arcs.pop(alternative, None)
            for entry in alternative.entries():
                self._index.remove(entry)
            for entry in set(alternative.home_entries()):
                del self._waiting[entry][alternative]
                if not self._waiting[entry]:
                    del self._waiting[entry]

    def change(self, key: int, subscription: GraphPattern) -> None:
        alternatives = self._compiled(key, subscription)
        self.unsubscribe(key)
        self._hold(key, alternatives)

    def _compiled(self, key: int, pattern: GraphPattern) -> list[CompiledAlternative]:
        return [
            compiled(key, each, injective=pattern.injective, matcher=self.name)
            for each in pattern.alternatives
        ]

    def _hold(self, key: int, alternatives: list[CompiledAlternative]) -> None:
        self._held[key] = alternatives
        for alternative in alternatives:
            for entry in alternative.entries():
                self._index.add(entry)
            for entry in alternative.home_entries():
                self._waiting.setdefault(entry, {})[alternative] = None
            if not alternative.home_entries():
                self._without_arcs[alternative] = None

    # Matching.

    def find(self, event: EventGraph) -> Found:
        self._counts.events += 1
        walked = self._walked(event)
        budgets: dict[int, int] = {}
        matched: dict[int, None] = {}
        undecided: dict[int, None] = {}
        for alternative in self._candidates(walked):
            key = alternative.key
            if key in matched:
                continue
            tree = MatchingTree(alternative, walked, budgets.get(key, self.budget))
            try:
                if self._is_match(tree):
                    matched[key] = None
            except BudgetSpentError:
                undecided[key] = None
            budgets[key] = max(0, budgets.get(key, self.budget) - tree.steps)
            self._count(tree)
        left_open = [key for key in undecided if key not in matched]
        self._counts.undecided += len(left_open)
        return Found(list(matched), left_open)

    def statistics(self) -> dict[str, int]:
        return {
            "subscriptions": len(self._held),
            "alternatives": sum(map(len, self._held.values())),
            "meta_statements": len(self._index),
            **asdict(self._counts),
        }

    def _walked(self, event: EventGraph) -> WalkedEvent:
        classes = entailed_classes(event, self.ontology)
        arcs: dict[int, list[tuple[int, frozenset[MetaStatement]]]] = {}
        for subject, property, object in event.arcs:
            typed = (event.property_names[property], classes[subject], classes[object])
            met = self._index.above(typed, self.ontology)
            if met:
                arcs.setdefault(subject, []).append((object, met))
        return WalkedEvent(event, classes, arcs)

    def _candidates(self, walked: WalkedEvent) -> dict[CompiledAlternative, None]:
        """The alternatives of which some pattern meets an arc of the home vertex."""
        found = dict(self._without_arcs)
        entries = {
            entry: None
            for _, met in walked.arcs.get(walked.event.home, ())
            for entry in met
            if entry in self._waiting
        }
        for entry in entries:
            found.update(self._waiting[entry])
        return found

    def _is_match(self, tree: MatchingTree) -> bool:
        tree.grow()
        if not tree.is_checked:
            return False
        self._counts.verified += 1
        return next(tree.mappings(), None) is not None

    def _count(self, tree: MatchingTree) -> None:
        self._counts.trees += 1
        self._counts.nodes += tree.nodes
        self._counts.steps += tree.steps
