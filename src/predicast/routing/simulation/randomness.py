"""Chance, by name: whoever draws has numbers of their own, which depend on the seed alone.

One more draw in one place changes nothing elsewhere, so that two runs that differ in a fault still
have the same tree, the same subscriptions and the same events.
"""

from __future__ import annotations

from random import Random


def random_of(seed: int, name: str) -> Random:
    """The numbers of whoever has this name."""
    return Random(f"{seed} {name}")  # a text is hashed in full, the same in every process
