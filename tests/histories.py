"""Histories of changes, for the tests of matchers: what a step does depends on what is held."""

from __future__ import annotations

from predicast.matching import Matcher
from predicast.model import Subscription


def take_step(
    matcher: Matcher, keys: set[int], key: int, subscription: Subscription | None
) -> None:
    """Subscribe a new key, change one that is held, or without a subscription give it up.

    ``keys`` are those that are held; a matcher that refuses leaves them as they were.
    """
    if subscription is None:
        if key in keys:
            matcher.unsubscribe(key)
            keys.discard(key)
    elif key in keys:
        matcher.change(key, subscription)
    else:
        matcher.subscribe(key, subscription)
        keys.add(key)
