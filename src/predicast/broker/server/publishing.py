"""Operations on events: publish them, try them, look at those that are kept."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, Final

import msgspec
from starlette.responses import Response

from predicast.broker.access import SUBSCRIBE
from predicast.broker.near_misses import NearMiss
from predicast.broker.server.bodies import Limit, read_events
from predicast.broker.server.call import Call
from predicast.broker.server.documents import (
    Explain,
    Explained,
    KeptEvent,
    KeptEvents,
    Published,
    Taken,
    Tried,
    TriedEvent,
    TriedRecipient,
)
from predicast.broker.tenant import Recipient
from predicast.errors import HttpError, LimitReachedError, ProtocolError, shortened
from predicast.protocol.bodies import attributes_of
from predicast.protocol.frames import JSON
from predicast.protocol.records import BodyForm, NewEvent

_MOST: Final = 100  # recipients that a dry run tells of, unless it is told how many
_NEAR: Final = 20  # events of a dry run whose near misses are looked for, and how many of each
_LARGE: Final = 1 << 16  # bytes from which on a body is read beside other requests


def answer(document: Any, status: HTTPStatus = HTTPStatus.OK) -> Response:
    """A response in JSON."""
    return Response(msgspec.json.encode(document), status, media_type="application/json")


async def publish(call: Call) -> Response:
    """Take events; or, in a dry run, say who would get them."""
    is_dry = call.flag("dry_run")
    for name in ("near", "most"):
        if not is_dry and call.query(name) is not None:  # or what was to be tried is published
            raise ProtocolError(f"{name} is for a dry run: say dry_run=1, too", field=name)
    body = await call.body()
    limit = Limit(call.limits.batch, call.limits.depth)
    arguments = (call.request.headers, body, call.grant.name, limit)
    if len(body) < _LARGE:
        events = read_events(*arguments)
    else:
        events = await asyncio.to_thread(read_events, *arguments)
    if is_dry:
        return answer(await _tried(call, events))
    if not events:
        raise ProtocolError("there is no event in the body")
    receipts = await call.tenant.publish(events)
    return answer(Published(events=[Taken.of(each) for each in receipts]))


async def _tried(call: Call, events: list[NewEvent]) -> Tried:
    call.grant.require(SUBSCRIBE)  # it tells of subscriptions
    limit = call.limits.explanations
    most = call.integer("most", min(_MOST, max(1, limit // max(1, len(events)))), 1, limit)
    if len(events) * most > limit:
        raise LimitReachedError(
            f"a dry run has at most {limit:,} explanations, and these are "
            f"{len(events):,} events with up to {most:,} recipients",
            what="explanations of a dry run",
            limit=limit,
            actual=len(events) * most,
        )
    found = await asyncio.to_thread(call.tenant.dry_run, events, most)
    near: list[list[NearMiss]] = [[] for _ in events]
    if call.flag("near"):
        for place, event in enumerate(events[:_NEAR]):
            near[place] = (await call.tenant.near_misses(event, min(most, _NEAR))).found
    return Tried(
        events=[
            TriedEvent(
                total=recipients.total,
                recipients=[_recipient(each) for each in recipients.first],
                near=[_recipient(each) for each in missed],
            )
            for recipients, missed in zip(found, near, strict=True)
        ]
    )


def _recipient(recipient: Recipient | NearMiss) -> TriedRecipient:
    return TriedRecipient(
        id=recipient.id,
        durable=recipient.is_durable,
        explanation=recipient.explanation.to_document(),
        text=str(recipient.explanation),
    )


async def list_events(call: Call) -> Response:
    """Events that are kept, by position."""
    most = call.integer("most", 100, 1, 1000)
    found = await call.tenant.events(
        after=call.integer("after", 0), since=call.time("since"), most=most
    )
    last = found[-1].position if len(found) == most else None
    return answer(KeptEvents(events=[KeptEvent.of(each) for each in found], next=last))


async def get_event(call: Call) -> Response:
    """One event that is kept, and who matched it."""
    text = call.request.path_params["position"]
    position = int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else -1
    found = []
    if position > 0:
        found = await call.tenant.events(after=position - 1, most=1)
    if not found or found[0].position != position:
        raise HttpError(f"no event {shortened(text)} is kept", status=HTTPStatus.NOT_FOUND)
    recipients = await call.tenant.recipients(position)
    return answer(KeptEvent.of(found[0], recipients=dict(recipients)))


async def explain(call: Call) -> Response:
    """Why a subscription matches an event, or why not."""
    asked = await call.read(Explain)
    if asked.form not in set(BodyForm):
        raise ProtocolError(
            f"form is one of {', '.join(BodyForm)}, not {shortened(asked.form)}", field="$.form"
        )
    form = BodyForm(asked.form)
    body = JSON.unpacked(asked.event, form)
    event = NewEvent(body, attributes_of(form, body), "", call.grant.name, form)
    found = await asyncio.to_thread(call.tenant.explain, asked.subscription, event)
    return answer(
        Explained(
            id=found.id,
            matched=found.matched,
            explanation=found.to_document(),
            text=str(found),
        )
    )
