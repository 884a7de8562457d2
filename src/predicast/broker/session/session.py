"""``Session``: the broker's half of a WebSocket connection, without a network.

Messages and the time go in; messages for the other side and requests for the broker come out, to be
carried out by a shell (``websocket.py``) that hands the results back. Nothing here waits, and
nothing reads a clock, so a test is plain code::

    session.receive(message, now)
    for request in session.requests():     # in this order
        ...
        session.answer(request, result)    # or session.refuse(request.request, error)
    for message in session.messages():
        send(message)

``room`` says how many deliveries may be taken for the connection now. A frame that cannot be read,
or asks for what is not allowed, is answered with an error and has changed nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from predicast.broker.backend import Longest, Start
from predicast.broker.session.events import new_events
from predicast.broker.session.outstanding import Outstanding
from predicast.broker.session.requests import (
    AcknowledgeAll,
    AddIds,
    ChangeOne,
    ExplainOne,
    FindDefinitions,
    GiveOneBack,
    LookAround,
    PublishEvents,
    RemoveIds,
    Request,
    RunWindow,
    TryEvents,
)
from predicast.broker.session.settings import told
from predicast.broker.session.terms import (
    DEFAULT_LIMITS,
    EVERYTHING,
    PUBLISH,
    SUBSCRIBE,
    ConnectionLimits,
    Permissions,
)
from predicast.errors import LimitReachedError, PredicastError, ProtocolError
from predicast.protocol import frames
from predicast.protocol.delivery_frames import DeliveryFrames
from predicast.protocol.errors import described
from predicast.protocol.records import (
    Adjust,
    Delivery,
    LinkedBroker,
    Put,
    Receipt,
    RegistryOperation,
    Remove,
)

_LONGEST_DELAY: Final = 7 * 24 * 3600.0  # seconds; whoever wants more is better off with a replay


class Session:
    """One connection of a tenant's.

    ``publisher`` names it until it says its own name, and is one that no other connection has.
    ``deliveries`` may be shared with other connections that have the same framing.
    """

    def __init__(
        self,
        framing: frames.Framing,
        *,
        tenant: str,
        publisher: str,
        permissions: Permissions = EVERYTHING,
        limits: ConnectionLimits = DEFAULT_LIMITS,
        deliveries: DeliveryFrames | None = None,
    ) -> None:
        self.framing = framing
        self._deliveries = deliveries or DeliveryFrames(framing)
        self._tenant = tenant
        self._publisher = publisher
        self._lot = publisher  # of ids: unlike the name that a client gives itself, used once
        self._permissions = permissions
        self._limits = limits
        self._outstanding = Outstanding()
        self._consumed: set[str] = set()
        self._credit = 0
        self._named = 0  # events that came without an id
        self._requests: list[Request] = []
        self._messages: list[bytes] = []

    # What comes in.

    def receive(self, data: bytes | str, now: float) -> None:
        """Take one message; ``now`` is the steady time."""
        try:
            message = self._checked(data)
        except PredicastError as error:
            self.refuse(0, error)
            return
        try:
            frame = self.framing.client_frame(message)
        except ProtocolError as error:
            self.refuse(self.framing.request_of(message), error)
            return
        try:
            _HANDLERS[type(frame)](self, frame, now)
        except PredicastError as error:
            self.refuse(frame.request, error)

    def _checked(self, data: bytes | str) -> bytes:
        if isinstance(data, str) is not self.framing.is_text:
            expected = "text" if self.framing.is_text else "bytes"
            raise ProtocolError(f"{self.framing.subprotocol} is sent as {expected}")
        try:
            message = data.encode() if isinstance(data, str) else data
        except UnicodeEncodeError:
            raise ProtocolError("this is no frame: it is not Unicode") from None
        self._limit("bytes of a frame", len(message), self._limits.frame_bytes)
        return message

    def _limit(self, what: str, actual: int, limit: int) -> None:
        if actual > limit:
            raise LimitReachedError(
                f"{actual:,} {what} are more than the {limit:,} that this connection may have",
                what=what,
                limit=limit,
                actual=actual,
            )

    # What goes out.

    def requests(self) -> list[Request]:
        """What the broker is to do, in order; each once."""
        taken, self._requests = self._requests, []
        return taken

    def messages(self) -> list[bytes]:
        """What is to be sent, in order; each once."""
        taken, self._messages = self._messages, []
        return taken

    @property
    def room(self) -> int:
        """How many deliveries may be taken for this connection now."""
        if not self._consumed:
            return 0
        if not self._outstanding.needs_acknowledgement:
            return self._credit
        return max(0, min(self._credit, self._limits.unacknowledged - len(self._outstanding)))

    def deliver(self, deliveries: Sequence[Delivery]) -> None:
        """Send what was taken: no more than there was room for."""
        self._credit -= len(deliveries)
        self._outstanding.add(deliveries)
        self._messages += self._deliveries.encoded(deliveries, self._limits.delivery_bytes)

    def dropped(self, counts: Mapping[str, int]) -> None:
        """Say how many deliveries were dropped, by subscription."""
        if counts:
            self._send(frames.Dropped(counts=dict(counts)))

    def refuse(self, number: int, error: PredicastError) -> None:
        """Answer with an error."""
        name, message, fields = described(error)
        self._send(frames.Refused(request=number, error=name, message=message, fields=fields))

    def answer(self, request: Request, result: Any = None) -> None:
        """Take what the broker has made of a request, and say so."""
        if isinstance(request, AddIds):
            self._consumed.update(request.ids)
            self._outstanding.consume(request.ids, durable=result)
        elif isinstance(request, RemoveIds):
            self._consumed.difference_update(request.ids)
            self._outstanding.release(request.ids)
        elif isinstance(request, RunWindow):
            self._note_changes(request.window)
        if request.request:
            self._send(_ANSWERS.get(type(request), _done)(request.request, result))

    def _note_changes(self, window: Iterable[RegistryOperation]) -> None:
        gone: set[str] = set()
        heard: set[str] = set()
        for step in window:
            if isinstance(step, Remove):
                gone.add(step.id)
                heard.discard(step.id)
            elif isinstance(step, Put) and not step.definition.settings.durable:
                heard.add(step.definition.id)
        self._consumed -= gone
        self._consumed |= heard
        self._outstanding.release(gone)

    def _done(self, number: int) -> None:
        if number:
            self._send(frames.Done(request=number))

    def _send(self, frame: frames.BrokerFrame) -> None:
        self._messages.append(self.framing.encode(frame))

    # What each frame comes to.

    def _hello(self, frame: frames.Hello, now: float) -> None:
        self._publisher = frame.publisher or self._publisher
        limits = self._limits._asdict()
        self._send(
            frames.Welcome(
                request=frame.request,
                version=frames.VERSION,
                tenant=self._tenant,
                publisher=self._publisher,
                limits=limits,
            )
        )

    def _publish(self, frame: frames.Publish, now: float) -> None:
        self._permissions.require(PUBLISH)
        self._limit("events of a batch", len(frame.events), self._limits.batch)
        events = self._read(frame.events)
        if self._permissions.spend is not None:
            self._permissions.spend(len(events), now)
        self._requests.append(PublishEvents(frame.request, events))

    def _read(self, events: list[frames.WireEvent]) -> list[Any]:
        named = self._named
        self._named += len(events)
        return new_events(events, self.framing, self._publisher, f"{self._lot}-", named)

    def _window(self, frame: frames.Window, now: float) -> None:
        self._permissions.require(SUBSCRIBE)
        self._limit("operations of a window", len(frame.operations), self._limits.operations)
        window = [_operation(each) for each in frame.operations]
        self._requests.append(RunWindow(frame.request, window))

    def _change(self, frame: frames.ChangeDefinition, now: float) -> None:
        self._permissions.require(SUBSCRIBE)
        names = ("expression", "dialect", "parameters", "owner", "settings")
        fields = {name: getattr(frame, name) for name in names}
        given = {name: value for name, value in fields.items() if value is not None}
        if not given:
            raise ProtocolError(f"nothing of {frame.id!r} is to be changed", field="$.id")
        self._requests.append(ChangeOne(frame.request, frame.id, given))

    def _find(self, frame: frames.Find, now: float) -> None:
        self._permissions.require(SUBSCRIBE)
        self._limit("definitions at once", frame.most, self._limits.batch)
        _check_count(frame.most, "$.most")
        self._requests.append(
            FindDefinitions(
                frame.request, frame.id, frame.owner, frame.text, frame.after, frame.most
            )
        )

    def _consume(self, frame: frames.Consume, now: float) -> None:
        self._permissions.require(SUBSCRIBE)
        together = len(self._consumed) + len(frame.ids)
        self._limit("subscriptions of a connection", together, self._limits.consumed)
        start = None
        if frame.start is not None:
            if (frame.start.after is None) is (frame.start.since is None):
                raise ProtocolError("a start is after a position or since a time", field="$.start")
            start = Start(frame.start.after, frame.start.since)
        self._requests.append(AddIds(frame.request, frame.ids, start))

    def _release(self, frame: frames.Release, now: float) -> None:
        self._requests.append(RemoveIds(frame.request, frame.ids))

    def _grant(self, frame: frames.Credit, now: float) -> None:
        if frame.deliveries < 0:
            raise ProtocolError("credit is only ever added", field="$.deliveries")
        together = self._credit + frame.deliveries
        self._limit("deliveries of credit", together, self._limits.credit)
        self._credit = together
        self._done(frame.request)

    def _acknowledge(self, frame: frames.Acknowledge, now: float) -> None:
        done = self._outstanding.done(frame.positions, frame.up_to, frame.subscriptions)
        if done:
            self._requests.append(AcknowledgeAll(frame.request, done))
        else:
            self._done(frame.request)

    def _give_back(self, frame: frames.GiveBack, now: float) -> None:
        if not 0 <= frame.delay <= _LONGEST_DELAY:
            raise ProtocolError(f"a delay is from 0 to {_LONGEST_DELAY:,} seconds", field="$.delay")
        if self._outstanding.done([frame.position], None, [frame.subscription]):
            self._requests.append(
                GiveOneBack(
                    frame.request, frame.subscription, frame.position, frame.delay, frame.why
                )
            )
        else:
            self._done(frame.request)

    def _explain(self, frame: frames.Explain, now: float) -> None:
        self._permissions.require(SUBSCRIBE)
        [event] = self._read([frame.event])
        self._requests.append(ExplainOne(frame.request, frame.id, event))

    def _dry_run(self, frame: frames.DryRun, now: float) -> None:
        self._permissions.require(SUBSCRIBE)
        self._limit("events of a batch", len(frame.events), self._limits.batch)
        _check_count(frame.most, "$.most")
        explained = len(frame.events) * frame.most
        self._limit("explanations of a dry run", explained, self._limits.explanations)
        self._requests.append(TryEvents(frame.request, self._read(frame.events), frame.most))

    def _watch(self, frame: frames.Watch, now: float) -> None:
        self._permissions.require(SUBSCRIBE)
        self._requests.append(LookAround(frame.request))

    def _ping(self, frame: frames.Ping, now: float) -> None:
        self._send(frames.Done(request=frame.request))


_HANDLERS: Final[dict[type[Any], Callable[[Session, Any, float], None]]] = {
    frames.Hello: Session._hello,
    frames.Publish: Session._publish,
    frames.Window: Session._window,
    frames.ChangeDefinition: Session._change,
    frames.Find: Session._find,
    frames.Consume: Session._consume,
    frames.Release: Session._release,
    frames.Credit: Session._grant,
    frames.Acknowledge: Session._acknowledge,
    frames.GiveBack: Session._give_back,
    frames.Explain: Session._explain,
    frames.DryRun: Session._dry_run,
    frames.Watch: Session._watch,
    frames.Ping: Session._ping,
}


def _check_count(most: int, field: str) -> None:
    if most < 1:
        raise ProtocolError("at least one is asked for", field=field)


def _operation(given: frames.WireOperation) -> RegistryOperation:
    if isinstance(given, frames.WirePut):
        return Put(given.definition, given.replace)
    if isinstance(given, frames.WireAdjust):
        return Adjust(given.id, given.parameters)
    return Remove(given.id)


# Answers by the request.


def _done(number: int, result: Any) -> frames.BrokerFrame:
    return frames.Done(request=number)


def _published(number: int, receipts: list[Receipt]) -> frames.BrokerFrame:
    return frames.Published(request=number, receipts=receipts)


def _report(number: int, report: Any) -> frames.BrokerFrame:
    return frames.WindowReport(
        request=number,
        given=report.given,
        collapsed=report.collapsed,
        shared=report.shared,
        in_place=report.in_place,
        restructured=report.restructured,
    )


def _definitions(number: int, definitions: list[Any]) -> frames.BrokerFrame:
    return frames.Definitions(request=number, definitions=list(map(told, definitions)))


def _explained(number: int, explanation: Any) -> frames.BrokerFrame:
    return frames.Explained(request=number, explanation=_wire(explanation))


def _recipients(number: int, events: Collection[Collection[Any]]) -> frames.BrokerFrame:
    told = [[_wire(each.explanation, each.is_durable) for each in event] for event in events]
    return frames.Recipients(request=number, events=told)


def _wire(explanation: Any, is_durable: bool = True) -> frames.WireExplanation:
    return frames.WireExplanation(explanation.id, explanation.matched, str(explanation), is_durable)


def _statistics(
    number: int,
    told: tuple[Mapping[str, float], Longest, list[LinkedBroker]],
) -> frames.BrokerFrame:
    counts, longest, brokers = told
    return frames.Statistics(
        request=number,
        counts=dict(counts),
        pending=dict(longest.waiting),
        queues=longest.queues,
        brokers=brokers,
    )


_ANSWERS: Final[dict[type[Any], Callable[[int, Any], frames.BrokerFrame]]] = {
    PublishEvents: _published,
    RunWindow: _report,
    ChangeOne: _definitions,
    FindDefinitions: _definitions,
    ExplainOne: _explained,
    TryEvents: _recipients,
    LookAround: _statistics,
}
