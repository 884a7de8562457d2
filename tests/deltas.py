"""Deltas of subscriptions that are objects, for tests of matchers."""

from collections.abc import Iterable, Mapping
from typing import NoReturn

from predicast.matching.delta import Delta
from predicast.model import Subscription
from predicast.model.outline import outlined


def delta(
    *,
    added: Mapping[int, Subscription] | None = None,
    changed: Mapping[int, Subscription] | None = None,
    removed: Iterable[int] = (),
) -> Delta:
    return Delta(
        list(removed),
        [(key, outlined(each)) for key, each in (added or {}).items()],
        [(key, outlined(each)) for key, each in (changed or {}).items()],
    )


def unasked(key: int) -> NoReturn:
    raise AssertionError(f"nobody needs to know what {key} was")
