"""Where a broker's WebSocket is, given its address."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit, urlunsplit

from predicast.errors import InvalidOptionError, shortened

DEFAULT_PORT: Final = 8642
DEFAULT_URL: Final = f"http://localhost:{DEFAULT_PORT}"
_SCHEMES: Final = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}
PATH: Final = "/ws"


def websocket_url(url: str, path: str = PATH, *, option: str = "url") -> str:
    """The address of a WebSocket of the broker that is served at a URL.

    ``option`` is what the URL was given as, for whoever has to give another one.

    >>> websocket_url("http://localhost:8642")
    'ws://localhost:8642/ws'
    >>> websocket_url("broker.example")
    'ws://broker.example:8642/ws'
    """
    parts = urlsplit(url if "://" in url else f"http://{url}")
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in _SCHEMES or not parts.hostname or port == -1:
        raise InvalidOptionError(
            f"a broker's address is such as {DEFAULT_URL}, not {shortened(url)}", option=option
        )
    scheme = _SCHEMES[parts.scheme]
    host = parts.netloc if port or "://" in url else f"{parts.netloc}:{DEFAULT_PORT}"
    below = parts.path.rstrip("/")
    whole = below if below.endswith(path) else below + path
    return urlunsplit((scheme, host, whole, parts.query, ""))
