"""EventBridge patterns of mixed kinds over events of a cloud, with the same in ``where``.

Each pattern asks for a source, a type and some fields of the detail, as rules do. The events of the
table are without arrays, as an engine sees most; those for Event Ruler have the arrays that such
events come with: resources, tags, and objects in an array.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, Final

from bench.real.workload import Workload

_SOURCES: Final = ("ec2", "s3", "sqs", "sns", "ecs", "rds", "iam", "kms", "glue", "batch")
_TYPES: Final = 40
_STATES: Final = ("pending", "running", "stopping", "stopped")

_Detail = tuple[dict[str, Any], str]
# A number that tells patterns apart, and what it asks of the detail, in a pattern and in ``where``.
_KINDS: Final[tuple[Callable[[int], _Detail], ...]] = (
    lambda n: (
        {"id": [f"i-{n}"], "state": ["running", "stopped"]},
        f"detail.id = 'i-{n}' AND detail.state IN ('running', 'stopped')",
    ),
    lambda n: ({"name": [{"prefix": f"job-{n}/"}]}, f"startswith(detail.name, 'job-{n}/')"),
    lambda n: ({"name": [{"suffix": f"-{n}.log"}]}, f"endswith(detail.name, '-{n}.log')"),
    lambda n: ({"name": [{"wildcard": f"*/{n}/*"}]}, f"detail.name LIKE '%/{n}/%'"),
    lambda n: (
        {"count": [{"numeric": [">", n % 90, "<=", n % 90 + 5]}], "zone": [f"z{n % 200}"]},
        f"detail.count > {n % 90} AND detail.count <= {n % 90 + 5} AND detail.zone = 'z{n % 200}'",
    ),
    lambda n: (
        {"user": [{"equals-ignore-case": f"User-{n}"}]},
        f"lower(detail.user) = 'user-{n}'",
    ),
    lambda n: (
        {"ip": [{"cidr": f"10.{n % 250}.{n % 240 // 16 * 16}.0/20"}], "id": [{"exists": True}]},
        # ip_in says the same, and would be computed for each of the networks.
        f"{_within(n)} AND detail.id IS NOT NULL",
    ),
    lambda n: (
        {"zone": [f"z{n % 200}"], "state": [{"anything-but": ["running", "stopped"]}]},
        f"detail.zone = 'z{n % 200}' AND detail.state NOT IN ('running', 'stopped')",
    ),
    lambda n: (
        {"zone": [f"z{n % 200}"], "$or": [{"id": [f"i-{n}"]}, {"error": [{"exists": True}]}]},
        f"detail.zone = 'z{n % 200}' AND (detail.id = 'i-{n}' OR detail.error IS NOT NULL)",
    ),
    lambda n: (
        {"code": [n % 1000], "error": [{"exists": False}]},
        f"detail.code = {n % 1000} AND detail.error IS NULL",
    ),
)


def _within(number: int) -> str:
    return f"ip_digits(detail.ip) BETWEEN '{_digits(number, 0)}' AND '{_digits(number, 0xFFF)}'"


def _digits(number: int, host: int) -> str:
    """An address in the network of a pattern, as ``ip_digits`` has it."""
    return f"4{(10 << 24) + (number % 250 << 16) + (number % 240 // 16 * 16 << 8) + host:08x}"


def eventbridge_workload(subscriptions: int, events: int, seed: int) -> Workload:
    """As many patterns, and as many events."""
    texts, where = [], []
    for number in range(subscriptions):
        detail, condition = _KINDS[number % len(_KINDS)](number)
        source, type_ = _origin(number)
        pattern = {"source": [source], "detail-type": [type_], "detail": detail}
        texts.append(json.dumps(pattern))
        where.append(f"source = '{source}' AND `detail-type` = '{type_}' AND {condition}")
    chance = random.Random(seed)
    made = [_event(chance, subscriptions) for _ in range(events)]
    return Workload(texts, where, made)


def documents(subscriptions: int, events: int, seed: int) -> list[dict[str, Any]]:
    """Such events as they come: each with resources, one in five with arrays that matter."""
    chance = random.Random(seed)
    return [_document(chance, subscriptions) for _ in range(events)]


def _origin(number: int) -> tuple[str, str]:
    return f"aws.{_SOURCES[number % 7]}", f"Type {number % _TYPES}"


def _event(chance: random.Random, subscriptions: int) -> dict[str, Any]:
    number = chance.randrange(subscriptions)
    source, type_ = _origin(number)
    detail: dict[str, Any] = {
        "id": f"i-{number}",
        "state": chance.choice(_STATES),
        "name": f"job-{number}/{number}/run-{number}.log",
        "count": chance.randrange(100),
        "zone": f"z{number % 200}",
        "user": f"USER-{number}",
        "ip": f"10.{number % 250}.{chance.randrange(256)}.7",
        "code": number % 1000,
    }
    if chance.random() < 0.1:
        detail["error"] = "Timeout"
    return {"version": "0", "source": source, "detail-type": type_, "detail": detail}


def _document(chance: random.Random, subscriptions: int) -> dict[str, Any]:
    event = _event(chance, subscriptions)
    detail = event["detail"]
    event["resources"] = [f"arn:aws:instance/{detail['id']}"]
    if chance.random() < 0.2:
        detail["id"] = [detail["id"], f"i-{chance.randrange(subscriptions)}"]
        detail["tags"] = [{"key": "team", "value": "a"}, {"key": "cost", "value": "b"}]
    return event
