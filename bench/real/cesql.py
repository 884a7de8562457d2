"""CESQL expressions of mixed kinds over events as they are in a shop, with the same in ``where``.

Events are of one of many types and come from one of many sources; all their attributes are strings,
as most of those of CloudEvents are, but for ``hop``. A ``where`` text means the same to these
events: it need not ask for what they all have, and casts where CESQL does so by itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

from bench.real.workload import Workload

_TYPES: Final = 200
_REGIONS: Final = ("eu-west", "eu-north", "us-east", "us-west", "asia")

# A number that tells subscriptions apart, and what it makes in CESQL and in ``where``.
_KINDS: Final[tuple[Callable[[int], tuple[str, str]], ...]] = (
    lambda n: (
        f"type = '{_type(n)}' AND source = '/shop/{n}'",
        f"type = '{_type(n)}' AND source = '/shop/{n}'",
    ),
    lambda n: (
        f"source LIKE '/shop/{n}/%' AND region IN ('eu-west', 'us-east')",
        f"source LIKE '/shop/{n}/%' AND region IN ('eu-west', 'us-east')",
    ),
    lambda n: (
        f"type = '{_type(n)}' AND hop < {n % 9 + 1} AND subject = 'order-{n}'",
        f"type = '{_type(n)}' AND hop < {n % 9 + 1} AND subject = 'order-{n}'",
    ),
    lambda n: (
        f"subject = 'order-{n}' OR subject = 'invoice-{n}'",
        f"subject = 'order-{n}' OR subject = 'invoice-{n}'",
    ),
    lambda n: (
        f"subject = 'order-{n}' AND INT(ttl) > {n % 30}",
        f"subject = 'order-{n}' AND CAST(ttl AS INT) > {n % 30}",
    ),
    lambda n: (
        f"LOWER(region) = 'eu-west' AND subject = 'order-{n}' AND NOT EXISTS trace",
        f"lower(region) = 'eu-west' AND subject = 'order-{n}' AND trace IS NULL",
    ),
    lambda n: (
        f"type LIKE '%.sold{n % _TYPES}' AND source = '/shop/{n}' AND NOT (region = 'asia')",
        f"type LIKE '%.sold{n % _TYPES}' AND source = '/shop/{n}' AND region != 'asia'",
    ),
    lambda n: (
        f"source = '/shop/{n}' AND LENGTH(subject) > {n % 12} AND region NOT IN ('asia', 'us')",
        f"source = '/shop/{n}' AND length(subject) > {n % 12} AND region NOT IN ('asia', 'us')",
    ),
    lambda n: (
        f"source = '/shop/{n}' AND INT(hop) < INT(ttl)",
        f"source = '/shop/{n}' AND CAST(hop AS INT) < CAST(ttl AS INT)",
    ),
)


def _type(number: int) -> str:
    return f"com.example.sold{number % _TYPES}"


def cesql_workload(subscriptions: int, events: int, seed: int) -> Workload:
    """As many expressions, and as many events."""
    pairs = [_KINDS[number % len(_KINDS)](number) for number in range(subscriptions)]
    chance = random.Random(seed)
    return Workload(
        [text for text, _ in pairs],
        [where for _, where in pairs],
        [_event(chance, subscriptions) for _ in range(events)],
    )


def _event(chance: random.Random, subscriptions: int) -> dict[str, Any]:
    number = chance.randrange(subscriptions)
    folder = f"/{chance.randrange(1000)}" if chance.random() < 0.3 else ""
    event = {
        "specversion": "1.0",
        "id": f"{chance.randrange(16**12):012x}",
        "source": f"/shop/{number}{folder}",
        "type": _type(number),
        "subject": f"{chance.choice(('order', 'invoice'))}-{number}",
        "region": chance.choice(_REGIONS),
        "hop": chance.randrange(10),
        "ttl": str(chance.randrange(32)),
    }
    return event if chance.random() < 0.5 else {**event, "trace": "00-4bf92f"}
