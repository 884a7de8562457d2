"""``make_app``: the broker as a web application.

Operations are plain functions of a ``Call``; here is what all of them have in common: who is
asking, whether they may, and how a refusal is told. Bodies are decoded by msgspec where they are
used, so that nothing of the framework's stands between a request and its operation.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Match, Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from predicast.broker.access import ADMIN, LINK, Access, Grant
from predicast.broker.access.limited_tenant import LimitedTenant
from predicast.broker.broker import Broker
from predicast.broker.links import Links, serve_link
from predicast.broker.server.call import Call, check_query
from predicast.broker.server.documents import Health
from predicast.broker.server.openapi import docs_page, openapi_document
from predicast.broker.server.operations import OPERATIONS, Operation
from predicast.broker.server.problems import problem
from predicast.broker.server.publishing import answer
from predicast.broker.server.state import ServerState
from predicast.broker.session import ConnectionLimits, Permissions, serve_websocket
from predicast.broker.webhooks import Pusher, PushOptions
from predicast.errors import (
    BackendError,
    HttpError,
    LimitReachedError,
    PredicastError,
    shortened,
)
from predicast.protocol.records import LinkedBroker

_log: Final = logging.getLogger(__name__)
_TENANT: Final = "predicast-tenant"
_ALWAYS: Final = frozenset({"/healthz", "/readyz"})  # what probes ask, by whatever name
_ANSWER_S: Final = 5.0  # that a backend has to answer, or else it is not ready
_TIDY_S: Final = 30.0  # between looks at what nobody uses any more
_REFUSED: Final = 1008  # the WebSocket's code for a policy


def make_app(
    broker: Broker,
    access: Access | None = None,
    *,
    links: Links | None = None,
    push: PushOptions | None = None,
) -> FastAPI:
    """The application; it starts the broker with itself, and stops it."""
    state = ServerState(broker, access or Access(broker), Pusher(broker, push), links)
    app = FastAPI(
        title="Predicast",
        openapi_url=None,  # ours is made from the table of operations
        docs_url=None,
        redoc_url=None,
        lifespan=_Lifespan(state),
        exception_handlers={HTTPException: _http_problem, Exception: _unexpected},
    )
    app.state.server = state
    if state.access.is_open:
        app.add_middleware(_OwnCallers, access=state.access)
    for operation in OPERATIONS:
        # Ids may have slashes in them.
        path = operation.path.replace("{id}", "{id:path}")
        app.router.routes.append(
            Route(path, _Endpoint(operation, state), methods=[operation.method])
        )
    app.router.routes += [
        Route("/healthz", _health),
        Route("/readyz", _Ready(state)),
        Route("/openapi.json", _Openapi()),
        Route("/docs", _docs),
        WebSocketRoute("/ws", _Socket(state, _session)),
    ]
    if links is not None:
        app.router.routes.append(WebSocketRoute("/link", _Socket(state, _link)))
    return app


class _Lifespan:
    def __init__(self, state: ServerState) -> None:
        self._state = state

    @contextlib.asynccontextmanager
    async def __call__(self, app: FastAPI) -> AsyncIterator[None]:
        state = self._state
        async with contextlib.AsyncExitStack() as stack:
            try:
                await self._start(stack)
            except PredicastError as error:
                state.failure = error
                raise
            state.is_ready = True
            try:
                yield
            finally:
                state.is_ready = False
                state.stopping.set()

    async def _start(self, stack: contextlib.AsyncExitStack) -> None:
        """Start all that runs beside requests; it stops in the opposite order."""
        state = self._state
        await stack.enter_async_context(state.broker)
        state.access.on_change = state.pusher.heard
        state.access.private_sinks = state.pusher.options.allow_private
        stack.push_async_callback(state.pusher.stop)
        await state.pusher.start()
        if state.links is not None:
            stack.push_async_callback(state.links.stop)
            await state.links.start()
        stack.push_async_callback(state.pulls.close)
        tidying = asyncio.create_task(self._tidy())
        stack.callback(tidying.cancel)

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(_TIDY_S)
            await self._state.pulls.close_idle()


class _Endpoint:
    """An operation as an ASGI application."""

    def __init__(self, operation: Operation, state: ServerState) -> None:
        self._operation = operation
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        operation = self._operation
        sent = _Sent(send)
        try:
            await (await self._answered(Request(scope, receive)))(scope, receive, sent)
        except PredicastError as error:
            if isinstance(error, BackendError):
                _log.warning("%s %s: %s", operation.method, operation.path, error.message)
            if sent.status is None:
                await problem(error)(scope, receive, sent)
        finally:
            key = (operation.method, operation.path, sent.status or 0)
            self._state.requests[key] += 1

    async def _answered(self, request: Request) -> ASGIApp:
        access = self._state.access
        grant = access.grant(request.headers)
        if self._operation.scope is not None:
            grant.require(self._operation.scope)
        tenant = access.tenant(grant.tenant_for(request.headers.get(_TENANT)))
        check_query(request, self._operation.query)
        return await self._operation.handler(Call(request, grant, tenant, self._state))


class _Sent:
    """Notes the status of what is sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)


