"""The queue of a subscription, by itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predicast.broker.nats.delivery_queue import DeliveryQueue
from predicast.protocol.records import Settings, WhenFull

READER = object()


def queue(**settings: object) -> DeliveryQueue:
    return DeliveryQueue("a", 1, 0, Settings(**settings))  # type: ignore[arg-type]


def take(of: DeliveryQueue, count: int, now: float = 0.0) -> list[int]:
    taken = []
    for _ in range(count):
        taken.append(of.waiting[0])
        of.hand_out(of.waiting[0], READER, now)
    return taken


def test_what_is_not_acknowledged_in_time_comes_again() -> None:
    it = queue(ack_wait=5.0, max_attempts=2)
    for position in (3, 4):
        it.arrived(position)
    take(it, 2)
    assert it.acknowledge([3]) == 1
    assert not it.is_due(4.9)
    assert not it.expire(5.0, 100.0)
    assert list(it.waiting) == [4]
    assert it.next_attempt() == 2
    take(it, 1, 5.0)
    assert it.expire(10.0, 100.0)
    assert (it.dead[4].attempts, it.dead[4].at, len(it)) == (2, 100.0, 0)
    assert it.try_again([3, 4]) == 1
    assert list(it.waiting) == [4]


def test_a_late_acknowledgement_counts() -> None:
    it = queue(ack_wait=5.0)
    it.arrived(1)
    take(it, 1)
    it.expire(6.0, 0.0)
    assert it.acknowledge([1, 2]) == 1
    assert len(it) == 0
    assert it.state_of(1) == "acknowledged"


def test_what_is_full_drops_as_it_was_told() -> None:
    oldest, newest = queue(max_pending=2), queue(max_pending=2, when_full=WhenFull.DROP_NEWEST)
    for position in (1, 2, 3):
        oldest.arrived(position)
        newest.arrived(position)
    assert (list(oldest.waiting), list(newest.waiting)) == ([2, 3], [1, 2])
    assert (oldest.state_of(1), newest.state_of(3)) == ("dropped", "dropped")
    assert (oldest.drops, newest.drops) == (1, 1)


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["arrive", "take", "acknowledge", "back", "expire", "leave", "again"]),
        st.integers(0, 7),
    ),
    max_size=40,
)


@given(ACTIONS, st.integers(1, 4), st.integers(0, 100))
def test_whoever_goes_on_from_what_was_written_down_misses_nothing(
    actions: list[tuple[str, int]], most: int, cut: int
) -> None:
    """Another process, which saw the same events, resumes from progress at any point."""
    settings = Settings(ack_wait=2.0, max_attempts=2, max_pending=most)
    it = DeliveryQueue("a", 1, 0, settings)
    arrived: list[int] = []
    now = 0.0
    for number, (action, value) in enumerate(actions[:cut]):
        now += 1.0
        if action == "arrive":
            arrived.append(2 * number + 2)
            it.arrived(arrived[-1])
        elif action == "take" and it.waiting:
            take(it, 1, now)
        elif action == "acknowledge" and it.handed:
            it.acknowledge([list(it.handed)[value % len(it.handed)]])
        elif action == "back" and it.handed:
            it.give_back(list(it.handed)[value % len(it.handed)], now + value, "why", now)
        elif action == "expire":
            it.expire(now, now)
        elif action == "leave":
            it.leave(READER, now)
        elif action == "again":
            it.try_again(list(it.dead))
    seen = 2 * len(actions) + 2
    written = it.progress(seen)
    pending = {each for each in arrived if it.state_of(each) in {"waiting", "delivered"}}
    # Without a bound of its own, to see what it would have of what came.
    other = DeliveryQueue("a", 1, 0, Settings())
    for position in arrived:
        other.arrived(position)
    other.resume(written)
    assert list(other.waiting) == sorted(pending)
    fresh = DeliveryQueue("a", 1, 0, Settings())
    fresh.resume(written)
    for position in arrived:
        fresh.arrived(position)
    assert sorted(fresh.waiting) == sorted(pending)
    assert other.dead.keys() == it.dead.keys()
    assert len(it) <= most + len(it.dead) + len(actions)


def test_a_replay_takes_the_place_of_what_waited() -> None:
    it = queue()
    for position in (1, 5, 9):
        it.arrived(position)
    take(it, 2)
    it.replay([2, 5], seen=9)
    assert list(it.waiting) == [2, 5]
    other = queue()
    other.resume(it.progress(9))
    for position in (1, 5, 9, 12):
        other.arrived(position)
    assert list(other.waiting) == [2, 5, 12]
