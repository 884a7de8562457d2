"""The frames of a WebSocket connection between a client and a broker.

A frame is one WebSocket message: JSON as text (the subprotocol ``predicast.v1.json``) or
MessagePack as bytes (``predicast.v1.msgpack``), an object whose ``type`` says what it is. All
that a client sends has a number, ``request``, which the answer carries; answers may come in any
order. What has the number 0 is not answered, unless it is refused.

::

    client                                              broker
    ------                                              ------
    hello        publisher                              welcome       publisher, limits
    publish      events                                 published     receipts
    window       operations                             report        given, collapsed, ...
    change       id, fields                             definitions   definitions
    find         id | owner, text, after, most          definitions   definitions
    consume      ids, start                             done
    release      ids                                    done
    credit       deliveries                             done
    acknowledge  positions | up_to, subscriptions       done
    give_back    position, subscription, delay, why     done
    explain      id, event                              explained     matched, text
    dry_run      events, most                           recipients    events
    watch                                               statistics    counts, pending
    ping                                                done
                                                        deliveries    batch
                                                        dropped       counts
                                                        error         error, message, fields

The body of an event stands in a JSON frame as it is, or as a string if it is no JSON; in a
MessagePack frame it is a string of bytes. Neither side looks into it to pass it on.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import msgspec

from predicast.errors import ProtocolError
from predicast.protocol.delivery_front import delivery_front
from predicast.protocol.records import (
    BodyForm,
    Definition,
    LinkedBroker,
    Receipt,
    Settings,
    StoredEvent,
)

VERSION: Final = 1


class WireStart(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where consuming begins: after a position, or at a time in seconds since 1970."""

    after: int | None = None
    since: float | None = None


