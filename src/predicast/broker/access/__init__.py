"""Who may do what with a broker, and how much of it: tokens, scopes, limits, start-up checks."""

from predicast.broker.access.access import Access
from predicast.broker.access.buckets import TokenBucket
from predicast.broker.access.exposure import check_exposure
from predicast.broker.access.grants import ADMIN, LINK, PUBLISH, SCOPES, SUBSCRIBE, Grant
from predicast.broker.access.limits import Limits
from predicast.broker.access.tokens import TokenFile

__all__ = [
    "ADMIN",
    "LINK",
    "PUBLISH",
    "SCOPES",
    "SUBSCRIBE",
    "Access",
    "Grant",
    "Limits",
    "TokenBucket",
    "TokenFile",
    "check_exposure",
]
