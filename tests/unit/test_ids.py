"""Ids and their keys: order of arrival, keys that are used again, and what stays in Arrow."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from predicast.errors import DuplicateIdError, InvalidIdError
from predicast.ids import Ids, check_no_id_is_empty, checked_ids

SOME = st.sampled_from([f"id-{number}" for number in range(12)] + ["é", "\U0010ffff"])


def test_keys_are_used_again() -> None:
    ids = Ids()
    for number in range(1_000):
        key = ids.add(f"s{number}")
        assert key < 2
        if number:
            ids.remove(f"s{number - 1}")
    assert ids.bound() == 2
    assert list(ids) == ["s999"]


def test_texts_of_the_past_are_dropped() -> None:
    ids = Ids()
    ids.add("kept")
    for number in range(10_000):
        ids.add(f"s{number}")
        assert ids.array()[ids.positions(np.array([ids.key(f"s{number}")]))[0]].as_py()
        ids.remove(f"s{number}")
    assert len(ids.array()) < 3_000
    assert ids.array()[ids.positions(np.array([0]))[0]].as_py() == "kept"


def test_a_bulk_makes_no_python_strings_until_one_is_asked_for() -> None:
    given_ = pa.array(["a", "b", "c"])
    ids = Ids(given_)
    assert ids.array().equals(given_)
    assert ids.add_many(pa.array(["d"])).tolist() == [3]
    assert ids.names([3, 0]) == ["d", "a"]
    assert ids.first_held(pa.array(["x", "d", "a"])) == "d"
    assert ids._by_key is None
    assert ids.key("b") == 1
    assert ids._by_key == ["a", "b", "c", "d"]


def test_an_array_stays_as_it_was_while_ids_come_and_go() -> None:
    ids = Ids(pa.array(["a", "b"]))
    ids.remove("a")
    before = ids.array()
    assert before.to_pylist() == ["a", "b"]  # what is gone is not missed
    ids.add("c")
    assert [ids.array()[place].as_py() for place in ids.positions(np.array([0, 1]))] == ["c", "b"]
    assert before.to_pylist() == ["a", "b"]  # what is gone is not missed
    assert list(ids) == ["b", "c"]


def test_a_bulk_can_be_taken_back() -> None:
    ids = Ids()
    more = pa.array(["a", "b"])
    ids.add_many(more)
    ids.remove_many(more)
    assert (len(ids), list(ids), ids.bound(), len(ids.array())) == (0, [], 0, 0)
    ids.add("x")
    ids.add_many(more)
    ids.remove_many(more)
    assert list(ids) == ["x"]


@pytest.mark.parametrize("wrong", ["", None, 5, "\ud800", b"a"])
def test_wrong_ids_are_refused(wrong: str) -> None:
    with pytest.raises(InvalidIdError):
        checked_ids(["a", wrong])


def test_ids_of_a_bulk_differ() -> None:
    with pytest.raises(DuplicateIdError) as caught:
        checked_ids(["a", "b", "a"])
    assert caught.value.id == "a"
    with pytest.raises(InvalidIdError):
        check_no_id_is_empty(pa.array(["a", ""]))


class IdsAsADictionary(RuleBasedStateMachine):
    """Ids behave like a dictionary that keeps the order of arrival."""

    def __init__(self) -> None:
        super().__init__()
        self.ids = Ids()
        self.right: dict[str, int] = {}
        self.most = 0

    @rule(id=SOME)
    def add(self, id: str) -> None:
        if id not in self.right:
            self.right[id] = self.ids.add(id)

    @rule(some=st.lists(SOME, unique=True, max_size=6))
    def add_many(self, some: list[str]) -> None:
        array = pa.array(some, pa.string())
        held = [id for id in some if id in self.right]
        assert self.ids.first_held(array) == (held[0] if held else None)
        if not held:
            self.right |= dict(zip(some, self.ids.add_many(array).tolist(), strict=True))

    @precondition(lambda self: self.right)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(self.right)))
        assert self.ids.remove(id) == self.right.pop(id)

    @rule()
    def look(self) -> None:
        assert self.ids.items() == list(self.right.items())
        assert all(id in self.ids and self.ids.key(id) == key for id, key in self.right.items())
        assert "nobody" not in self.ids

    @invariant()
    def holds_what_it_should(self) -> None:
        self.most = max(self.most, len(self.right))
        assert len(self.ids) == len(self.right)
        assert self.ids.bound() <= self.most
        keys = list(self.right.values())
        assert len(set(keys)) == len(keys)
        assert self.ids.names(keys) == list(self.right)
        texts = self.ids.array().to_pylist()
        places = self.ids.positions(np.array(keys, np.int32)).tolist()
        assert [texts[place] for place in places] == list(self.right)


TestIdsAsADictionary = IdsAsADictionary.TestCase
TestIdsAsADictionary.settings = settings(max_examples=60, deadline=None)


@given(st.lists(SOME, unique=True, min_size=1))
def test_bulk_is_in_order_of_arrival(some: list[str]) -> None:
    ids = Ids(pa.array(some))
    assert list(ids) == some
    ids.remove(some[0])
    ids.add("last")
    assert list(ids) == [*some[1:], "last"]
