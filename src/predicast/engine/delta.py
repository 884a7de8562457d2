"""``StoreDelta``: everything that one change does to what an engine holds, worked out beforehand.

What subscriptions state is a delta of its own (``DeltaOf``), the part that a matcher sees. The
whole is absolute: it says what holds afterwards (this id has this key, this key states that), not
what to do to what was there. So carrying it out twice is the same as carrying it out once, and one
that was interrupted half-way, by Ctrl-C or for want of memory, is simply carried out again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from predicast.engine.changes import Touched
from predicast.matching.delta import DeltaOf

if TYPE_CHECKING:
    from predicast.engine.templates import Template
    from predicast.engine.windows import State
    from predicast.model.vocabulary import Vocabulary


class Arrivals(NamedTuple):
    """Many new subscriptions, less what they state."""

    ids: list[str]
    keys: list[int]
    owners: Mapping[int, str | None]  # by key
    templates: Mapping[int, Template | None]  # by key
    sources: Mapping[int, str | None]  # by key
    dialects: Mapping[int, str]  # by key, of texts that are not of the engine's own


class StoreDelta(NamedTuple):
    """What holds after a change, for what it concerns."""

    arrived: int  # subscriptions ever added
    stated: DeltaOf[Any, Any]  # by key
    states: Mapping[str, State] = MappingProxyType({})  # what came one by one, with keys, by id
    arrivals: Arrivals | None = None  # what came in bulk
    touched: Sequence[Touched] = ()  # what those are told who follow the changes
    vocabulary: Vocabulary | None = None  # that of another ontology
