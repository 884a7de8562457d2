"""The messages that brokers and hosts send each other, and what is in them.

Two neighbours keep a *stream* in each direction: messages that are numbered, acknowledged, sent
again until they are, and taken in order. A stream is named by its *epoch*, which only grows; its
messages are numbered from 1. ``Announce``, ``Events`` and ``Bye`` belong to a stream. The others
stand for themselves: whoever loses one is told the same again by the next.

::

    greeting     Hello          who is there, what it has heard, where its subscriptions are whole
    in a stream  Announce       a window of Subscribe, Change and Unsubscribe
                 Events         one or several events; to a host, with the subscriptions they match
                 Bye            nothing more will come: once you have no more either, forget me
    by itself    Acknowledge    how far your stream has been taken, and how far it is in force
                 KeepAlive      the same, because nothing else was to be said for a while
                 Refuse         what was wrong with a message; nothing has changed by it

All are frozen: a message that was handed over may be sent again, to several neighbours, or kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeAlias

from predicast.engine import Operation
from predicast.errors import MalformedMessageError, shortened

MAX_NAME: Final = 255  # characters of the name of a broker, host or publisher
MOST: Final = 1 << 63  # numbers are below it


class PeerKind(StrEnum):
    """What a neighbour is: another broker, or a host with subscribers and publishers of its own."""

    BROKER = "broker"
    HOST = "host"


@dataclass(frozen=True, slots=True)
class Published:
    """An event under the name that it keeps on its way: its publisher, and the publisher's count.

    The sequence grows from event to event over the publisher's whole life, also where it was
    started anew. ``at`` is when it was published, in microseconds since 1970, and is what
    subscriptions mean by ``now()``, at every broker the same. ``event`` is a ``model.Event``, or
    what else the router's engine matches: of graphs it is their text that travels. ``encoded`` is
    what a codec made of it, once for all neighbours. ``envelope``, a JSON value, goes with the
    event to whoever gets it; no broker on the way looks into it.
    """

    publisher: str
    sequence: int
    event: Any
    at: int = 0
    encoded: bytes | None = field(default=None, compare=False, repr=False)
    envelope: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        # Here and not by every broker on the way.
        if type(self.publisher) is not str or not 0 < len(self.publisher) <= MAX_NAME:
            raise malformed("publisher", self.publisher, "a text of 1 to 255 characters")
        if type(self.sequence) is not int or not 0 <= self.sequence < MOST:
            raise malformed("sequence", self.sequence, "a whole number from 0, below 2**63")
        if type(self.at) is not int or not -MOST < self.at < MOST:
            raise malformed("at", self.at, "microseconds, a whole number")


@dataclass(frozen=True, slots=True)
class Hello:
    """The first word of each side, repeated until the other's shows that it was heard.

    ``epoch`` names the stream that the sender sends. ``heard_epoch`` and ``received`` say which
    stream of the other it knows and how far; 0 if none. At ``whole_at`` in the sender's stream all
    its subscriptions have been announced, and what was known of it before and not announced again
    is gone; 0 leaves what was known as it is. ``level`` is the broker's distance from the core. A
    neighbour that is ``durable`` is kept events for while it cannot be reached. ``leaving`` asks
    those below to find another parent, and a former parent for what it has kept and nothing more.
    A hello is answered, unless it is an ``answer``.
    """

    sender: str
    kind: PeerKind
    epoch: int
    heard_epoch: int = 0
    received: int = 0
    whole_at: int = 0
    level: int = 0
    durable: bool = False
    leaving: bool = False
    answer: bool = False


@dataclass(frozen=True, slots=True)
class Announce:
    """A window of operations, run in one step: what the sender wants to hear of from now on.

    Ids are the sender's own, and mean nothing to others. Expressions are text or a
    ``Subscription``, which travels in its JSON form. What goes ``through`` is passed on to all
    brokers, even if it is no news to them: once it is settled, all that was on its way before has
    arrived.
    """

    epoch: int
    sequence: int
    operations: tuple[Operation, ...]
    through: bool = False


@dataclass(frozen=True, slots=True)
class Events:
    """Events, in order; to a host with the ids of its subscriptions that each ``matched``."""

    epoch: int
    sequence: int
    events: tuple[Published, ...]
    matched: tuple[tuple[str, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class Bye:
    """The end of a stream: its sender leaves once it has all that the other has for it."""

    epoch: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Acknowledge:
    """How far the stream of that epoch has been taken.

    All up to ``received`` was taken, and survives a crash. All up to ``settled`` is in force: an
    event that is published anywhere from now on goes by the subscriptions announced until then.
    """

    epoch: int
    received: int
    settled: int


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """A sign of life, with an acknowledgement, in case that the last one was lost."""

    epoch: int
    received: int
    settled: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """What was wrong with a message. ``error`` is the name of a class of ``predicast.errors``.

    ``sequence`` is that of the message, if it was one of the stream and is not expected again. It
    is said once, before the message is acknowledged, and not repeated.
    """

    error: str
    reason: str
    sequence: int | None = None


Numbered: TypeAlias = Announce | Events | Bye
Message: TypeAlias = Hello | Announce | Events | Bye | Acknowledge | KeepAlive | Refuse


def malformed(field: str, value: object, right: str) -> MalformedMessageError:
    """The error of a field that cannot be what it is."""
    return MalformedMessageError(
        f"{field} is {shortened(value)}; it should be {right}", field=field
    )


class Send(NamedTuple):
    """A message, and the interface that it goes to."""

    interface: str
    message: Message
