"""Queues without I/O: what is taken, in which order, and what becomes of the rest."""

import pytest

from predicast.broker.embedded.journal import Settlement
from predicast.broker.embedded.queue import MOST_PASSING, Terms
from predicast.broker.embedded.queues import TenantQueues
from predicast.broker.embedded.reader import Reader
from predicast.broker.subscriptions import Matched
from predicast.protocol import Settings, WhenFull


class Notes:
    """A journal that is only looked at."""

    def __init__(self) -> None:
        self.dropped = 0
        self.noted: list[Settlement] = []
        self.buried: list[tuple[str, int, int, str]] = []

    def note(self, settlement: Settlement) -> None:
        self.noted.append(settlement)

    def bury(self, id: str, position: int, attempts: int, reason: str) -> None:
        self.buried.append((id, position, attempts, reason))


class Queues(TenantQueues):
    """Queues of subscriptions with these settings."""

    def __init__(self, **settings: Settings) -> None:
        self.notes = Notes()
        super().__init__(
            self.notes, lambda ids: {id: Terms(settings[id], 0) for id in ids if id in settings}
        )
        self.settings = settings

    def reads(self, *ids: str) -> Reader:
        reader = self.reader()
        for id in ids:
            queue = self.get(id)
            assert queue is not None
            reader.attach(queue)
        return reader

    def arrive(self, position: int, *ids: str) -> None:
        durable = [id for id in ids if self.settings[id].durable]
        self.deliver(position, [Matched(durable, [id for id in ids if id not in durable])])


KEPT = Settings(ack_wait=10.0)
PASSING = Settings(durable=False)


def taken(reader: Reader, most: int = 100, now: float = 0.0) -> list[tuple[int, int, list[str]]]:
    return [(p, attempt, sorted(ids)) for p, attempt, ids in reader.take(most, now)]


def test_one_event_of_many_queues_in_order() -> None:
    queues = Queues(a=KEPT, b=KEPT, e=PASSING, f=PASSING)
    reader = queues.reads("a", "b", "e", "f")
    queues.arrive(1, "b")
    queues.arrive(2, "e", "f")
    queues.arrive(3, "a", "b", "e")
    queues.arrive(4, "a")
    assert taken(reader, 1) == [(1, 1, ["b"])]
    assert taken(reader) == [(2, 1, ["e", "f"]), (3, 1, ["a", "b", "e"]), (4, 1, ["a"])]
    assert taken(reader) == []


def test_what_several_read_goes_to_one_of_them() -> None:
    queues = Queues(a=KEPT, e=PASSING)
    readers = [queues.reads("a", "e"), queues.reads("a", "e")]
    for position in range(1, 7):
        queues.arrive(position, "a", "e")
    first = taken(readers[0], 2)
    assert first == [(1, 1, ["a", "e"]), (2, 1, ["a", "e"])]
    assert [p for p, _, _ in taken(readers[1])] == [3, 4, 5, 6]
    readers[0].detach("a")
    assert taken(readers[1]) == [(1, 2, ["a"]), (2, 2, ["a"])]
    assert taken(readers[0]) == []


def test_late_ones_come_before_new_ones() -> None:
    queues = Queues(a=KEPT)
    reader = queues.reads("a")
    queues.arrive(1, "a")
    queues.arrive(2, "a")
    assert [p for p, _, _ in taken(reader)] == [1, 2]
    queues.arrive(3, "a")
    queues.tick(9.9)
    assert len(queues.held["a"].out) == 2
    queues.tick(10.0)
    assert taken(reader, now=10.0) == [(1, 2, ["a"]), (2, 2, ["a"]), (3, 1, ["a"])]
    assert queues.redelivered == 2


def test_an_acknowledgement_may_be_late() -> None:
    queues = Queues(a=KEPT)
    reader = queues.reads("a")
    queues.arrive(1, "a")
    taken(reader)
    queues.tick(10.0)
    queue = queues.held["a"]
    assert queue.delivered([1, 2]) == [1]
    assert queue.settle([1, 2]) == 1
    assert taken(reader, now=10.0) == []
    assert queue.state_of(1) == "acknowledged"


def test_once_too_often() -> None:
    queues = Queues(a=Settings(ack_wait=10.0, max_attempts=2))
    reader = queues.reads("a")
    queues.arrive(1, "a")
    taken(reader)
    queues.tick(10.0)
    taken(reader, now=10.0)
    queues.tick(20.0)
    assert queues.notes.buried == [("a", 1, 2, "no acknowledgement in time")]
    assert not len(queues)


