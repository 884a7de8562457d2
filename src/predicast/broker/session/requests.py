"""What a session asks its shell to do: each with the number under which it is to be answered."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from predicast.broker.backend import Start
from predicast.protocol.records import NewEvent, RegistryOperation


class PublishEvents(NamedTuple):
    """Publish; answered with the receipts."""

    request: int
    events: list[NewEvent]


class RunWindow(NamedTuple):
    """Apply the operations, all or nothing; answered with the report."""

    request: int
    window: list[RegistryOperation]


class ChangeOne(NamedTuple):
    """Change some fields of a definition; answered with what it became."""

    request: int
    id: str
    fields: dict[str, Any]


class FindDefinitions(NamedTuple):
    """Look for definitions; answered with them."""

    request: int
    id: str | None
    owner: str | None
    text: str | None
    after: str | None
    most: int


class AddIds(NamedTuple):
    """Have the consumer read these, too; answered with those of them that are durable."""

    request: int
    ids: list[str]
    start: Start | None


class RemoveIds(NamedTuple):
    """Have the consumer read these no longer."""

    request: int
    ids: list[str]


class AcknowledgeAll(NamedTuple):
    """Acknowledge positions, by subscription."""

    request: int
    positions: dict[str, list[int]]


class GiveOneBack(NamedTuple):
    """Give a delivery back."""

    request: int
    subscription: str
    position: int
    delay: float
    why: str


class ExplainOne(NamedTuple):
    """Answered with the explanation."""

    request: int
    id: str
    event: NewEvent


class TryEvents(NamedTuple):
    """A dry run; answered with the recipients."""

    request: int
    events: list[NewEvent]
    most: int


class LookAround(NamedTuple):
    """Answered with statistics and what waits."""

    request: int


Request: TypeAlias = (
    PublishEvents
    | RunWindow
    | ChangeOne
    | FindDefinitions
    | AddIds
    | RemoveIds
    | AcknowledgeAll
    | GiveOneBack
    | ExplainOne
    | TryEvents
    | LookAround
)
