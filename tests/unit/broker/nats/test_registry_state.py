"""Windows that are folded come to the same as windows that are not, whoever reads them when."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from predicast.broker.nats.registry_entries import (
    Entry,
    IdEntry,
    RefusedEntry,
    WindowEntry,
    encoded,
    entry_of,
    parted,
    step_of,
)
from predicast.broker.nats.registry_state import RegistryState
from predicast.broker.subscriptions import Subscriptions
from predicast.errors import PredicastError
from predicast.protocol.records import (
    Adjust,
    Definition,
    NewEvent,
    Put,
    RegistryOperation,
    Remove,
    Settings,
)

IDS = st.sampled_from(["a", "b", "c"])


def _put(id: str, limit: int, *, replace: bool, durable: bool) -> Put:
    settings = Settings(durable=durable)
    parameters = {"limit": limit}
    return Put(Definition(id, "x < :limit", parameters=parameters, settings=settings), replace)


A, C = (_put(id, 1, replace=False, durable=True) for id in "ac")
OPERATIONS = st.one_of(
    st.builds(_put, IDS, st.integers(0, 5), replace=st.booleans(), durable=st.booleans()),
    st.builds(Adjust, IDS, st.fixed_dictionaries({"limit": st.integers(0, 5)})),
    st.builds(Remove, IDS),
)
WINDOWS = st.lists(st.lists(OPERATIONS, min_size=1, max_size=3), min_size=1, max_size=8)


def fresh() -> RegistryState:
    return RegistryState(Subscriptions(), lambda _: True)


class Bucket:
    """Entries by their key, the latest of each, in the order in which they were written."""

    def __init__(self) -> None:
        self.entries: dict[str, tuple[int, bytes]] = {}
        self._last = 0

    def write(self, key: str, data: bytes) -> int:
        self._last += 1
        self.entries.pop(key, None)
        self.entries[key] = (self._last, data)
        return self._last

    def read(self) -> list[tuple[int, str, Entry]]:
        found = []
        for key, (sequence, data) in self.entries.items():
            entry = entry_of(key, data)
            assert entry is not None
            found.append((sequence, key.partition(".")[2], entry))
        return found

    def delete(self, sequences: list[int]) -> None:
        for key in [key for key, (place, _) in self.entries.items() if place in sequences]:
            del self.entries[key]


def applied(
    state: RegistryState, bucket: Bucket, name: str, window: list[RegistryOperation]
) -> None:
    entry = WindowEntry("p", 0, [step_of(operation) for operation in window])
    sequence = bucket.write(f"window.{name}", encoded(entry))
    try:
        state.apply(sequence, name, entry, 0.0)
    except PredicastError:
        return


def id_entry(state: RegistryState, id: str, as_of: int) -> bytes:
    held = state.held.get(id)
    if held is None:
        return encoded(IdEntry(id, as_of))
    [bare] = [step_of(Put(held.definition))]
    document = {"definition": bare.definition, "parameters": bare.parameters}  # type: ignore[union-attr]
    rest = {"born": held.born, "after": held.after, "process": held.process}
    return encoded({"id": id, "as_of": as_of, "held": {**document, **rest}})


def fold(state: RegistryState, bucket: Bucket, upto: int, stop_after: int) -> None:
    """As ``Registry.fold`` does it, by a process that may die after any of its steps."""
    old = state.older_than(1.0)[: max(1, upto)]
    if not old:
        return
    ids, folded = state.to_fold(old[-1])
    now = state.now()
    steps = [("refused", encoded(RefusedEntry(state.refused())))]
    steps += [(f"id.{id}", id_entry(state, id, now)) for id in ids]
    steps += [("folded", encoded(folded))]
    for number, (key, data) in enumerate(steps):
        if number == stop_after:
            return
        sequence = bucket.write(key, data)
        entry = entry_of(key, data)
        assert entry is not None
        if key == "folded":
            unneeded = state.forget(folded)
            bucket.delete(unneeded[: max(0, stop_after - len(steps))])
        assert state.note(sequence, key.partition(".")[2], entry)


@given(WINDOWS, WINDOWS, st.integers(1, 8), st.integers(0, 30), st.booleans(), st.integers(1, 16))
# A window that stays removes what only a folded one had put.
@example([[A], [C], [Remove("a"), Remove("c")]], [[Remove("b")]], 1, 30, True, 1)
def test_folding_changes_nothing(
    before: list[list[RegistryOperation]],
    after: list[list[RegistryOperation]],
    upto: int,
    stop_after: int,
    is_read_in_between: bool,
    again: int,
) -> None:
    state, bucket = fresh(), Bucket()
    for number, window in enumerate(before):
        applied(state, bucket, f"before{number}", window)
    fold(state, bucket, upto, stop_after)
    for number, window in enumerate(after):
        if is_read_in_between:
            read = fresh()
            read.load(bucket.read(), 0.0)
            assert read.held == state.held
        applied(state, bucket, f"after{number}", window)
    read = fresh()
    read.load(bucket.read(), 0.0)
    assert read.held == state.held
    events = [NewEvent(b"", {"x": x}, "", "") for x in range(6)]
    assert read.subscriptions.match(events) == state.subscriptions.match(events)
    fold(read, bucket, again, 30)
    last = fresh()
    last.load(bucket.read(), 0.0)
    assert last.held == state.held


@given(WINDOWS)
def test_shares_come_to_the_same_verdicts(windows: list[list[RegistryOperation]]) -> None:
    whole = fresh()
    shares = [
        RegistryState(Subscriptions(), lambda each: each == "a"),
        RegistryState(Subscriptions(), lambda each: each != "a"),
    ]
    for number, window in enumerate(windows):
        entry = WindowEntry("p", 0, [step_of(operation) for operation in window])
        verdicts = set()
        for state in (whole, *shares):
            try:
                state.apply(number + 1, str(number), entry, 0.0)
                verdicts.add(True)
            except PredicastError:
                verdicts.add(False)
        assert len(verdicts) == 1
    assert shares[0].held == shares[1].held == whole.held
    assert sum(len(state.subscriptions) for state in shares) == len(whole.subscriptions)


@given(st.lists(OPERATIONS, min_size=1, max_size=10), st.integers(1, 300))
def test_parts_hold_all_steps_in_order(operations: list[RegistryOperation], most: int) -> None:
    steps = [step_of(operation) for operation in operations]
    parts = parted(steps, most)
    assert [step for part in parts for step in part] == steps
    assert all(len(encoded(part)) <= most + 2 or len(part) == 1 for part in parts)
