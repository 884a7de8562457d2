"""A journal says after every step what the whole state would, and what was done to it shows."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predicast.engine import Change, Subscribe, Unsubscribe
from predicast.errors import DamagedStateError
from predicast.routing import Router
from predicast.routing.journal import Entry, Journal, recovered
from predicast.routing.recovering import Recovering
from predicast.routing.simulation import broker, simulate
from predicast.routing.state import InterfaceRecord, RouterState
from tests.routing_network import Network
from tests.simulation.drawn_options import drawn_options


def by_name(state: RouterState) -> dict[str, Any]:
    """The state without the orders in which things came."""
    records = {each.peer: _unordered(each) for each in state.interfaces}
    return {"next_epoch": state.next_epoch, "repeats": state.repeats, **records}


def _unordered(record: InterfaceRecord) -> tuple[InterfaceRecord, dict[str, Any]]:
    wanted = {each.id: each.expression for each in record.wanted}
    return replace(record, wanted=()), wanted


class Compared(Journal):
    """Compares what it has written with the whole state, after every step."""

    steps = 0
    wholes = 0

    def __init__(self, router: Router) -> None:
        super().__init__(router)
        self._written = bytearray()
        self._here: Recovering | None = None

    def entry(self) -> Entry:
        changes = self._router.changes

        def seen() -> Any:
            change = changes()
            if self._here is not None:
                self._here.apply(change)
            return change

        self._router.changes = seen  # type: ignore[method-assign]
        entry = super().entry()
        self._router.changes = changes  # type: ignore[method-assign]
        if entry.is_whole:
            self._written.clear()
            self._here = Recovering(self._router.state())
            Compared.wholes += 1
        self._written += entry.data
        assert self._here is not None
        state = by_name(self._router.state())
        assert by_name(self._here.state()) == state
        if Compared.steps % 100 == 0:
            assert by_name(recovered(bytes(self._written))) == state
        Compared.steps += 1
        return entry


@pytest.mark.parametrize("seed", [3, 5])
def test_all_changes_together_are_the_state(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "Journal", Compared)
    monkeypatch.setattr("predicast.routing.journal._LEAST", 1 << 12)
    before, wholes = Compared.steps, Compared.wholes
    options = drawn_options(seed, most_brokers=4)
    options = replace(options, brokers=4, clients=6, subscriptions=30, events=40, rounds=2)
    report = simulate(options)
    assert not report.violations
    assert report.faults["crashes"] > 0
    assert Compared.steps > before + 500
    assert Compared.wholes > wholes + options.brokers + report.faults["crashes"]


def written() -> tuple[list[bytes], list[RouterState]]:
    """The entries of a broker's journal, and its state after each."""
    network = Network()
    core = network.broker("core")
    network.broker("leaf", "core", level=1)
    network.host("below", "leaf")
    journal = Journal(core)
    entries, states = [journal.entry().data], [core.state()]
    for window in (
        [Subscribe("a", "x > 1"), Subscribe("b", "x < 0")],
        [Change("a", "y = 2")],
        [Unsubscribe("b")],
    ):
        network.announce("below", window)
        network.run(1.0)
        entries.append(journal.entry().data)
        states.append(core.state())
    return entries, states


ENTRIES, STATES = written()
JOURNAL = b"".join(ENTRIES)
ENDS = [sum(map(len, ENTRIES[: count + 1])) for count in range(len(ENTRIES))]


@given(st.integers(0, len(JOURNAL)), st.integers(0, 40))
def test_what_was_cut_short_is_the_state_of_the_last_whole_entry(cut: int, zeros: int) -> None:
    data = JOURNAL[:cut]
    whole = [state for state, end in zip(STATES, ENDS, strict=True) if end <= cut]
    if not whole:
        with pytest.raises(DamagedStateError, match="cut short before its first state"):
            recovered(data)
        return
    assert by_name(recovered(data)) == by_name(whole[-1])
    if cut in ENDS:
        assert by_name(recovered(data + bytes(zeros))) == by_name(whole[-1])


@given(st.integers(0, len(JOURNAL) - 1), st.integers(1, 255))
def test_what_was_altered_is_refused(place: int, difference: int) -> None:
    data = bytearray(JOURNAL)
    data[place] ^= difference
    with pytest.raises(DamagedStateError):
        recovered(bytes(data))


def test_entries_that_are_left_out_or_exchanged_are_missed() -> None:
    first, second, third, fourth = ENTRIES
    for wrong in ([first, third, fourth], [first, third, second], [first, second, second]):
        with pytest.raises(DamagedStateError, match="altered"):
            recovered(b"".join(wrong))


@given(st.binary(max_size=200))
def test_no_bytes_do_anything_but_raise(data: bytes) -> None:
    with pytest.raises(DamagedStateError):
        recovered(data)
    try:
        after = recovered(JOURNAL + data)
    except DamagedStateError:
        return
    assert by_name(after) == by_name(STATES[-1])


def test_a_step_costs_what_it_has_changed() -> None:
    network = Network()
    core = network.broker("core")
    network.host("alice", "core")
    network.announce("alice", [Subscribe(str(n), f"x = {n} AND y < {n}") for n in range(2_000)])
    network.run(1.0)
    journal = Journal(core)
    whole = journal.entry()
    assert whole.is_whole
    network.announce("alice", [Change("7", "x = 7")])
    network.run(0.05)
    change = journal.entry()
    assert not change.is_whole
    assert 0 < len(change.data) < len(whole.data) / 50
    assert journal.entry() == Entry(b"", is_whole=False)


def test_changes_longer_than_the_state_give_way_to_another_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("predicast.routing.journal._LEAST", 1)
    network = Network()
    core = network.broker("core")
    network.host("alice", "core")
    network.announce("alice", [Subscribe("s", "x = 0")])
    network.run(1.0)
    journal = Journal(core)
    sizes: list[tuple[bool, int]] = []
    for number in range(200):
        network.announce("alice", [Change("s", f"x = {number}")])
        network.run(0.05)
        data, is_whole = journal.entry()
        sizes.append((is_whole, len(data)))
    states = [size for is_whole, size in sizes if is_whole]
    assert len(states) > 5
    longest = run = 0.0
    for is_whole, size in sizes:
        run = 0 if is_whole else run + size
        longest = max(longest, run)
    assert longest < 2.5 * max(states, default=inf)
