"""Ids and their keys: order of arrival, keys that are used again, and what stays in Arrow."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from predicast.engine.ids import MAX_ID, HeldIds, Ids, check_arrow_ids, check_id, check_ids
from predicast.errors import DuplicateIdError, IdsTooLargeError, InvalidIdError

SOME = st.sampled_from([f"id-{number}" for number in range(12)] + ["é", "\U0010ffff"])


def add(ids: Ids, *names: str) -> list[int]:
    keys = ids.free_keys(len(names))
    ids.put_many(list(names), keys)
    return keys


def remove(ids: Ids, id: str) -> int:
    key = ids.key(id)
    assert key is not None
    ids.remove(id, key)
    return key


def from_file(*names: str) -> Ids:
    return Ids.restored(HeldIds(pa.array(names, pa.string()), None))


def test_keys_are_used_again() -> None:
    ids = Ids()
    for number in range(1_000):
        [key] = add(ids, f"s{number}")
        assert key < 2
        if number:
            remove(ids, f"s{number - 1}")
    assert ids.bound() == 2
    assert list(ids) == ["s999"]


def array_of(ids: Ids) -> pa.StringArray:
    return ids.indexed(np.zeros(0, np.int32))[1]


def texts_of(ids: Ids, *keys: int) -> list[str]:
    places, texts = ids.indexed(np.array(keys, np.int32))
    return [texts[place].as_py() for place in places.tolist()]


def test_a_key_keeps_its_id_until_nobody_can_ask_for_it() -> None:
    ids = Ids()
    add(ids, "a", "b", "c")
    texts_of(ids, 0)  # from now on texts come one by one
    early = ids.lease
    remove(ids, "a")
    assert add(ids, "d") == [3]
    late = ids.lease
    remove(ids, "b")
    assert add(ids, "e") == [4]
    del late
    assert add(ids, "f") == [5]  # whoever holds the first lease may ask for b as well
    assert ids.names([0, 1, 2]) == texts_of(ids, 0, 1, 2) == ["a", "b", "c"]
    assert ids.held().texts == [None, None, "c", "d", "e", "f"]
    del early
    assert sorted(add(ids, "g", "h")) == [0, 1]
    assert set(texts_of(ids, 0, 1)) == {"g", "h"}


def test_an_array_of_all_is_made_when_it_has_paid() -> None:
    ids = Ids()
    add(ids, *(f"s{number}" for number in range(80)))
    for _ in range(2):
        assert ids.texts(np.array([7, 2, 9, 0])).to_pylist() == ["s7", "s2", "s9", "s0"]
        assert ids._answers is None
    assert ids.texts(np.array([7, 2])).to_pylist() == ["s7", "s2"]
    assert ids._answers is not None


def test_repairing_gives_nobody_elses_keys_away() -> None:
    ids = Ids()
    add(ids, "a", "b")
    lease = ids.lease
    remove(ids, "a")
    ids.repair()
    assert add(ids, "c") == [2]
    assert ids.names([0, 1, 2]) == ["a", "b", "c"]
    del lease
    assert add(ids, "d") == [0]


def test_free_keys_come_before_new_ones() -> None:
    ids = Ids()
    add(ids, "a", "b", "c")
    remove(ids, "c")
    remove(ids, "a")
    assert ids.free_keys(4) == [0, 2, 3, 4]
    assert add(ids, "d", "e", "f", "g") == [0, 2, 3, 4]
    assert ids.items() == [("b", 1), ("d", 0), ("e", 2), ("f", 3), ("g", 4)]
    assert ids.free_keys(1) == [5]


def test_texts_of_the_past_are_dropped() -> None:
    ids = Ids()
    add(ids, "kept")
    for number in range(10_000):
        [key] = add(ids, f"s{number}")
        assert texts_of(ids, key) == [f"s{number}"]
        remove(ids, f"s{number}")
    assert len(array_of(ids)) < 3_000
    assert texts_of(ids, 0) == ["kept"]


def test_a_file_makes_no_python_strings_until_one_is_asked_for() -> None:
    ids = from_file("a", "b", "c")
    assert (len(ids), ids.bound(), ids.names([2, 0])) == (3, 3, ["c", "a"])
    assert array_of(ids).to_pylist() == ["a", "b", "c"]
    assert ids._by_key == []
    assert ids.first_held(["x", "c", "a"]) == "c"
    assert ids._by_key == ["a", "b", "c"]


def test_an_array_stays_as_it_was_while_ids_come_and_go() -> None:
    ids = from_file("a", "b")
    remove(ids, "a")
    before = array_of(ids)
    assert before.to_pylist() == ["a", "b"]  # what is gone is not missed
    add(ids, "c")
    assert texts_of(ids, 0, 1) == ["c", "b"]
    assert before.to_pylist() == ["a", "b"]
    assert list(ids) == ["b", "c"]


@pytest.mark.parametrize("wrong", ["", None, 5, "\ud800", b"a", "x" * 1_025, "é" * 513])
def test_wrong_ids_are_refused(wrong: str) -> None:
    with pytest.raises(InvalidIdError) as caught:
        check_ids(["a", wrong])
    assert len(str(caught.value)) < 200


def test_ids_of_a_bulk_differ() -> None:
    with pytest.raises(DuplicateIdError) as caught:
        check_ids(["a", "b", "a"])
    assert caught.value.id == "a"
    for wrong in ("", "x" * 1_025):
        with pytest.raises(InvalidIdError):
            check_arrow_ids(pa.array(["a", wrong]))


def test_the_longest_id() -> None:
    check_id("id", "x" * MAX_ID)
    check_id("id", "é" * (MAX_ID // 2))
    check_arrow_ids(pa.array(["é" * (MAX_ID // 2)]))


def test_ids_have_only_so_many_bytes_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("predicast.engine.ids.MAX_BYTES", 10)
    ids = Ids()
    ids.check_room(["12345", "é2345"[:4]])
    add(ids, "12345", "é234")
    with pytest.raises(IdsTooLargeError) as caught:
        ids.check_room(["x"])
    assert (caught.value.limit, caught.value.actual) == (10, 11)
    remove(ids, "é234")
    ids.check_room(["12345"])
    ids.repair()
    with pytest.raises(IdsTooLargeError):
        ids.check_room(["123456"])


def test_texts_that_fill_an_array_are_copied_without_the_past(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("predicast.engine.id_texts.MAX_BYTES", 100)
    ids = Ids()
    add(ids, "kept")
    assert len(array_of(ids)) == 1
    for number in range(40):
        [key] = add(ids, f"id-{number}")
        assert texts_of(ids, key) == [f"id-{number}"]
        assert array_of(ids).nbytes < 200
        remove(ids, f"id-{number}")
    assert ids.names([0]) == ["kept"]


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
            [self.right[id]] = add(self.ids, id)

    @rule(some=st.lists(SOME, unique=True, max_size=6))
    def add_many(self, some: list[str]) -> None:
        held = [id for id in some if id in self.right]
        assert self.ids.first_held(some) == (held[0] if held else None)
        if not held:
            self.right |= dict(zip(some, add(self.ids, *some), strict=True))

    @precondition(lambda self: self.right)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(self.right)))
        assert remove(self.ids, id) == self.right.pop(id)

    @precondition(lambda self: self.right)
    @rule(data=st.data())
    def arrive_anew(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(self.right)))
        key = self.right.pop(id)
        self.ids.put(id, key)
        self.right[id] = key

    @rule()
    def repair(self) -> None:
        self.ids.repair()

    @rule()
    def go_through_a_file(self) -> None:
        texts, order = self.ids.held()
        array = texts if isinstance(texts, pa.Array) else pa.array([id or "" for id in texts])
        self.ids = Ids.restored(HeldIds(array.cast(pa.string()), order))

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
        assert self.ids.texts(np.array(keys, np.int32)).to_pylist() == list(self.right)
        assert texts_of(self.ids, *keys) == list(self.right)


TestIdsAsADictionary = IdsAsADictionary.TestCase
TestIdsAsADictionary.settings = settings(max_examples=60, deadline=None)


@given(st.lists(SOME, unique=True, min_size=1))
def test_bulk_is_in_order_of_arrival(some: list[str]) -> None:
    ids = Ids()
    add(ids, *some)
    assert list(ids) == some
    remove(ids, some[0])
    add(ids, "last")
    assert list(ids) == [*some[1:], "last"]


def test_of_many_keys_some_stand_for_nothing_before_they_are_used_again() -> None:
    ids = Ids()
    add(ids, *(f"s{number}" for number in range(4_000)))
    texts_of(ids, 0)
    for number in range(400):
        remove(ids, f"s{number}")
    assert add(ids, "few") == [4_000]
    for number in range(400, 600):
        remove(ids, f"s{number}")
    [key] = add(ids, "many")
    assert key < 600
    assert texts_of(ids, key, 4_000, 3_999) == ["many", "few", "s3999"]
