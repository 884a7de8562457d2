"""A batch of events that are graphs, as texts, to lists of ids.

A graph becomes many objects of Python's, so that few are read at a time. As with other events, what
leaves at a time is bounded: by the matches that there could be, and by the bytes of their ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from predicast.arrays import offsets
from predicast.errors import InvalidEventGraphError, PredicastError, shortened
from predicast.graph import EventGraph, GraphEngine
from predicast.spark.answers import Answer, Bounds, cut

if TYPE_CHECKING:
    from predicast.graph.event_graph import Validation

_EVENTS: Final = 512  # that are read at a time
_BYTES: Final = 4  # that a character may take


class AskedOfGraphs(NamedTuple):
    """How events are to be read."""

    format: str | None = None
    validate: Validation = "off"
    skips_invalid: bool = False


class GraphAnswers:
    """An engine of graphs that answers with sorted ids."""

    def __init__(self, engine: GraphEngine) -> None:
        self.engine = engine
        self.invalid = 0  # events that could not be read
        self.latest = ""  # why the last of them could not
        self._count = len(engine)

    def of(self, texts: pa.Array, asked: AskedOfGraphs, bounds: Bounds) -> Iterator[Answer]:
        """The ids that events match, for as many events at a time as the bounds allow."""
        most = max(min(_EVENTS, bounds.unasked // max(self._count, 1)), 1)
        for first in range(0, len(texts), most):
            ids = self._ids(texts.slice(first, most).to_pylist(), asked)
            for answer in _divided(ids, bounds.id_bytes):
                yield answer._replace(first=first + answer.first, end=first + answer.end)

    def reasons(self, texts: pa.Array, asked: AskedOfGraphs) -> pa.StringArray:
        """Why each text is no event; null where it is one, or there is no text."""
        found: list[str | None] = []
        for text in texts.to_pylist():
            try:
                self._read(text, asked)
                found.append(None)
            except PredicastError as error:
                found.append(error.message)
        return pa.array(found, pa.string())

    def _ids(self, texts: Sequence[str | None], asked: AskedOfGraphs) -> list[list[str]]:
        events = [self._event(text, asked) for text in texts]
        matched = iter(self.engine.match_batch([event for event in events if event is not None]))
        return [[] if event is None else next(matched) for event in events]

    def _event(self, text: str | None, asked: AskedOfGraphs) -> EventGraph | None:
        """The event, or ``None`` if there is none, or it is invalid and such are skipped."""
        try:
            return self._read(text, asked)
        except PredicastError as error:
            if not asked.skips_invalid:
                raise InvalidEventGraphError(
                    f"an event cannot be read: {error.message}; it is {shortened(text)}. "
                    "on_invalid='skip' passes over such events, dead_letters finds them"
                ) from error
            self.invalid += 1
            self.latest = error.message
            return None

    def _read(self, text: str | None, asked: AskedOfGraphs) -> EventGraph | None:
        if text is None:
            return None
        ontology = self.engine.ontology
        return EventGraph.parse(text, ontology, format=asked.format, validate=asked.validate)


def _divided(ids: list[list[str]], most: int) -> Iterator[Answer]:
    """Lists of ids as arrays, with at most so many bytes at a time."""
    sizes = offsets(np.array([_BYTES * sum(map(len, each)) for each in ids], np.int64))
    for first, end in cut(sizes, most):
        piece = ids[first:end]
        begins = offsets(np.array([len(each) for each in piece], np.int64))
        yield Answer(first, end, begins, pa.array(chain.from_iterable(piece), pa.string()))
