"""Two small files for ``predicast match``, and what is to be found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SUBSCRIPTIONS = """\
{"id": "cheap", "expression": "price < 10", "owner": "alice"}
{"id": "ibm", "expression": "symbol = 'IBM' AND price < 100"}

{"id": 7, "subscription": {"any": [{"all": [{"attribute": "x", "operator": "<", "value": 5}]}]}}
"""
EVENTS = """\
{"symbol": "IBM", "price": 9.5}
{"symbol": "SAP", "price": 99}

{"symbol": "IBM", "price": 99, "x": {"$interval": {"lo": 4, "hi": 6}}}
"""
MATCHED = [
    {"event": 0, "subscriptions": ["cheap", "ibm"]},
    {"event": 2, "subscriptions": ["7", "ibm"]},
]


def write_files(folder: Path) -> None:
    (folder / "s.jsonl").write_text(SUBSCRIPTIONS, encoding="utf-8")
    (folder / "e.jsonl").write_text(EVENTS, encoding="utf-8")


def json_lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]
