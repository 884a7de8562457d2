"""Where webhooks may go: what a sink's address must look like, and which machines are private."""

from __future__ import annotations

import contextlib
import ipaddress
import re
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from predicast.errors import NotAllowedError, ProtocolError, shortened

_MAX_URL: Final = 2048
_MAX_HEADERS: Final = 32
_MAX_HEADER: Final = 4096
_PORTS: Final = {"http": 80, "https": 443}
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}", re.ASCII)
_VALUE: Final = re.compile(r"[\t\x20-\x7e]*", re.ASCII)
_URL: Final = re.compile(r"[\x21-\x7e]+", re.ASCII)
# Of the connection, and of the signature: they are ours to say.
_RESERVED: Final = frozenset(
    {
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "upgrade",
        "te",
        "trailer",
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
    }
)
# What `is_global` of the standard library lets through, and yet leads inside.
_INSIDE: Final = tuple(
    map(ipaddress.ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"))
)


class Sink(NamedTuple):
    """A webhook's address, taken apart."""

    scheme: str
    host: str
    port: int
    target: str  # the path and the query

    @property
    def origin(self) -> str:
        """The server that it is on."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{name}:{self.port}"


NATS_SINK: Final = "nats:"  # of subscriptions whose deliveries go to a subject of NATS


def is_webhook(url: str) -> bool:
    """Whether it is pushed to over HTTP; a backend may have sinks of its own, such as ``nats:``."""
    return url != NATS_SINK


def check_sink(url: str) -> Sink:
    """The address taken apart, if a webhook can be called by it."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise _refused(url, str(error)) from None
    if len(url) > _MAX_URL or _URL.fullmatch(url) is None:
        raise _refused(url, f"it has at most {_MAX_URL:,} characters, of ASCII and without spaces")
    if url == NATS_SINK:
        raise _refused(url, "that is for a broker with predicast serve --backend nats://…")
    if parts.scheme not in _PORTS or not parts.hostname:
        raise _refused(url, "it begins with https:// or http:// and the name of a machine")
    if parts.username is not None or parts.password is not None:
        raise _refused(_without_user(parts), "a name and a password do not belong into it")
    target = parts.path or "/"
    if parts.query:
        target += f"?{parts.query}"
    return Sink(parts.scheme, parts.hostname, port or _PORTS[parts.scheme], target)


def check_headers(headers: Mapping[str, str]) -> None:
    """Refuse headers that are ours to say, or that would break out of their line."""
    if len(headers) > _MAX_HEADERS:
        raise ProtocolError(
            f"a webhook has at most {_MAX_HEADERS} headers", field="$.protocolsettings.headers"
        )
    for name, value in headers.items():
        field = "$.protocolsettings.headers"
        if _NAME.fullmatch(name) is None or name.lower() in _RESERVED:
            raise ProtocolError(f"a webhook cannot have a header {shortened(name)}", field=field)
        if len(value) > _MAX_HEADER or _VALUE.fullmatch(value) is None:
            # Not shown: what stands in headers may be a secret.
            raise ProtocolError(
                f"the header {shortened(name)} has up to {_MAX_HEADER:,} characters of ASCII, "
                "on one line",
                field=field,
            )


def is_public(address: str) -> bool:
    """Whether an address is one of the internet's, and not of this machine or network.

    >>> is_public("93.184.216.34"), is_public("127.0.0.1"), is_public("169.254.169.254")
    (True, False, False)
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        mapped = found.ipv4_mapped
        if mapped is not None:
            return is_public(str(mapped))
        if any(found in network for network in _INSIDE):
            return False
    return found.is_global and not found.is_multicast and not found.is_reserved


def check_public(host: str, addresses: list[str]) -> list[str]:
    """The addresses, if all of them may be called."""
    for address in addresses:
        if not is_public(address):
            raise NotAllowedError(
                f"{host} is not on the internet, and webhooks go nowhere else; who runs the "
                "broker allows it by predicast serve --allow-private-webhooks",
                scope="private webhooks",
            )
    return addresses


def check_not_inside(url: str) -> None:
    """Refuse an address that is plainly this machine or network, when it is given.

    Where a name leads is looked at whenever it is called.
    """
    host = check_sink(url).host
    if host == "localhost" or host.endswith(".localhost"):
        check_public(host, ["127.0.0.1"])
    with contextlib.suppress(ValueError):
        check_public(host, [str(ipaddress.ip_address(host.partition("%")[0]))])


def _without_user(parts: SplitResult) -> str:
    return f"{parts.scheme}://…@{parts.hostname}{parts.path}"


def _refused(url: str, why: str) -> ProtocolError:
    return ProtocolError(f"{shortened(url)} is no address of a sink: {why}", field="$.sink")
