"""Where statement patterns wait: by the meta-statement that each of them asks for (paper 5, 4.1).

The paper fills an array with every extended meta-statement (EMS) that the hierarchies imply, which
is classes² × properties, and links each with its ancestors. Here an entry is made when a pattern
comes that asks for it, and what stands above a statement of an event is worked out when the first
such statement is seen. A vertex has a *set* of classes, so a statement is looked up once, by its
property and the two sets, instead of once for every combination of types.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from predicast.bounded_cache import BoundedCache
from predicast.graph.ontology import MetaStatement, Ontology

# A statement of an event: its property, and all classes of subject and object.
TypedStatement: TypeAlias = tuple[str, frozenset[str], frozenset[str]]
_MAX_BYTES: Final = 8 << 20  # of what stands above statements that were seen
_NAME_BYTES: Final = 100  # of a class in a set, with its share of the set


class MetaStatementIndex:
    """Meta-statements that patterns ask for, and which of them a statement meets."""

    def __init__(self) -> None:
        self._waiting: dict[MetaStatement, int] = {}  # how many patterns ask for each
        self._by_property: dict[str, dict[MetaStatement, None]] = {}
        self._above: BoundedCache[TypedStatement, frozenset[MetaStatement]] = BoundedCache(
            _MAX_BYTES,
            lambda typed, above: _NAME_BYTES * (len(typed[1]) + len(typed[2]) + len(above)),
        )

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, entry: MetaStatement) -> None:
        """Note that one more pattern asks for this."""
        if entry not in self._waiting:
            self._by_property.setdefault(entry.property, {})[entry] = None
            self._above.clear()
        self._waiting[entry] = self._waiting.get(entry, 0) + 1

    def remove(self, entry: MetaStatement) -> None:
        """Note that one pattern fewer asks for it; an entry without any is gone."""
        self._waiting[entry] -= 1
        if not self._waiting[entry]:
            del self._waiting[entry]
            del self._by_property[entry.property][entry]
            if not self._by_property[entry.property]:
                del self._by_property[entry.property]
            self._above.clear()

    def forget_statements(self) -> None:
        """Work out anew what stands above statements: the ontology is another."""
        self._above.clear()

    def above(self, typed: TypedStatement, ontology: Ontology) -> frozenset[MetaStatement]:
        """The entries that a statement meets: its own, and the ancestors of that."""
        try:
            return self._above[typed]
        except KeyError:
            pass
        name, subject, object = typed
        found = [
            entry
            for each in ontology.superproperties(name)
            for entry in self._by_property.get(each, ())
            if entry.subject_class in subject and entry.object_class in object
        ]
        return self._above.put(typed, frozenset(found))
