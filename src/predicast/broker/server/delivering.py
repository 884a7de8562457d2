"""Operations on deliveries: streams, pulls, acknowledgements, replays, dead letters."""

from __future__ import annotations

from http import HTTPStatus

from starlette.responses import Response

from predicast.broker.backend import Start
from predicast.broker.server.call import Call, instant
from predicast.broker.server.documents import (
    Acknowledge,
    DeadLetterDocument,
    DeadLetters,
    KeptEvent,
    Pull,
    Pulled,
    Replay,
    Retried,
    Retry,
)
from predicast.broker.server.event_stream import EventStream
from predicast.broker.server.publishing import answer
from predicast.errors import ProtocolError, shortened


async def stream(call: Call) -> EventStream:
    """Deliveries as server-sent events."""
    await call.tenant.definition(call.id)
    return EventStream(
        call.state, call.request.headers, call.tenant, call.id, _start_of_stream(call)
    )


def _start_of_stream(call: Call) -> Start | None:
    last = call.request.headers.get("last-event-id")
    if last is not None:
        if not (last.isascii() and last.isdecimal() and len(last) < 19):
            raise ProtocolError(
                f"Last-Event-ID is the position of an event, not {shortened(last)}",
                field="last-event-id",
            )
        return Start(after=int(last))
    after = call.integer("after", -1)
    since = call.time("since")
    return _start(None if after < 0 else after, since)


def _start(after: int | None, since: float | None) -> Start | None:
    if after is not None and since is not None:
        raise ProtocolError("it begins after a position or at a time, not both", field="since")
    return None if after is None and since is None else Start(after, since)


async def pull(call: Call) -> Response:
    """Deliveries, as many as there are."""
    asked = await call.read(Pull)
    taken, dropped = await call.state.pulls.take(call.tenant, call.id, asked.most, asked.wait)
    return answer(Pulled(deliveries=[KeptEvent.delivered(each) for each in taken], dropped=dropped))


async def acknowledge(call: Call) -> Response:
    """Deliveries that need not come again."""
    given = await call.read(Acknowledge)
    await call.state.pulls.acknowledge(call.tenant, call.id, given.positions, given.up_to)
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def release(call: Call) -> Response:
    """Give back what was pulled and not acknowledged: it comes again, before anything else."""
    held = await call.tenant.definition(call.id)
    if held.settings.durable:  # an ephemeral one has nothing to give back, and would end
        await call.state.pulls.forget(call.tenant, call.id)
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def replay(call: Call) -> Response:
    """Deliver anew what is kept."""
    asked = await call.read(Replay)
    since = None if asked.since is None else instant(asked.since, "$.since")
    start = _start(asked.after, since)
    if start is None:
        raise ProtocolError("a replay begins after a position, or since a time", field="$.after")
    await call.state.pulls.replay(call.tenant, call.id, start)
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def dead_letters(call: Call) -> Response:
    """What was given up, of one subscription or of all."""
    id = call.request.path_params.get("id")
    if id is not None:
        await call.tenant.definition(id)
    most = call.integer("most", 100, 1, 1000)
    found = await call.tenant.dead_letters(subscription=id, most=most)
    return answer(DeadLetters(dead_letters=[DeadLetterDocument.of(each) for each in found]))


async def retry(call: Call) -> Response:
    """Deliver dead letters once more."""
    asked = await call.read(Retry)
    await call.tenant.definition(call.id)
    return answer(Retried(retried=await call.tenant.try_again(call.id, asked.positions)))
