"""Everything that can be asked of a broker over HTTP, in one table.

Routes and the OpenAPI document are both made from it, so that neither can say what the other does
not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, Final, NamedTuple, TypeAlias

from starlette.types import ASGIApp

from predicast.broker.access import ADMIN, PUBLISH, SUBSCRIBE
from predicast.broker.links import LinksStatus
from predicast.broker.server import delivering, publishing, subscribing, watching
from predicast.broker.server import documents as told
from predicast.broker.server import subscription_documents as subscriptions
from predicast.broker.server.bodies import MEDIA_TYPES
from predicast.broker.server.call import Call, Parameter

Handler: TypeAlias = Callable[[Call], Awaitable[ASGIApp]]


class Operation(NamedTuple):
    """One thing that can be asked: where, by whom, with what, and what comes back."""

    method: str
    path: str
    handler: Handler
    scope: str | None
    takes: Any = None  # the type of a body in JSON, or the media types of a body of events
    gives: Any = None  # the type of what comes back in JSON, or several, or its media type
    query: tuple[Parameter, ...] = ()
    headers: tuple[Parameter, ...] = ()
    status: HTTPStatus = HTTPStatus.OK
    media: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """What it is for."""
        return (self.handler.__doc__ or "").strip()


_MOST: Final = Parameter("most", "integer", "How many, at most.", 1, 1000)
_AFTER: Final = Parameter("after", "integer", "After this position.", 0)
_SINCE: Final = Parameter(
    "since", "string", "From this instant on: 2026-11-16T12:00:00Z, or seconds since 1970."
)
_ID: Final = "/subscriptions/{id}"
_EVENT_HEADERS: Final = (
    Parameter("Predicast-Event-Id", "string", "By which a repeat is known; of a batch, a prefix."),
    Parameter("Predicast-Publisher", "string", "Who publishes, if events do not say."),
)

OPERATIONS: Final = (
    Operation(
        "POST",
        "/events",
        publishing.publish,
        PUBLISH,
        gives=(told.Published, told.Tried),  # the latter of a dry run
        query=(
            Parameter("dry_run", "boolean", "Deliver nothing; say who would get them, and why."),
            Parameter("near", "boolean", "In a dry run: who missed it by one test, too."),
            Parameter("most", "integer", "Recipients that a dry run tells of.", 1, 10_000),
        ),
        headers=_EVENT_HEADERS,
        media=tuple(MEDIA_TYPES),
    ),
    Operation(
        "GET",
        "/events",
        publishing.list_events,
        SUBSCRIBE,
        gives=told.KeptEvents,
        query=(_AFTER, _SINCE, _MOST),
    ),
    Operation("GET", "/events/{position}", publishing.get_event, SUBSCRIBE, gives=told.KeptEvent),
    Operation(
        "POST", "/explain", publishing.explain, SUBSCRIBE, takes=told.Explain, gives=told.Explained
    ),
    Operation(
        "GET",
        "/subscriptions",
        subscribing.list_subscriptions,
        SUBSCRIBE,
        gives=subscriptions.Subscriptions,
        query=(
            Parameter("owner", "string", "Of this owner."),
            Parameter("text", "string", "With this text in the id or the expression."),
            Parameter("after", "string", "After this id."),
            _MOST,
        ),
    ),
    Operation(
        "POST",
        "/subscriptions",
        subscribing.create,
        SUBSCRIBE,
        takes=subscriptions.SubscriptionDocument,
        gives=subscriptions.SubscriptionDocument,
        status=HTTPStatus.CREATED,
    ),
    Operation(
        "POST",
        "/subscriptions:apply",
        subscribing.apply,
        SUBSCRIBE,
        takes=subscriptions.Window,
        gives=subscriptions.WindowReport,
    ),
    Operation(
        "GET",
        f"{_ID}/deliveries",
        delivering.stream,
        SUBSCRIBE,
        gives="text/event-stream",
        query=(_AFTER, _SINCE),
        headers=(Parameter("Last-Event-ID", "string", "The last position that was seen."),),
    ),
    Operation(
        "POST", f"{_ID}/pull", delivering.pull, SUBSCRIBE, takes=told.Pull, gives=told.Pulled
    ),
    Operation(
        "POST",
        f"{_ID}/acknowledge",
        delivering.acknowledge,
        SUBSCRIBE,
        takes=told.Acknowledge,
        status=HTTPStatus.NO_CONTENT,
    ),
    Operation(
        "POST",
        f"{_ID}/release",
        delivering.release,
        SUBSCRIBE,
        status=HTTPStatus.NO_CONTENT,
    ),
    Operation(
        "POST",
        f"{_ID}/replay",
        delivering.replay,
        SUBSCRIBE,
        takes=told.Replay,
        status=HTTPStatus.NO_CONTENT,
    ),
    Operation(
        "GET",
        f"{_ID}/dead-letters",
        delivering.dead_letters,
        SUBSCRIBE,
        gives=told.DeadLetters,
        query=(_MOST,),
    ),
    Operation(
        "POST",
        f"{_ID}/dead-letters/retry",
        delivering.retry,
        SUBSCRIBE,
        takes=told.Retry,
        gives=told.Retried,
    ),
    Operation(
        "PUT",
        f"{_ID}/parameters",
        subscribing.adjust,
        SUBSCRIBE,
        takes=dict[str, Any],
        gives=subscriptions.SubscriptionDocument,
    ),
    Operation(
        "POST",
        f"{_ID}/pause",
        subscribing.pause,
        SUBSCRIBE,
        gives=subscriptions.SubscriptionDocument,
    ),
    Operation(
        "POST",
        f"{_ID}/resume",
        subscribing.resume,
        SUBSCRIBE,
        gives=subscriptions.SubscriptionDocument,
    ),
    Operation("GET", _ID, subscribing.get, SUBSCRIBE, gives=subscriptions.SubscriptionDocument),
    Operation(
        "PUT",
        _ID,
        subscribing.replace,
        SUBSCRIBE,
        takes=subscriptions.SubscriptionDocument,
        gives=subscriptions.SubscriptionDocument,
    ),
    Operation(
        "PATCH",
        _ID,
        subscribing.change,
        SUBSCRIBE,
        takes=subscriptions.SubscriptionChange,
        gives=subscriptions.SubscriptionDocument,
    ),
    Operation("DELETE", _ID, subscribing.delete, SUBSCRIBE, status=HTTPStatus.NO_CONTENT),
    Operation(
        "GET",
        "/dead-letters",
        delivering.dead_letters,
        SUBSCRIBE,
        gives=told.DeadLetters,
        query=(_MOST,),
    ),
    Operation("GET", "/statistics", watching.statistics, ADMIN, gives=dict[str, float]),
    Operation("GET", "/links", watching.links, ADMIN, gives=LinksStatus),
    Operation("GET", "/metrics", watching.metrics, ADMIN, gives="text/plain"),
)
