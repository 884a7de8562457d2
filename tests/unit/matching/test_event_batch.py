"""Batches of events: what they are made of."""

import numpy as np
import pytest

from predicast.matching.batches.event_batch import EventBatch
from predicast.matching.batches.lists import PartsOnDemand
from predicast.matching.batches.typed_values import Floats, Integers


def rows(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def test_an_attribute_has_at_most_one_part_of_each_representation() -> None:
    first, second = Integers(rows(1), rows(0)), Integers(rows(2), rows(1))
    floats = Floats(np.array([0.5]), rows(1))
    assert len(EventBatch(2, {"a": [first, floats], "b": [second], "c": []})) == 2
    with pytest.raises(AssertionError, match="several parts of one type under 'a'"):
        EventBatch(2, {"b": [first], "a": [first, second]})


def test_parts_that_are_read_on_demand_are_looked_at_then() -> None:
    twice = [Integers(rows(1), rows(0)), Integers(rows(2), rows(1))]
    batch = EventBatch(2, PartsOnDemand(["a", "b"], lambda name: twice if name == "a" else []))
    assert batch.parts("b") == []
    with pytest.raises(AssertionError, match="several parts of one type under 'a'"):
        batch.parts("a")
