"""``Conditions``: which filters each vertex passes, asked of the matcher of flat events.

A filter on one variable is an expression over facets of a term (``filters.py``), in the model's own
constraints. So the vertex that a link leads to is a flat event, with a facet of the term as an
attribute of each such link, and the filters are subscriptions to it. Ten thousand prices in ten
thousand filters are looked up, not compared one by one.

Conditions are counted, and forgotten when no plan asks them any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from predicast.graph.filters import Bound, Comparison, Facet, FilterExpression
from predicast.matching import DEFAULT, make_matcher
from predicast.matching.batches import EventBatch
from predicast.matching.matcher import Pairs, View
from predicast.model import And, Constraint, Event, Expression, Leaf, Or, Value, subscription_of
from predicast.model.expression import leaves_of

_NONE: Final = frozenset[Facet]()


class Condition(NamedTuple):
    """A filter on whatever a link leads to."""

    link: int
    expression: FilterExpression

    def facets(self) -> Iterator[Facet]:
        """The facets that it looks at, perhaps repeatedly."""
        for test in leaves_of(self.expression):
            assert not isinstance(test, Comparison), "a condition is about one variable"
            yield test.facet

    def as_expression(self) -> Expression:
        """The same as a subscription to flat events has it."""
        return _expressed(self.expression, self.link)


class AskedConditions(NamedTuple):
    """The conditions of one moment."""

    view: View
    facets: dict[int, frozenset[Facet]]  # by link

    def passed(self, vertices: Sequence[tuple[Bound, Iterable[int]]]) -> Pairs:
        """The kinds that vertices have by their conditions, given the links that lead to each.

        As pairs: the vertex at a position has a kind.
        """
        events = [Event(dict(self._attributes(bound, links))) for bound, links in vertices]
        return self.view.match_columns(EventBatch.from_events(events))

    def _attributes(self, bound: Bound, links: Iterable[int]) -> Iterator[tuple[str, Value]]:
        for link in links:
            for facet in self.facets.get(link, _NONE):
                value = bound.facet(facet)
                if value is not None:
                    yield _attribute(facet, link), value


class Conditions:
    """Conditions by kind."""

    def __init__(self) -> None:
        self.kinds: dict[Condition, int] = {}
        self._asking: dict[Condition, int] = {}  # how many plans do
        self._matcher = make_matcher(DEFAULT)
        self._facets: dict[int, dict[Facet, int]] = {}  # by link: how many tests look at each

    def __len__(self) -> int:
        return len(self._asking)

    def hold(self, conditions: Iterable[Condition]) -> None:
        """One more plan asks some conditions."""
        for each in conditions:
            known = self._asking.get(each, 0)
            self._asking[each] = known + 1
            if known:
                continue
            self._matcher.subscribe(self.kinds[each], subscription_of(each.as_expression()))
            looks = self._facets.setdefault(each.link, {})
            for facet in each.facets():
                looks[facet] = looks.get(facet, 0) + 1

    def drop(self, conditions: Iterable[Condition]) -> None:
        """One plan asks them no more."""
        for each in conditions:
            self._asking[each] -= 1
            if self._asking[each]:
                continue
            del self._asking[each]
            self._matcher.unsubscribe(self.kinds.pop(each))
            looks = self._facets[each.link]
            for facet in each.facets():
                looks[facet] -= 1
                if not looks[facet]:
                    del looks[facet]

    def asked(self) -> AskedConditions | None:
        """Those that are asked now, if there are any."""
        if not self._asking:
            return None
        facets = {link: frozenset(looks) for link, looks in self._facets.items() if looks}
        return AskedConditions(self._matcher.view(), facets)

    def warm_up(self) -> None:
        """Come back when asking is at full speed."""
        self._matcher.warm_up()

    def settle(self) -> None:
        """Do at once what would otherwise be done later."""
        self._matcher.settle()


def _expressed(node: FilterExpression, link: int) -> Expression:
    if isinstance(node, Leaf):
        test = node.constraint
        assert not isinstance(test, Comparison), "a condition is about one variable"
        said = test.constraint
        return Leaf(Constraint(_attribute(test.facet, link), said.operator, said.operand))
    assert isinstance(node, And | Or), "negation is worked out when a filter is made"
    parts = tuple([_expressed(part, link) for part in node.parts])
    return And(parts) if isinstance(node, And) else Or(parts)


def _attribute(facet: Facet, link: int) -> str:
    return f"{facet.value}{link}"
