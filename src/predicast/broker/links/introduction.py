"""The first frame of each side of a link, before their routers speak: who is there.

::

    {"link": 1, "name": "core", "level": 0}
    {"link": 1, "refused": "NotAllowedError", "reason": "..."}

The one that was called says it first, because its caller knows no more than an address.
"""

from __future__ import annotations

from typing import Final

import msgspec

from predicast.errors import NotAllowedError, NotConnectedError, ProtocolError
from predicast.routing.options import is_name

VERSION: Final = 1
_MAX_BYTES: Final = 10_000
_MAX_LEVEL: Final = 1 << 20


class Introduction(msgspec.Struct, frozen=True, omit_defaults=True):
    """A broker's name and level, or why it does not want to speak."""

    link: int
    name: str = ""
    level: int = 0
    refused: str = ""
    reason: str = ""


def introduced(name: str, level: int) -> bytes:
    """What a broker says of itself."""
    return msgspec.json.encode(Introduction(VERSION, name, level))


def refused(error: str, reason: str) -> bytes:
    """What a broker says that does not want the link."""
    return msgspec.json.encode(Introduction(VERSION, refused=error, reason=reason[:1_000]))


def read_introduction(data: bytes) -> Introduction:
    """Who is there; raises what it was refused for, and a ``ProtocolError`` if it is no link."""
    if len(data) > _MAX_BYTES:
        raise ProtocolError(f"an introduction of {len(data)} bytes", field="link")
    try:
        said = msgspec.json.decode(data, type=Introduction)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ProtocolError(f"no introduction of a broker: {error}", field="link") from error
    if said.link != VERSION:
        raise ProtocolError(
            f"the other broker speaks version {said.link} of links, and this one {VERSION}",
            field="link",
        )
    if said.refused == NotAllowedError.__name__:
        raise NotAllowedError(said.reason, scope="link")
    if said.refused:
        raise NotConnectedError(said.reason)
    if not is_name(said.name) or not 0 <= said.level < _MAX_LEVEL:
        raise ProtocolError("a broker introduces itself by a name and a level", field="name")
    return said
