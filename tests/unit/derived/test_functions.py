"""Each function at its edges, by row and by column."""

from datetime import UTC, datetime
from typing import Any

import pytest

from predicast import Event
from predicast.derived import compiled
from predicast.language.where.parser import parse_scalar
from predicast.matching.batches.derived import with_derived
from predicast.matching.batches.event_batch import EventBatch

MOST, LEAST = 2**63 - 1, -(2**63)
AT = datetime(2026, 1, 31, 9, 30, 15, 250_000, tzinfo=UTC)
FIRST = datetime.min.replace(tzinfo=UTC)
LAST = datetime.max.replace(tzinfo=UTC)

CASES = [
    ("a + b", {"a": 1, "b": 2}, 3),
    ("a + b", {"a": 1, "b": 2.5}, 3.5),
    ("a + b", {"a": MOST, "b": 1}, None),
    ("a + b", {"a": 1e308, "b": 1e308}, None),
    ("a + b", {"a": 1}, None),
    ("a + b", {"a": 1, "b": "2"}, None),
    ("a + b", {"a": 1, "b": True}, None),
    ("a + 1", {"a": 1}, 2),
    ("a + 1L", {"a": 1}, 2),
    ("a + 1.0", {"a": 1}, 2.0),
    ("a + 1e0", {"a": 1}, 2.0),
    ("a + .0", {"a": 1}, 1.0),
    ("a + 1D", {"a": 1}, 2.0),
    ("a + -1.", {"a": 1}, 0.0),
    ("a - b", {"a": LEAST, "b": 1}, None),
    ("a - b", {"a": AT, "b": AT}, None),
    ("a * b", {"a": LEAST, "b": -1}, None),
    ("a * b", {"a": -1, "b": LEAST}, None),
    ("a * b", {"a": 2**31, "b": 2**32}, None),
    ("a * b", {"a": -(2**31), "b": 2**32}, LEAST),
    ("a * b", {"a": 3_037_000_500, "b": 3_037_000_500}, None),
    ("a * b", {"a": 3_037_000_499, "b": 3_037_000_499}, 3_037_000_499**2),
    ("a / b", {"a": 1, "b": 2}, 0.5),
    ("a / b", {"a": 1, "b": 0}, None),
    ("a / b", {"a": 1.0, "b": -0.0}, None),
    ("a % b", {"a": -7, "b": 3}, -1),
    ("a % b", {"a": 7, "b": -3}, 1),
    ("a % b", {"a": LEAST, "b": -1}, 0),
    ("a % b", {"a": 5, "b": 0}, None),
    ("a % b", {"a": -7.5, "b": 2}, -1.5),
    ("-a", {"a": LEAST}, None),
    ("-a", {"a": 0.0}, 0.0),
    ("abs(a)", {"a": LEAST}, None),
    ("abs(a)", {"a": -2.5}, 2.5),
    ("round(a)", {"a": 2.5}, 3.0),
    ("round(a)", {"a": -2.5}, -3.0),
    ("round(a)", {"a": 0.49999999999999994}, 0.0),
    ("round(a, 2)", {"a": 2.675}, 2.68),
    ("round(a, 2)", {"a": 1.005}, 1.01),
    ("round(a, 1)", {"a": 0.25}, 0.3),
    ("round(a, -2)", {"a": 1250.0}, 1300.0),
    ("round(a, -1)", {"a": -25}, -30),
    ("round(a, -18)", {"a": MOST}, 9_000_000_000_000_000_000),
    ("round(a, -19)", {"a": MOST}, None),
    ("round(a, -20)", {"a": MOST}, 0),
    ("floor(a)", {"a": -0.5}, -1),
    ("floor(a)", {"a": 1e300}, None),
    ("ceil(a)", {"a": -0.5}, 0),
    ("ceiling(a)", {"a": 2.0**63}, None),
    ("lower(a)", {"a": "ÀΣ"}, "àς"),
    ("upper(a)", {"a": "straße"}, "STRASSE"),
    ("trim(a)", {"a": " \ta "}, "\ta"),
    ("length(a)", {"a": "x😀"}, 2),
    ("length(a)", {"a": 5}, None),
    ("substring(a, 2)", {"a": "abc"}, "bc"),
    ("substring(a, 0, 2)", {"a": "abc"}, "ab"),
    ("substring(a, -2, 1)", {"a": "abc"}, "b"),
    ("substring(a, -5, 4)", {"a": "abc"}, "ab"),
    ("substring(a, 1, -1)", {"a": "abc"}, ""),
    ("a || b", {"a": "x", "b": "y"}, "xy"),
    ("a || b", {"a": "x", "b": 5}, None),
    ("coalesce(a, b)", {"b": 5}, 5),
    ("coalesce(a, b)", {}, None),
    ("greatest(a, b)", {"a": 1, "b": 2.5}, 2.5),
    ("greatest(a, b)", {"a": 1}, 1),
    ("greatest(a, b)", {"a": 2**53 + 1, "b": 2.0**53}, 2**53 + 1),
    ("least(a, b)", {"a": "x", "b": 1}, None),
    ("least(a, b)", {"a": True, "b": False}, None),
    ("(a < b)", {"a": 2**53, "b": 2.0**53}, False),
    ("(a < b)", {"a": 2.0**53, "b": 2**53 + 1}, True),
    ("(a <= b)", {"a": MOST, "b": 2.0**63}, True),
    ("(a = b)", {"a": MOST, "b": 2.0**63}, False),
    ("(a = b)", {"a": 1, "b": 1.0}, True),
    ("(a = b)", {"a": True, "b": 1}, None),
    ("(a < b)", {"a": False, "b": True}, None),
    ("(a < b)", {"a": "\uffff", "b": "\U00010000"}, True),
    ("year(a)", {"a": FIRST}, 1),
    ("quarter(a)", {"a": AT}, 1),
    ("dayofweek(a)", {"a": AT}, 7),
    ("weekday(a)", {"a": AT}, 5),
    ("dayofyear(a)", {"a": LAST}, 365),
    ("second(a)", {"a": AT}, 15),
    ("hour(a)", {"a": 5}, None),
    ("date_trunc('mm', a)", {"a": AT}, datetime(2026, 1, 1, tzinfo=UTC)),
    ("date_trunc('week', a)", {"a": FIRST}, FIRST),
    ("date_trunc('quarter', a)", {"a": LAST}, datetime(9999, 10, 1, tzinfo=UTC)),
    ("date_trunc('millisecond', a)", {"a": AT.replace(microsecond=1999)},
     AT.replace(microsecond=1000)),
    ("a + INTERVAL 1 MONTH", {"a": AT}, AT.replace(month=2, day=28)),
    ("a - INTERVAL 11 MONTHS", {"a": AT}, AT.replace(year=2025, month=2, day=28)),
    ("INTERVAL 1 DAY + a", {"a": LAST}, None),
    ("a - INTERVAL 1 MICROSECOND", {"a": FIRST}, None),
    ("a + INTERVAL 9000 YEARS", {"a": AT}, None),
    ("a + INTERVAL 1 DAY", {"a": 5}, None),
    ("CAST(a AS BIGINT)", {"a": -1.9}, -1),
    ("CAST(a AS BIGINT)", {"a": 1e19}, None),
    ("CAST(a AS BIGINT)", {"a": " 5.7 "}, 5),
    ("CAST(a AS BIGINT)", {"a": "5 7"}, None),
    ("CAST(a AS BIGINT)", {"a": "9" * 5000}, None),
    ("CAST(a AS INT)", {"a": 2**31}, None),
    ("CAST(a AS TINYINT)", {"a": 127.9}, 127),
    ("CAST(a AS DOUBLE)", {"a": "1e999"}, None),
    ("CAST(a AS DOUBLE)", {"a": "NaN"}, None),
    ("CAST(a AS STRING)", {"a": 1e7}, "1.0E7"),
    ("CAST(a AS STRING)", {"a": 0.001}, "0.001"),
    ("CAST(a AS STRING)", {"a": AT}, "2026-01-31 09:30:15.25"),
    ("CAST(a AS BOOLEAN)", {"a": " Yes "}, True),
    ("CAST(a AS BOOLEAN)", {"a": "maybe"}, None),
    ("CAST(a AS TIMESTAMP)", {"a": "2026-01-31 09:30:15.25"}, AT),
    ("CAST(a AS TIMESTAMP)", {"a": 1e300}, None),
    ("CAST(a AS DATE)", {"a": AT}, datetime(2026, 1, 31, tzinfo=UTC)),
    ("CAST(a AS DATE)", {"a": "2026-01-31T99"}, datetime(2026, 1, 31, tzinfo=UTC)),
    ("CASE WHEN a > 1 THEN 'x' WHEN a IS NULL THEN 'none' ELSE 'y' END", {"a": 1}, "y"),
    ("CASE WHEN a > 1 THEN 'x' WHEN a IS NULL THEN 'none' ELSE 'y' END", {}, "none"),
    ("CASE WHEN NOT a > 1 THEN 'x' END", {"a": "text"}, None),
    ("CASE WHEN a > 1 OR b > 1 THEN 'x' END", {"b": 2}, "x"),
    ("CASE a WHEN b THEN 1 WHEN 5 THEN 2 END", {"a": 5, "b": 5}, 1),
    ("CASE a WHEN b THEN 1 WHEN 5 THEN 2 END", {"a": 5}, 2),
]  # fmt: skip


@pytest.mark.parametrize(("text", "attributes", "right"), CASES)
def test_a_function_at_its_edges(text: str, attributes: dict[str, Any], right: Any) -> None:
    tree = parse_scalar(text)
    event = Event(attributes)
    value = compiled(tree)(event.get)
    assert (type(value), value) == (type(right), right)
    columns = with_derived(EventBatch.from_events([Event({}), event]), {"=": tree})
    found = columns.events()[1].get("=")
    assert (type(found), found) == (type(right), right)
