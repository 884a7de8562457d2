"""``Call``: one request, with what was found out about it before its operation runs."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, get_args

import msgspec
from starlette.requests import ClientDisconnect, Request

from predicast.broker.access import Grant, Limits
from predicast.errors import (
    HttpError,
    InvalidValueError,
    LimitReachedError,
    ProtocolError,
    shortened,
    suggest,
)
from predicast.language import timestamp
from predicast.language.not_json import why_not_json
from predicast.language.reading import WHERE

if TYPE_CHECKING:
    from predicast.broker.access.limited_tenant import LimitedTenant
    from predicast.broker.server.state import ServerState

T = TypeVar("T")
_UNKNOWN: Final = re.compile(r"unknown field `(?P<name>[^`]*)`")
_PLACE: Final = re.compile(r"at `(?P<place>[^`]*)`")
_MOST_OBJECTS: Final = 1_000_000  # of a body; a small one may be many times as large when decoded
_ALSO_WHERE: Final = {"expression", "filter", "predicate", "query", "rule"}  # as others call it
_YES: Final = {"1": True, "true": True, "": True, "0": False, "false": False}


class Parameter(NamedTuple):
    """A parameter of a query: what it is called, what it takes, and what it is for."""

    name: str
    kind: str  # of JSON Schema: string, integer, number, boolean
    about: str
    low: float | None = None
    high: float | None = None


class Call(NamedTuple):
    """A request of somebody who may make it."""

    request: Request
    grant: Grant
    tenant: LimitedTenant
    state: ServerState

    @property
    def limits(self) -> Limits:
        """How much it may ask for."""
        return self.tenant.limits

    @property
    def id(self) -> str:
        """The subscription of the path."""
        return str(self.request.path_params["id"])

    async def body(self) -> bytes:
        """The whole body, if it is not too long."""
        limit = self.limits.body_bytes
        encoding = self.request.headers.get("content-encoding", "identity")
        if encoding != "identity":
            raise HttpError(
                f"bodies are taken as they are, not as {shortened(encoding)}",
                status=HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            )
        stated = self.request.headers.get("content-length", "")
        if stated.isdecimal() and int(stated) > limit:
            raise _too_long(int(stated), limit)
        chunks, length = [], 0
        try:
            async for chunk in self.request.stream():
                length += len(chunk)
                if length > limit:
                    raise _too_long(length, limit)
                chunks.append(chunk)
        except ClientDisconnect:
            raise ProtocolError("the body ended before it was complete") from None
        return b"".join(chunks)

    async def read(self, kind: type[T]) -> T:
        """The body, JSON, as what it has to be."""
        return decoded_as(await self.body(), kind, self.limits.depth)

    def query(self, name: str) -> str | None:
        """A parameter of the query, as text."""
        given = self.request.query_params.getlist(name)
        if len(given) > 1:
            raise ProtocolError(f"{name} is given {len(given)} times in the query", field=name)
        return given[0] if given else None

    def integer(self, name: str, default: int, low: int = 0, high: int = 2**63 - 1) -> int:
        """A parameter that is a whole number."""
        text = self.query(name)
        if text is None:
            return default
        if re.fullmatch(r"-?[0-9]{1,19}", text, re.ASCII) is None or not low <= int(text) <= high:
            raise ProtocolError(
                f"{name} is a whole number from {low} to {high}, not {shortened(text)}", field=name
            )
        return int(text)

    def flag(self, name: str) -> bool:
        """A parameter that is true or false."""
        text = self.query(name)
        if text is not None and text.lower() not in _YES:
            raise ProtocolError(f"{name} is 1 or 0, not {shortened(text)}", field=name)
        return text is not None and _YES[text.lower()]

    def time(self, name: str) -> float | None:
        """A parameter that is an instant."""
        text = self.query(name)
        return None if text is None else instant(text, name)


def instant(given: str | float, field: str) -> float:
    """Seconds since 1970, as such or as text like ``2026-11-16T12:00:00Z``."""
    try:
        seconds = float(given)
    except ValueError:
        assert isinstance(given, str)
        try:
            return timestamp(given).timestamp()
        except InvalidValueError:
            seconds = float("nan")
    if not -1e11 < seconds < 1e11:
        raise ProtocolError(
            f"{field} is an instant, such as 2026-11-16T12:00:00Z or seconds since 1970, "
            f"not {shortened(given)}",
            field=field,
        )
    return seconds


def check_query(request: Request, known: Iterable[Parameter]) -> None:
    """Refuse parameters that nobody would look at."""
    names = [each.name for each in known]
    for name in request.query_params:
        if name not in names:
            close = suggest(name, names)
            there = f"there are {', '.join(names)}" if names else "there is none"
            hint = f"did you mean {close!r}?" if close else there
            raise ProtocolError(
                f"there is no parameter {shortened(name)} here; {hint}", field=shortened(name)
            )


def decoded_as(body: bytes, kind: type[T], depth: int) -> T:
    """JSON as what it has to be; an error says where it is not."""
    check_depth(body, depth)
    if body.count(b"{") > _MOST_OBJECTS:
        raise LimitReachedError(
            f"a body has at most {_MOST_OBJECTS:,} objects", what="objects", limit=_MOST_OBJECTS
        )
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except msgspec.ValidationError as error:
        raise _refused(str(error), kind) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ProtocolError(f"the body is not JSON: {why_not_json(body, error)}") from None


def _refused(message: str, kind: Any) -> ProtocolError:
    place = _PLACE.search(message)
    where = place["place"] if place else "$"
    unknown = _UNKNOWN.search(message)
    if unknown is None:
        words = _words(kind, where.rpartition(".")[2]) if "enum" in message else []
        right = f"; it is one of {', '.join(words)}" if words else ""
        return ProtocolError(f"the body is not what it has to be: {message}{right}", field=where)
    name = unknown["name"]
    known = sorted(set(_names(kind)))
    close = WHERE if name in _ALSO_WHERE and WHERE in known else suggest(name, known)
    hint = f"did you mean {close!r}?" if close else f"there are {', '.join(known)}"
    return ProtocolError(f"there is no field {shortened(name)} at {where}; {hint}", field=where)


def _names(kind: Any) -> Iterator[str]:
    """All names of fields that may stand anywhere in a type."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        for field in msgspec.structs.fields(kind):
            yield field.encode_name
            yield from _names(field.type)
    for part in get_args(kind):
        yield from _names(part)


