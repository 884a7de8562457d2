"""One event that finds more than there is room for at first, in every way that it finds things."""

from typing import Any

import pytest

from predicast import Engine
from predicast.model import Absent
from tests.columnar_shapes import InRows

pytestmark = pytest.mark.usefixtures("both_loops")


@pytest.mark.parametrize("absent", ["fails", "passes"])
def test_room_is_made_for_whatever_one_event_finds(absent: Absent) -> None:
    engine = Engine(matcher=InRows.name, absent=absent)
    texts = [f"x > {number % 7} AND y = 1" for number in range(4_500)]  # found
    texts += [f"path LIKE '%{number}%z%'" for number in range(300)]  # tests that hold
    texts += [f"path RLIKE '{number}[0-9 ]*z'" for number in range(300)]  # tests to be asked
    texts += [f"exists(tags, t -> t > {number} AND t != 5)" for number in range(300)]  # given
    engine.subscribe_many((f"s{number:05}", text) for number, text in enumerate(texts))
    engine._store.matcher.settle()
    numbers = " ".join(map(str, range(300)))
    small = {"x": 0, "y": 1, "path": "z", "tags": [0]}
    large = {"x": 9, "y": 1, "path": f"{numbers} z", "tags": [9_000]}
    longer = {"x": 9, "y": 1, "path": f"{numbers * 20} z" * 3}
    events: list[dict[str, Any]] = [small, large, small, longer, {"path": "7 z"}, large]
    expected = engine.match_batch(events)
    assert [engine.match(event) for event in events] == expected
    assert len(expected[1]) == 5_400
