"""``Wish``: something that sources want, counted by source, and what is known of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable
from typing import Any

from predicast.covering.filter import Filter
from predicast.covering.sketches import Sketch


class Wish:
    """A filter, or something opaque, and how often each source has asked for it."""

    __slots__ = ("carries", "filter", "key", "leans_on", "number", "sketch", "sources", "statement")

    def __init__(self, key: Hashable, statement: Any, of: Filter | None = None) -> None:
        self.key = key
        self.statement = statement
        self.sources: Counter[str] = Counter()
        # What follows is kept by ``predicast.covering.maxima``; nothing opaque is known there.
        self.filter = of
        self.sketch: Sketch | None = None  # made when it is needed
        self.number = -1  # in the index
        self.leans_on: tuple[Wish, ...] = ()
        # A dictionary for its order, which makes runs reproducible.
        self.carries: dict[Wish, None] = {}

    def is_wanted_for(self, listener: str) -> bool:
        """Whether somebody else has asked for it."""
        sources = self.sources
        return len(sources) > 1 or (len(sources) == 1 and listener not in sources)

    def only_source(self, among: Collection[str]) -> str | None:
        """Who alone has asked for it, if that is one of these."""
        if len(self.sources) == 1:
            (source,) = self.sources
            if source in among:
                return source
        return None

    def is_covered_for(self, listener: str) -> bool:
        """Whether something that is wanted for the listener covers it."""
        return any(each.is_wanted_for(listener) for each in self.leans_on)
