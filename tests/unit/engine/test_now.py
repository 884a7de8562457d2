"""``now()``: when an event arrives, told or read from the clock."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from predicast import Engine, Interval
from predicast.engine import derivation
from predicast.errors import InvalidOptionError, ParseError
from predicast.language import parse_where, to_where
from predicast.matching.registry import matcher_names

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
RECENT = "at > now() - INTERVAL 5 MINUTES"


def engine_of(*expressions: str, **options: Any) -> Engine:
    engine = Engine(**options)
    engine.subscribe_many((str(number), text) for number, text in enumerate(expressions))
    return engine


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


@pytest.mark.parametrize("matcher", matcher_names())
def test_an_event_is_compared_with_its_arrival(matcher: str) -> None:
    engine = engine_of(RECENT, "at <= now()", matcher=matcher)
    assert engine.asks_for_now
    assert engine.match({"at": NOON - minutes(4)}, now=NOON) == ["0", "1"]
    assert engine.match({"at": NOON - minutes(5)}, now=NOON) == ["1"]
    assert engine.match({"at": NOON + minutes(1)}, now=NOON) == ["0"]
    assert engine.match({"at": "later"}, now=NOON) == engine.match({}, now=NOON) == []
    events: list[dict[str, Any]] = [{"at": NOON - minutes(n)} for n in (-1, 0, 4, 5)]
    assert engine.match_batch(events, now=NOON) == [["0"], ["0", "1"], ["0", "1"], ["1"]]


def test_a_subscription_may_be_about_the_time_alone() -> None:
    engine = engine_of(
        "now() >= TIMESTAMP '2026-11-16 12:00:00'",
        "hour(now()) BETWEEN 9 AND 12",
        "current_date() = DATE '2026-11-16'",
        "CURRENT_TIMESTAMP() < at",
        "x = 1",
    )
    assert engine.attributes() == {"at", "x"}
    assert engine.match({}, now=NOON) == ["0", "1", "2"]
    assert engine.match({"x": 1}, now=NOON - minutes(1)) == ["1", "2", "4"]
    assert engine.match({}, now=NOON + minutes(60 * 13)) == ["0"]
    table = pa.table({"x": [1, 2]})
    assert engine.count_arrow(table, now=NOON).to_pylist() == [4, 3]


def test_each_row_may_have_an_arrival_of_its_own() -> None:
    engine = engine_of(RECENT)
    at = [NOON] * 4
    arrived = [NOON, NOON + minutes(4), NOON + minutes(6), None]
    table = pa.table({"at": at, "arrived": pa.array(arrived, pa.timestamp("us", "UTC"))})
    found = engine.match_arrow(table, now="arrived")
    assert found.column("event").to_pylist() == [0, 1]
    assert engine.match_arrow(table, now=NOON).num_rows == 4
    with pytest.raises(InvalidOptionError, match="'arived': there is none"):
        engine.match_arrow(table, now="arived")
    with pytest.raises(InvalidOptionError, match="of type int64"):
        engine.match_arrow(pa.table({"n": [1]}), now="n")


def test_the_clock_is_read_once_per_call(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([NOON, NOON + minutes(10), NOON + minutes(20)])

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return next(times)

    monkeypatch.setattr(derivation, "datetime", Clock)
    engine = engine_of(RECENT, "at = now()")
    assert engine.match({"at": NOON}) == ["0", "1"]
    assert engine.match_batch([{"at": NOON + minutes(10)}] * 3) == [["0", "1"]] * 3
    assert engine.count_arrow(pa.table({"at": [NOON + minutes(20)]})).to_pylist() == [2]
    engine.unsubscribe("0")
    engine.unsubscribe("1")
    assert engine.match({"at": NOON}) == []  # and not at all if nobody asks


def test_it_is_never_a_constant() -> None:
    text = "at < now() + INTERVAL 1 DAY"
    assert to_where(parse_where(text)) == to_where(parse_where(to_where(parse_where(text))))
    assert "now()" in to_where(parse_where(text))
    engine = engine_of(text)
    loaded = copy.deepcopy(engine)
    for each in (engine, loaded):
        assert each.match({"at": NOON}, now=NOON) == ["0"]
        assert each.match({"at": NOON}, now=NOON - minutes(60 * 24)) == []
    assert "now()" in to_where(loaded.get("0").subscription)


def test_what_an_event_has_under_that_name_is_not_seen() -> None:
    engine = engine_of("now() > TIMESTAMP '2026-01-01'", "now = 1", "`now()` = 2")
    assert engine.match({"=now()": 5, "now": 1, "now()": 2}, now=NOON) == ["0", "1", "2"]


def test_a_region_has_an_arrival_too() -> None:
    engine = engine_of("now() > TIMESTAMP '2026-01-01' AND x > 5", RECENT)
    region = {"x": Interval(1, 9), "at": Interval(NOON, None)}
    assert engine.match(region, now=NOON) == ["0"]
    assert engine.match_batch([region], now=NOON) == [["0"]]


def test_an_explanation_says_what_the_time_was() -> None:
    engine = engine_of(RECENT, "x = 1")
    explanation = engine.explain("0", {"at": NOON}, now=NOON)
    assert explanation.matched
    assert explanation.now == NOON
    assert "now() was TIMESTAMP '2026-11-16 12:00:00Z'" in str(explanation)
    assert engine.explain("1", {"x": 1}, now=NOON).now is None


def test_a_time_has_a_zone_or_is_in_utc() -> None:
    engine = engine_of("now() = TIMESTAMP '2026-11-16 12:00:00'")
    assert engine.match({}, now=NOON.replace(tzinfo=None)) == ["0"]
    for wrong in ("noon", 5):
        with pytest.raises(InvalidOptionError) as refused:
            engine.match({}, now=wrong)  # type: ignore[arg-type]
        assert refused.value.option == "now"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("at < now(1)", "closing parenthesis of now()"),
        ("at < now", "write now()"),
        ("at < localtimestamp", "write now()"),
        ("now() + 1 > at", "takes"),
    ],
)
def test_mistakes(text: str, said: str) -> None:
    with pytest.raises(ParseError) as refused:
        parse_where(text)
    assert said in f"{refused.value.message} {refused.value.hint}"


@pytest.mark.parametrize("matcher", matcher_names())
def test_an_element_arrives_when_its_event_does(matcher: str) -> None:
    engine = engine_of("exists(items, i -> i.at > now())", matcher=matcher)
    later, sooner = [{"at": NOON + minutes(1)}], [{"at": NOON - minutes(1)}, None]
    assert engine.match({"items": later}, now=NOON) == ["0"]
    assert engine.match({"items": sooner}, now=NOON) == []
    table = pa.table(
        {
            "items": [later, None, sooner, sooner, later],
            "seen": [NOON, NOON, NOON - minutes(2), None, NOON + minutes(2)],
        }
    )
    assert engine.match_arrow(table, now=NOON).column("event").to_pylist() == [0, 4]
    assert engine.match_arrow(table, now="seen").column("event").to_pylist() == [0, 2]