def _words(kind: Any, name: str) -> list[str]:
    """The words that a field of this name takes, wherever in a type it stands."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        for field in msgspec.structs.fields(kind):
            if field.encode_name == name:
                return [
                    str(word)
                    for part in get_args(field.type) or (field.type,)
                    if isinstance(part, type) and issubclass(part, enum.Enum)
                    for word in part
                ]
            if found := _words(field.type, name):
                return found
    return next((found for part in get_args(kind) if (found := _words(part, name))), [])


def check_depth(body: bytes, limit: int) -> None:
    """Refuse JSON whose lists and objects stand too deep within one another.

    Brackets inside strings do not count; they are only looked for where there are enough of them.
    """
    if body.count(b"{") + body.count(b"[") <= limit:
        return
    depth = 0
    for token in _TOKENS.finditer(body):
        match token[0]:
            case b"{" | b"[":
                depth += 1
                if depth > limit:
                    raise ProtocolError(
                        f"lists and objects stand more than {limit} deep within one another"
                    )
            case b"}" | b"]":
                depth -= 1


# A string that does not end is one up to the end, so that no text is looked at twice.
_TOKENS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{},]', re.DOTALL)


def count_listed(body: bytes, most: int) -> int:
    """How many elements a list in JSON has, or more than that many; nothing is made of them."""
    depth, count = 0, 1
    for token in _TOKENS.finditer(body):
        match token[0]:
            case b"{" | b"[":
                depth += 1
            case b"}" | b"]":
                depth -= 1
            case b",":
                count += depth == 1
                if count > most:
                    break
    return count


def _too_long(actual: int, limit: int) -> LimitReachedError:
    return LimitReachedError(
        f"a body has at most {limit:,} bytes, and this one has {actual:,} or more",
        what="bytes of a body",
        limit=limit,
        actual=actual,
    )
