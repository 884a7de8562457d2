"""Profiles: how often subscriptions match given events; what they cost is shown, not judged."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from predicast import Engine
from predicast.engine.lint.costs import Cost
from predicast.errors import InvalidOptionError

EVENTS: list[dict[str, Any]] = [{"x": n % 7, "name": f"n{n % 5}"} for n in range(5_000)]
TEXTS = {
    "few": "x = 3",
    "half": "x > 2",
    "regex": "name RLIKE '[0-9]'",
    "not": "NOT x = 1",
    "never": "x = 9",
}


@pytest.fixture
def engine() -> Engine:
    made = Engine()
    made.subscribe_many(TEXTS)
    return made


@pytest.mark.parametrize("form", [list, iter, pa.Table.from_pylist, pl.LazyFrame])
def test_matches_are_counted(engine: Engine, form: Any) -> None:
    expected = Counter(id for event in EVENTS for id in engine.match(event))
    found = engine.profile(form(EVENTS), measured=0)
    assert found.events == len(EVENTS)
    assert {each.id: each.matched for each in found.subscriptions} == expected | {"never": 0}
    assert found.never() == ["never"]
    assert all(each.time_us is None for each in found.subscriptions)


def test_the_dearest_are_measured_first(engine: Engine) -> None:
    found = engine.profile(EVENTS[:50], measured=2)
    timed = [each for each in found.subscriptions if each.time_us is not None]
    assert {each.id for each in timed} == {"regex", "not"}
    assert all(each.cost is Cost.HIGH and each.why for each in timed)
    assert found.subscriptions[:2] == timed
    assert [each.cost for each in found.subscriptions[2:]] == [Cost.MEDIUM, Cost.LOW, Cost.LOW]


def test_it_is_shown_as_a_table(engine: Engine) -> None:
    found = engine.profile(EVENTS[:10])
    assert found.table().num_rows == len(TEXTS)
    lines = str(found).splitlines()
    assert len(lines) == 1 + len(TEXTS)
    assert lines[0].split() == ["subscription", "matched", "cost", "µs/event"]


def test_nothing_at_all(engine: Engine) -> None:
    assert Engine().profile([]).subscriptions == []
    assert engine.profile([]).never() == sorted(
        each.id for each in engine.profile([]).subscriptions
    )
    with pytest.raises(InvalidOptionError, match="measured"):
        engine.profile([], measured=-1)
