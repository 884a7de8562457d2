"""Whether a broker may be started where others can reach it, and who may speak to an open one.

Without tokens a broker listens on loopback only. Even there, a page in the user's own browser could
make requests: so whoever asks without a token must have been told our address (``Host``, against
names that are made to resolve to loopback), and must not be a page from elsewhere (``Origin``).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from predicast.errors import InvalidOptionError, NotAllowedError, shortened


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches it.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("::")
    (True, True, True, False)
    """
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_exposure(host: str, *, has_tokens: bool, insecure: bool, where: str = "") -> None:
    """Refuse to listen where others can reach a broker that asks nobody who they are.

    ``where`` are the options by which `predicast token` finds the broker's tokens.
    """
    if has_tokens or insecure or is_loopback(host):
        return
    raise InvalidOptionError(
        f"{host} can be reached from other machines, and there is no token yet. Make one with\n"
        f"  predicast token add me --scope admin{where}\n"
        "and start again; or say --insecure, and everybody who reaches it may do everything",
        option="host",
    )


def check_caller(headers: Mapping[str, str], *, is_local: bool) -> None:
    """Refuse pages from elsewhere, and, if the broker is on loopback, names from elsewhere."""
    host = headers.get("host", "")
    name = _name(host)
    if is_local and not is_loopback(name):
        raise NotAllowedError(
            f"this broker is called localhost, not {shortened(name)}: without tokens it answers "
            "to nobody who was told another name"
        )
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
        raise NotAllowedError(
            f"without tokens, pages from elsewhere may not use the broker, and {shortened(origin)} "
            "is elsewhere"
        )


def _name(host: str) -> str:
    """Without the port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
