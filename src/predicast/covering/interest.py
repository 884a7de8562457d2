"""``Interest``: what several sources want, and the least that each listener has to be told of it.

A broker's sources are its neighbours, and so are its listeners: each is told what the *others*
want, less what is covered by something else that it is told. One covering graph
(``predicast.covering.graph``) serves all listeners; who asked for a filter is counted by source::

        a: 1, b: 2   price < 20         told to a and to b (the other one wants it), and to c
                        |
        c: 1         price < 10         told to nobody: price < 20 covers it

A filter is *wanted for* a listener if a source other than itself asks for it. It is told what is
wanted for it and lies below nothing that is. So when a filter comes, goes, or is wanted for a
listener no more, what may change for that listener is the filter itself and the nearest wanted ones
below it; nothing else is looked at. What was covered is told again when that which covered it goes.

What a source wants *itself* is widened first, by the slack, and is then of several parts, each a
filter by itself (``predicast.covering.widening``). What it passes on was widened where it came
from, and would grow from hop to hop if it were again. What is no subscription to flat events is
*opaque*: told as it is, once for all that are equal.

Cost: a source's statement costs a filter, and its place in the graph if it is a new one. Taking
what a listener has to be told costs the wishes that were touched, each with the wanted ones above
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, NamedTuple

from predicast.covering.filter import Filter, filter_of
from predicast.covering.graph import CoveringGraph, Node
from predicast.covering.widening import parts
from predicast.model import Absent, Subscription


class Wish:
    """A filter, or something opaque, and how often each source has asked for it."""

    __slots__ = ("key", "node", "sources", "statement")

    def __init__(self, key: Hashable, statement: Any, node: Node | None) -> None:
        self.key = key
        self.statement = statement
        self.node = node
        self.sources: Counter[str] = Counter()

    def is_wanted_for(self, listener: str) -> bool:
        """Whether somebody else has asked for it."""
        sources = self.sources
        return len(sources) > 1 or (len(sources) == 1 and listener not in sources)


class News(NamedTuple):
    """What a listener is to hear from now on, and what no more."""

    gone: list[Wish]
    new: list[Wish]


class Interest:
    """What sources want, by keys of their own."""

    def __init__(self, *, absent: Absent = "fails", slack: float = 0.0, covering: bool = True):
        self._absent: Absent = absent
        self._slack = slack
        self._covering = covering
        self._graph = CoveringGraph()
        self._wish_of_node: dict[Node, Wish] = {}
        self._opaque: dict[Hashable, Wish] = {}
        self._asked: dict[str, dict[str, tuple[Wish, ...]]] = {}  # none: it can match nothing
        self._told: dict[str, dict[Wish, None]] = {}
        self._touched: dict[str, dict[Wish, None]] = {}  # by listener, if there is any

    def __len__(self) -> int:
        """How many filters there are."""
        return len(self._wish_of_node) + len(self._opaque)

    def ask(self, source: str, key: str, statement: Any, *, passed_on: bool = False) -> None:
        """A source wants this under that key, whatever it wanted under it before.

        What it has ``passed_on`` for others is not widened.
        """
        self.ask_all(source, {key: statement}, passed_on=passed_on)

    def ask_all(
        self, source: str, statements: Mapping[str, Any], *, passed_on: bool = False
    ) -> None:
        """The same for several keys; new filters find their places in the graph together."""
        asked = self._asked.setdefault(source, {})
        given_up: list[Wish] = []
        for key, wishes in self._wishes(source, statements, 0.0 if passed_on else self._slack):
            before = asked.get(key, ())
            asked[key] = wishes
            if wishes != before:
                for wish in wishes:
                    self._add(wish, source)
                given_up += before
        for wish in given_up:  # last, so that what stays is not gone in between
            self._take_off(wish, source)

    def drop(self, source: str, key: str) -> None:
        """A source wants nothing under that key any more."""
        for wish in self._asked[source].pop(key):
            self._take_off(wish, source)

    def drop_all(self, source: str) -> None:
        """A source wants nothing any more."""
        for wishes in self._asked.pop(source, {}).values():
            for wish in wishes:
                self._take_off(wish, source)

    def listen(self, listener: str) -> None:
        """From now on this listener is told, beginning with everything."""
        self._told[listener] = {}
        touched = dict.fromkeys(self._opaque.values())
        for node in list(self._graph.entries):
            wish = self._wish_of_node[node]
            touched.update(self._nearest_wanted(wish, listener))
            touched[wish] = None
        self._touched.pop(listener, None)
        if touched:
            self._touched[listener] = touched

    def ignore(self, listener: str) -> None:
        """This listener is told nothing any more."""
        self._told.pop(listener, None)
        self._touched.pop(listener, None)

    def told(self, listener: str) -> list[Wish]:
        """All that a listener was told and still holds."""
        return list(self._told[listener])

    def take(self, listener: str) -> News:
        """What has changed for a listener since it was last told."""
        touched, told = self._touched.pop(listener, {}), self._told[listener]
        news = News([], [])
        for wish in touched:
            is_due = wish.is_wanted_for(listener) and not self._is_below(wish, listener)
            if is_due and wish not in told:
                told[wish] = None
                news.new.append(wish)
            elif not is_due and wish in told:
                del told[wish]
                news.gone.append(wish)
        return news

    def has_news(self, listener: str) -> bool:
        """Whether there may be something to take."""
        return listener in self._touched

    def with_news(self) -> list[str]:
        """The listeners for whom there may be something to take."""
        return list(self._touched)

    def _wishes(
        self, source: str, statements: Mapping[str, Any], slack: float
    ) -> list[tuple[str, tuple[Wish, ...]]]:
        """The wishes for each statement, each once; a new one is nobody's yet."""
        found: list[tuple[str, tuple[Wish, ...]]] = []
        wanted: list[tuple[str, list[Filter]]] = []
        new: dict[Filter, Subscription] = {}
        for key, statement in statements.items():
            if not isinstance(statement, Subscription):
                found.append((key, (self._opaque_wish(statement, statement),)))
            elif not self._covering:
                found.append((key, (self._opaque_wish((source, key, statement), statement),)))
            else:
                wanted.append((key, self._filters(statement, slack, new)))
        for node in self._graph.insert_all(list(new.items())):
            self._wish_of_node[node] = Wish(node.filter, node.subscription, node)
        nodes, wish_of = self._graph.nodes, self._wish_of_node
        found += (
            (key, tuple(dict.fromkeys(wish_of[nodes[each]] for each in filters)))
            for key, filters in wanted
        )
        return found

    def _filters(
        self, statement: Subscription, slack: float, new: dict[Filter, Subscription]
    ) -> list[Filter]:
        """The filters of a statement; those that have no node yet are noted among the new ones."""
        filters: list[Filter] = []
        for part in parts(statement, slack, self._absent):
            wanted = filter_of(part, self._absent)
            if not wanted.is_never():
                filters.append(wanted)
                if wanted not in self._graph.nodes:
                    new.setdefault(wanted, part)
        return filters

    def _opaque_wish(self, key: Hashable, statement: Any) -> Wish:
        wish = self._opaque.get(key)
        if wish is None:
            wish = self._opaque[key] = Wish(key, statement, None)
        return wish

    def _add(self, wish: Wish, source: str) -> None:
        before = [each for each in self._told if wish.is_wanted_for(each)]
        wish.sources[source] += 1
        self._touch(wish, [each for each in self._told if wish.is_wanted_for(each)], before)

    def _take_off(self, wish: Wish, source: str) -> None:
        before = [each for each in self._told if wish.is_wanted_for(each)]
        wish.sources[source] -= 1
        if not wish.sources[source]:
            del wish.sources[source]
        self._touch(wish, before, [each for each in self._told if wish.is_wanted_for(each)])
        if wish.sources:
            return
        if wish.node is None:
            del self._opaque[wish.key]
        else:
            del self._wish_of_node[wish.node]
            self._graph.remove(wish.node)

    def _touch(self, wish: Wish, listeners: list[str], but_for: list[str]) -> None:
        """Note what may change for these listeners, now that it is wanted for them or no more."""
        for listener in listeners:
            if listener not in but_for:
                touched = self._touched.setdefault(listener, {})
                touched[wish] = None
                touched.update(self._nearest_wanted(wish, listener))

    def _nearest_wanted(self, wish: Wish, listener: str) -> dict[Wish, None]:
        """The wishes below that are wanted for a listener, with none in between."""
        found: dict[Wish, None] = {}
        if wish.node is None:
            return found
        seen: set[Node] = set()
        left = list(wish.node.successors)
        while left:
            node = left.pop()
            if node in seen:
                continue
            seen.add(node)
            below = self._wish_of_node[node]
            if below.is_wanted_for(listener):
                found[below] = None
            else:
                left.extend(node.successors)
        return found

    def _is_below(self, wish: Wish, listener: str) -> bool:
        """Whether something above it is wanted for the listener."""
        if wish.node is None:
            return False
        return any(above.is_wanted_for(listener) for above in self._above(wish.node))

    def _above(self, node: Node) -> Iterator[Wish]:
        seen: set[Node] = set()
        left = list(node.precursors)
        while left:
            each = left.pop()
            if each not in seen:
                seen.add(each)
                yield self._wish_of_node[each]
                left.extend(each.precursors)
