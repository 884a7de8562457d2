"""What subscriptions of a dialect say of themselves, beside the ids of those that match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from predicast import Engine
from predicast.bounded_cache import BoundedCache

if TYPE_CHECKING:
    from predicast.graph import GraphEngine

_MAX_BYTES: Final = 16 << 20  # of what is remembered
_TITLE: Final = "title"
_AUTHOR: Final = "author"


class About:
    """Asks an engine; true if some of its subscriptions are of a dialect."""

    def __init__(self, engine: Engine | GraphEngine) -> None:
        self._engine = engine if isinstance(engine, Engine) and engine.dialects() else None
        self._known: BoundedCache[str, Mapping[str, Any]] = BoundedCache(
            _MAX_BYTES, lambda name, about: len(name) + len(repr(about))
        )

    def __bool__(self) -> bool:
        return self._engine is not None

    def of(self, id: str) -> Mapping[str, Any]:
        """What a subscription says."""
        if self._engine is None:
            return {}
        try:
            return self._known[id]
        except KeyError:
            return self._known.put(id, self._engine.get(id).about)

    def document(self, ids: Sequence[str]) -> dict[str, Any]:
        """What those of these ids say that say anything."""
        found = {id: about for id in ids if (about := self.of(id))}
        return {"about": found} if found else {}

    def titled(self, id: str) -> str:
        """The id, with the title if there is one, and the author, who may have to be named."""
        about = self.of(id)
        title, author = about.get(_TITLE), about.get(_AUTHOR)
        by = [f"by {author}"] if isinstance(author, str) else []
        said = ", ".join([title, *by] if isinstance(title, str) else by)
        return f"{id} ({said})" if said else id