def test_a_delay_is_shorter_than_what_is_out() -> None:
    queues = Queues(a=Settings(ack_wait=100.0))
    reader = queues.reads("a")
    queues.arrive(1, "a")
    queues.arrive(2, "a")
    taken(reader)
    queue = queues.held["a"]
    assert queue.give_back(2, 5.0, "no")
    assert not queue.give_back(2, 5.0, "no")
    queues.watch(queue)
    queues.tick(4.0)
    assert taken(reader, now=4.0) == []
    queues.tick(5.0)
    assert taken(reader, now=5.0) == [(2, 2, ["a"])]


@pytest.mark.parametrize("durable", [True, False], ids=["durable", "ephemeral"])
def test_full(durable: bool) -> None:
    oldest = Settings(durable=durable, max_pending=2)
    newest = Settings(durable=durable, max_pending=2, when_full=WhenFull.DROP_NEWEST)
    queues = Queues(a=oldest, b=newest)
    reader = queues.reads("a", "b")
    for position in range(1, 6):
        queues.arrive(position, "a", "b")
    assert taken(reader) == [
        (1, 1, ["b"]),
        (2, 1, ["b"]),
        (4, 1, ["a"]),
        (5, 1, ["a"]),
    ]
    assert reader.drops == {"a": 3, "b": 3}
    assert queues.notes.dropped == 6
    assert [queues.held["a"].state_of(p) for p in (1, 2, 3)] == ["dropped"] * 3
    assert [queues.held["b"].state_of(p) for p in (3, 4, 5)] == ["dropped"] * 3


def test_drops_and_what_was_between_are_told_apart() -> None:
    queues = Queues(a=Settings(max_pending=1))
    reader = queues.reads("a")
    for position in (1, 2):
        queues.arrive(position, "a")
    taken(reader)
    queues.held["a"].settle([2])
    for position in (3, 4):
        queues.arrive(position, "a")
    states = [queues.held["a"].state_of(position) for position in (1, 2, 3, 4)]
    assert states == ["dropped", "acknowledged", "dropped", "waiting"]


def test_pausing_takes_back_what_passes() -> None:
    queues = Queues(e=PASSING)
    reader = queues.reads("e")
    queues.arrive(1, "e")
    paused = Terms(Settings(durable=False, paused=True), 0)
    queues.settle_change("e", paused, is_same=True)
    queues.arrive(2, "e")
    assert taken(reader) == []
    queues.settle_change("e", Terms(PASSING, 0), is_same=True)
    assert taken(reader) == [(1, 1, ["e"]), (2, 1, ["e"])]


def test_what_passes_is_bounded() -> None:
    queues = Queues(e=PASSING, f=PASSING)
    reader = queues.reads("e", "f")
    half = MOST_PASSING // 2
    queues.deliver(1, [Matched([], ["e", "f"])] * half)
    queues.deliver(1 + half, [Matched([], ["e"])] * (MOST_PASSING + 5))
    assert len(queues.held["e"].waiting) == MOST_PASSING
    assert reader.drops == {"e": 5}
    got = reader.take(10**9, 0.0)
    positions = [each.position for each in got]
    assert positions == [*range(1, half + 1), *range(half + 6, half + MOST_PASSING + 6)]
    queues.arrive(10**6, "e")
    assert not queues.held["e"].waiting
    assert taken(reader) == [(10**6, 1, ["e"])]


def test_the_log_is_cut() -> None:
    queues = Queues(a=KEPT)
    reader = queues.reads("a")
    for position in range(1, 7):
        queues.arrive(position, "a")
    taken(reader, 2)
    queues.cut(4)
    assert reader.drops == {"a": 3}
    assert [p for p, _, _ in taken(reader)] == [4, 5, 6]


def test_what_is_idle_is_forgotten() -> None:
    queues = Queues(a=KEPT, b=KEPT)
    queues.arrive(1, "a", "b")
    reader = queues.reads("a")
    taken(reader)
    reader.close()
    queues.held["a"].settle([1])
    for queue in queues.held.values():
        queue.is_dirty = False
    queues.forget_idle([*queues.held.values()])
    assert [*queues.held] == ["b"]


def test_what_was_matched_by_another_of_the_name_is_not_for_this_one() -> None:
    queues = TenantQueues(Notes(), lambda ids: {id: Terms(KEPT, 3) for id in ids})
    queues.deliver(2, [Matched(["a"], []), Matched(["a"], [])])
    assert queues.held["a"].pending() == [3]
