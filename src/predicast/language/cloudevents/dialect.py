"""What both dialects of CloudEvents have in common: their events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from predicast.language.cloudevents.events import documents_of, from_structured
from predicast.language.dialect import Dialect


class CloudEventsDialect(Dialect):
    """Events in JSON: one in a line, or a file of one or of a batch."""

    event_suffixes = (".cloudevents",)

    def read_event(self, document: Any) -> Mapping[str, Any]:
        return from_structured(document)

    def event_documents(self, content: str) -> Iterator[Any]:
        yield from documents_of(content)
