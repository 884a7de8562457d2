"""The dialects of CloudEvents do what any dialect does."""

from __future__ import annotations

from typing import Any

from predicast.testing import DialectConformance

EVENTS: tuple[dict[str, Any], ...] = (
    {"type": "com.example.sold", "source": "/shop", "subject": "a", "hop": 5, "ttl": "10"},
    {"type": "com.example.sent", "source": "/shop/1", "urgent": True, "hop": "5"},
    {"type": "other", "source": "/else", "hop": "five", "ttl": 3},
)


class TestCesql(DialectConformance):
    dialect = "cesql"
    texts = (
        "type = 'com.example.sold' AND hop < ttl",
        "source LIKE '/shop%' OR NOT EXISTS subject",
        "hop IN (4, 5) AND urgent = TRUE",
        "NOT (type = 'other') XOR LENGTH(source) > 5",
        "urgent",
    )
    events = EVENTS


class TestFilters(DialectConformance):
    dialect = "cloudevents"
    texts = (
        '{"exact": {"type": "com.example.sold", "hop": "5"}}',
        '[{"prefix": {"source": "/shop"}}, {"not": {"suffix": {"type": "sent"}}}]',
        '{"any": [{"sql": "hop < ttl"}, {"all": [{"exact": {"urgent": "true"}}]}]}',
        '{"not": {"sql": "hop = 5"}}',
    )
    events = EVENTS
