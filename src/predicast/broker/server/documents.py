"""What requests and responses hold, besides subscriptions."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta

from predicast.protocol.frames import JSON
from predicast.protocol.records import DeadLetter, Delivery, Receipt, StoredEvent

Position: TypeAlias = Annotated[int, Meta(ge=1, le=(1 << 63) - 1)]
Positions: TypeAlias = Annotated[list[Position], Meta(max_length=10_000)]


class _Given(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a client sends: a field that nobody would look at is refused."""


class _Told(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a client is sent."""


class Taken(_Told, frozen=True):
    """What became of a published event; a repeat was taken before, under this position."""

    position: int
    id: str
    is_repeat: bool = False

    @classmethod
    def of(cls, receipt: Receipt) -> Taken:
        """What is said of a receipt."""
        return cls(position=receipt.position, id=receipt.id, is_repeat=receipt.is_repeat)


class Published(_Told, frozen=True):
    """What became of the events of a request, in their order."""

    events: list[Taken]


class TriedRecipient(_Told, frozen=True):
    """A subscription that an event would go to, and why."""

    id: str
    durable: bool
    explanation: dict[str, Any]
    text: str


class TriedEvent(_Told, frozen=True):
    """Who an event would go to: how many, and the first of them by id.

    Those that are ``near`` would have it, had one test come out otherwise.
    """

    total: int
    recipients: list[TriedRecipient]
    near: list[TriedRecipient] = []


class Tried(_Told, frozen=True):
    """Who the events of a dry run would go to, in their order."""

    events: list[TriedEvent]


class KeptEvent(_Told, frozen=True):
    """An event that the broker has: its body stands as it came, a graph in Turtle as a string."""

    position: int
    at: float
    id: str
    publisher: str
    form: str
    body: Any
    recipients: dict[str, str] | None = None
    attempt: int = 0

    @classmethod
    def of(cls, event: StoredEvent, **more: Any) -> KeptEvent:
        """What is said of an event that is kept."""
        body = JSON.packed(event.body, event.form)
        form = event.form.value
        return cls(
            position=event.position,
            at=event.at,
            id=event.id,
            publisher=event.publisher,
            form=form,
            body=body,
            **more,
        )

    @classmethod
    def delivered(cls, delivery: Delivery) -> KeptEvent:
        """What is said of one that is delivered."""
        return cls.of(delivery.event, attempt=delivery.attempt)


class KeptEvents(_Told, frozen=True):
    """Events by position; ``next`` is where to go on after them."""

    events: list[KeptEvent]
    next: int | None = None


class Pull(_Given, frozen=True):
    """How many deliveries are wanted, and how many seconds may be waited for the first."""

    most: Annotated[int, Meta(ge=1, le=10_000)] = 100
    wait: Annotated[float, Meta(ge=0, le=60)] = 0.0


class Pulled(_Told, frozen=True):
    """Deliveries, to be acknowledged by their positions; ``dropped`` were too many to wait."""

    deliveries: list[KeptEvent]
    dropped: int = 0


class Acknowledge(_Given, frozen=True):
    """Positions that need not come again: these, and all up to one."""

    positions: Positions = []
    up_to: Position | None = None


class Replay(_Given, frozen=True):
    """Where to begin anew: after a position, or with what came at a time or later."""

    after: Annotated[int, Meta(ge=0, le=(1 << 63) - 1)] | None = None
    since: float | str | None = None


class Retry(_Given, frozen=True):
    """Dead letters to deliver once more."""

    positions: Positions


class Retried(_Told, frozen=True):
    """How many dead letters are delivered once more."""

    retried: int


class DeadLetterDocument(_Told, frozen=True):
    """A delivery that was given up."""

    subscription: str
    attempts: int
    reason: str
    at: float
    event: KeptEvent

    @classmethod
    def of(cls, letter: DeadLetter) -> DeadLetterDocument:
        """What is said of a dead letter."""
        return cls(
            subscription=letter.subscription,
            attempts=letter.attempts,
            reason=letter.reason,
            at=letter.at,
            event=KeptEvent.of(letter.event),
        )


class DeadLetters(_Told, frozen=True):
    """Deliveries that were given up, the latest first."""

    dead_letters: list[DeadLetterDocument]


class Explain(_Given, frozen=True):
    """A subscription and an event, in JSON or as text, of which the broker is to say why."""

    subscription: str
    event: msgspec.Raw
    form: str = "application/json"


class Explained(_Told, frozen=True):
    """Why the subscription matches the event, or why not."""

    id: str
    matched: bool | None
    explanation: dict[str, Any]
    text: str


class Health(_Told, frozen=True):
    """How the broker does."""

    status: str