class _OwnCallers:
    """Refuses pages from elsewhere everywhere, whatever else is mounted on the application."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"} and scope["path"] not in _ALWAYS:
            try:
                self._access.grant(Headers(scope=scope))
            except PredicastError as error:
                if scope["type"] == "http":
                    await problem(error)(scope, receive, send)
                else:
                    await _refuse(WebSocket(scope, receive, send), error)
                return
        await self._app(scope, receive, send)


class _Socket:
    """A WebSocket of somebody who may use it."""

    def __init__(
        self,
        state: ServerState,
        serve: Callable[[WebSocket, ServerState, Grant, LimitedTenant], Awaitable[None]],
    ) -> None:
        self._state = state
        self._serve = serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        websocket = WebSocket(scope, receive, send)
        access = self._state.access
        try:
            grant = access.grant(websocket.headers)
            tenant = access.tenant(grant.tenant_for(websocket.headers.get(_TENANT)))
            if self._serve is _link:
                grant.require(LINK)
        except PredicastError as error:
            await _refuse(websocket, error)
            return
        try:
            with self._state.connection(tenant):
                await self._until_revoked(websocket, grant, tenant)
        except LimitReachedError as error:
            await _refuse(websocket, error)

    async def _until_revoked(
        self, websocket: WebSocket, grant: Grant, tenant: LimitedTenant
    ) -> None:
        access = self._state.access
        serving = asyncio.ensure_future(self._serve(websocket, self._state, grant, tenant))
        revoked = asyncio.ensure_future(access.until_revoked(websocket.headers))
        try:
            await asyncio.wait([serving, revoked], return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                serving.result()
                return
        finally:
            for task in (serving, revoked):
                task.cancel()
            await asyncio.gather(serving, revoked, return_exceptions=True)
        with contextlib.suppress(RuntimeError, OSError):
            await websocket.close(_REFUSED, "the token was removed")


async def _refuse(websocket: WebSocket, error: PredicastError) -> None:
    """Say why before there is a connection, as other requests are told, where that can be said."""
    if "websocket.http.response" in websocket.scope.get("extensions", {}):
        await websocket.send_denial_response(problem(error))
    else:
        await websocket.close(_REFUSED, error.message[:120])


async def _session(
    websocket: WebSocket, state: ServerState, grant: Grant, tenant: LimitedTenant
) -> None:
    given = state.access.limits
    limits = ConnectionLimits(
        frame_bytes=given.body_bytes,
        batch=given.batch,
        operations=given.window,
        explanations=given.explanations,
    )
    await serve_websocket(
        websocket,
        tenant,
        permissions=Permissions(grant.scopes),
        limits=limits,
        clock=state.broker.clock,
        neighbours=lambda: _neighbours(state, grant, tenant.name),
    )


def _neighbours(state: ServerState, grant: Grant, tenant: str) -> list[LinkedBroker]:
    """The brokers that are linked to this one, for whoever may see them."""
    if state.links is None or ADMIN not in grant.scopes:
        return []
    return [
        LinkedBroker(
            each.name,
            each.role,
            each.is_connected,
            each.traffic.events_in,
            each.traffic.events_out,
            each.waiting,
        )
        for each in state.links.status(tenant).neighbours
    ]


async def _link(
    websocket: WebSocket, state: ServerState, grant: Grant, tenant: LimitedTenant
) -> None:
    assert state.links is not None
    await serve_link(websocket, state.links, tenant.name)


async def _health(request: Request) -> Response:
    """The process runs."""
    return answer(Health(status="alive"))


class _Ready:
    """Whether requests can be served: the backend answers, and the server is not stopping."""

    def __init__(self, state: ServerState) -> None:
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ready = self._state.is_ready and not self._state.stopping.is_set() and await self._answers()
        status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
        response = answer(Health(status="ready" if ready else "not ready"), status)
        await response(scope, receive, send)

    async def _answers(self) -> bool:
        try:
            async with asyncio.timeout(_ANSWER_S):
                await self._state.broker.backend.tenants()
        except (PredicastError, TimeoutError) as error:
            _log.warning("the backend cannot be used: %s", error)
            return False
        return True


class _Openapi:
    """The document, made once."""

    def __init__(self) -> None:
        self._response = JSONResponse(openapi_document())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._response(scope, receive, send)


async def _docs(request: Request) -> Response:
    """The operations, for people."""
    return HTMLResponse(docs_page())


async def _http_problem(request: Request, error: Any) -> Response:
    """What the router refuses: no such path, or no such method there."""
    status, message, allow = error.status_code, str(error.detail), None
    if status in {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED}:
        there = [route for route in request.app.routes if isinstance(route, Route)]
        methods = {m for route in there if _is_at(route, request) for m in route.methods or ()}
        path = shortened(request.url.path)
        if methods:
            status = HTTPStatus.METHOD_NOT_ALLOWED
            allow = ", ".join(sorted(methods))
            message = f"{request.method} is not for {path}; there is {allow}"
        else:
            message = f"there is nothing at {path}; see /docs"
    return problem(HttpError(message, status=status, allow=allow))


def _is_at(route: Route, request: Request) -> bool:
    return route.matches(request.scope)[0] is not Match.NONE


async def _unexpected(request: Request, error: Exception) -> Response:
    """A mistake of ours: whoever runs the broker finds it in the log, the client hears of it."""
    return problem(HttpError("the broker made a mistake; its log says more", status=500))
