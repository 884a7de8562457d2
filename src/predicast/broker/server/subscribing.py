"""Operations on subscriptions."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import msgspec
from starlette.responses import Response

from predicast.broker.server.call import Call
from predicast.broker.server.publishing import answer
from predicast.broker.server.subscription_documents import (
    SubscriptionChange,
    SubscriptionDocument,
    Subscriptions,
    Window,
    WindowReport,
    WindowStep,
    changed_fields,
    to_definition,
    to_document,
)
from predicast.broker.tenant import with_settings
from predicast.errors import ProtocolError, UnknownIdError
from predicast.language.parameter_values import parameter_values
from predicast.protocol.records import Adjust, Definition, Put, RegistryOperation, Remove


async def list_subscriptions(call: Call) -> Response:
    """Subscriptions by id."""
    most = call.integer("most", 100, 1, 1000)
    found = await call.tenant.definitions(
        owner=call.query("owner"), text=call.query("text"), after=call.query("after"), most=most
    )
    last = found[-1].id if len(found) == most else None
    return answer(Subscriptions(subscriptions=[to_document(each) for each in found], next=last))


async def create(call: Call) -> Response:
    """Add a subscription."""
    definition = to_definition(await call.read(SubscriptionDocument))
    return answer(to_document(await call.tenant.subscribe(definition)), HTTPStatus.CREATED)


async def get(call: Call) -> Response:
    """One subscription."""
    return answer(to_document(await call.tenant.definition(call.id)))


async def replace(call: Call) -> Response:
    """Put a subscription in the place of the one with this id, or add it."""
    document = await call.read(SubscriptionDocument)
    if await _held(call) is None:
        made = await call.tenant.subscribe(to_definition(document, id=call.id))
        return answer(to_document(made), HTTPStatus.CREATED)

    def fields(before: Definition) -> dict[str, Any]:
        after = to_definition(document, id=call.id, before=before)
        names = ("expression", "dialect", "parameters", "owner", "settings")
        return {name: getattr(after, name) for name in names}

    return answer(to_document(await call.tenant.change(call.id, fields)))


async def change(call: Call) -> Response:
    """Change some of what a subscription says."""
    wanted = await call.read(SubscriptionChange)
    made = await call.tenant.change(call.id, lambda before: changed_fields(wanted, before))
    return answer(to_document(made))


async def adjust(call: Call) -> Response:
    """Give parameters new values, in place."""
    values = await call.read(dict[str, Any])
    parameter_values(values)
    await call.tenant.apply([Adjust(call.id, values)])
    return await get(call)


async def pause(call: Call) -> Response:
    """Deliver nothing until it is resumed; what it matches waits."""
    return await _set_paused(call, paused=True)


async def resume(call: Call) -> Response:
    """Deliver again, beginning with what waits."""
    return await _set_paused(call, paused=False)


async def delete(call: Call) -> Response:
    """End a subscription, and what waits for it."""
    await call.tenant.unsubscribe(call.id)
    await call.state.pulls.forget(call.tenant, call.id)
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def apply(call: Call) -> Response:
    """Carry out many operations at once, or none of them."""
    window = await call.read(Window)
    now = call.state.broker.clock.wall()
    steps = [_operation(step, place, now) for place, step in enumerate(window.operations)]
    report = await call.tenant.apply(steps)
    return answer(
        WindowReport(
            given=report.given,
            collapsed=report.collapsed,
            shared=report.shared,
            in_place=report.in_place,
            restructured=report.restructured,
        )
    )


def _operation(step: WindowStep, place: int, now: float) -> RegistryOperation:
    field = f"$.operations[{place}]"
    given = [name for name in ("put", "adjust", "remove") if getattr(step, name) is not None]
    if len(given) != 1:
        raise ProtocolError(
            f"{field} is one of put, adjust and remove, not {len(given)} of them", field=field
        )
    if step.put is not None:
        if step.put.id is None:
            raise ProtocolError(f"{field}.put has no id", field=f"{field}.put.id")
        definition = to_definition(step.put)
        return Put(msgspec.structs.replace(definition, created=now), step.replace)
    if step.adjust is not None:
        if not step.parameters:
            raise ProtocolError(f"{field} adjusts no parameters", field=f"{field}.parameters")
        parameter_values(step.parameters)
        return Adjust(step.adjust, step.parameters)
    assert step.remove is not None
    return Remove(step.remove)


async def _held(call: Call) -> Definition | None:
    try:
        return await call.tenant.definition(call.id)
    except UnknownIdError:
        return None


async def _set_paused(call: Call, *, paused: bool) -> Response:
    made = await call.tenant.change(call.id, lambda before: with_settings(before, paused=paused))
    return answer(to_document(made))