class WireEvent(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """An event to publish; the broker names it if ``id`` is empty."""

    body: msgspec.Raw
    id: str = ""
    publisher: str = ""  # if not the connection's
    form: BodyForm = BodyForm.JSON


class WirePut(
    msgspec.Struct, tag_field="type", tag="put", forbid_unknown_fields=True, omit_defaults=True
):
    """A new subscription; with ``replace`` it may take the place of one with its id."""

    definition: Definition
    replace: bool = False


class WireAdjust(msgspec.Struct, tag_field="type", tag="adjust", forbid_unknown_fields=True):
    """New values for some parameters of a subscription."""

    id: str
    parameters: dict[str, Any]


class WireRemove(msgspec.Struct, tag_field="type", tag="remove", forbid_unknown_fields=True):
    """The end of a subscription."""

    id: str


WireOperation: TypeAlias = WirePut | WireAdjust | WireRemove


class _Frame(
    msgspec.Struct, tag_field="type", kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What all frames of clients have: the number by which they are answered."""

    request: int = 0


# What clients say.


class Hello(_Frame, tag="hello"):
    """The name under which the connection publishes: one that repeats are dropped by."""

    publisher: str = ""


class Publish(_Frame, tag="publish"):
    """Events, all or none of which are taken; more may be sent before the receipts are there."""

    events: list[WireEvent]


class Window(_Frame, tag="window"):
    """Operations on subscriptions, all or nothing."""

    operations: list[WireOperation]


class ChangeDefinition(_Frame, tag="change"):
    """Other values for some fields of a definition; parameters alone are changed in place."""

    id: str
    expression: str | None = None
    dialect: str | None = None
    parameters: dict[str, Any] | None = None
    owner: str | None = None
    settings: Settings | None = None


class Find(_Frame, tag="find"):
    """A subscription by its id, or those of an owner with the text in id or expression."""

    id: str | None = None
    owner: str | None = None
    text: str | None = None
    after: str | None = None
    most: int = 100


class Consume(_Frame, tag="consume"):
    """Deliver what these subscriptions match, too."""

    ids: list[str]
    start: WireStart | None = None


class Release(_Frame, tag="release"):
    """Deliver nothing more of these."""

    ids: list[str]


class Credit(_Frame, tag="credit"):
    """So many more deliveries may be sent."""

    deliveries: int


class Acknowledge(_Frame, tag="acknowledge"):
    """Deliveries that need not come again: these, or all up to one.

    For all subscriptions that they came with, or for those that are named.
    """

    positions: list[int] = []
    up_to: int | None = None
    subscriptions: list[str] | None = None


class GiveBack(_Frame, tag="give_back"):
    """A delivery that failed: it comes again after the delay, or is a dead letter."""

    position: int
    subscription: str
    delay: float = 0.0
    why: str = ""


class Explain(_Frame, tag="explain"):
    """Why does the subscription match the event, or why not?"""

    id: str
    event: WireEvent


class DryRun(_Frame, tag="dry_run"):
    """Who would get each of the events, and why? Nothing is kept or delivered."""

    events: list[WireEvent]
    most: int = 100


class Watch(_Frame, tag="watch"):
    """How the tenant does: counts, sizes, and what waits."""


class Ping(_Frame, tag="ping"):
    """Is anybody there?"""


ClientFrame: TypeAlias = (
    Hello
    | Publish
    | Window
    | ChangeDefinition
    | Find
    | Consume
    | Release
    | Credit
    | Acknowledge
    | GiveBack
    | Explain
    | DryRun
    | Watch
    | Ping
)


# What brokers say.


class Welcome(_Frame, tag="welcome"):
    """What holds on this connection."""

    version: int
    publisher: str
    tenant: str
    limits: dict[str, int]


class Published(_Frame, tag="published"):
    """What became of each event, in the order in which they were given."""

    receipts: list[Receipt]


class WindowReport(_Frame, tag="report"):
    """How many operations there were, and what they came to."""

    given: int
    collapsed: int
    shared: int
    in_place: int
    restructured: int


class Definitions(_Frame, tag="definitions"):
    """Subscriptions as they stand."""

    definitions: list[Definition]


class Done(_Frame, tag="done"):
    """It is done, and there is nothing to tell."""


class WireExplanation(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Why a subscription matches, or why not, for people."""

    id: str
    matched: bool
    text: str
    durable: bool = True


class Explained(_Frame, tag="explained"):
    """The answer to ``explain``."""

    explanation: WireExplanation


class Recipients(_Frame, tag="recipients"):
    """The answer to ``dry_run``: for each event, those who would get it."""

    events: list[list[WireExplanation]]


class Statistics(_Frame, tag="statistics"):
    """Counts and sizes, deliveries that wait, and, for administrators, linked brokers."""

    counts: dict[str, float]
    pending: dict[str, int]  # the longest queues, of so many
    queues: int = 0
    brokers: list[LinkedBroker] = []


class WireDelivery(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """An event, and the subscriptions read by this connection that it matches."""

    position: int
    at: float
    id: str
    publisher: str
    subscriptions: tuple[str, ...]
    body: msgspec.Raw
    form: BodyForm = BodyForm.JSON
    attempt: int = 1


class Deliveries(_Frame, tag="deliveries"):
    """Events for this connection; each uses up one credit."""

    batch: list[WireDelivery]


class Dropped(_Frame, tag="dropped"):
    """How many were dropped since the last time, by subscription: it was too slow."""

    counts: dict[str, int]


class Refused(_Frame, tag="error"):
    """A request that changed nothing, by the class of its error in ``predicast.errors``."""

    error: str
    message: str
    fields: dict[str, Any] = {}


BrokerFrame: TypeAlias = (
    Welcome
    | Published
    | WindowReport
    | Definitions
    | Done
    | Explained
    | Recipients
    | Statistics
    | Deliveries
    | Dropped
    | Refused
)
Frame: TypeAlias = ClientFrame | BrokerFrame


class _Numbered(msgspec.Struct):
    request: int = 0


class Framing:
    """How frames are written and read: one for JSON, one for MessagePack."""

    subprotocol: str
    is_text: bool

    def encode(self, frame: Frame) -> bytes:
        """The frame as one WebSocket message."""
        raise NotImplementedError

    def client_frame(self, data: bytes) -> ClientFrame:
        """What a client has sent, or a ``ProtocolError``."""
        return self._decoded(data, self._client)  # type: ignore[no-any-return]

    def broker_frame(self, data: bytes) -> BrokerFrame:
        """What a broker has sent, or a ``ProtocolError``."""
        return self._decoded(data, self._broker)  # type: ignore[no-any-return]

    def request_of(self, data: bytes) -> int:
        """The number of a frame that cannot be read otherwise; 0 if even that cannot."""
        try:
            return self._number.decode(data).request  # type: ignore[no-any-return]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return 0

    def packed(self, body: bytes, form: BodyForm) -> msgspec.Raw:
        """The body of an event as it stands in a frame."""
        raise NotImplementedError

    def unpacked(self, raw: msgspec.Raw, form: BodyForm) -> bytes:
        """The body of an event that stands in a frame."""
        raise NotImplementedError

    # For deliveries that are put together from pieces.

    def encode_value(self, value: Any) -> bytes:
        """What stands for the value in a frame."""
        raise NotImplementedError

    def delivery_front(self, event: StoredEvent, attempt: int) -> bytes:
        """A ``WireDelivery`` up to its subscriptions, which stand last."""
        raise NotImplementedError

    def joined_deliveries(self, parts: list[bytes]) -> bytes:
        """A ``Deliveries`` frame: of each delivery a front, and the value that it leaves open."""
        raise NotImplementedError

    _client: Any
    _broker: Any
    _number: Any

    def _decoded(self, data: bytes, decoder: Any) -> Any:
        try:
            return decoder.decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ProtocolError(f"this is no frame: {error}", field=_place(str(error))) from None
        except RecursionError:
            raise ProtocolError("this is no frame: it is nested too deep") from None


class JsonFraming(Framing):
    """Text, for browsers and people."""

    subprotocol = "predicast.v1.json"
    is_text = True
    _client = msgspec.json.Decoder(ClientFrame)
    _broker = msgspec.json.Decoder(BrokerFrame)
    _number = msgspec.json.Decoder(_Numbered)
    _encoder: Final = msgspec.json.Encoder()
    _text: Final = msgspec.json.Decoder(str)

    def encode(self, frame: Frame) -> bytes:
        """The frame as text in UTF-8."""
        return self._encoder.encode(frame)

    def packed(self, body: bytes, form: BodyForm) -> msgspec.Raw:
        """JSON as it is; a graph in Turtle as a string."""
        if form is BodyForm.TURTLE:
            return msgspec.Raw(self._encoder.encode(body.decode()))
        return msgspec.Raw(body)

    def unpacked(self, raw: msgspec.Raw, form: BodyForm) -> bytes:
        """The bytes that were published."""
        if form is not BodyForm.TURTLE:
            return bytes(raw)
        try:
            return self._text.decode(raw).encode()
        except msgspec.MsgspecError as error:
            raise ProtocolError(f"a graph in Turtle is a string: {error}", field="body") from None

    def encode_value(self, value: Any) -> bytes:
        """As JSON."""
        return self._encoder.encode(value)

    def delivery_front(self, event: StoredEvent, attempt: int) -> bytes:
        """Without the brace at its end."""
        return self._encoder.encode(
            delivery_front(event, self.packed(event.body, event.form), attempt)
        )[:-1]

    def joined_deliveries(self, parts: list[bytes]) -> bytes:
        """With the braces that fronts lack, and commas."""
        each = map(bytes.__add__, parts[::2], parts[1::2])
        return b'{"type":"deliveries","batch":[%b}]}' % b"},".join(each)


class MsgpackFraming(Framing):
    """Bytes, for programs."""

    subprotocol = "predicast.v1.msgpack"
    is_text = False
    _client = msgspec.msgpack.Decoder(ClientFrame)
    _broker = msgspec.msgpack.Decoder(BrokerFrame)
    _number = msgspec.msgpack.Decoder(_Numbered)
    _encoder: Final = msgspec.msgpack.Encoder()
    _bytes: Final = msgspec.msgpack.Decoder(bytes)

    def encode(self, frame: Frame) -> bytes:
        """The frame as bytes."""
        return self._encoder.encode(frame)

    def packed(self, body: bytes, form: BodyForm) -> msgspec.Raw:
        """The body as a string of bytes."""
        return msgspec.Raw(self._encoder.encode(body))

    def unpacked(self, raw: msgspec.Raw, form: BodyForm) -> bytes:
        """The bytes that were published."""
        try:
            return self._bytes.decode(raw)
        except msgspec.MsgspecError as error:
            raise ProtocolError(f"a body is a string of bytes: {error}", field="body") from None

    def encode_value(self, value: Any) -> bytes:
        """As MessagePack."""
        return self._encoder.encode(value)

    def delivery_front(self, event: StoredEvent, attempt: int) -> bytes:
        """An object says at its beginning how many fields it has, and has no end."""
        return self._encoder.encode(delivery_front(event, event.body, attempt))

    def joined_deliveries(self, parts: list[bytes]) -> bytes:
        """An object of two fields, the second a list that says how long it is."""
        head = b"\x82\xa4type\xaadeliveries\xa5batch\xdd%b" % (len(parts) // 2).to_bytes(4, "big")
        return b"".join([head, *parts])


JSON: Final = JsonFraming()
MSGPACK: Final = MsgpackFraming()
FRAMINGS: Final[dict[str, Framing]] = {each.subprotocol: each for each in (JSON, MSGPACK)}


def _place(message: str) -> str | None:
    """Where in a frame something is wrong, as msgspec says it: ``... - at `$.events[0].id```."""
    _, _, place = message.rpartition(" - at `")
    return place.rstrip("`") or None if place != message else None
