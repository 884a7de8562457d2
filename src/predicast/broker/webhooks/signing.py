"""Signatures of webhooks, as Standard Webhooks has them.

A request says its id, when it was made, and a signature of both and the body: so that whoever has
the secret knows that it is genuine, and can refuse one that is sent again much later.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from typing import Final

_PREFIX: Final = "whsec_"
_VERSION: Final = "v1"
_TOLERANCE_S: Final = 300.0


def sign(secret: str, id: str, at: float, body: bytes) -> dict[str, str]:
    """The headers of a request that is signed.

    >>> sign("whsec_c2VjcmV0", "msg_1", 1614265330, b"{}")["webhook-timestamp"]
    '1614265330'
    """
    timestamp = str(int(at))
    return {
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": f"{_VERSION},{_signature(secret, id, timestamp, body)}",
    }


def verify(
    secret: str,
    headers: Mapping[str, str],
    body: bytes,
    now: float,
    tolerance_s: float = _TOLERANCE_S,
) -> bool:
    """Whether a request is genuine and recent; headers by their names in lower case."""
    id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) < 16):
        return False
    wanted = f"{_VERSION},{_signature(secret, id, timestamp, body)}"
    given = headers.get("webhook-signature", "").split(" ")
    genuine = [hmac.compare_digest(wanted.encode(), each.encode()) for each in given]
    return any(genuine) and abs(now - int(timestamp)) <= tolerance_s


def _signature(secret: str, id: str, timestamp: str, body: bytes) -> str:
    signed = f"{id}.{timestamp}.".encode() + body
    return base64.b64encode(hmac.digest(_key(secret), signed, hashlib.sha256)).decode("ascii")


def _key(secret: str) -> bytes:
    """The bytes of a secret: Base64 behind ``whsec_``, else its characters."""
    if secret.startswith(_PREFIX):
        try:
            return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
        except (binascii.Error, ValueError):
            pass
    return secret.encode()
