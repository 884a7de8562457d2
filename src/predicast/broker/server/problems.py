"""Errors as problem details (RFC 9457): what went wrong, where, and what would be right.

Besides the members of the standard a problem has ``error``, the name of the class in
``predicast.errors``, and that class's fields, so that a client raises the very same error.
"""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import Final

import msgspec
from starlette.responses import Response

from predicast.errors import (
    BackendError,
    ChangedMeanwhileError,
    DuplicateIdError,
    HttpError,
    LimitReachedError,
    NotAllowedError,
    PredicastError,
    UnknownIdError,
)
from predicast.protocol.errors import described

_TOO_LARGE: Final = HTTPStatus(413)  # whose name differs between versions of Python
_UNPROCESSABLE: Final = HTTPStatus(422)
MEDIA: Final = "application/problem+json"

_STATUSES: Final[tuple[tuple[type[PredicastError], HTTPStatus], ...]] = (
    (UnknownIdError, HTTPStatus.NOT_FOUND),
    (DuplicateIdError, HTTPStatus.CONFLICT),
    (ChangedMeanwhileError, HTTPStatus.CONFLICT),
    (BackendError, HTTPStatus.SERVICE_UNAVAILABLE),
    (PredicastError, HTTPStatus.BAD_REQUEST),
)


def status_of(error: PredicastError) -> HTTPStatus:
    """The status that says best what the error is."""
    if isinstance(error, HttpError):
        return HTTPStatus(error.status or HTTPStatus.BAD_REQUEST)
    if isinstance(error, NotAllowedError):
        return HTTPStatus.UNAUTHORIZED if error.scope is None else HTTPStatus.FORBIDDEN
    if isinstance(error, LimitReachedError):
        if error.wait_s is not None:
            return HTTPStatus.TOO_MANY_REQUESTS
        is_size = error.what == "bytes of a body"
        return _TOO_LARGE if is_size else _UNPROCESSABLE
    return next(status for kind, status in _STATUSES if isinstance(error, kind))


def problem(error: PredicastError) -> Response:
    """The response to a request that was refused."""
    status = status_of(error)
    name, message, fields = described(error)
    headers = {}
    if isinstance(error, HttpError) and error.allow is not None:
        headers["Allow"] = error.allow
    if status is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="predicast"'
    if isinstance(error, LimitReachedError) and error.wait_s is not None:
        headers["Retry-After"] = str(math.ceil(error.wait_s))
    document = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": message,
        "error": name,
        **{key: value for key, value in fields.items() if key not in {"status", "type", "title"}},
    }
    return Response(msgspec.json.encode(document), status, headers, MEDIA)
