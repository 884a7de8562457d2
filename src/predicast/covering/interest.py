"""``Interest``: what several sources want, and the least that each listener has to be told of it.

A broker's sources are its neighbours, and so are its listeners: each is told what the *others*
want, less what is covered by something else that it is told. Who asked for a filter is counted by
source, and one structure serves all listeners (``predicast.covering.maxima``)::

        a: 1, b: 2   price < 20         told to a and to b (the other one wants it), and to c
                        |
        c: 1         price < 10         told to nobody: price < 20 covers it

A filter is *wanted for* a listener if a source other than itself asks for it. It is told what is
wanted for it and covered by nothing that is. What was covered is told again when that which covered
it goes. What a change comes to is worked out when a listener takes its news, for all changes since
the last time at once.

What a source wants *itself* is widened first, by the slack, and is then of several parts, each a
filter by itself (``predicast.covering.widening``). What it passes on was widened where it came
from, and would grow from hop to hop if it were again. What is no subscription to flat events is
*opaque*: told as it is, once for all that are equal.

Cost: a source's statement costs a filter and, if that is new or wanted for more listeners or fewer,
its place among the maxima.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

from predicast.covering.filter import Filter, filter_of
from predicast.covering.maxima import Maxima
from predicast.covering.widening import parts
from predicast.covering.wish import Wish
from predicast.model import Absent, Subscription


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
        self._wishes: dict[Hashable, Wish] = {}  # by filter, or as what is opaque
        self._asked: dict[str, dict[str, tuple[Wish, ...]]] = {}  # none: it can match nothing
        self._told: dict[str, dict[Wish, None]] = {}
        self._maxima = Maxima(self._told.keys())
        self._touched: dict[str, dict[Wish, None]] = {}  # by listener, if there is any

    def __len__(self) -> int:
        """How many filters there are."""
        return len(self._wishes)

    def ask(self, source: str, key: str, statement: Any, *, passed_on: bool = False) -> None:
        """A source wants this under that key, whatever it wanted under it before.

        What it has ``passed_on`` for others is not widened.
        """
        self.ask_all(source, {key: statement}, passed_on=passed_on)

    def ask_all(
        self, source: str, statements: Mapping[str, Any], *, passed_on: bool = False
    ) -> None:
        """The same for several keys."""
        asked = self._asked.setdefault(source, {})
        given_up: list[Wish] = []
        slack = 0.0 if passed_on else self._slack
        for key, statement in statements.items():
            wishes = self._wishes_for(source, key, statement, slack)
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
        self._maxima.listened()
        for wishes in self._asked.get(listener, {}).values():
            for wish in wishes:
                if wish.filter is not None and len(wish.sources) == 1:
                    self._maxima.narrowed(wish)  # it is not wanted for this one
        self._touched.pop(listener, None)
        if self._wishes:
            self._touched[listener] = dict.fromkeys(self._wishes.values())

    def ignore(self, listener: str) -> None:
        """This listener is told nothing any more."""
        self._told.pop(listener, None)
        self._touched.pop(listener, None)

    def told(self, listener: str) -> list[Wish]:
        """All that a listener was told and still holds."""
        return list(self._told[listener])

    def take(self, listener: str) -> News:
        """What has changed for a listener since it was last told."""
        if listener in self._touched:
            self._settle()
        touched, told = self._touched.pop(listener, {}), self._told[listener]
        news = News([], [])
        for wish in touched:
            is_due = wish.is_wanted_for(listener) and not wish.is_covered_for(listener)
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

    def _wishes_for(self, source: str, key: str, statement: Any, slack: float) -> tuple[Wish, ...]:
        """The wishes for a statement, each once; a new one is nobody's yet."""
        if not isinstance(statement, Subscription):
            return (self._wish(statement, statement),)
        if not self._covering:
            return (self._wish((source, key, statement), statement),)
        found: dict[Wish, None] = {}
        for part in parts(statement, slack, self._absent):
            wanted = filter_of(part, self._absent)
            if not wanted.is_never():
                found[self._wish(wanted, part, wanted)] = None
        return tuple(found)

    def _wish(self, key: Hashable, statement: Any, of: Filter | None = None) -> Wish:
        wish = self._wishes.get(key)
        if wish is None:
            wish = self._wishes[key] = Wish(key, statement, of)
        return wish

    def _add(self, wish: Wish, source: str) -> None:
        sources = wish.sources
        if source in sources:
            sources[source] += 1
            return
        is_new, new_to = not sources, self._for_whom_it_counts(wish, source)
        sources[source] = 1
        self._touch(wish, new_to)
        if wish.filter is not None and (is_new or new_to):
            self._maxima.widened(wish)

    def _take_off(self, wish: Wish, source: str) -> None:
        sources = wish.sources
        sources[source] -= 1
        if sources[source]:
            return
        del sources[source]
        lost_to = self._for_whom_it_counts(wish, source)
        self._touch(wish, lost_to)
        if not sources:
            del self._wishes[wish.key]
        if wish.filter is None:
            return
        if not sources:
            self._maxima.removed(wish)
        elif lost_to:
            self._maxima.narrowed(wish)

    def _for_whom_it_counts(self, wish: Wish, source: str) -> list[str]:
        """The listeners for whom a wish is wanted if that source asks for it, and else is not."""
        sources = wish.sources
        if not sources:
            return [each for each in self._told if each != source]
        return [] if (only := wish.only_source(self._told)) is None else [only]

    def _touch(self, wish: Wish, listeners: Iterable[str]) -> None:
        for listener in listeners:
            self._touched.setdefault(listener, {})[wish] = None

    def _settle(self) -> None:
        """Note what may change for listeners because of what has come and gone above it.

        It changes nothing for those for whom no wish has become wanted, or is wanted no more.
        """
        changed = self._maxima.settle()
        for touched in self._touched.values():
            touched.update(changed)
