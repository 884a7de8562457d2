"""What brokers and their clients speak of: definitions, events, deliveries.

Definitions and events are kept and sent as they stand here, so that the same record is read by
every process and after every restart. Whatever holds text of a publisher's holds it as bytes, as
they came: it is decoded once, when it is matched, and written out again without looking at it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from predicast.language.reading import WHERE

GRAPH: Final = "sparql"  # the dialect of patterns over event graphs


class WhenFull(StrEnum):
    """What happens to a subscription whose consumer does not keep up.

    Publishers and other subscribers never feel it. Whatever is dropped is counted, and told.
    """

    DROP_OLDEST = "drop-oldest"
    DROP_NEWEST = "drop-newest"


class Webhook(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where deliveries are pushed to: requests are signed with the secret, if there is one."""

    url: str
    secret: str | None = None
    headers: dict[str, str] = {}

    def __repr__(self) -> str:
        """Without what must not be seen in a log."""
        return f"Webhook(url={self.url!r})"


# What settings may be, wherever they come from: ``broker.settings`` refuses anything else.
MaxPending: TypeAlias = Annotated[int, Meta(ge=1, le=10_000_000)]
AckWait: TypeAlias = Annotated[float, Meta(ge=0.001, le=86_400)]
MaxAttempts: TypeAlias = Annotated[int, Meta(ge=1, le=1000)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a subscription is served.

    What a ``durable`` one matches is kept until it is acknowledged; an ephemeral one ends with its
    consumer, and hears what comes while that is there.
    """

    durable: bool = True
    paused: bool = False
    max_pending: int = 100_000  # deliveries that wait, or wait for their acknowledgement
    when_full: WhenFull = WhenFull.DROP_OLDEST
    ack_wait: float = 30.0  # seconds until a delivery without acknowledgement is tried again
    max_attempts: int = 10  # of a delivery, before it is a dead letter
    sink: Webhook | None = None


DEFAULT_SETTINGS: Final = Settings()


class Definition(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A subscription as it was asked for; brokers count its changes in ``revision``, from 1."""

    id: str
    expression: str
    dialect: str = WHERE
    parameters: dict[str, Any] | None = None  # values of the model, or JSON of them
    owner: str | None = None
    settings: Settings = DEFAULT_SETTINGS
    created: float = 0.0  # seconds since 1970, by the broker's clock
    revision: int = 1


class Put(NamedTuple):
    """A new subscription; with ``replace`` it may take the place of one with its id.

    ``over`` is the revision that it was made from: if there is another one by then, it is refused.
    """

    definition: Definition
    replace: bool = False
    over: int | None = None

    @property
    def id(self) -> str:
        """The subscription's, as of every operation."""
        return self.definition.id


class Adjust(NamedTuple):
    """New values for some parameters of a subscription: the vector change."""

    id: str
    parameters: Mapping[str, Any]


class Remove(NamedTuple):
    """The end of a subscription, and of what waits for it."""

    id: str


RegistryOperation: TypeAlias = Put | Adjust | Remove


class BodyForm(StrEnum):
    """What the body of an event is."""

    JSON = (
        "application/json"  # an object of attributes, as ``language.attributes_from_json`` reads it
    )
    CLOUDEVENT = "application/cloudevents+json"
    TURTLE = "text/turtle"
    JSON_LD = "application/ld+json"


class NewEvent(NamedTuple):
    """An event that somebody publishes.

    ``attributes`` is what engines match: a mapping for flat and region events, the text of a graph.
    ``id`` and ``publisher`` name it for whoever drops repeats.
    """

    body: bytes
    attributes: Mapping[str, Any] | str
    id: str
    publisher: str
    form: BodyForm = BodyForm.JSON


class StoredEvent(msgspec.Struct, frozen=True, gc=False):
    """An event that the broker has taken.

    Positions grow by arrival within a tenant; ``at`` is when it came, in seconds since 1970.

    Many are kept at hand, and none refers to anything that could refer to it: the garbage collector
    does not look at them, which held everything up for tens of milliseconds.
    """

    position: int
    at: float
    id: str
    publisher: str
    form: BodyForm
    body: bytes


class Receipt(NamedTuple):
    """What became of a published event; a repeat was taken before, under this position."""

    position: int
    id: str
    is_repeat: bool = False


class Delivery(NamedTuple):
    """An event for a consumer, and its subscriptions that the event matches."""

    event: StoredEvent
    subscriptions: tuple[str, ...]
    attempt: int = 1


class LinkedBroker(msgspec.Struct, forbid_unknown_fields=True):
    """A linked broker: events that came from it and went to it, and that it has yet to take."""

    name: str
    role: str
    is_connected: bool
    events_in: int
    events_out: int
    waiting: int


class DeadLetter(NamedTuple):
    """A delivery that was given up, and the last thing that was said about it."""

    event: StoredEvent
    subscription: str
    attempts: int
    reason: str
    at: float
